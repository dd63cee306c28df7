/* SPDX-License-Identifier: Apache-2.0 */
/* One line for each gauge, named as those of other GPUs. */
#include "source/power/amdgpu/amdgpu_gauge.h"

#define NO_METRIC WATT_GPU_N_METRICS

/* clang-format off */
const struct watt_amdgpu_gauge watt_amdgpu_gauges[WATT_N_AMDGPU_GAUGES] = {
	{ "load", WATT_QUANTITY_RATIO, WATT_GPU_METRIC_LOAD, "gpu_busy_percent", false, 10000 },
	{ "memory_load", WATT_QUANTITY_RATIO, WATT_GPU_METRIC_MEMORY_LOAD, "mem_busy_percent", false, 10000 },
	{ "memory_used", WATT_QUANTITY_MEMORY, NO_METRIC, "mem_info_vram_used", false, 1 },
	{ "temperature", WATT_QUANTITY_TEMPERATURE, WATT_GPU_METRIC_TEMPERATURE, "temp1_input", true, 1 },
	{ "hotspot_temperature", WATT_QUANTITY_TEMPERATURE, WATT_GPU_METRIC_HOTSPOT, "temp2_input", true, 1 },
	{ "memory_temperature", WATT_QUANTITY_TEMPERATURE, WATT_GPU_METRIC_MEMORY_TEMPERATURE, "temp3_input", true, 1 },
	{ "clock", WATT_QUANTITY_FREQUENCY, WATT_GPU_METRIC_CLOCK, "freq1_input", true, 1 },
	{ "memory_clock", WATT_QUANTITY_FREQUENCY, WATT_GPU_METRIC_MEMORY_CLOCK, "freq2_input", true, 1 },
	{ "fan", WATT_QUANTITY_SPEED, WATT_GPU_METRIC_FAN, "fan1_input", true, 1 },
	{ "power_limit", WATT_QUANTITY_LIMIT, NO_METRIC, "power1_cap", true, 1 },
	{ "held_by_power", WATT_QUANTITY_RATIO, WATT_GPU_METRIC_HELD_BY_POWER, NULL, false, 0 },
	{ "held_by_heat", WATT_QUANTITY_RATIO, WATT_GPU_METRIC_HELD_BY_HEAT, NULL, false, 0 },
};
/* clang-format on */
