/* SPDX-License-Identifier: Apache-2.0 */
/* Names in one allocation each, counted by reference. */
#include "attrib/name.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/util.h"

static struct watt_name *name_alloc(size_t storage)
{
	struct watt_name *name = calloc(1, sizeof(*name) + storage);

	if (name)
		watt_refcount_init(&name->refs);
	return name;
}

static size_t room(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

/* Copies text to *cursor and moves it on; NULL stays NULL. */
static const char *store(char **cursor, const char *text)
{
	char *copy = *cursor;

	if (!text)
		return NULL;
	*cursor = stpcpy(copy, text) + 1;
	return copy;
}

struct watt_name *watt_name_new(const char *text)
{
	struct watt_name *name = name_alloc(room(text));
	char *cursor;

	if (!name)
		return NULL;
	cursor = name->storage;
	name->text = store(&cursor, text);
	return name;
}

static uint64_t hash_text(const char *text)
{
	uint64_t hash = 0;

	for (; *text; text++)
		hash = watt_hash_u64(hash ^ (unsigned char)*text);
	return hash;
}

struct watt_name *watt_name_new_identity(const struct watt_identity *identity)
{
	struct watt_name *name;
	char *cursor;

	name = name_alloc(room(identity->exe) + room(identity->cmdline) + room(identity->vm_name) +
			  room(identity->hypervisor));
	if (!name)
		return NULL;
	cursor = name->storage;
	name->has_identity = true;
	name->identity = *identity;
	name->identity.sz = sizeof(name->identity);
	name->identity.comm[sizeof(name->identity.comm) - 1] = '\0';
	name->identity.exe = store(&cursor, identity->exe);
	name->identity.cmdline = store(&cursor, identity->cmdline);
	name->identity.vm_name = store(&cursor, identity->vm_name);
	name->identity.hypervisor = store(&cursor, identity->hypervisor);
	name->text = identity->vm_name ? name->identity.vm_name : name->identity.comm;
	name->number = watt_hash_u64(identity->pid ^ watt_hash_u64(identity->start_ns));
	name->has_program = identity->exe;
	name->program = hash_text(identity->exe ? identity->exe : name->identity.comm);
	return name;
}

struct watt_name *watt_name_new_cgroup(const struct watt_cgroup *cgroup)
{
	struct watt_name *name;
	char unknown[40], *cursor;

	snprintf(unknown, sizeof(unknown), "cgroup %" PRIu64, cgroup->id);
	name = name_alloc(room(cgroup->path) + room(cgroup->runtime) + room(cgroup->container) +
			  room(cgroup->pod_uid) + room(cgroup->unit) + room(cgroup->user_unit) +
			  room(cgroup->job) + room(unknown));
	if (!name)
		return NULL;
	cursor = name->storage;
	name->has_cgroup = true;
	name->number = cgroup->id;
	name->cgroup = *cgroup;
	name->cgroup.sz = sizeof(name->cgroup);
	name->cgroup.path = store(&cursor, cgroup->path);
	name->cgroup.runtime = store(&cursor, cgroup->runtime);
	name->cgroup.container = store(&cursor, cgroup->container);
	name->cgroup.pod_uid = store(&cursor, cgroup->pod_uid);
	name->cgroup.unit = store(&cursor, cgroup->unit);
	name->cgroup.user_unit = store(&cursor, cgroup->user_unit);
	name->cgroup.job = store(&cursor, cgroup->job);
	name->text = name->cgroup.path ? name->cgroup.path : store(&cursor, unknown);
	return name;
}

static size_t labels_size(const struct watt_container *container)
{
	size_t i, size = container->n_labels * sizeof(struct watt_label);

	for (i = 0; i < container->n_labels; i++)
		size += room(container->labels[i].key) + room(container->labels[i].value);
	return size;
}

static void store_labels(char **cursor, struct watt_label *to, struct watt_container *container)
{
	uint32_t i;

	for (i = 0; i < container->n_labels; i++) {
		to[i].key = store(cursor, container->labels[i].key);
		to[i].value = store(cursor, container->labels[i].value);
	}
	container->labels = container->n_labels ? to : NULL;
}

struct watt_name *watt_name_new_container(const struct watt_container *from)
{
	struct watt_container *container;
	struct watt_name *name;
	char *cursor;

	name = name_alloc(labels_size(from) + room(from->id) + room(from->runtime) +
			  room(from->name) + room(from->image) + room(from->pod_uid) +
			  room(from->pod_name) + room(from->pod_namespace) + room(""));
	if (!name)
		return NULL;
	cursor = name->storage + from->n_labels * sizeof(struct watt_label);
	name->has_container = true;
	container = &name->container;
	*container = *from;
	container->sz = sizeof(*container);
	store_labels(&cursor, (struct watt_label *)(void *)name->storage, container);
	container->id = store(&cursor, from->id);
	container->runtime = store(&cursor, from->runtime);
	container->name = store(&cursor, from->name);
	container->image = store(&cursor, from->image);
	container->pod_uid = store(&cursor, from->pod_uid);
	container->pod_name = store(&cursor, from->pod_name);
	container->pod_namespace = store(&cursor, from->pod_namespace);
	name->text = container->name ? container->name :
		     container->id   ? container->id :
				       store(&cursor, "");
	return name;
}

struct watt_name *watt_name_new_pod(const struct watt_container *from)
{
	struct watt_container pod = { .pod_uid = from->pod_uid,
				      .pod_name = from->pod_name,
				      .pod_namespace = from->pod_namespace };
	_cleanup_free_ char *text = NULL;

	if (!from->pod_name)
		text = strdup(from->pod_uid);
	else if (asprintf(&text, "%s%s%s", from->pod_namespace ? from->pod_namespace : "",
			  from->pod_namespace ? "/" : "", from->pod_name) < 0)
		text = NULL;
	if (!text)
		return NULL;
	pod.name = text;
	return watt_name_new_container(&pod);
}

struct watt_name *watt_name_ref(struct watt_name *name)
{
	watt_refcount_get(&name->refs);
	return name;
}

struct watt_name *watt_name_unref(struct watt_name *name)
{
	if (name && watt_refcount_put(&name->refs))
		free(name);
	return NULL;
}
