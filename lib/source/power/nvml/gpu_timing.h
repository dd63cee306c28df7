/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the sensors of a generation of GPUs, where nobody has measured the card. */
#ifndef WATT_SOURCE_POWER_NVML_GPU_TIMING_H
#define WATT_SOURCE_POWER_NVML_GPU_TIMING_H

#include <stdbool.h>
#include <stdint.h>

struct watt_gpu_timing {
	uint64_t period_ns; /* a new value so often */
	uint64_t window_ns; /* the mean over so long */
	uint32_t coverage_ppm;
	uint32_t uncertainty_ppm;
	uint64_t delay_ns; /* from the end of the window to when it can be read; 0: not known */
};

/* What the driver calls them. */
enum watt_gpu_architecture {
	WATT_GPU_KEPLER = 2,
	WATT_GPU_MAXWELL = 3,
	WATT_GPU_PASCAL = 4,
	WATT_GPU_VOLTA = 5,
	WATT_GPU_TURING = 6,
	WATT_GPU_AMPERE = 7,
	WATT_GPU_ADA = 8,
	WATT_GPU_HOPPER = 9,
};

/* Of its power at an instant. has_average: the driver has a mean over 1 s, too. Thread-safe. */
struct watt_gpu_timing watt_gpu_timing_instant(unsigned int architecture, bool has_average);
/* Of the mean over 1 s, and of the counter of energy. Thread-safe. */
struct watt_gpu_timing watt_gpu_timing_average(void);
struct watt_gpu_timing watt_gpu_timing_counter(unsigned int architecture);

#endif
