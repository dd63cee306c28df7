/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packages and cores of the machine in the order in which sensors count them, from the
 * topology. It must not care what they are used for.
 */
#include "source/power/hwmon/cpu_ids.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "source/host/topology.h"

static int add_package(struct watt_cpu_ids *ids, size_t *cap, int32_t id)
{
	size_t i, at = 0;
	int r;

	while (at < ids->n_packages && ids->packages[at] < id)
		at++;
	if (at < ids->n_packages && ids->packages[at] == id)
		return 0;
	r = watt_grow((void **)&ids->packages, cap, ids->n_packages, sizeof(*ids->packages));
	if (r < 0)
		return r;
	for (i = ids->n_packages; i > at; i--)
		ids->packages[i] = ids->packages[i - 1];
	ids->packages[at] = id;
	ids->n_packages++;
	return 0;
}

static int add_core(struct watt_cpu_ids *ids, size_t *cap, const struct watt_topology_cpu *cpu)
{
	struct watt_cpu_core core = { cpu->package_id, cpu->die_id, cpu->core_id };
	size_t i;
	int r;

	if (core.core_id < 0)
		return 0;
	for (i = 0; i < ids->n_cores; i++)
		if (ids->cores[i].package_id == core.package_id &&
		    ids->cores[i].die_id == core.die_id && ids->cores[i].core_id == core.core_id)
			return 0;
	r = watt_grow((void **)&ids->cores, cap, ids->n_cores, sizeof(*ids->cores));
	if (r < 0)
		return r;
	ids->cores[ids->n_cores++] = core;
	return 0;
}

int watt_cpu_ids_read(const struct watt_env *env, struct watt_cpu_ids *ret)
{
	struct watt_topology topology = WATT_TOPOLOGY_INIT;
	size_t packages_cap = 0, cores_cap = 0;
	struct watt_cpu_ids ids = { 0 };
	uint32_t i;
	int r;

	r = watt_topology_open_quietly(env, &topology);
	for (i = 0; i < topology.n_cpus && r == 0; i++) {
		if (!topology.cpus[i].is_known)
			continue;
		r = add_package(&ids, &packages_cap, topology.cpus[i].package_id);
		if (r == 0)
			r = add_core(&ids, &cores_cap, &topology.cpus[i]);
	}
	watt_topology_done(&topology);
	if (r < 0) {
		watt_cpu_ids_done(&ids);
		return r;
	}
	*ret = ids;
	return 0;
}

void watt_cpu_ids_done(struct watt_cpu_ids *ids)
{
	free(ids->packages);
	free(ids->cores);
	*ids = (struct watt_cpu_ids){ 0 };
}

int32_t watt_cpu_ids_package(const struct watt_cpu_ids *ids, uint32_t n)
{
	return n < ids->n_packages ? ids->packages[n] : (int32_t)n;
}
