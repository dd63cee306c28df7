/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a GPU of AMD's is like while it uses energy, and where its driver tells it: in the table, or
 * in a file of its own. Nobody is accounted for any of it. Immutable.
 */
#ifndef WATT_SOURCE_POWER_AMDGPU_AMDGPU_GAUGE_H
#define WATT_SOURCE_POWER_AMDGPU_AMDGPU_GAUGE_H

#include <wattribute/types.h>

#include "source/power/amdgpu/gpu_metrics.h"

#define WATT_N_AMDGPU_GAUGES 12

struct watt_amdgpu_gauge {
	const char *part; /* of the channel's name */
	enum watt_quantity quantity;
	enum watt_gpu_metric metric; /* WATT_GPU_N_METRICS: the table has none */
	const char *file;            /* of the device, where the table does not tell; NULL: none */
	bool is_hwmon;               /* the file is in the device's hwmonN */
	int64_t mul;                 /* of the file, to the canonical unit */
};

extern const struct watt_amdgpu_gauge watt_amdgpu_gauges[WATT_N_AMDGPU_GAUGES];

#endif
