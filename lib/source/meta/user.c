/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses passwd(5). Only the file counts: name services (LDAP and the like) would load foreign
 * code into the process and may block on a network.
 */
#include "source/meta/user.h"

#include <errno.h>
#include <string.h>

#include "base/parse.h"

/* "name:password:uid:": the length of the name, or 0 if the line is none or not of this user. */
static size_t match_line(const char *line, const char *end, uint32_t uid)
{
	const char *name_end = memchr(line, ':', (size_t)(end - line)), *p;
	uint64_t value;

	if (!name_end || name_end == line || *line == '#' || *line == '+' || *line == '-')
		return 0;
	p = memchr(name_end + 1, ':', (size_t)(end - name_end - 1));
	if (!p || p[1] < '0' || p[1] > '9')
		return 0;
	p++;
	if (watt_scan_u64(&p, &value) < 0 || value != uid || *p != ':')
		return 0;
	return (size_t)(name_end - line);
}

int watt_passwd_find(const char *text, uint32_t uid, char *buf, size_t size)
{
	while (*text) {
		const char *end = strchrnul(text, '\n');
		size_t len = match_line(text, end, uid);

		if (len > 0 && len >= size)
			return -ENAMETOOLONG;
		if (len > 0) {
			memcpy(buf, text, len);
			buf[len] = '\0';
			return 0;
		}
		text = *end ? end + 1 : end;
	}
	return -ENOENT;
}
