/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of meta: what its files share. One thread per object. */
#ifndef WATT_SOURCE_META_META_H
#define WATT_SOURCE_META_META_H

#include "source/host/cgroupfs.h"
#include "source/source.h"

struct watt_cgroup_node;

struct watt_meta {
	const struct watt_env *env;
	long hz;
	struct watt_cgroupfs cgroupfs;
	const char *v1_main; /* controller of the v1 hierarchy with the most cgroups; NULL: none */
	struct watt_cgroup_node **cgroups; /* hash table of n_buckets chains */
	size_t n_buckets;
	size_t n_cgroups;
};

/* Frees the table of cgroups and all that is in it. */
void watt_cgroups_done(struct watt_meta *meta);

#endif
