/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The samples of power that the driver of a GPU keeps by itself, each with its own time: where it
 * tells power in no better way. They are fetched together, and handed on one by one. Each call of
 * the driver may take long. One thread per object.
 */
#ifndef WATT_SOURCE_POWER_NVML_GPU_BUFFER_H
#define WATT_SOURCE_POWER_NVML_GPU_BUFFER_H

#include "source/host/nvml.h"

struct watt_gpu_buffer;

/*
 * Those that are there now are over: they only tell how often there is one. What the driver
 * returned; NOT_SUPPORTED also where they make no sense.
 */
int watt_gpu_buffer_open(struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu,
			 struct watt_gpu_buffer **ret);
/* Accepts NULL; returns NULL. */
struct watt_gpu_buffer *watt_gpu_buffer_close(struct watt_gpu_buffer *buffer);
/* How often there is a new one. */
uint64_t watt_gpu_buffer_period_ns(const struct watt_gpu_buffer *buffer);
/*
 * The oldest that was not handed on yet, in mW, and when it was taken, CLOCK_MONOTONIC. What the
 * driver returned; NO_DATA: there is none since the last one.
 */
int watt_gpu_buffer_take(struct watt_gpu_buffer *buffer, struct watt_nvml *nvml,
			 const struct watt_nvml_gpu *gpu, int64_t *ret_mw, uint64_t *ret_ns);
/* Whether there are more that need no call of the driver. */
bool watt_gpu_buffer_has_more(const struct watt_gpu_buffer *buffer);

#endif
