/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The binary table of AMD's GPUs, device/gpu_metrics below class/drm. Its revisions have little in
 * common; what a field means and its unit are told by the revision. The kernel's layouts are in
 * drivers/gpu/drm/amd/include/kgd_pp_interface.h. Plain values, thread-safe.
 */
#ifndef WATT_SOURCE_POWER_AMDGPU_GPU_METRICS_H
#define WATT_SOURCE_POWER_AMDGPU_GPU_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More than any revision has. */
#define WATT_GPU_METRICS_SIZE 8192

enum watt_gpu_metric {
	WATT_GPU_METRIC_ENERGY = 0,    /* counter of 2^-16 J; of some cards 32 bits wide */
	WATT_GPU_METRIC_POWER = 1,     /* uW, of the card; of an APU, of the whole chip */
	WATT_GPU_METRIC_GFX_POWER = 2, /* uW, of the graphics in an APU alone */
	WATT_GPU_METRIC_LOAD = 3,      /* 1e-6 of the time */
	WATT_GPU_METRIC_MEMORY_LOAD = 4,
	WATT_GPU_METRIC_TEMPERATURE = 5, /* 0.001 degrees Celsius, of the edge of the die */
	WATT_GPU_METRIC_HOTSPOT = 6,
	WATT_GPU_METRIC_MEMORY_TEMPERATURE = 7,
	WATT_GPU_METRIC_CLOCK = 8, /* Hz */
	WATT_GPU_METRIC_MEMORY_CLOCK = 9,
	WATT_GPU_METRIC_FAN = 10,           /* turns per minute */
	WATT_GPU_METRIC_HELD_BY_POWER = 11, /* 1e6: clocks are lower for it; 0: they are not */
	WATT_GPU_METRIC_HELD_BY_HEAT = 12,
	WATT_GPU_N_METRICS = 13
};

struct watt_gpu_metrics {
	unsigned int format;  /* 1: a card; 2 and 3: an APU */
	unsigned int content; /* its revision */
	uint32_t has;         /* bits 1 << enum watt_gpu_metric */
	int64_t value[WATT_GPU_N_METRICS];
};

static inline bool watt_gpu_metrics_has(const struct watt_gpu_metrics *metrics,
					enum watt_gpu_metric metric)
{
	return metrics->has & (1u << metric);
}

/*
 * 0; -EBADMSG: it is no such table, or not as long as it says, or as its revision is; -EOPNOTSUPP:
 * of a revision that is not known here. Nothing is written then. A field of all ones is missing, as
 * the driver means it, and so is one whose unit the revision does not state.
 */
int watt_gpu_metrics_parse(const void *data, size_t len, struct watt_gpu_metrics *ret);

#endif
