/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at one iio:deviceN of sysfs: what it is called, which device it is, which of its channels
 * measure voltage, current or power. It must not read values nor decide what they mean.
 */
#include "source/power/iio/iio_device.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/parse.h"
#include "base/util.h"
#include "source/power/sensor/device_name.h"

#define DEVICES "bus/iio/devices"

const struct watt_sysfs_naming watt_iio_naming = {
	.prefix = { [WATT_SYSFS_VOLTAGE] = "in_voltage",
		    [WATT_SYSFS_CURRENT] = "in_current",
		    [WATT_SYSFS_POWER] = "in_power" },
	.other = "_raw",
};

int watt_iio_device_attribute(const struct watt_env *env, const struct watt_iio_device *device,
			      const struct watt_sysfs_sensor *sensor, const char *suffix, char *buf,
			      size_t size)
{
	int r = -ENOENT;

	if (sensor->index != WATT_SYSFS_NO_INDEX)
		r = watt_root_readf(&env->sysfs, buf, size, "%s/%s%u%s", device->dir,
				    watt_iio_naming.prefix[sensor->type], sensor->index, suffix);
	if (r == -ENOENT)
		r = watt_root_readf(&env->sysfs, buf, size, "%s/%s%s", device->dir,
				    watt_iio_naming.prefix[sensor->type], suffix);
	return r;
}

void watt_iio_value_path(const struct watt_iio_device *device,
			 const struct watt_sysfs_sensor *sensor, char *buf, size_t size)
{
	const char *suffix = sensor->has_input ? "_input" : "_raw";

	if (sensor->index == WATT_SYSFS_NO_INDEX)
		snprintf(buf, size, "%s/%s%s", device->dir, watt_iio_naming.prefix[sensor->type],
			 suffix);
	else
		snprintf(buf, size, "%s/%s%u%s", device->dir, watt_iio_naming.prefix[sensor->type],
			 sensor->index, suffix);
}

/* NVIDIA's ina3221x has rail_name_N, its ina230x rail_name; others have in_powerN_label. */
static void name_sensor(const struct watt_env *env, const struct watt_iio_device *device,
			struct watt_sysfs_sensor *sensor)
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

	for (i = 0; i < device->sensors.n; i++) {
		name_sensor(env, device, &device->sensors.sensor[i]);
		/* a pin that nothing is connected to */
		if (strcmp(device->sensors.sensor[i].clean, "nc"))
			device->sensors.sensor[kept++] = device->sensors.sensor[i];
	}
	device->sensors.n = kept;
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
	r = watt_sysfs_sensors_list(&device.sensors, env, device.dir, &watt_iio_naming);
	if (r < 0) {
		watt_iio_device_done(&device);
		return r;
	}
	if (device.sensors.n) {
		read_names(env, entry, &device);
		name_sensors(env, &device);
		read_period(env, &device);
	}
	*ret = device;
	return 0;
}

void watt_iio_device_done(struct watt_iio_device *device)
{
	watt_sysfs_sensors_done(&device->sensors);
}
