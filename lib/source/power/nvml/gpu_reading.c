/* SPDX-License-Identifier: Apache-2.0 */
/* Asks for one value by one way. It must not change a setting of a GPU. */
#include "source/power/nvml/gpu_reading.h"

#include <errno.h>

enum field {
	FIELD_ENERGY = 83,
	FIELD_AVERAGE = 185,
	FIELD_INSTANT = 186,
};

/* What is no field of this driver may have a function of its own. */
static bool is_unknown_field(int code)
{
	return watt_nvml_error(code) == -EOPNOTSUPP || code == WATT_NVML_INVALID_ARGUMENT;
}

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

	if (!is_unknown_field(code))
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

	if (is_unknown_field(code))
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
	case WATT_WAY_BUFFER:
		break;
	}
	return WATT_NVML_NOT_SUPPORTED;
}

/* The field that it is; 0: none. */
static uint32_t field_of(enum watt_gpu_way way)
{
	switch (way) {
	case WATT_WAY_COUNTER:
		return FIELD_ENERGY;
	case WATT_WAY_INSTANT:
		return FIELD_INSTANT;
	case WATT_WAY_AVERAGE:
		return FIELD_AVERAGE;
	default:
		return 0;
	}
}

static void take_field(const struct watt_nvml_field *field, struct watt_gpu_question *question)
{
	question->code = field->result;
	if (field->result == WATT_NVML_SUCCESS &&
	    watt_nvml_field_value(field, &question->value) < 0)
		question->code = WATT_NVML_NOT_SUPPORTED;
}

void watt_gpu_ask(struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu,
		  struct watt_gpu_question *list, uint32_t n)
{
	struct watt_nvml_field fields[WATT_GPU_MAX_QUESTIONS];
	struct watt_gpu_question *of[WATT_GPU_MAX_QUESTIONS];
	int n_fields = 0, code = WATT_NVML_FUNCTION_NOT_FOUND, i;
	uint32_t k;

	for (k = 0; k < n; k++) {
		list[k].code = WATT_NVML_FUNCTION_NOT_FOUND;
		if (!field_of(list[k].way))
			continue;
		fields[n_fields] = (struct watt_nvml_field){ .id = field_of(list[k].way),
							     .scope = list[k].scope,
							     .type = -1 };
		of[n_fields++] = &list[k];
	}
	if (n_fields && nvml->api.fields)
		code = nvml->api.fields(gpu->device, n_fields, fields);
	for (i = 0; i < n_fields; i++) {
		of[i]->code = code;
		if (code == WATT_NVML_SUCCESS)
			take_field(&fields[i], of[i]);
	}
	for (k = 0; k < n; k++)
		if (!field_of(list[k].way) ||
		    (list[k].way == WATT_WAY_COUNTER && is_unknown_field(list[k].code)))
			list[k].code = watt_gpu_read(nvml, gpu, list[k].way, list[k].scope,
						     &list[k].value);
}
