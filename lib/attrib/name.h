/* SPDX-License-Identifier: Apache-2.0 */
/* What an entity is called: immutable, shared by the ledger and by snapshots in other threads. */
#ifndef WATT_ATTRIB_NAME_H
#define WATT_ATTRIB_NAME_H

#include <stdbool.h>

#include <wattribute/entity.h>

#include "base/refcount.h"

struct watt_name {
	struct watt_refcount refs;
	bool has_identity;
	bool has_cgroup;
	bool has_container;
	bool has_program; /* the executable is known */
	uint64_t program; /* hash of the executable, or of what stands for it; 0: no process */
	/* Of a process or a cgroup: the same number in every session, which tells it from others. */
	uint64_t number;
	const char *text; /* never NULL */
	struct watt_identity identity;
	union { /* one or the other */
		struct watt_cgroup cgroup;
		struct watt_container container;
	};
	_Alignas(struct watt_label) char storage[];
};

/* Each copies its strings. NULL: no memory. */
struct watt_name *watt_name_new(const char *text);
struct watt_name *watt_name_new_identity(const struct watt_identity *identity);
struct watt_name *watt_name_new_cgroup(const struct watt_cgroup *cgroup);
/* Called by the container's name, or else its id. */
struct watt_name *watt_name_new_container(const struct watt_container *from);
/* Of its pod alone: called by namespace and name, or else its uid. */
struct watt_name *watt_name_new_pod(const struct watt_container *from);
struct watt_name *watt_name_ref(struct watt_name *name);
/* Accepts NULL; returns NULL. */
struct watt_name *watt_name_unref(struct watt_name *name);

#endif
