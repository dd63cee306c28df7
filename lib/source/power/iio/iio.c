/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The IIO source: channels of power below bus/iio/devices, or voltage times current where a
 * device has no power. Each device is one group. Devices that measure something else are passed
 * over in silence. It must not decide where rails belong.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/util.h"
#include "source/power/hwmon/hwmon_pair.h"
#include "source/power/iio/iio_device.h"
#include "source/power/iio/iio_scale.h"
#include "source/power/sensor/rail_place.h"
#include "source/power/sensor/sensor.h"
#include "source/registry.h"

#define DEVICES "bus/iio/devices"
#define PATH_SIZE 192
#define MW_IN_UW 1000

struct adding {
	struct watt_sensor_set *set;
	const struct watt_env *env;
	const struct watt_rail_map *rails;
	const struct watt_iio_device *device;
	size_t n_powers;
};

static int read_scale(const struct adding *a, const struct watt_sysfs_sensor *sensor,
		      struct watt_iio_scale *ret)
{
	char scale[64], offset[64];
	int has_scale, has_offset;

	has_scale = watt_iio_device_attribute(a->env, a->device, sensor, "_scale", scale,
					      sizeof(scale));
	has_offset = watt_iio_device_attribute(a->env, a->device, sensor, "_offset", offset,
					       sizeof(offset));
	if ((has_scale < 0 && has_scale != -ENOENT) || (has_offset < 0 && has_offset != -ENOENT))
		return -EBADMSG;
	return watt_iio_scale_parse(has_scale < 0 ? NULL : scale, has_offset < 0 ? NULL : offset,
				    ret);
}

/* A processed value may have a fraction: three decimals of it are kept. */
static bool has_point(const struct adding *a, const char *path)
{
	char text[64];

	return watt_root_read(&a->env->sysfs, path, text, sizeof(text)) > 0 && strchr(text, '.');
}

/* Adds one file to what is multiplied; num / den collects the scale. */
static int add_factor(const struct adding *a, const struct watt_sysfs_sensor *sensor,
		      const char *path, struct watt_sensor_factor *factor, uint64_t *num,
		      uint64_t *den)
{
	struct watt_iio_scale scale = WATT_IIO_SCALE_ONE;
	int r = 0;

	*factor = (struct watt_sensor_factor){ .path = path };
	if (!sensor->has_input) {
		r = read_scale(a, sensor, &scale);
	} else if (has_point(a, path)) {
		factor->decimals = 3;
		scale.den = 1000;
	}
	if (r < 0)
		return r;
	factor->mul = scale.mul;
	factor->add = scale.add;
	return watt_iio_fraction_multiply(*num, *den, scale.num, scale.den, num, den);
}

static int leave_out(struct adding *a, const char *path, int error)
{
	a->set->n_broken++;
	a->set->power.n_refused++;
	watt_log(&a->env->log, WATT_LOG_WARNING, "iio: %s: %s/%s left out: its scale or offset: %s",
		 a->device->device, a->env->sysfs.path, path, watt_sensor_reason(error));
	return 0;
}

/* One power: of a sensor, or of a voltage (second) and a current. */
static int add_channel(struct adding *a, const struct watt_sysfs_sensor *first,
		       const struct watt_sysfs_sensor *second)
{
	uint32_t index = first->index == WATT_SYSFS_NO_INDEX ? 0 : first->index;
	const char *label = first->label[0] ? first->label : NULL;
	char paths[2][PATH_SIZE], part[32], channel[32];
	struct watt_sensor_spec spec = {
		.chip = a->device->device,
		.channel = { .quantity = WATT_QUANTITY_POWER,
			     .semantics = WATT_SEMANTICS_INSTANT,
			     .flags = second ? WATT_CHANNEL_SIGNED : 0,
			     .period_ns = a->device->period_ns,
			     .scale_num = second ? 1 : MW_IN_UW,
			     .scale_den = 1 },
	};
	struct watt_rail rail = { .device = a->device->device, .part = channel };
	uint64_t *num = &spec.channel.scale_num, *den = &spec.channel.scale_den;
	int r;

	watt_iio_value_path(a->device, second ? second : first, paths[0], PATH_SIZE);
	r = add_factor(a, second ? second : first, paths[0], &spec.factor[0], num, den);
	if (r == 0 && second) {
		watt_iio_value_path(a->device, first, paths[1], PATH_SIZE);
		r = add_factor(a, first, paths[1], &spec.factor[1], num, den);
	}
	if (r < 0)
		return leave_out(a, paths[0], r);
	if (!label && second && second->label[0])
		label = second->label;
	if (!label && a->n_powers == 1 && a->device->label[0])
		label = a->device->label;
	snprintf(part, sizeof(part), "power%u", index);
	snprintf(channel, sizeof(channel), "ch%u", index);
	rail.label = spec.label = label;
	rail.is_alone = a->n_powers == 1;
	spec.part = label ? label : part;
	watt_rail_map_place(a->rails, &rail, &spec.place);
	r = watt_sensor_set_add(a->set, &spec);
	return r < 0 ? r : 0;
}

static int add_products(struct adding *a)
{
	const struct watt_sysfs_sensor *voltages, *currents;
	_cleanup_free_ struct watt_hwmon_match *matches = NULL;
	size_t n_voltages, n_currents, i;
	int r = 0;

	voltages = watt_sysfs_sensors_get(&a->device->sensors, WATT_SYSFS_VOLTAGE, &n_voltages);
	currents = watt_sysfs_sensors_get(&a->device->sensors, WATT_SYSFS_CURRENT, &n_currents);
	if (n_voltages == 0 || n_currents == 0)
		return 0;
	matches = calloc(n_currents, sizeof(*matches));
	if (!matches)
		return -ENOMEM;
	a->n_powers = watt_hwmon_pair(voltages, n_voltages, currents, n_currents, NULL, matches);
	for (i = 0; i < a->n_powers && r == 0; i++)
		r = add_channel(a, &currents[matches[i].curr_at], &voltages[matches[i].in_at]);
	return r;
}

static int add_device(struct watt_sensor_set *set, const struct watt_env *env,
		      const struct watt_rail_map *rails, const struct watt_iio_device *device)
{
	struct adding a = { .set = set, .env = env, .rails = rails, .device = device };
	const struct watt_sysfs_sensor *powers;
	int r = 0;
	size_t i;

	powers = watt_sysfs_sensors_get(&device->sensors, WATT_SYSFS_POWER, &a.n_powers);
	for (i = 0; i < a.n_powers && r == 0; i++)
		r = add_channel(&a, &powers[i], NULL);
	if (r == 0 && a.n_powers == 0)
		r = add_products(&a);
	return r < 0 ? r : watt_sensor_set_end_group(set, device->period_ns);
}

struct devices {
	struct watt_iio_device *device;
	size_t n, cap;
};

static void devices_done(struct devices *devices)
{
	size_t i;

	for (i = 0; i < devices->n; i++)
		watt_iio_device_done(&devices->device[i]);
	free(devices->device);
}

static int compare_devices(const void *a, const void *b)
{
	const struct watt_iio_device *x = a, *y = b;
	int r = strverscmp(x->device, y->device);

	return r ? r : strverscmp(x->dir, y->dir);
}

static int read_devices(const struct watt_env *env, struct devices *ret)
{
	struct watt_names names = WATT_NAMES_INIT;
	int r;
	size_t i;

	r = watt_root_list(&env->sysfs, DEVICES, "iio:device", &names);
	if (r < 0)
		return r == -ENOENT || r == -ENOTDIR ? -ENODEV : r;
	for (i = 0; i < names.n && r == 0; i++) {
		r = watt_grow((void **)&ret->device, &ret->cap, ret->n, sizeof(*ret->device));
		if (r == 0)
			r = watt_iio_device_read(env, names.name[i], &ret->device[ret->n]);
		if (r == 0)
			ret->n++;
	}
	watt_names_free(&names);
	if (r == 0 && ret->n)
		qsort(ret->device, ret->n, sizeof(*ret->device), compare_devices);
	return r;
}

static int load(struct watt_sensor_set *set, size_t *ret_n_devices)
{
	struct watt_rail_map *rails = NULL;
	struct devices devices = { 0 };
	int r;
	size_t i;

	r = read_devices(set->env, &devices);
	if (r == 0)
		r = watt_rail_map_new(set->env, &rails);
	for (i = 0; i < devices.n && r == 0; i++)
		r = add_device(set, set->env, rails, &devices.device[i]);
	watt_rail_map_free(rails);
	*ret_n_devices = devices.n;
	devices_done(&devices);
	return r;
}

static const char *const watched[] = { DEVICES, NULL };

static int iio_rescan(const struct watt_env *env, const struct watt_known *known,
		      struct watt_power **ret)
{
	return watt_sensor_source_rescan(env, &watt_power_iio, load, known, ret);
}

static int iio_open(const struct watt_env *env, struct watt_power **ret)
{
	return watt_sensor_source_open(env, &watt_power_iio, load, ret);
}

static int iio_probe(const struct watt_env *env, struct watt_diag *diag)
{
	return watt_sensor_source_probe(env, &watt_power_iio, load, DEVICES, "IIO device", diag);
}

const struct watt_power_ops watt_power_iio = {
	.name = "iio",
	.summary = "power monitors of the industrial I/O subsystem",
	.flags = WATT_POWER_BLOCKING,
	.probe = iio_probe,
	.open = iio_open,
	.rescan = iio_rescan,
	.watched = watched,
	.read = watt_sensor_set_read,
	.close = watt_sensor_set_close,
};
