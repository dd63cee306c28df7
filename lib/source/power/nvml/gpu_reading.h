/* SPDX-License-Identifier: Apache-2.0 */
/* The ways in which the driver tells what a GPU takes. Each call may take long. */
#ifndef WATT_SOURCE_POWER_NVML_GPU_READING_H
#define WATT_SOURCE_POWER_NVML_GPU_READING_H

#include "source/host/nvml.h"

enum watt_gpu_scope {
	WATT_SCOPE_GPU = 0,
	WATT_SCOPE_MODULE = 1,
	WATT_SCOPE_MEMORY = 2,
	WATT_N_SCOPES = 3,
};

/* Best first. */
enum watt_gpu_way {
	WATT_WAY_NONE = 0,
	WATT_WAY_COUNTER = 1, /* field or function, what the driver has */
	WATT_WAY_INSTANT = 2,
	WATT_WAY_AVERAGE = 3,
	WATT_WAY_USAGE = 4,  /* nvmlDeviceGetPowerUsage: what it means depends on the GPU */
	WATT_WAY_ANY = 5,    /* of one that slept: the first power that it has */
	WATT_WAY_BUFFER = 6, /* the samples that the driver keeps: gpu_buffer.h reads them */
};

/* One value that is asked for, and what the driver said. */
struct watt_gpu_question {
	enum watt_gpu_way way;
	enum watt_gpu_scope scope;
	int64_t value; /* mW, or mJ of a counter */
	int code;      /* what the driver returned for it */
};

#define WATT_GPU_MAX_QUESTIONS 8

/*
 * Answers all, at most WATT_GPU_MAX_QUESTIONS, by one call of the driver where it can: what comes
 * together is of one time.
 */
void watt_gpu_ask(struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu,
		  struct watt_gpu_question *list, uint32_t n);
/* mW, or mJ of a counter. What the driver returned. */
int watt_gpu_read(struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu, enum watt_gpu_way way,
		  enum watt_gpu_scope scope, int64_t *ret);

#endif
