/* SPDX-License-Identifier: Apache-2.0 */
/* A connection to HOST:PORT, within a time. Thread-safe. */
#ifndef WATT_BASE_TCP_H
#define WATT_BASE_TCP_H

/*
 * place: "host:port", "[address]:port"; default_port: where place has none; NULL: it must have one.
 * A descriptor that does not block, or -EINVAL, -ENAMETOOLONG, -EHOSTUNREACH (nobody is called so),
 * -ECONNREFUSED, -ETIMEDOUT, ...
 */
int watt_tcp_open(const char *place, const char *default_port, int timeout_ms);

#endif
