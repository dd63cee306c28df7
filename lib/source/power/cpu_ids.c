/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packages and cores of the machine in the order in which sensors count them, from the
 * topology files of each CPU. It must not care what they are used for.
 */
#include "source/power/cpu_ids.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define CPU_DIR "devices/system/cpu"

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

static int add_core(struct watt_cpu_ids *ids, size_t *cap, const struct watt_cpu_core *core)
{
	size_t i;
	int r;

	for (i = 0; i < ids->n_cores; i++)
		if (ids->cores[i].package_id == core->package_id &&
		    ids->cores[i].core_id == core->core_id)
			return 0;
	r = watt_grow((void **)&ids->cores, cap, ids->n_cores, sizeof(*ids->cores));
	if (r < 0)
		return r;
	ids->cores[ids->n_cores++] = *core;
	return 0;
}

static bool read_core(const struct watt_root *sysfs, const char *cpu, struct watt_cpu_core *ret)
{
	char path[160];
	int64_t package, core;

	snprintf(path, sizeof(path), CPU_DIR "/%s/topology/physical_package_id", cpu);
	if (watt_root_read_i64(sysfs, path, &package) < 0 || package < 0 || package > INT32_MAX)
		return false;
	snprintf(path, sizeof(path), CPU_DIR "/%s/topology/core_id", cpu);
	if (watt_root_read_i64(sysfs, path, &core) < 0 || core < 0 || core > INT32_MAX)
		return false;
	*ret = (struct watt_cpu_core){ (int32_t)package, (int32_t)core };
	return true;
}

int watt_cpu_ids_read(const struct watt_root *sysfs, struct watt_cpu_ids *ret)
{
	struct watt_names names = WATT_NAMES_INIT;
	size_t packages_cap = 0, cores_cap = 0, i;
	struct watt_cpu_ids ids = { 0 };
	struct watt_cpu_core core;
	int r;

	r = watt_root_list(sysfs, CPU_DIR, "cpu", &names);
	if (r == -ENOMEM)
		return r;
	for (i = 0, r = 0; i < names.n && r == 0; i++) {
		if (!read_core(sysfs, names.name[i], &core))
			continue;
		r = add_package(&ids, &packages_cap, core.package_id);
		if (r == 0)
			r = add_core(&ids, &cores_cap, &core);
	}
	watt_names_free(&names);
	if (r == 0 && ids.n_packages == 0)
		r = add_package(&ids, &packages_cap, 0);
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
