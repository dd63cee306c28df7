/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver's values are: their types and its errors. It must not call the driver. */
#include <errno.h>

#include "base/util.h"
#include "source/host/nvml.h"

/* valueType */
enum type {
	TYPE_DOUBLE = 0,
	TYPE_UINT = 1,
	TYPE_ULONG = 2,
	TYPE_ULONG_LONG = 3,
	TYPE_LONG_LONG = 4,
	TYPE_INT = 5,
	TYPE_USHORT = 6,
};

int watt_nvml_error(int code)
{
	switch (code) {
	case WATT_NVML_SUCCESS:
		return 0;
	case WATT_NVML_INVALID_ARGUMENT:
		return -EINVAL;
	case WATT_NVML_NOT_SUPPORTED:
	case WATT_NVML_FUNCTION_NOT_FOUND:
	case WATT_NVML_ARGUMENT_VERSION:
	case WATT_NVML_DEPRECATED:
		return -EOPNOTSUPP;
	case WATT_NVML_NO_PERMISSION:
		return -EACCES;
	case WATT_NVML_INSUFFICIENT_SIZE:
		return -EMSGSIZE;
	case WATT_NVML_NOT_FOUND:
	case WATT_NVML_NO_DATA:
		return -ENODATA;
	case WATT_NVML_TIMEOUT:
	case WATT_NVML_IN_USE:
	case WATT_NVML_NOT_READY:
		return -EAGAIN;
	case WATT_NVML_UNINITIALIZED:
	case WATT_NVML_DRIVER_NOT_LOADED:
	case WATT_NVML_LIBRARY_NOT_FOUND:
	case WATT_NVML_GPU_IS_LOST:
	case WATT_NVML_RESET_REQUIRED:
	case WATT_NVML_GPU_NOT_FOUND:
		return -ENODEV;
	case WATT_NVML_VERSION_MISMATCH:
		return -ELIBBAD;
	default:
		return -EIO;
	}
}

const char *watt_nvml_error_text(int code)
{
	switch (code) {
	case WATT_NVML_NO_PERMISSION:
		return "this user may not open /dev/nvidiactl";
	case WATT_NVML_DRIVER_NOT_LOADED:
		return "the driver is not loaded";
	case WATT_NVML_GPU_IS_LOST:
		return "the GPU has fallen off the bus";
	case WATT_NVML_RESET_REQUIRED:
		return "the GPU must be reset";
	case WATT_NVML_VERSION_MISMATCH:
		return "the driver was upgraded, and the old one is still loaded";
	case WATT_NVML_TIMEOUT:
		return "the driver did not answer in its own time";
	default:
		return "the driver reports an error";
	}
}

static int take_i64(int64_t value, int64_t *ret)
{
	if (value < 0)
		return -ERANGE;
	*ret = value;
	return 0;
}

int watt_nvml_field_value(const struct watt_nvml_field *field, int64_t *ret)
{
	if (field->result != WATT_NVML_SUCCESS)
		return watt_nvml_error(field->result);
	switch (field->type) {
	case TYPE_UINT:
		return take_i64(field->value.u32, ret);
	case TYPE_USHORT:
		return take_i64(field->value.u16, ret);
	case TYPE_INT:
		return take_i64((int32_t)field->value.u32, ret);
	case TYPE_ULONG:
	case TYPE_ULONG_LONG:
	case TYPE_LONG_LONG:
		return take_i64(field->value.i64, ret);
	default:
		return -EBADMSG;
	}
}
