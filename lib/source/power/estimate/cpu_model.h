/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a logical CPU takes, by its microarchitecture: the watts of its kind from a table, or from
 * the user's file. Pure functions. Thread-safe.
 */
#ifndef WATT_SOURCE_POWER_ESTIMATE_CPU_MODEL_H
#define WATT_SOURCE_POWER_ESTIMATE_CPU_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "base/util.h"
#include "source/config/config.h"
#include "source/power/cpuinfo.h"

/* power = idle_uw + (full_uw - idle_uw) * utilisation; idle_uw <= full_uw. */
struct watt_cpu_model {
	const char *name; /* of the microarchitecture; lives as long as the configuration */
	uint32_t idle_uw;
	uint32_t full_uw;
	uint32_t uncertainty_ppm;
};

/* Always finds one: the user's first that matches, else the table's, else a generic one. */
void watt_cpu_model_find(const struct watt_cpuinfo *info, const struct watt_config *config,
			 struct watt_cpu_model *ret);

/* Energy in fJ (uW * ns) of one CPU that was online for online_ns and busy for busy_ns of it. */
watt_u128 watt_cpu_model_energy_fj(const struct watt_cpu_model *model, uint64_t online_ns,
				   uint64_t busy_ns);

#endif
