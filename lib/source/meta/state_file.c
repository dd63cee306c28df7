/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what runtimes write. What is too large, too deep or not what it should be is refused. */
#include "source/meta/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "base/util.h"
#include "source/host/machine_root.h"
#include "source/host/status.h"
#include "source/meta/passwd.h"

#define PASSWD_MAX ((size_t)4 << 20)

int watt_state_parse(const char *text, size_t len, json_t **ret)
{
	json_error_t error;
	json_t *value;

	if (len > WATT_STATE_SIZE_MAX || watt_parse_is_deeper(text, len, WATT_STATE_DEPTH_MAX))
		return -EMSGSIZE;
	value = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (!value)
		return json_error_code(&error) == json_error_out_of_memory ? -ENOMEM : -EBADMSG;
	*ret = value;
	return 0;
}

int watt_state_read(const struct watt_root *root, const char *path, json_t **ret)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	r = watt_root_slurp(root, path, WATT_STATE_SIZE_MAX, &text, &len);
	return r < 0 ? r : watt_state_parse(text, len, ret);
}

const char *watt_state_text(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	size_t len = json_string_length(value);

	return len && len <= WATT_STATE_NAME_MAX ? json_string_value(value) : NULL;
}

static bool is_label(const char *key, const json_t *value)
{
	return json_is_string(value) && strlen(key) <= WATT_STATE_NAME_MAX &&
	       json_string_length(value) <= WATT_STATE_LABEL_MAX;
}

static uint32_t count_labels(json_t *labels, size_t *size)
{
	const char *key;
	json_t *value;
	uint32_t n = 0;

	json_object_foreach(labels, key, value)
	{
		if (n == WATT_STATE_LABELS_MAX || !is_label(key, value))
			continue;
		*size += strlen(key) + json_string_length(value) + 2 + sizeof(struct watt_label);
		n++;
	}
	return n;
}

/* A copy of a text that moves *cursor on; NULL stays NULL. */
static const char *store(char **cursor, const char *text)
{
	char *copy = *cursor;

	if (!text)
		return NULL;
	*cursor = stpcpy(copy, text) + 1;
	return copy;
}

static void store_labels(char **cursor, json_t *labels, struct watt_label *to, uint32_t n)
{
	const char *key;
	json_t *value;
	uint32_t i = 0;

	json_object_foreach(labels, key, value)
	{
		if (i == n || !is_label(key, value))
			continue;
		to[i].key = store(cursor, key);
		to[i++].value = store(cursor, json_string_value(value));
	}
}

int watt_state_keep(const struct watt_container *found, const json_t *labels,
		    struct watt_answer *ret)
{
	const char *const texts[] = { found->id,           found->runtime, found->name,
				      found->image,        found->pod_uid, found->pod_name,
				      found->pod_namespace };
	struct watt_answer answer = { .kind = WATT_ASK_CONTAINER, .container = *found };
	struct watt_container *c = &answer.container;
	json_t *object = (json_t *)labels;
	size_t i, size = 1;
	char *cursor;

	if (!found->name && !found->pod_name)
		return -ENOENT;
	for (i = 0; i < WATT_ARRAY_SIZE(texts); i++)
		size += texts[i] ? strlen(texts[i]) + 1 : 0;
	c->n_labels = count_labels(object, &size);
	answer.storage = malloc(size);
	if (!answer.storage)
		return -ENOMEM;
	c->labels = c->n_labels ? (struct watt_label *)(void *)answer.storage : NULL;
	cursor = answer.storage + c->n_labels * sizeof(struct watt_label);
	store_labels(&cursor, object, (struct watt_label *)(void *)answer.storage, c->n_labels);
	c->id = store(&cursor, found->id);
	c->runtime = store(&cursor, found->runtime);
	c->name = store(&cursor, found->name);
	c->image = store(&cursor, found->image);
	c->pod_uid = store(&cursor, found->pod_uid);
	c->pod_name = store(&cursor, found->pod_name);
	c->pod_namespace = store(&cursor, found->pod_namespace);
	*ret = answer;
	return 0;
}

/* ---- where the files are ---- */

int watt_state_look_at(const struct watt_root *root, watt_state_parse_fn parse, const char *id,
		       struct watt_answer *ret, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	char path[WATT_STATE_PATH_SIZE];
	va_list args;
	size_t len;
	int n, r;

	va_start(args, format);
	n = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	r = watt_root_slurp(root, path, WATT_STATE_SIZE_MAX, &text, &len);
	return r < 0 ? r : parse(text, len, id, ret);
}

int watt_state_look_at_home(const struct watt_root *machine, uint32_t uid, const char *folder,
			    const char *id, watt_state_look_fn look, struct watt_answer *ret)
{
	_cleanup_free_ char *text = NULL;
	char home[WATT_STATE_PATH_SIZE / 2], path[WATT_STATE_PATH_SIZE];
	size_t len;
	int r;

	r = watt_root_slurp(machine, "etc/passwd", PASSWD_MAX, &text, &len);
	if (r == 0)
		r = watt_passwd_find_home(text, uid, home, sizeof(home));
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%s/%s", home, folder);
	return look(machine, path, id, ret);
}

/* ---- providers ---- */

int watt_state_open(const struct watt_env *env, const struct watt_meta_ops *ops,
		    struct watt_meta **ret)
{
	struct watt_state_meta *meta = calloc(1, sizeof(*meta));

	if (!meta)
		return -ENOMEM;
	meta->base = (struct watt_meta){ ops, -1 };
	meta->procfs = &env->procfs;
	*ret = &meta->base;
	return 0;
}

void watt_state_close(struct watt_meta *base)
{
	free(watt_container_of(base, struct watt_state_meta, base));
}

int watt_state_begin(struct watt_meta *base, const struct watt_question *question,
		     const char *const *runtimes, struct watt_root *ret_machine)
{
	const struct watt_state_meta *meta = watt_container_of(base, struct watt_state_meta, base);
	const char *runtime = question->container.runtime;

	while (runtime[0] && *runtimes && strcmp(runtime, *runtimes))
		runtimes++;
	return *runtimes ? watt_machine_root_open(meta->procfs, ret_machine) : -ENOENT;
}

static int open_first(const struct watt_root *machine, const char *const *places,
		      const char **ret_place)
{
	int error = -ENOENT;
	size_t i;

	for (i = 0; places[i]; i++) {
		int fd = watt_root_open_fd(machine, places[i], O_RDONLY | O_NONBLOCK);

		*ret_place = places[i];
		if (fd >= 0) {
			close(fd);
			return 0;
		}
		if (fd != -ENOENT && fd != -ENOTDIR) {
			error = fd;
			break;
		}
	}
	if (error == -ENOENT)
		*ret_place = places[0];
	return error;
}

int watt_state_probe(const struct watt_env *env, const char *const *places, const char *what,
		     struct watt_diag *diag)
{
	struct watt_root machine = WATT_ROOT_INIT;
	const char *place = places[0];
	int r;

	r = watt_machine_root_open(&env->procfs, &machine);
	if (r == 0)
		r = open_first(&machine, places, &place);
	watt_root_close(&machine);
	snprintf(diag->path, sizeof(diag->path), "/%s", place);
	diag->state = watt_availability_from_errno(r);
	diag->error = r;
	if (r == 0) {
		snprintf(diag->why, sizeof(diag->why), "names the containers of %s", what);
	} else if (diag->state == WATT_FORBIDDEN) {
		snprintf(diag->why, sizeof(diag->why),
			 "what %s keeps of its containers may not be read", what);
		snprintf(diag->hint, sizeof(diag->hint),
			 "run as root: without names, containers are shown by their ids");
	} else {
		snprintf(diag->why, sizeof(diag->why), "%s has no containers here", what);
	}
	return r;
}
