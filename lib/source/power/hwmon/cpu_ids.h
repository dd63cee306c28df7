/* SPDX-License-Identifier: Apache-2.0 */
/* Turns "socket 1" and "core 17" of sensors into the kernel's ids. One thread per object. */
#ifndef WATT_SOURCE_POWER_HWMON_CPU_IDS_H
#define WATT_SOURCE_POWER_HWMON_CPU_IDS_H

#include <stddef.h>
#include <stdint.h>

#include "source/source.h"

struct watt_cpu_core {
	int32_t package_id;
	int32_t die_id;
	int32_t core_id;
};

struct watt_cpu_ids {
	int32_t *packages; /* ascending */
	size_t n_packages;
	struct watt_cpu_core *cores; /* in the order of their first CPU */
	size_t n_cores;
};

/* Of the CPUs that are or were online. 0, -ENOMEM. */
int watt_cpu_ids_read(const struct watt_env *env, struct watt_cpu_ids *ret);
void watt_cpu_ids_done(struct watt_cpu_ids *ids);
/* Id of the n-th package; n itself if there are fewer. */
int32_t watt_cpu_ids_package(const struct watt_cpu_ids *ids, uint32_t n);

#endif
