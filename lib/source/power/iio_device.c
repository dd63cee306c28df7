/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at one iio:deviceN of sysfs: what it is called, which device it is, which of its channels
 * measure voltage, current or power. It must not read values nor decide what they mean.
 */
#include "source/power/iio_device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/parse.h"
#include "base/util.h"
#include "source/power/device_name.h"

#define DEVICES "bus/iio/devices"

static const char *const prefixes[] = {
	[WATT_IIO_VOLTAGE] = "in_voltage",
	[WATT_IIO_CURRENT] = "in_current",
	[WATT_IIO_POWER] = "in_power",
};

bool watt_iio_attribute_parse(const char *name, enum watt_iio_type *ret_type, uint32_t *ret_index,
			      const char **ret_suffix)
{
	unsigned int type;

	for (type = 0; type < WATT_ARRAY_SIZE(prefixes); type++) {
		const char *p = name + strlen(prefixes[type]);
		uint32_t index = 0;
		size_t digits = 0;

		if (strncmp(name, prefixes[type], strlen(prefixes[type])))
			continue;
		for (; p[digits] >= '0' && p[digits] <= '9' && digits < 5; digits++)
			index = index * 10 + (uint32_t)(p[digits] - '0');
		if (digits == 5 || (p[0] == '0' && digits > 1) || p[digits] != '_')
			continue;
		*ret_type = (enum watt_iio_type)type;
		*ret_index = digits ? index : WATT_IIO_NO_INDEX;
		*ret_suffix = p + digits;
		return true;
	}
	return false;
}

static struct watt_iio_sensor *find_sensor(struct watt_iio_device *device, enum watt_iio_type type,
					   uint32_t index)
{
	size_t i;

	for (i = 0; i < device->n_sensors; i++)
		if (device->sensors[i].type == type && device->sensors[i].index == index)
			return &device->sensors[i];
	return NULL;
}

static int note_attribute(struct watt_iio_device *device, const char *name)
{
	struct watt_iio_sensor *sensor;
	enum watt_iio_type type;
	const char *suffix;
	uint32_t index;
	int r;

	if (!watt_iio_attribute_parse(name, &type, &index, &suffix))
		return 0;
	if (strcmp(suffix, "_input") && strcmp(suffix, "_raw"))
		return 0;
	sensor = find_sensor(device, type, index);
	if (!sensor) {
		r = watt_grow((void **)&device->sensors, &device->sensors_cap, device->n_sensors,
			      sizeof(*device->sensors));
		if (r < 0)
			return r;
		sensor = &device->sensors[device->n_sensors++];
		*sensor = (struct watt_iio_sensor){ .type = type, .index = index };
	}
	if (!strcmp(suffix, "_input"))
		sensor->has_input = true;
	else
		sensor->has_raw = true;
	return 0;
}

static int compare_sensors(const void *a, const void *b)
{
	const struct watt_iio_sensor *x = a, *y = b;

	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int list_sensors(const struct watt_env *env, struct watt_iio_device *device)
{
	struct watt_names names = WATT_NAMES_INIT;
	int r;
	size_t i;

	r = watt_root_list(&env->sysfs, device->dir, "in_", &names);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	for (i = 0; i < names.n && r == 0; i++)
		r = note_attribute(device, names.name[i]);
	watt_names_free(&names);
	if (device->n_sensors)
		qsort(device->sensors, device->n_sensors, sizeof(*device->sensors),
		      compare_sensors);
	return r;
}

int watt_iio_device_attribute(const struct watt_env *env, const struct watt_iio_device *device,
			      const struct watt_iio_sensor *sensor, const char *suffix, char *buf,
			      size_t size)
{
	int r = -ENOENT;

	if (sensor->index != WATT_IIO_NO_INDEX)
		r = watt_root_readf(&env->sysfs, buf, size, "%s/%s%u%s", device->dir,
				    prefixes[sensor->type], sensor->index, suffix);
	if (r == -ENOENT)
		r = watt_root_readf(&env->sysfs, buf, size, "%s/%s%s", device->dir,
				    prefixes[sensor->type], suffix);
	return r;
}

void watt_iio_value_path(const struct watt_iio_device *device, const struct watt_iio_sensor *sensor,
			 char *buf, size_t size)
{
	const char *suffix = sensor->has_input ? "_input" : "_raw";

	if (sensor->index == WATT_IIO_NO_INDEX)
		snprintf(buf, size, "%s/%s%s", device->dir, prefixes[sensor->type], suffix);
	else
		snprintf(buf, size, "%s/%s%u%s", device->dir, prefixes[sensor->type], sensor->index,
			 suffix);
}

/* NVIDIA's ina3221x has rail_name_N, its ina230x rail_name; others have in_powerN_label. */
static void name_sensor(const struct watt_env *env, const struct watt_iio_device *device,
			struct watt_iio_sensor *sensor)
{
	int r;

	r = watt_root_readf(&env->sysfs, sensor->label, sizeof(sensor->label), "%s/rail_name_%u",
			    device->dir, sensor->index);
	if (r < 0)
		r = watt_root_readf(&env->sysfs, sensor->label, sizeof(sensor->label),
				    "%s/rail_name", device->dir);
	if (r < 0)
		r = watt_iio_device_attribute(env, device, sensor, "_label", sensor->label,
					      sizeof(sensor->label));
	if (r < 0)
		sensor->label[0] = '\0';
	watt_clean_name(sensor->label, sensor->clean, sizeof(sensor->clean));
}

static void name_sensors(const struct watt_env *env, struct watt_iio_device *device)
{
	size_t i, kept = 0;

	for (i = 0; i < device->n_sensors; i++) {
		name_sensor(env, device, &device->sensors[i]);
		/* a pin that nothing is connected to */
		if (strcmp(device->sensors[i].clean, "nc"))
			device->sensors[kept++] = device->sensors[i];
	}
	device->n_sensors = kept;
}

/* "2 ms" of ina3221x, 0 if it does not say; else the frequency of conversions. */
static void read_period(const struct watt_env *env, struct watt_iio_device *device)
{
	static const char *const files[] = { "in_sampling_frequency", "sampling_frequency" };
	uint64_t value_ms, num, den;
	const char *cursor;
	char text[64];
	size_t i;

	if (watt_root_readf(&env->sysfs, text, sizeof(text), "%s/polling_delay_0", device->dir) >
	    0) {
		cursor = text;
		if (watt_scan_u64(&cursor, &value_ms) == 0 && value_ms < 3600000)
			device->period_ns = value_ms * WATT_NSEC_PER_MSEC;
		return;
	}
	for (i = 0; i < WATT_ARRAY_SIZE(files); i++) {
		if (watt_root_readf(&env->sysfs, text, sizeof(text), "%s/%s", device->dir,
				    files[i]) < 0 ||
		    watt_parse_ratio(text, &num, &den) < 0 || den > 1000000000)
			continue;
		device->period_ns = den * WATT_NSEC_PER_SEC / num;
		return;
	}
}

static void read_names(const struct watt_env *env, const char *entry,
		       struct watt_iio_device *device)
{
	if (watt_root_readf(&env->sysfs, device->name, sizeof(device->name), "%s/name",
			    device->dir) < 0)
		device->name[0] = '\0';
	if (watt_root_readf(&env->sysfs, device->label, sizeof(device->label), "%s/label",
			    device->dir) < 0)
		device->label[0] = '\0';
	if (watt_device_name(&env->sysfs, device->dir, device->device, sizeof(device->device)) < 0)
		watt_strlcpy(device->device, device->name[0] ? device->name : entry,
			     sizeof(device->device));
}

int watt_iio_device_read(const struct watt_env *env, const char *entry, struct watt_iio_device *ret)
{
	struct watt_iio_device device = { 0 };
	int r;

	snprintf(device.dir, sizeof(device.dir), DEVICES "/%.64s", entry);
	r = list_sensors(env, &device);
	if (r < 0) {
		watt_iio_device_done(&device);
		return r;
	}
	if (device.n_sensors) {
		read_names(env, entry, &device);
		name_sensors(env, &device);
		read_period(env, &device);
	}
	*ret = device;
	return 0;
}

void watt_iio_device_done(struct watt_iio_device *device)
{
	free(device->sensors);
	device->sensors = NULL;
	device->n_sensors = 0;
}

const struct watt_iio_sensor *watt_iio_device_get(const struct watt_iio_device *device,
						  enum watt_iio_type type, size_t *ret_n)
{
	const struct watt_iio_sensor *first = NULL;
	size_t i;

	*ret_n = 0;
	for (i = 0; i < device->n_sensors; i++) {
		if (device->sensors[i].type != type)
			continue;
		if (!first)
			first = &device->sensors[i];
		(*ret_n)++;
	}
	return first;
}
