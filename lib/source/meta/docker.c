/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of docker's containers, from the file that its daemon keeps of each. It asks no daemon:
 * whoever may use its socket is root.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "source/host/machine_root.h"
#include "source/meta/state_file.h"
#include "source/registry.h"

#define DEFAULT_ROOT "var/lib/docker"
#define SNAP_ROOT "var/snap/docker/common/var-lib-docker"

/* As the kubelet's names of containers, "k8s_app_web-0_default_...", are none for people. */
static void take_pod(const json_t *labels, struct watt_container *container)
{
	const char *name = watt_state_text(labels, "io.kubernetes.container.name");

	container->pod_uid = watt_state_text(labels, "io.kubernetes.pod.uid");
	container->pod_name = watt_state_text(labels, "io.kubernetes.pod.name");
	container->pod_namespace = watt_state_text(labels, "io.kubernetes.pod.namespace");
	if (name)
		container->name = name;
}

int watt_docker_parse(const char *text, size_t len, const char *id, struct watt_answer *ret)
{
	struct watt_container container = { .id = id, .runtime = "docker" };
	const json_t *config, *labels;
	const char *said;
	json_t *root;
	int r;

	r = watt_state_parse(text, len, &root);
	if (r < 0)
		return r;
	said = watt_state_text(root, "ID");
	config = json_object_get(root, "Config");
	labels = json_object_get(config, "Labels");
	container.name = watt_state_text(root, "Name");
	if (container.name && container.name[0] == '/')
		container.name = container.name[1] ? container.name + 1 : NULL;
	container.image = watt_state_text(config, "Image");
	take_pod(labels, &container);
	r = said && !strcmp(said, id) ? watt_state_keep(&container, labels, ret) : -EBADMSG;
	json_decref(root);
	return r;
}

/* Where the daemon keeps its things, unless it is where it always is. */
static void find_root(const struct watt_root *machine, char *buf, size_t size)
{
	json_t *config;
	const char *root;

	watt_strlcpy(buf, DEFAULT_ROOT, size);
	if (watt_state_read(machine, "etc/docker/daemon.json", &config) < 0)
		return;
	root = watt_state_text(config, "data-root");
	if (!root)
		root = watt_state_text(config, "graph");
	if (root && root[0] == '/')
		watt_strlcpy(buf, root + strspn(root, "/"), size);
	json_decref(config);
}

static int look_in(const struct watt_root *machine, const char *root, const char *id,
		   struct watt_answer *ret)
{
	return watt_state_look_at(machine, watt_docker_parse, id, ret,
				  "%s/containers/%s/config.v2.json", root, id);
}

static int docker_answer(struct watt_meta *base, const struct watt_question *question,
			 struct watt_answer *ret)
{
	static const char *const runtimes[] = { "docker", NULL };
	const char *id = question->container.id;
	struct watt_root machine = WATT_ROOT_INIT;
	char root[WATT_STATE_PATH_SIZE];
	int r;

	r = watt_state_begin(base, question, runtimes, &machine);
	if (r < 0)
		return r;
	find_root(&machine, root, sizeof(root));
	r = look_in(&machine, root, id, ret);
	if (r == -ENOENT)
		r = look_in(&machine, SNAP_ROOT, id, ret);
	if (r < 0 && question->container.uid)
		r = watt_state_look_at_home(&machine, question->container.uid,
					    ".local/share/docker", id, look_in, ret);
	watt_root_close(&machine);
	return r;
}

static int docker_open(const struct watt_env *env, struct watt_meta **ret)
{
	return watt_state_open(env, &watt_meta_docker, ret);
}

static int docker_probe(const struct watt_env *env, struct watt_diag *diag)
{
	struct watt_root machine = WATT_ROOT_INIT;
	char root[WATT_STATE_PATH_SIZE] = DEFAULT_ROOT, place[WATT_STATE_PATH_SIZE + 16];
	const char *const places[] = { place, SNAP_ROOT "/containers", NULL };

	if (watt_machine_root_open(&env->procfs, &machine) == 0)
		find_root(&machine, root, sizeof(root));
	watt_root_close(&machine);
	snprintf(place, sizeof(place), "%s/containers", root);
	return watt_state_probe(env, places, "docker", diag);
}

const struct watt_meta_ops watt_meta_docker = {
	.name = "docker",
	.summary = "names of docker's containers",
	.answers = 1u << WATT_ASK_CONTAINER,
	.probe = docker_probe,
	.open = docker_open,
	.answer = docker_answer,
	.close = watt_state_close,
};
