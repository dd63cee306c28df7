/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of containers and pods that containerd, CRI-O or nerdctl run, from the annotations in
 * their bundles: what the runtime was told when the container began.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "source/host/machine_root.h"
#include "source/meta/state_file.h"
#include "source/registry.h"

#define PATH_SIZE 1024
#define MAX_NAMESPACES 64

struct bundles {
	struct watt_meta base;
	const struct watt_root *procfs;
};

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

static int look_at(const struct watt_root *machine, const char *path, const char *id,
		   struct watt_answer *ret)
{
	char *text;
	size_t len;
	int r;

	r = watt_root_slurp(machine, path, WATT_STATE_SIZE_MAX, &text, &len);
	if (r < 0)
		return r;
	r = watt_bundle_parse(text, len, id, ret);
	free(text);
	return r;
}

/* containerd has a folder for each of its namespaces, of which Kubernetes is one. */
static int look_in_namespaces(const struct watt_root *machine, const char *root, const char *id,
			      struct watt_answer *ret)
{
	struct watt_names names = WATT_NAMES_INIT;
	char path[PATH_SIZE];
	size_t i;
	int n, r;

	r = watt_root_list(machine, root, "", &names);
	if (r < 0)
		return r;
	r = -ENOENT;
	for (i = 0; i < WATT_MIN(names.n, (size_t)MAX_NAMESPACES) && r < 0; i++) {
		n = snprintf(path, sizeof(path), "%s/%s/%s/config.json", root, names.name[i], id);
		if (n > 0 && (size_t)n < sizeof(path))
			r = look_at(machine, path, id, ret);
	}
	watt_names_free(&names);
	return r;
}

static int look(const struct watt_root *machine, const char *id, struct watt_answer *ret)
{
	static const char *const roots[] = {
		"run/containerd/io.containerd.runtime.v2.task",
		"run/k3s/containerd/io.containerd.runtime.v2.task",
	};
	char path[PATH_SIZE];
	int r = -ENOENT;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(roots) && r < 0; i++)
		r = look_in_namespaces(machine, roots[i], id, ret);
	if (r < 0) {
		snprintf(path, sizeof(path),
			 "run/containers/storage/overlay-containers/%s/userdata/config.json", id);
		r = look_at(machine, path, id, ret);
	}
	return r;
}

static int bundle_answer(struct watt_meta *base, const struct watt_question *question,
			 struct watt_answer *ret)
{
	struct bundles *bundles = watt_container_of(base, struct bundles, base);
	const char *runtime = question->container.runtime;
	struct watt_root machine = WATT_ROOT_INIT;
	int r;

	if (runtime[0] && strcmp(runtime, "containerd") && strcmp(runtime, "cri-o"))
		return -ENOENT;
	r = watt_machine_root_open(bundles->procfs, &machine);
	if (r < 0)
		return r;
	r = look(&machine, question->container.id, ret);
	watt_root_close(&machine);
	return r;
}

static int bundle_open(const struct watt_env *env, struct watt_meta **ret)
{
	struct bundles *bundles = calloc(1, sizeof(*bundles));

	if (!bundles)
		return -ENOMEM;
	bundles->base = (struct watt_meta){ &watt_meta_bundle, -1 };
	bundles->procfs = &env->procfs;
	*ret = &bundles->base;
	return 0;
}

static void bundle_close(struct watt_meta *base)
{
	free(watt_container_of(base, struct bundles, base));
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
	.close = bundle_close,
};
