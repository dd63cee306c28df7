/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses to serve on: "127.0.0.1:9753", "[::1]:9753", ":9753" (all), joined by commas. */
#ifndef WATT_AGENT_ADDRESS_H
#define WATT_AGENT_ADDRESS_H

#include <stddef.h>

#include <netinet/in.h>
#include <sys/socket.h>

#define ADDRESSES_MAX 8

/* For sockaddr of either family. */
union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

#define ADDRESS_TEXT_MAX 64

/*
 * Reads a list; how many there are, at least one. -EINVAL: it is none, and error has a sentence.
 * Numbers only: a name may have another address tomorrow.
 */
int addresses_parse(const char *text, union address *ret, char *error, size_t error_size);
/* 0: the kernel chooses one. */
unsigned int address_port(const union address *address);
/* As a URL has it: "127.0.0.1:9753". Returns buf, of ADDRESS_TEXT_MAX. */
const char *address_print(const union address *address, char *buf);

#endif
