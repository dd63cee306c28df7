/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of podman's containers and their pods, root's and those of users, from podman's database;
 * else, without pods, from the list that containers/storage keeps. Of CRI-O's, which are in the same
 * list, their bundles tell more.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/util.h"
#include "source/host/machine_root.h"
#include "source/meta/state_file.h"
#include "source/registry.h"

#define ROOT "var/lib/containers/storage"
/* One that is being written can't be believed; the next copy is of another moment. */
#define TRIES 3

/* What podman knows is a JSON text in the JSON. */
static json_t *open_metadata(const json_t *entry)
{
	const json_t *text = json_object_get(entry, "metadata");
	json_t *metadata;

	if (!json_is_string(text) ||
	    watt_state_parse(json_string_value(text), json_string_length(text), &metadata) < 0)
		return NULL;
	return metadata;
}

static int keep_entry(const json_t *entry, const char *id, struct watt_answer *ret)
{
	const json_t *name = json_array_get(json_object_get(entry, "names"), 0);
	struct watt_container container = { .id = id, .runtime = "podman" };
	json_t *metadata = open_metadata(entry);
	size_t len = json_string_length(name);
	int r;

	container.name = watt_state_text(metadata, "name");
	if (!container.name && len && len <= WATT_STATE_NAME_MAX)
		container.name = json_string_value(name);
	container.image = watt_state_text(metadata, "image-name");
	r = watt_state_keep(&container, NULL, ret);
	json_decref(metadata);
	return r;
}

int watt_storage_parse(const char *text, size_t len, const char *id, struct watt_answer *ret)
{
	json_t *list;
	size_t i;
	int r;

	r = watt_state_parse(text, len, &list);
	if (r < 0)
		return r;
	r = json_is_array(list) ? -ENOENT : -EBADMSG;
	for (i = 0; i < json_array_size(list); i++) {
		const json_t *entry = json_array_get(list, i);
		const char *said = watt_state_text(entry, "id");

		if (!said || strcmp(said, id))
			continue;
		r = keep_entry(entry, id, ret);
		break;
	}
	json_decref(list);
	return r;
}

/* Where podman is old, it has a database of another kind. */
static int look_in_database(const struct watt_root *machine, const char *root, const char *id,
			    struct watt_answer *ret)
{
	char path[WATT_STATE_PATH_SIZE];
	int i, r = -EBADMSG;

	if (snprintf(path, sizeof(path), "%s/db.sql", root) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	for (i = 0; i < TRIES && r == -EBADMSG; i++) {
		_cleanup_free_ char *data = NULL;
		size_t len;

		r = watt_root_slurp(machine, path, WATT_STATE_DATABASE_MAX, &data, &len);
		if (r == 0)
			r = watt_libpod_parse(data, len, id, ret);
	}
	return r;
}

/* The folder is called after the driver that keeps the layers. */
static int look_in_list(const struct watt_root *machine, const char *root, const char *id,
			struct watt_answer *ret)
{
	static const char *const drivers[] = { "overlay", "vfs", "btrfs", "zfs" };
	int r = -ENOENT;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(drivers) && r == -ENOENT; i++)
		r = watt_state_look_at(machine, watt_storage_parse, id, ret,
				       "%s/%s-containers/containers.json", root, drivers[i]);
	return r;
}

static int look_in(const struct watt_root *machine, const char *root, const char *id,
		   struct watt_answer *ret)
{
	int r = look_in_database(machine, root, id, ret);

	return r < 0 && r != -ENOMEM ? look_in_list(machine, root, id, ret) : r;
}

static int podman_answer(struct watt_meta *base, const struct watt_question *question,
			 struct watt_answer *ret)
{
	static const char *const runtimes[] = { "podman", NULL };
	const char *id = question->container.id;
	struct watt_root machine = WATT_ROOT_INIT;
	int r;

	r = watt_state_begin(base, question, runtimes, &machine);
	if (r < 0)
		return r;
	if (question->container.uid)
		r = watt_state_look_at_home(&machine, question->container.uid,
					    ".local/share/containers/storage", id, look_in, ret);
	if (r < 0 || !question->container.uid)
		r = look_in(&machine, ROOT, id, ret);
	watt_root_close(&machine);
	return r;
}

static int podman_open(const struct watt_env *env, struct watt_meta **ret)
{
	return watt_state_open(env, &watt_meta_podman, ret);
}

static int podman_probe(const struct watt_env *env, struct watt_diag *diag)
{
	static const char *const places[] = {
		ROOT "/db.sql",
		ROOT "/overlay-containers/containers.json",
		ROOT "/vfs-containers/containers.json",
		ROOT "/btrfs-containers/containers.json",
		ROOT "/zfs-containers/containers.json",
		NULL,
	};

	return watt_state_probe(env, places, "podman", diag);
}

const struct watt_meta_ops watt_meta_podman = {
	.name = "podman",
	.summary = "names of podman's containers and pods",
	.answers = 1u << WATT_ASK_CONTAINER,
	.probe = podman_probe,
	.open = podman_open,
	.answer = podman_answer,
	.close = watt_state_close,
};
