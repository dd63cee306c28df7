/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads one sensor: a number, or a voltage times a current, from descriptors that are kept open.
 * It allocates nothing. It must not convert units: raw and scale are kept.
 */
#include "source/power/sensor/sensor_read.h"

#include <errno.h>
#include <string.h>

#include "base/parse.h"
#include "base/util.h"
#include "source/host/status.h"

enum watt_status watt_sensor_status(int error)
{
	switch (error) {
	case -ETIMEDOUT: /* a conversion that is not ready */
	case -EPERM:     /* the device sleeps or resets; a missing right is EACCES */
		return WATT_STATUS_NODATA;
	default:
		return watt_status_from_errno(error);
	}
}

int watt_sensor_parse_decimal(const char *text, uint32_t decimals, int64_t *ret)
{
	const char *point = strchr(text, '.'), *p = point ? point + 1 : "";
	size_t whole = point ? (size_t)(point - text) : strlen(text);
	bool is_negative = text[strspn(text, " \t\n\v\f\r")] == '-';
	int64_t value, digit;
	char buf[32];
	int r;

	if (strspn(p, "0123456789") != strlen(p))
		return -EBADMSG;
	if (whole >= sizeof(buf))
		return -ERANGE;
	memcpy(buf, text, whole);
	buf[whole] = '\0';
	r = watt_parse_i64(buf, &value);
	if (r < 0)
		return r;
	for (; decimals > 0; decimals--) {
		digit = *p ? *p++ - '0' : 0;
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, is_negative ? -digit : digit, &value))
			return -ERANGE;
	}
	*ret = value;
	return 0;
}

static int read_decimal(struct watt_sensor_input *factor, int64_t *ret)
{
	char text[64];
	int r;

	r = watt_file_read(&factor->file, text, sizeof(text));
	if (r < 0)
		return r == -EMSGSIZE ? -EBADMSG : r;
	return watt_sensor_parse_decimal(text, factor->decimals, ret);
}

/* The number in the line that begins with the field. */
static int read_field(struct watt_sensor_input *factor, int64_t *ret)
{
	size_t len = strlen(factor->field);
	char text[4096], *line;
	const char *p;
	uint64_t value;
	int r;

	r = watt_file_read(&factor->file, text, sizeof(text));
	if (r < 0)
		return r == -EMSGSIZE ? -EBADMSG : r;
	for (line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		if (strncmp(line, factor->field, len) || line[len] != ':')
			continue;
		p = line + len + 1;
		p += strspn(p, " \t");
		r = watt_scan_digits(&p, &value);
		if (r < 0)
			return r;
		if (*p != ' ' && *p != '\n' && *p)
			return -EBADMSG;
		*ret = (int64_t)value;
		return value > INT64_MAX ? -ERANGE : 0;
	}
	return -ENODATA;
}

static int read_number(struct watt_sensor_input *factor, int64_t *ret)
{
	if (factor->field)
		return read_field(factor, ret);
	return factor->decimals ? read_decimal(factor, ret) :
				  watt_file_read_i64(&factor->file, ret);
}

static int read_factor(struct watt_sensor_input *factor, int64_t *ret)
{
	int64_t value;
	int r;

	r = read_number(factor, &value);
	if (r < 0)
		return r;
	if (__builtin_mul_overflow(value, factor->mul, &value) ||
	    __builtin_add_overflow(value, factor->add, &value))
		return -ERANGE;
	*ret = value;
	return 0;
}

/*
 * Some drivers count the current of a discharging battery positive, some negative, and some
 * give the amount only; the status tells them apart.
 */
static int sign_by_status(const char *status, int64_t *value)
{
	if (!strcmp(status, "Discharging"))
		*value = *value < 0 ? -*value : *value;
	else if (!strcmp(status, "Charging"))
		*value = *value > 0 ? -*value : *value;
	else if (!strcmp(status, "Full") || !strcmp(status, "Not charging"))
		*value = 0;
	else
		return -ENODATA;
	return 0;
}

static int apply_sign(struct watt_sensor *sensor, int64_t *value)
{
	char text[32];
	int r;

	if (sensor->sign == WATT_SENSOR_AS_READ)
		return 0;
	if (sensor->sign == WATT_SENSOR_SIGN_UNKNOWN)
		return *value ? -ENODATA : 0;
	if (*value == INT64_MIN)
		return -ERANGE;
	r = watt_file_read(&sensor->status, text, sizeof(text));
	if (r < 0)
		return r;
	switch (sensor->sign) {
	case WATT_SENSOR_BY_STATUS:
		return sign_by_status(text, value);
	case WATT_SENSOR_BY_ONLINE:
		if (!strcmp(text, "0"))
			*value = 0;
		return 0;
	case WATT_SENSOR_FALLING:
		*value = -*value;
		return strcmp(text, "Discharging") ? -ENODATA : 0;
	case WATT_SENSOR_AS_READ:
	case WATT_SENSOR_SIGN_UNKNOWN:
		break;
	}
	return 0;
}

static int combine(const struct watt_sensor *sensor, int64_t *value, int64_t second)
{
	if (!sensor->is_ratio)
		return __builtin_mul_overflow(*value, second, value) ? -ERANGE : 0;
	if (second <= 0)
		return -ENODATA;
	*value /= second;
	return 0;
}

static int read_value(struct watt_sensor *sensor, int64_t *ret)
{
	int64_t value, second;
	int r;

	sensor->failed = 0;
	r = read_factor(&sensor->factor[0], &value);
	if (r < 0)
		return r;
	if (sensor->unknown_raw && value == sensor->unknown_raw)
		return -ENODATA;
	if (sensor->n_factors == 2) {
		sensor->failed = 1;
		r = read_factor(&sensor->factor[1], &second);
		if (r == 0)
			r = combine(sensor, &value, second);
		if (r < 0)
			return r;
	}
	sensor->failed = sensor->n_factors;
	r = apply_sign(sensor, &value);
	if (r < 0)
		return r;
	*ret = value;
	return 0;
}

int watt_sensor_read(struct watt_sensor *sensor, int64_t *ret)
{
	int r = read_value(sensor, ret);
	uint32_t i;

	for (i = 0; sensor->is_opened_anew && i < sensor->n_factors; i++)
		watt_file_drop(&sensor->factor[i].file);
	return r;
}

int watt_sensor_open(struct watt_sensor *sensor, const struct watt_root *root,
		     const struct watt_sensor_spec *spec)
{
	int r, error = 0;
	size_t i;

	*sensor = (struct watt_sensor){
		.factor = { { .file = WATT_FILE_INIT }, { .file = WATT_FILE_INIT } },
		.status = WATT_FILE_INIT,
		.sign = spec->sign,
		.is_counter = spec->channel.semantics == WATT_SEMANTICS_COUNTER &&
			      spec->sign == WATT_SENSOR_AS_READ,
		.is_ratio = spec->is_ratio,
		.is_opened_anew = spec->is_opened_anew,
		.is_of_reader = spec->is_of_reader,
		.index = spec->index,
		.unknown_raw = spec->unknown_raw
	};
	if (spec->is_of_reader)
		return 0;
	for (i = 0; i < WATT_ARRAY_SIZE(spec->factor) && spec->factor[i].path; i++) {
		struct watt_sensor_input *factor = &sensor->factor[i];

		factor->mul = spec->factor[i].mul ? spec->factor[i].mul : 1;
		factor->add = spec->factor[i].add;
		factor->decimals = spec->factor[i].decimals;
		factor->field = spec->factor[i].field;
		r = watt_file_open(&factor->file, root, spec->factor[i].path);
		if (!error)
			sensor->failed = (unsigned int)i;
		error = error ? error : r;
		sensor->n_factors++;
	}
	if (spec->sign != WATT_SENSOR_AS_READ && spec->sign != WATT_SENSOR_SIGN_UNKNOWN) {
		r = watt_file_open(&sensor->status, root, spec->status_path);
		error = error ? error : r;
	}
	return error;
}

void watt_sensor_done(struct watt_sensor *sensor)
{
	watt_file_close(&sensor->factor[0].file);
	watt_file_close(&sensor->factor[1].file);
	watt_file_close(&sensor->status);
}
