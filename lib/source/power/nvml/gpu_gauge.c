/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One function for each gauge, and the table of them. The bits of what holds a GPU back are three
 * gauges, since a mean of bits means nothing and the share of time that one was set does. It must
 * not change a setting of a GPU.
 */
#include "source/power/nvml/gpu_gauge.h"

enum {
	SENSOR_DIE = 0,
	CLOCK_SM = 1,
	CLOCK_MEMORY = 2,
	FIELD_MEMORY_TEMPERATURE = 82,
};

/* Why clocks are lower than they could be. */
enum reason {
	REASON_POWER_CAP = 0x4,
	REASON_SLOWDOWN = 0x8, /* by the hardware, whatever the cause */
	REASON_THERMAL_SOFTWARE = 0x20,
	REASON_THERMAL_HARDWARE = 0x40,
	REASON_POWER_BRAKE = 0x80,
};

static int read_temperature(struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu, int64_t *ret)
{
	unsigned int degrees;
	int code = nvml->api.temperature ?
			   nvml->api.temperature(gpu->device, SENSOR_DIE, &degrees) :
			   WATT_NVML_FUNCTION_NOT_FOUND;

	if (code == WATT_NVML_SUCCESS)
		*ret = (int32_t)degrees;
	return code;
}

static int read_memory_temperature(struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu,
				   int64_t *ret)
{
	return watt_nvml_read_field(nvml, gpu, FIELD_MEMORY_TEMPERATURE, 0, ret);
}

static int read_clock(struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu, int which,
		      int64_t *ret)
{
	unsigned int mhz;
	int code = nvml->api.clock ? nvml->api.clock(gpu->device, which, &mhz) :
				     WATT_NVML_FUNCTION_NOT_FOUND;

	if (code == WATT_NVML_SUCCESS)
		*ret = mhz;
	return code;
}

static int read_sm_clock(struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu, int64_t *ret)
{
	return read_clock(nvml, gpu, CLOCK_SM, ret);
}

static int read_memory_clock(struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu, int64_t *ret)
{
	return read_clock(nvml, gpu, CLOCK_MEMORY, ret);
}

static int read_load(struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu, int64_t *ret)
{
	uint32_t percents[2];
	int code = nvml->api.utilization ? nvml->api.utilization(gpu->device, percents) :
					   WATT_NVML_FUNCTION_NOT_FOUND;

	if (code == WATT_NVML_SUCCESS)
		*ret = percents[0];
	return code;
}

static int read_memory(struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu, int64_t *ret)
{
	struct watt_nvml_memory memory = { 0 };
	int code = nvml->api.memory ? nvml->api.memory(gpu->device, &memory) :
				      WATT_NVML_FUNCTION_NOT_FOUND;

	if (code == WATT_NVML_SUCCESS && memory.used > INT64_MAX)
		return WATT_NVML_NOT_SUPPORTED;
	if (code == WATT_NVML_SUCCESS)
		*ret = (int64_t)memory.used;
	return code;
}

static int read_limit(struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu, int64_t *ret)
{
	unsigned int limit_mw;
	int code = nvml->api.enforced_limit ? nvml->api.enforced_limit(gpu->device, &limit_mw) :
					      WATT_NVML_FUNCTION_NOT_FOUND;

	if (code == WATT_NVML_SUCCESS)
		*ret = limit_mw;
	return code;
}

/* The function was renamed. */
static int read_reasons(struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu,
			unsigned long long reasons, int64_t *ret)
{
	int (*read)(void *, unsigned long long *) =
		nvml->api.event_reasons ? nvml->api.event_reasons : nvml->api.throttle_reasons;
	unsigned long long set;
	int code = read ? read(gpu->device, &set) : WATT_NVML_FUNCTION_NOT_FOUND;

	if (code == WATT_NVML_SUCCESS)
		*ret = (set & reasons) != 0;
	return code;
}

static int read_power_capped(struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu, int64_t *ret)
{
	return read_reasons(nvml, gpu, REASON_POWER_CAP | REASON_POWER_BRAKE, ret);
}

static int read_too_hot(struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu, int64_t *ret)
{
	return read_reasons(nvml, gpu,
			    REASON_SLOWDOWN | REASON_THERMAL_SOFTWARE | REASON_THERMAL_HARDWARE,
			    ret);
}

#define PERCENT 10000
#define ALWAYS 1000000
#define MEGA 1000000

const struct watt_gpu_gauge watt_gpu_gauges[WATT_N_GPU_GAUGES] = {
	{ "load", read_load, PERCENT, WATT_QUANTITY_RATIO, false },
	{ "memory_used", read_memory, 1, WATT_QUANTITY_MEMORY, false },
	{ "temperature", read_temperature, 1000, WATT_QUANTITY_TEMPERATURE, true },
	{ "memory_temperature", read_memory_temperature, 1000, WATT_QUANTITY_TEMPERATURE, true },
	{ "clock", read_sm_clock, MEGA, WATT_QUANTITY_FREQUENCY, false },
	{ "memory_clock", read_memory_clock, MEGA, WATT_QUANTITY_FREQUENCY, false },
	{ "power_limit", read_limit, 1000, WATT_QUANTITY_LIMIT, false },
	{ "held_by_power", read_power_capped, ALWAYS, WATT_QUANTITY_RATIO, false },
	{ "held_by_heat", read_too_hot, ALWAYS, WATT_QUANTITY_RATIO, false },
};
