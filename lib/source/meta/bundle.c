/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of containers and pods that containerd, CRI-O or nerdctl run, from the annotations in
 * their bundles: what the runtime was told when the container began.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "source/host/machine_root.h"
#include "source/meta/state_file.h"
#include "source/registry.h"

#define MAX_NAMESPACES 64

/* Who writes which annotation; a sandbox, which holds the pod's namespaces, has no name. */
static const struct dialect {
	const char *runtime;
	const char *type, *name, *image, *pod_name, *pod_namespace, *pod_uid;
} dialects[] = {
	{ "containerd", "io.kubernetes.cri.container-type", "io.kubernetes.cri.container-name",
	  "io.kubernetes.cri.image-name", "io.kubernetes.cri.sandbox-name",
	  "io.kubernetes.cri.sandbox-namespace", "io.kubernetes.cri.sandbox-uid" },
	{ "cri-o", "io.kubernetes.cri-o.ContainerType", "io.kubernetes.container.name",
	  "io.kubernetes.cri-o.ImageName", "io.kubernetes.pod.name", "io.kubernetes.pod.namespace",
	  "io.kubernetes.pod.uid" },
	{ "containerd", NULL, "nerdctl/name", NULL, NULL, NULL, NULL },
};

static const char *get(const json_t *annotations, const char *key)
{
	return key ? watt_state_text(annotations, key) : NULL;
}

static int keep(const json_t *annotations, const struct dialect *dialect, const char *id,
		struct watt_answer *ret)
{
	const char *type = get(annotations, dialect->type);
	struct watt_container container = {
		.id = id,
		.runtime = dialect->runtime,
		.name = get(annotations, dialect->name),
		.image = get(annotations, dialect->image),
		.pod_uid = get(annotations, dialect->pod_uid),
		.pod_name = get(annotations, dialect->pod_name),
		.pod_namespace = get(annotations, dialect->pod_namespace),
	};

	if (type && !strcmp(type, "sandbox"))
		container.name = "POD";
	if (!container.pod_uid)
		container.pod_name = container.pod_namespace = NULL;
	return watt_state_keep(&container, NULL, ret);
}

int watt_bundle_parse(const char *text, size_t len, const char *id, struct watt_answer *ret)
{
	const json_t *annotations;
	json_t *root;
	size_t i;
	int r;

	r = watt_state_parse(text, len, &root);
	if (r < 0)
		return r;
	r = json_is_object(root) ? -ENOENT : -EBADMSG;
	annotations = json_object_get(root, "annotations");
	for (i = 0; i < WATT_ARRAY_SIZE(dialects) && r == -ENOENT; i++)
		r = keep(annotations, &dialects[i], id, ret);
	json_decref(root);
	return r;
}

/* containerd has a folder for each of its namespaces, of which Kubernetes is one. */
static int look_in_namespaces(const struct watt_root *machine, const char *root, const char *id,
			      struct watt_answer *ret)
{
	struct watt_names names = WATT_NAMES_INIT;
	size_t i;
	int r;

	r = watt_root_list(machine, root, "", &names);
	if (r < 0)
		return r;
	r = -ENOENT;
	for (i = 0; i < WATT_MIN(names.n, (size_t)MAX_NAMESPACES) && r < 0; i++)
		r = watt_state_look_at(machine, watt_bundle_parse, id, ret, "%s/%s/%s/config.json",
				       root, names.name[i], id);
	watt_names_free(&names);
	return r;
}

static int look(const struct watt_root *machine, const char *id, struct watt_answer *ret)
{
	static const char *const roots[] = {
		"run/containerd/io.containerd.runtime.v2.task",
		"run/k3s/containerd/io.containerd.runtime.v2.task",
	};
	int r = -ENOENT;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(roots) && r < 0; i++)
		r = look_in_namespaces(machine, roots[i], id, ret);
	if (r == 0)
		return 0;
	return watt_state_look_at(
		machine, watt_bundle_parse, id, ret,
		"run/containers/storage/overlay-containers/%s/userdata/config.json", id);
}

static int bundle_answer(struct watt_meta *base, const struct watt_question *question,
			 struct watt_answer *ret)
{
	static const char *const runtimes[] = { "containerd", "cri-o", NULL };
	struct watt_root machine = WATT_ROOT_INIT;
	int r;

	r = watt_state_begin(base, question, runtimes, &machine);
	if (r < 0)
		return r;
	r = look(&machine, question->container.id, ret);
	watt_root_close(&machine);
	return r;
}

static int bundle_open(const struct watt_env *env, struct watt_meta **ret)
{
	return watt_state_open(env, &watt_meta_bundle, ret);
}

static int bundle_probe(const struct watt_env *env, struct watt_diag *diag)
{
	static const char *const places[] = {
		"run/containerd/io.containerd.runtime.v2.task",
		"run/k3s/containerd/io.containerd.runtime.v2.task",
		"run/containers/storage/overlay-containers",
		NULL,
	};

	return watt_state_probe(env, places, "containerd or CRI-O", diag);
}

const struct watt_meta_ops watt_meta_bundle = {
	.name = "bundle",
	.summary = "names of containers and pods of containerd and CRI-O",
	.answers = 1u << WATT_ASK_CONTAINER,
	.probe = bundle_probe,
	.open = bundle_open,
	.answer = bundle_answer,
	.close = watt_state_close,
};
