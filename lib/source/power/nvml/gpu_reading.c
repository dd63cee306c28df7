/* SPDX-License-Identifier: Apache-2.0 */
/* Asks for one value by one way. It must not change a setting of a GPU. */
#include "source/power/nvml/gpu_reading.h"

#include <errno.h>

enum field {
	FIELD_ENERGY = 83,
	FIELD_AVERAGE = 185,
	FIELD_INSTANT = 186,
};

static int read_usage(struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu, int64_t *ret_mw)
{
	unsigned int power_mw;
	int code = nvml->api.power ? nvml->api.power(gpu->device, &power_mw) :
				     WATT_NVML_FUNCTION_NOT_FOUND;

	if (code == WATT_NVML_SUCCESS)
		*ret_mw = power_mw;
	return code;
}

static int read_counter(struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu, int64_t *ret_mj)
{
	int code = watt_nvml_read_field(nvml, gpu, FIELD_ENERGY, WATT_SCOPE_GPU, ret_mj);
	unsigned long long energy_mj;

	if (watt_nvml_error(code) != -EOPNOTSUPP && code != WATT_NVML_INVALID_ARGUMENT)
		return code;
	if (!nvml->api.energy)
		return code;
	code = nvml->api.energy(gpu->device, &energy_mj);
	if (code == WATT_NVML_SUCCESS && energy_mj > INT64_MAX)
		return WATT_NVML_NOT_SUPPORTED;
	if (code == WATT_NVML_SUCCESS)
		*ret_mj = (int64_t)energy_mj;
	return code;
}

static int read_any(struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu, int64_t *ret_mw)
{
	int code = watt_nvml_read_field(nvml, gpu, FIELD_INSTANT, WATT_SCOPE_GPU, ret_mw);

	if (watt_nvml_error(code) == -EOPNOTSUPP || code == WATT_NVML_INVALID_ARGUMENT)
		code = read_usage(nvml, gpu, ret_mw);
	return code;
}

int watt_gpu_read(struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu, enum watt_gpu_way way,
		  enum watt_gpu_scope scope, int64_t *ret)
{
	switch (way) {
	case WATT_WAY_COUNTER:
		return read_counter(nvml, gpu, ret);
	case WATT_WAY_INSTANT:
		return watt_nvml_read_field(nvml, gpu, FIELD_INSTANT, scope, ret);
	case WATT_WAY_AVERAGE:
		return watt_nvml_read_field(nvml, gpu, FIELD_AVERAGE, scope, ret);
	case WATT_WAY_USAGE:
		return read_usage(nvml, gpu, ret);
	case WATT_WAY_ANY:
		return read_any(nvml, gpu, ret);
	case WATT_WAY_NONE:
		break;
	}
	return WATT_NVML_NOT_SUPPORTED;
}
