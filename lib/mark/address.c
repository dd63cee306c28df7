/* SPDX-License-Identifier: Apache-2.0 */
/* Names of marks sockets, and what the kernel makes of them. It creates nothing. */
#include "mark/address.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

void watt_mark_directory(uid_t uid, char *buf, size_t size)
{
	/* A user's is where systemd's XDG_RUNTIME_DIR is; the library reads no environment. */
	if (uid == 0)
		snprintf(buf, size, "/run/wattribute");
	else
		snprintf(buf, size, "/run/user/%u/wattribute", uid);
}

uint32_t watt_mark_parse_name(const char *name)
{
	size_t digits = strspn(name, "0123456789");
	unsigned long pid;

	if (digits == 0 || digits > 9 || name[0] == '0' || name[digits] != '-')
		return 0;
	name += digits + 1;
	if (strlen(name) != 16 || strspn(name, "0123456789abcdef") != 16)
		return 0;
	pid = strtoul(name - digits - 1, NULL, 10);
	return pid <= INT32_MAX ? (uint32_t)pid : 0;
}

int watt_mark_parse_address(const char *address, struct sockaddr_un *ret, socklen_t *ret_len)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	size_t len;

	if (!address || (address[0] != '/' && address[0] != '@') || !address[1])
		return -EINVAL;
	len = strlen(address);
	if (len >= sizeof(sa.sun_path))
		return -ENAMETOOLONG;
	memcpy(sa.sun_path, address, len);
	/* An abstract name begins with a NUL and ends without one. */
	if (address[0] == '@')
		sa.sun_path[0] = '\0';
	*ret = sa;
	*ret_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + (address[0] == '/'));
	return 0;
}

int watt_mark_probe_address(const char *address)
{
	_cleanup_close_ int fd = -1;
	struct sockaddr_un sa;
	socklen_t len;
	int r;

	r = watt_mark_parse_address(address, &sa, &len);
	if (r < 0)
		return r;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	return connect(fd, (struct sockaddr *)&sa, len) < 0 ? -errno : 0;
}
