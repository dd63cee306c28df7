/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a GPU of NVIDIA's is like while it uses energy: temperatures, clocks, how busy and how full
 * it is, the power that it may take, and what holds it back. Nobody is accounted for any of it.
 * What they need of the driver is the caller's; each call may take long.
 */
#ifndef WATT_SOURCE_POWER_NVML_GPU_GAUGE_H
#define WATT_SOURCE_POWER_NVML_GPU_GAUGE_H

#include <wattribute/types.h>

#include "source/host/nvml.h"

#define WATT_N_GPU_GAUGES 9

struct watt_gpu_gauge {
	const char *part; /* of the channel's name */
	/* What the driver returned. */
	int (*read)(struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu, int64_t *ret);
	uint64_t scale_num; /* to the canonical unit */
	enum watt_quantity quantity;
	bool is_signed;
};

extern const struct watt_gpu_gauge watt_gpu_gauges[WATT_N_GPU_GAUGES];

#endif
