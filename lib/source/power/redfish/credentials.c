/* SPDX-License-Identifier: Apache-2.0 */
/* Names and passwords, from a file that others may not read. They are told to nobody. */
#include "source/power/redfish/credentials.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"

#define MAX_FIELDS 4
#define FILE_MAX ((size_t)256 << 10) /* a line each for a thousand nodes and more */

struct field {
	char text[256];
};

/* One field at *cursor, up to the comma or the end of the line. */
static int take_field(const char **cursor, struct field *ret)
{
	const char *at = *cursor;
	bool is_quoted = *at == '"';
	size_t n = 0;

	at += is_quoted;
	for (; *at && *at != '\n'; at++) {
		if (is_quoted && at[0] == '"') {
			if (at[1] != '"')
				break;
			at++;
		} else if (!is_quoted && *at == ',') {
			break;
		}
		if (n + 1 >= sizeof(ret->text))
			return -EBADMSG;
		ret->text[n++] = *at;
	}
	if (is_quoted && *at++ != '"')
		return -EBADMSG;
	if (!is_quoted && n && ret->text[n - 1] == '\r')
		n--;
	if (is_quoted && *at == '\r')
		at++;
	ret->text[n] = '\0';
	if (*at && *at != ',' && *at != '\n')
		return -EBADMSG;
	*cursor = at;
	return 0;
}

/* Returns the number of fields. */
static int take_line(const char **cursor, struct field fields[MAX_FIELDS])
{
	int n = 0, r;

	do {
		if (n == MAX_FIELDS)
			return -EBADMSG;
		*cursor += n > 0;
		r = take_field(cursor, &fields[n]);
		if (r < 0)
			return r;
		n++;
	} while (**cursor == ',');
	return n;
}

static int keep(const struct field *user, const struct field *password, const char *url,
		struct watt_credentials *ret)
{
	if (!user->text[0] || strlen(user->text) >= sizeof(ret->user) ||
	    strlen(url) >= sizeof(ret->url))
		return -EBADMSG;
	watt_strlcpy(ret->user, user->text, sizeof(ret->user));
	watt_strlcpy(ret->password, password->text, sizeof(ret->password));
	watt_strlcpy(ret->url, url, sizeof(ret->url));
	return 0;
}

/* 1: the line is for another node. */
static int read_line(const char **cursor, const char *node, struct watt_credentials *ret,
		     bool *ret_is_exact)
{
	struct field fields[MAX_FIELDS];
	int n = take_line(cursor, fields), r = 1;

	*ret_is_exact = false;
	if (n == 2) {
		r = keep(&fields[0], &fields[1], "", ret);
	} else if (n == 4) {
		*ret_is_exact = !strcmp(fields[0].text, node);
		if (*ret_is_exact || !strcmp(fields[0].text, "*"))
			r = keep(&fields[1], &fields[2], fields[3].text, ret);
	} else {
		r = -EBADMSG;
	}
	explicit_bzero(fields, sizeof(fields));
	return r;
}

int watt_credentials_parse(const char *text, const char *node, struct watt_credentials *ret,
			   unsigned int *ret_line)
{
	struct watt_credentials found = { 0 }, any = { 0 };
	unsigned int line = 0;
	bool has_any = false, is_exact = false;
	int r = -ENOENT;

	while (*text) {
		line++;
		if (*text == '\n' || *text == '\r' || *text == '#') {
			text += strcspn(text, "\n");
			text += *text == '\n';
			continue;
		}
		r = read_line(&text, node, &found, &is_exact);
		if (r < 0)
			break;
		text += *text == '\n';
		if (r == 0 && is_exact)
			break;
		if (r == 0 && !has_any)
			any = found;
		has_any |= r == 0;
		r = -ENOENT;
	}
	if (r == 0)
		*ret = found;
	else if (r == -ENOENT && has_any)
		*ret = any;
	r = r == -ENOENT && has_any ? 0 : r;
	*ret_line = line;
	watt_credentials_done(&found);
	watt_credentials_done(&any);
	return r;
}

static int read_all(int fd, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n;

	while ((n = read(fd, buf + len, size - len)) != 0) {
		if (n < 0)
			return -errno;
		len += (size_t)n;
		if (len == size)
			return -EMSGSIZE;
	}
	buf[len] = '\0';
	return strlen(buf) == len ? 0 : -EBADMSG;
}

int watt_credentials_read(const char *path, const char *node, struct watt_credentials *ret,
			  unsigned int *ret_line)
{
	struct stat st;
	char *text;
	int fd, r = 0;

	*ret_line = 0;
	text = malloc(FILE_MAX);
	if (!text)
		return -ENOMEM;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		r = -errno;
		free(text);
		return r;
	}
	if (fstat(fd, &st) < 0)
		r = -errno;
	else if (!S_ISREG(st.st_mode))
		r = -EINVAL;
	else if (st.st_mode & S_IRWXO)
		r = -EPERM;
	if (r == 0)
		r = read_all(fd, text, FILE_MAX);
	close(fd);
	if (r == 0)
		r = watt_credentials_parse(text, node, ret, ret_line);
	explicit_bzero(text, FILE_MAX);
	free(text);
	return r;
}

void watt_credentials_done(struct watt_credentials *credentials)
{
	explicit_bzero(credentials, sizeof(*credentials));
}
