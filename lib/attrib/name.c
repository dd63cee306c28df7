/* SPDX-License-Identifier: Apache-2.0 */
/* Names in one allocation each, counted by reference. */
#include "attrib/name.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	name->identity.comm[sizeof(name->identity.comm) - 1] = '\0';
	name->identity.exe = store(&cursor, identity->exe);
	name->identity.cmdline = store(&cursor, identity->cmdline);
	name->identity.vm_name = store(&cursor, identity->vm_name);
	name->identity.hypervisor = store(&cursor, identity->hypervisor);
	name->text = identity->vm_name ? name->identity.vm_name : name->identity.comm;
	return name;
}

struct watt_name *watt_name_new_cgroup(const struct watt_cgroup *cgroup)
{
	struct watt_name *name;
	char unknown[40], *cursor;

	snprintf(unknown, sizeof(unknown), "cgroup %" PRIu64, cgroup->id);
	name = name_alloc(room(cgroup->path) + room(cgroup->runtime) + room(cgroup->container) +
			  room(cgroup->pod_uid) + room(cgroup->unit) + room(cgroup->user_unit) +
			  room(unknown));
	if (!name)
		return NULL;
	cursor = name->storage;
	name->has_cgroup = true;
	name->cgroup = *cgroup;
	name->cgroup.path = store(&cursor, cgroup->path);
	name->cgroup.runtime = store(&cursor, cgroup->runtime);
	name->cgroup.container = store(&cursor, cgroup->container);
	name->cgroup.pod_uid = store(&cursor, cgroup->pod_uid);
	name->cgroup.unit = store(&cursor, cgroup->unit);
	name->cgroup.user_unit = store(&cursor, cgroup->user_unit);
	name->text = name->cgroup.path ? name->cgroup.path : store(&cursor, unknown);
	return name;
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
