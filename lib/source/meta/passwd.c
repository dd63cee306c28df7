/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of users, by passwd(5). Only the file counts: name services (LDAP and the like) would load
 * foreign code into the process.
 */
#include "source/meta/passwd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "base/util.h"
#include "source/host/machine_root.h"
#include "source/host/status.h"
#include "source/registry.h"

#define PASSWD "etc/passwd"
#define PASSWD_MAX (4u << 20)

struct passwd {
	struct watt_meta base;
	const struct watt_root *procfs;
};

/* "name:password:uid:": the length of the name, or 0 if the line is none or not of this user. */
static size_t match_line(const char *line, const char *end, uint32_t uid)
{
	const char *name_end = memchr(line, ':', (size_t)(end - line)), *p;
	uint64_t value;

	if (!name_end || name_end == line || *line == '#' || *line == '+' || *line == '-')
		return 0;
	p = memchr(name_end + 1, ':', (size_t)(end - name_end - 1));
	if (!p)
		return 0;
	p++;
	if (watt_scan_digits(&p, &value) < 0 || value != uid || *p != ':')
		return 0;
	return (size_t)(name_end - line);
}

/* The first line of this user, and the length of the name that it begins with; 0: there is none. */
static size_t find_line(const char **text, uint32_t uid)
{
	while (**text) {
		const char *end = strchrnul(*text, '\n');
		size_t len = match_line(*text, end, uid);

		if (len > 0)
			return len;
		*text = *end ? end + 1 : end;
	}
	return 0;
}

static int copy_field(const char *field, size_t len, char *buf, size_t size)
{
	if (len >= size)
		return -ENAMETOOLONG;
	memcpy(buf, field, len);
	buf[len] = '\0';
	return 0;
}

int watt_passwd_find(const char *text, uint32_t uid, char *buf, size_t size)
{
	size_t len = find_line(&text, uid);

	return len ? copy_field(text, len, buf, size) : -ENOENT;
}

int watt_passwd_find_home(const char *text, uint32_t uid, char *buf, size_t size)
{
	const char *p = text, *end;
	int i;

	if (!find_line(&p, uid))
		return -ENOENT;
	for (i = 0; i < 5; i++) {
		p += strcspn(p, ":\n");
		if (*p++ != ':')
			return -ENOENT;
	}
	end = p + strcspn(p, ":\n");
	p += strspn(p, "/");
	return p < end ? copy_field(p, (size_t)(end - p), buf, size) : -ENOENT;
}

static int read_passwd(const struct watt_root *procfs, char **ret)
{
	struct watt_root machine = WATT_ROOT_INIT;
	size_t len;
	int r;

	r = watt_machine_root_open(procfs, &machine);
	if (r < 0)
		return r;
	r = watt_root_slurp(&machine, PASSWD, PASSWD_MAX, ret, &len);
	watt_root_close(&machine);
	return r;
}

static int passwd_answer(struct watt_meta *base, const struct watt_question *question,
			 struct watt_answer *ret)
{
	struct passwd *passwd = watt_container_of(base, struct passwd, base);
	struct watt_answer answer = { .kind = WATT_ASK_USER, .user.uid = question->uid };
	_cleanup_free_ char *text = NULL;
	int r;

	r = read_passwd(passwd->procfs, &text);
	if (r == 0)
		r = watt_passwd_find(text, question->uid, answer.user.name,
				     sizeof(answer.user.name));
	if (r == 0)
		*ret = answer;
	return r;
}

static int passwd_open(const struct watt_env *env, struct watt_meta **ret)
{
	struct passwd *passwd = calloc(1, sizeof(*passwd));

	if (!passwd)
		return -ENOMEM;
	passwd->base = (struct watt_meta){ &watt_meta_passwd, -1 };
	passwd->procfs = &env->procfs;
	*ret = &passwd->base;
	return 0;
}

static void passwd_close(struct watt_meta *base)
{
	free(watt_container_of(base, struct passwd, base));
}

static int passwd_probe(const struct watt_env *env, struct watt_diag *diag)
{
	_cleanup_free_ char *text = NULL;
	int r = read_passwd(&env->procfs, &text);

	snprintf(diag->path, sizeof(diag->path), "/" PASSWD);
	diag->state = watt_availability_from_errno(r);
	diag->error = r;
	if (r < 0) {
		snprintf(diag->why, sizeof(diag->why), "it can't be read: %s", strerror(-r));
		snprintf(diag->hint, sizeof(diag->hint), "users are shown by their numbers");
	} else {
		snprintf(diag->why, sizeof(diag->why), "names users");
	}
	return r;
}

const struct watt_meta_ops watt_meta_passwd = {
	.name = "passwd",
	.summary = "names of users",
	.answers = 1u << WATT_ASK_USER,
	.probe = passwd_probe,
	.open = passwd_open,
	.answer = passwd_answer,
	.close = passwd_close,
};
