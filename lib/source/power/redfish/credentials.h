/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who we are to the BMC: a line of a file, "user,password" or "node,user,password,URL", where a
 * node is this machine's name or "*". A field may be in quotes, a quote within as two. Lines that
 * begin with # are for people.
 */
#ifndef WATT_SOURCE_REDFISH_CREDENTIALS_H
#define WATT_SOURCE_REDFISH_CREDENTIALS_H

#include <stddef.h>

struct watt_credentials {
	char user[128];
	char password[256];
	char url[256]; /* "": the line has none */
};

/*
 * The line of the node, or the first that is for any. -ENOENT: none is for it; -EBADMSG: a line is
 * none of them; *ret_line is its number.
 */
int watt_credentials_parse(const char *text, const char *node, struct watt_credentials *ret,
			   unsigned int *ret_line);
/*
 * The same of a file. -EACCES: it can't be read; -EPERM: everybody may read it; -EMSGSIZE, and
 * what open() says.
 */
int watt_credentials_read(const char *path, const char *node, struct watt_credentials *ret,
			  unsigned int *ret_line);
/* Leaves no password in memory. */
void watt_credentials_done(struct watt_credentials *credentials);

#endif
