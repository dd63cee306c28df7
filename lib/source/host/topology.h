/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which package, die and core each CPU is in, and the split of the CPUs that the energy counters
 * of this machine call for. Immutable once read; any thread may read it.
 */
#ifndef WATT_SOURCE_HOST_TOPOLOGY_H
#define WATT_SOURCE_HOST_TOPOLOGY_H

#include "source/source.h"

struct watt_topology_cpu {
	int32_t package_id;
	int32_t die_id;  /* in its package */
	int32_t core_id; /* in its package, on some machines in its die; -1: not known */
	bool is_online;
	bool is_known; /* an offline CPU that never was online is in no package yet */
};

struct watt_topology {
	struct watt_topology_cpu *cpus;
	uint32_t n_cpus; /* possible ones */
};

#define WATT_TOPOLOGY_INIT \
	{ \
		0 \
	}

/*
 * Reads it from sysfs. What is missing there is package 0, die 0; what makes no sense too, with a
 * warning. Without a list of CPUs it takes the number of those that run this program. 0, -ENOMEM.
 */
int watt_topology_open(const struct watt_env *env, struct watt_topology *ret);
/* The same without a word: who asks beside others does not say it again. */
int watt_topology_open_quietly(const struct watt_env *env, struct watt_topology *ret);
void watt_topology_done(struct watt_topology *topology);

/*
 * The coarsest split in which every domain that a channel measures is a set of whole slots: by
 * core if a channel is of one core, else by die, by package, or not at all. *ret_places has one
 * place per slot, in the order of package, die and core; free() it, and the map by
 * watt_cpu_map_done. CPUs that are in no package yet have WATT_SLOT_NONE, and there are
 * slots without a place (-1, -1, -1) behind the others for them. Where there is one place only, its
 * slot has none either, and everything: the map is whole. 0, -ENOMEM.
 */
int watt_cpu_map_build(const struct watt_topology *topology,
		       const struct watt_channel *const *channels, size_t n_channels,
		       struct watt_cpu_map *ret, struct watt_cpu_place **ret_places);
/*
 * A CPU without a slot is online: takes the slot of its place, or the first one that has none,
 * which has its place then; in a map that was whole, so has the first one, if it is not its own.
 * 0; -ENODEV: nobody knows where it is; -ENOSPC: no slot is left.
 */
int watt_cpu_map_join(const struct watt_env *env, uint32_t cpu, struct watt_cpu_map *map,
		      struct watt_cpu_place *places);
void watt_cpu_map_done(struct watt_cpu_map *map);

#endif
