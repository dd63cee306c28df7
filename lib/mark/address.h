/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where marks sockets are: DIRECTORY/PID-TOKEN/marks, so that who may look into the directory
 * sees who listens, and nobody else can guess an address; or, where there is no directory, the
 * abstract name @wattribute/PID-TOKEN/marks.
 */
#ifndef WATT_MARK_ADDRESS_H
#define WATT_MARK_ADDRESS_H

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include <wattribute/mark.h>

#define WATT_MARKS_ABSTRACT "@wattribute/"
#define WATT_MARKS_SOCKET "marks"

/* The folder that a user's sockets are in. */
void watt_mark_directory(uid_t uid, char *buf, size_t size);
/* The pid in "PID-TOKEN"; 0: the name is none of ours. */
uint32_t watt_mark_parse_name(const char *name);
/* An absolute path or "@name". 0, -EINVAL, -ENAMETOOLONG. */
int watt_mark_parse_address(const char *address, struct sockaddr_un *ret, socklen_t *ret_len);
/* Whether somebody listens: 0, or a negative errno that says why not. */
int watt_mark_probe_address(const char *address);

#endif
