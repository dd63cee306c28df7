/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of podman's containers, root's and those of users, from the list that containers/storage
 * keeps. Of CRI-O's, which are in the same list, their bundles tell more.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "source/host/machine_root.h"
#include "source/meta/state_file.h"
#include "source/registry.h"

#define ROOT "var/lib/containers/storage"
#define PATH_SIZE 1024

struct podman {
	struct watt_meta base;
	const struct watt_root *procfs;
};

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

/* The folder is called after the driver that keeps the layers. */
static int look_in(const struct watt_root *machine, const char *root, const char *id,
		   struct watt_answer *ret)
{
	static const char *const drivers[] = { "overlay", "vfs", "btrfs", "zfs" };
	char path[PATH_SIZE];
	int n, r = -ENOENT;
	size_t i, len;

	for (i = 0; i < WATT_ARRAY_SIZE(drivers) && r == -ENOENT; i++) {
		char *text;

		n = snprintf(path, sizeof(path), "%s/%s-containers/containers.json", root,
			     drivers[i]);
		if (n < 0 || (size_t)n >= sizeof(path))
			return -ENAMETOOLONG;
		r = watt_root_slurp(machine, path, WATT_STATE_SIZE_MAX, &text, &len);
		if (r < 0)
			continue;
		r = watt_storage_parse(text, len, id, ret);
		free(text);
	}
	return r;
}

static int look_at_home(const struct watt_root *machine, uint32_t uid, const char *id,
			struct watt_answer *ret)
{
	char home[PATH_SIZE / 2], root[PATH_SIZE];
	int r;

	r = watt_state_home(machine, uid, home, sizeof(home));
	if (r < 0)
		return r;
	snprintf(root, sizeof(root), "%s/.local/share/containers/storage", home);
	return look_in(machine, root, id, ret);
}

static int podman_answer(struct watt_meta *base, const struct watt_question *question,
			 struct watt_answer *ret)
{
	struct podman *podman = watt_container_of(base, struct podman, base);
	const char *id = question->container.id, *runtime = question->container.runtime;
	struct watt_root machine = WATT_ROOT_INIT;
	int r;

	if (runtime[0] && strcmp(runtime, "podman"))
		return -ENOENT;
	r = watt_machine_root_open(podman->procfs, &machine);
	if (r < 0)
		return r;
	if (question->container.uid)
		r = look_at_home(&machine, question->container.uid, id, ret);
	if (r < 0 || !question->container.uid)
		r = look_in(&machine, ROOT, id, ret);
	watt_root_close(&machine);
	return r;
}

static int podman_open(const struct watt_env *env, struct watt_meta **ret)
{
	struct podman *podman = calloc(1, sizeof(*podman));

	if (!podman)
		return -ENOMEM;
	podman->base = (struct watt_meta){ &watt_meta_podman, -1 };
	podman->procfs = &env->procfs;
	*ret = &podman->base;
	return 0;
}

static void podman_close(struct watt_meta *base)
{
	free(watt_container_of(base, struct podman, base));
}

static int podman_probe(const struct watt_env *env, struct watt_diag *diag)
{
	static const char *const places[] = {
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
	.summary = "names of podman's containers",
	.answers = 1u << WATT_ASK_CONTAINER,
	.probe = podman_probe,
	.open = podman_open,
	.answer = podman_answer,
	.close = podman_close,
};
