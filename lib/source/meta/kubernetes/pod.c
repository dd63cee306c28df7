/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods from the JSON of Kubernetes' API, v1. What they say of a container is in three places: the
 * specification has its image and what it asks for, the status its id, the metadata who it is of.
 */
#include "source/meta/kubernetes/pod.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/util.h"
#include "source/meta/kubernetes/quantity.h"
#include "source/meta/state_file.h"

/* Bounds of one pod: of containers in a list, and of resources of a container. */
#define MAX_LISTED 256
#define MAX_RESOURCES 16

/* What all containers of a pod have in common. */
struct context {
	const json_t *pod, *spec, *status;
	struct watt_container is;
	json_t *labels;
};

static const struct list {
	const char *specs, *statuses, *kind;
} lists[] = {
	{ "containers", "containerStatuses", NULL },
	{ "initContainers", "initContainerStatuses", "init" },
	{ "ephemeralContainers", "ephemeralContainerStatuses", "ephemeral" },
};

static const json_t *get(const json_t *object, const char *key)
{
	return json_object_get(object, key);
}

static int set_text(json_t *labels, const char *key, const char *value)
{
	return value && json_object_set_new(labels, key, json_string(value)) < 0 ? -ENOMEM : 0;
}

/* ---- what is known of all ---- */

/* The kubelet's cgroups have the hash of a static pod; the API server gives its copy another uid. */
static const char *find_uid(const json_t *metadata)
{
	static const char *const hashes[] = { "kubernetes.io/config.mirror",
					      "kubernetes.io/config.hash" };
	const json_t *annotations = get(metadata, "annotations");
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(hashes); i++)
		if (watt_state_text(annotations, hashes[i]))
			return watt_state_text(annotations, hashes[i]);
	return watt_state_text(metadata, "uid");
}

/* "ReplicaSet/web-7d4b9c6f5": who made it and looks after it. */
static int add_owner(json_t *labels, const json_t *metadata)
{
	const json_t *owners = get(metadata, "ownerReferences"), *owner;
	char text[WATT_STATE_NAME_MAX * 2 + 2];
	size_t i;

	for (i = 0; i < WATT_MIN(json_array_size(owners), (size_t)MAX_LISTED); i++) {
		const char *kind, *name;

		owner = json_array_get(owners, i);
		kind = watt_state_text(owner, "kind");
		name = watt_state_text(owner, "name");
		if (!kind || !name || !json_is_true(get(owner, "controller")))
			continue;
		snprintf(text, sizeof(text), "%s/%s", kind, name);
		return set_text(labels, "io.kubernetes.pod.owner", text);
	}
	return 0;
}

static int add_own_labels(json_t *labels, const json_t *metadata)
{
	json_t *theirs = (json_t *)get(metadata, "labels"), *value;
	const char *key;

	json_object_foreach(theirs, key,
			    value) if (json_is_string(value) &&
				       json_object_set(labels, key, value) < 0) return -ENOMEM;
	return 0;
}

static int open_context(const json_t *pod, struct context *context)
{
	const json_t *metadata = get(pod, "metadata");
	int r;

	context->pod = pod;
	context->spec = get(pod, "spec");
	context->status = get(pod, "status");
	context->is.pod_uid = find_uid(metadata);
	context->is.pod_name = watt_state_text(metadata, "name");
	context->is.pod_namespace = watt_state_text(metadata, "namespace");
	if (!context->is.pod_uid || !context->is.pod_name || !context->is.pod_namespace)
		return -EBADMSG;
	context->labels = json_object();
	if (!context->labels)
		return -ENOMEM;
	r = set_text(context->labels, "io.kubernetes.pod.qosClass",
		     watt_state_text(context->status, "qosClass"));
	if (r == 0)
		r = add_owner(context->labels, metadata);
	if (r == 0)
		r = add_own_labels(context->labels, metadata);
	return r;
}

/* ---- a container ---- */

/* "requests" or "limits": those of the container, as plain numbers. */
static int add_resources(json_t *labels, const json_t *spec, const char *which)
{
	json_t *resources = (json_t *)get(get(spec, "resources"), which), *value;
	char name[WATT_STATE_NAME_MAX + 64], text[WATT_QUANTITY_TEXT_SIZE];
	size_t n = 0;
	const char *key;
	watt_i128 amount;

	json_object_foreach(resources, key, value)
	{
		if (n++ == MAX_RESOURCES || strlen(key) > WATT_STATE_NAME_MAX)
			break;
		if (!json_is_string(value) ||
		    watt_quantity_parse(json_string_value(value), &amount) < 0)
			continue;
		snprintf(name, sizeof(name), "io.kubernetes.container.%s.%s", which, key);
		if (set_text(labels, name, watt_quantity_print(amount, text, sizeof(text))) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_exit_code(json_t *labels, const json_t *state)
{
	const json_t *code = get(state, "exitCode");
	char text[24];

	if (!json_is_integer(code))
		return 0;
	snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(code));
	return set_text(labels, "io.kubernetes.container.exitCode", text);
}

/* When it began, and when it ended if it has, by the node's wall clock: RFC 3339. */
static int add_times(json_t *labels, const json_t *state)
{
	static const char *const names[] = { "startedAt", "finishedAt" };
	char label[64];
	size_t i;
	int r = 0;

	for (i = 0; i < WATT_ARRAY_SIZE(names) && r == 0; i++) {
		const char *text = watt_state_text(state, names[i]);

		snprintf(label, sizeof(label), "io.kubernetes.container.%s", names[i]);
		if (text)
			r = set_text(labels, label, text);
	}
	return r;
}

static const char *kind_of(const struct list *list, const json_t *spec)
{
	const char *restart = watt_state_text(spec, "restartPolicy");

	/* one that goes on beside the others is called after what it does */
	return list->kind && !strcmp(list->kind, "init") && restart && !strcmp(restart, "Always") ?
		       "sidecar" :
		       list->kind;
}

/* state: "running" or "terminated", with what is said of it; NULL: neither. */
static int describe(const struct context *context, const struct list *list, const json_t *spec,
		    const json_t *state, json_t **ret)
{
	json_t *labels = json_copy(context->labels);
	int r = labels ? 0 : -ENOMEM;

	if (r == 0)
		r = set_text(labels, "io.kubernetes.container.kind", kind_of(list, spec));
	if (r == 0)
		r = add_resources(labels, spec, "requests");
	if (r == 0)
		r = add_resources(labels, spec, "limits");
	if (r == 0)
		r = add_exit_code(labels, state);
	if (r == 0)
		r = add_times(labels, state);
	if (r < 0)
		json_decref(labels);
	else
		*ret = labels;
	return r;
}

static const char *copy(char **cursor, const char *text)
{
	char *start = *cursor;

	if (!text)
		return NULL;
	*cursor = stpcpy(start, text) + 1;
	return start;
}

/* Takes the labels, also when it fails. */
static int add_container(struct watt_pod *pod, const struct watt_container *is, json_t *labels)
{
	const char *const texts[] = { is->id,      is->runtime,  is->name,         is->image,
				      is->pod_uid, is->pod_name, is->pod_namespace };
	struct watt_pod_container *grown, *to;
	size_t i, size = 1;
	char *cursor;

	for (i = 0; i < WATT_ARRAY_SIZE(texts); i++)
		size += texts[i] ? strlen(texts[i]) + 1 : 0;
	cursor = malloc(size);
	grown = cursor ? realloc(pod->containers, (pod->n + 1) * sizeof(*grown)) : NULL;
	if (!grown) {
		free(cursor);
		json_decref(labels);
		return -ENOMEM;
	}
	pod->containers = grown;
	to = &grown[pod->n++];
	*to = (struct watt_pod_container){ .labels = labels, .storage = cursor };
	to->is.id = copy(&cursor, is->id);
	to->is.runtime = copy(&cursor, is->runtime);
	to->is.name = copy(&cursor, is->name);
	to->is.image = copy(&cursor, is->image);
	to->is.pod_uid = copy(&cursor, is->pod_uid);
	to->is.pod_name = copy(&cursor, is->pod_name);
	to->is.pod_namespace = copy(&cursor, is->pod_namespace);
	pod->uid = pod->containers[0].is.pod_uid;
	return 0;
}

/* "containerd://<id>", split. */
static bool split_id(const char *text, char *runtime, size_t size, const char **ret_id)
{
	const char *colon = text ? strstr(text, "://") : NULL;

	if (!colon || colon == text || (size_t)(colon - text) >= size || !colon[3] ||
	    strlen(colon + 3) >= WATT_CONTAINER_ID_MAX)
		return false;
	memcpy(runtime, text, (size_t)(colon - text));
	runtime[colon - text] = '\0';
	*ret_id = colon + 3;
	return true;
}

/* Of a container by one of its ids; whether it has one is told. */
static int add_run(struct watt_pod *pod, const struct context *context, const struct list *list,
		   const json_t *spec, const char *full_id, const json_t *state, bool *ret_has)
{
	struct watt_container is = context->is;
	json_t *labels;
	char runtime[16];
	int r;

	*ret_has = split_id(full_id, runtime, sizeof(runtime), &is.id);
	if (!*ret_has)
		return 0;
	is.runtime = runtime;
	is.name = watt_state_text(spec, "name");
	is.image = watt_state_text(spec, "image");
	r = describe(context, list, spec, state, &labels);
	return r < 0 ? r : add_container(pod, &is, labels);
}

static const json_t *find_by_name(const json_t *statuses, const char *name)
{
	size_t i;

	for (i = 0; i < WATT_MIN(json_array_size(statuses), (size_t)MAX_LISTED); i++) {
		const json_t *status = json_array_get(statuses, i);
		const char *theirs = watt_state_text(status, "name");

		if (theirs && !strcmp(theirs, name))
			return status;
	}
	return NULL;
}

static int read_container(struct watt_pod *pod, const struct context *context,
			  const struct list *list, const json_t *spec)
{
	const char *name = watt_state_text(spec, "name");
	const json_t *status, *now, *before;
	bool has_id, had_id;
	int r;

	if (!name)
		return 0;
	status = find_by_name(get(context->status, list->statuses), name);
	now = get(get(status, "state"), "terminated");
	if (!now)
		now = get(get(status, "state"), "running");
	before = get(get(status, "lastState"), "terminated");
	r = add_run(pod, context, list, spec, watt_state_text(before, "containerID"), before,
		    &had_id);
	if (r == 0)
		r = add_run(pod, context, list, spec, watt_state_text(status, "containerID"), now,
			    &has_id);
	if (r == 0)
		pod->n_pending += !has_id;
	return r;
}

int watt_pod_read(const json_t *root, struct watt_pod *ret)
{
	struct context context = { 0 };
	struct watt_pod pod = { 0 };
	size_t i, k;
	int r;

	r = open_context(root, &context);
	if (r == 0)
		r = add_container(&pod, &context.is, json_incref(context.labels));
	for (i = 0; i < WATT_ARRAY_SIZE(lists) && r == 0; i++) {
		const json_t *specs = get(context.spec, lists[i].specs);
		size_t n = WATT_MIN(json_array_size(specs), (size_t)MAX_LISTED);

		for (k = 0; k < n && r == 0; k++)
			r = read_container(&pod, &context, &lists[i], json_array_get(specs, k));
	}
	json_decref(context.labels);
	if (r < 0)
		watt_pod_done(&pod);
	else
		*ret = pod;
	return r;
}

int watt_pod_parse(const char *text, size_t len, struct watt_pod *ret)
{
	json_t *root;
	int r;

	r = watt_state_parse(text, len, &root);
	if (r < 0)
		return r;
	r = watt_pod_read(root, ret);
	json_decref(root);
	return r;
}

static void container_done(struct watt_pod_container *container)
{
	json_decref(container->labels);
	free(container->storage);
}

void watt_pod_done(struct watt_pod *pod)
{
	size_t i;

	for (i = 0; i < pod->n; i++)
		container_done(&pod->containers[i]);
	free(pod->containers);
	*pod = (struct watt_pod){ 0 };
}

/* ---- the index ---- */

struct entry {
	struct watt_hnode node;
	struct watt_pod_container container;
	struct watt_pod_stamp first, seen; /* when it was listed: at first, and last */
	size_t n_pending;                  /* of a pod */
};

static uint64_t hash_text(const char *text)
{
	uint64_t hash = 0;

	for (; *text; text++)
		hash = watt_hash_u64(hash ^ (unsigned char)*text);
	return hash;
}

/* A pod is found by its uid, a container by its id. */
static const char *key_of(const struct watt_pod_container *container)
{
	return container->is.id ? container->is.id : container->is.pod_uid;
}

static struct entry *find(const struct watt_pod_index *index, const char *key, bool is_pod)
{
	struct watt_hnode *node = watt_htab_first(&index->containers, hash_text(key));

	for (; node; node = watt_htab_next(node)) {
		struct entry *entry = watt_container_of(node, struct entry, node);

		if (!entry->container.is.id == is_pod && !strcmp(key_of(&entry->container), key))
			return entry;
	}
	return NULL;
}

int watt_pod_index_init(struct watt_pod_index *index)
{
	return watt_htab_init(&index->containers);
}

static void remove_entry(struct watt_pod_index *index, struct entry *entry)
{
	watt_htab_remove(&index->containers, &entry->node);
	container_done(&entry->container);
	free(entry);
}

static uint64_t oldest_ns(const struct watt_pod_index *index)
{
	struct watt_htab_iter it = { 0 };
	struct watt_hnode *node;
	uint64_t oldest_ns = UINT64_MAX;

	while ((node = watt_htab_iterate(&index->containers, &it)))
		oldest_ns = WATT_MIN(oldest_ns,
				     watt_container_of(node, struct entry, node)->seen.mono_ns);
	return oldest_ns;
}

size_t watt_pod_index_forget(struct watt_pod_index *index, uint64_t before_ns)
{
	struct watt_htab_iter it = { 0 };
	struct watt_hnode *node;
	size_t n = 0;

	while ((node = watt_htab_iterate(&index->containers, &it))) {
		struct entry *entry = watt_container_of(node, struct entry, node);

		if (entry->seen.mono_ns >= before_ns)
			continue;
		remove_entry(index, entry);
		n++;
	}
	return n;
}

/* Without memory it is known all the same. */
static void tell_since(const struct entry *entry)
{
	time_t wall_s = (time_t)(entry->first.wall_ns / WATT_NSEC_PER_SEC);
	char text[32];
	struct tm tm;

	if (gmtime_r(&wall_s, &tm) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		set_text(entry->container.labels, "io.wattribute.knownSince", text);
}

/* 1: it is new; 0: it was known, or there is no memory to know it. */
static size_t put(struct watt_pod_index *index, struct watt_pod_container *take, size_t n_pending,
		  const struct watt_pod_stamp *now)
{
	struct entry *entry = find(index, key_of(take), !take->is.id);
	bool is_new = !entry;

	if (is_new) {
		entry = calloc(1, sizeof(*entry));
		if (!entry)
			return 0;
		entry->first = *now;
		watt_htab_insert(&index->containers, &entry->node, hash_text(key_of(take)));
	} else {
		container_done(&entry->container);
	}
	entry->container = *take;
	*take = (struct watt_pod_container){ 0 };
	entry->seen = *now;
	entry->n_pending = n_pending;
	tell_since(entry);
	return is_new;
}

/* For more than one, since all are looked at. */
static void make_room(struct watt_pod_index *index, uint64_t now_ns)
{
	uint64_t first_ns = oldest_ns(index);

	watt_pod_index_forget(index, first_ns + (now_ns - first_ns) / 8 + 1);
}

size_t watt_pod_index_take(struct watt_pod_index *index, struct watt_pod *pod,
			   const struct watt_pod_stamp *now)
{
	size_t i, n_new = 0;

	for (i = 0; i < pod->n; i++) {
		if (index->containers.n >= WATT_POD_CONTAINERS_MAX)
			make_room(index, now->mono_ns);
		n_new += put(index, &pod->containers[i], i ? 0 : pod->n_pending, now);
	}
	watt_pod_done(pod);
	return n_new;
}

void watt_pod_index_done(struct watt_pod_index *index)
{
	if (index->containers.buckets)
		watt_pod_index_forget(index, UINT64_MAX);
	watt_htab_done(&index->containers);
}

int watt_pod_index_find(const struct watt_pod_index *index, const char *id, struct watt_answer *ret)
{
	const struct entry *entry = find(index, id, false);

	return entry ? watt_state_keep(&entry->container.is, entry->container.labels, ret) :
		       -ENOENT;
}

int watt_pod_index_find_sandbox(const struct watt_pod_index *index, const char *pod_uid,
				const char *id, const char *runtime, struct watt_answer *ret)
{
	const struct entry *entry = find(index, pod_uid, true);
	struct watt_container is;

	if (!entry || entry->n_pending)
		return -ENOENT;
	is = entry->container.is;
	is.id = id;
	is.runtime = runtime;
	is.name = "POD";
	return watt_state_keep(&is, entry->container.labels, ret);
}
