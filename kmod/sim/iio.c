// SPDX-License-Identifier: GPL-2.0-only
/*
 * Power monitors of IIO, through the kernel's own IIO core: raw values and scales, as the drivers
 * of power monitors have them. A monitor is described first and then shown.
 */
#include <linux/err.h>
#include <linux/iio/iio.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/sysfs.h>

#include "device.h"

#define CHANNELS_MAX 16 /* of a monitor */
#define INDEX_MAX 31
#define SCALE 1000

struct channel {
	struct sim_sensor base;
	u32 scale; /* a raw count, in uW, uV or uA */
};

struct monitor {
	struct sim_device base;
	struct iio_chan_spec specs[CHANNELS_MAX];
};

/* ---- what the IIO core asks ---- */

static struct monitor *monitor_of(struct iio_dev *iio)
{
	return *(struct monitor **)iio_priv(iio);
}

static struct channel *channel_of(struct iio_dev *iio, const struct iio_chan_spec *spec)
{
	return container_of(monitor_of(iio)->base.sensors[spec->address], struct channel, base);
}

/* What its file shows, in units of its scale. */
static int read_count(struct sim_sensor *sensor, long *ret)
{
	const struct channel *channel = container_of(sensor, struct channel, base);
	u32 power_uw;
	u64 value;
	int r = sim_sensor_power_uw(sensor, &power_uw);

	if (r)
		return r;
	if (sensor->type == IIO_POWER)
		value = power_uw;
	else if (sensor->type == IIO_VOLTAGE)
		value = (u64)sensor->voltage_mv * 1000;
	else
		value = div_u64((u64)power_uw * 1000, sensor->voltage_mv);
	*ret = (long)min_t(u64, div_u64(value + channel->scale / 2, channel->scale), INT_MAX);
	return 0;
}

static int read_raw(struct channel *channel, int *ret)
{
	long count;
	int r = read_count(&channel->base, &count);

	if (r)
		return r;
	*ret = (int)count;
	return IIO_VAL_INT;
}

static int monitor_read_raw(struct iio_dev *iio, struct iio_chan_spec const *spec, int *ret,
			    int *ret2, long mask)
{
	struct channel *channel = channel_of(iio, spec);

	if (mask == IIO_CHAN_INFO_RAW)
		return read_raw(channel, ret);
	if (mask != IIO_CHAN_INFO_SCALE)
		return -EINVAL;
	/* in mW, mV or mA */
	*ret = (int)(channel->scale / 1000);
	*ret2 = (int)(channel->scale % 1000 * 1000);
	return IIO_VAL_INT_PLUS_MICRO;
}

static int monitor_read_label(struct iio_dev *iio, struct iio_chan_spec const *spec, char *text)
{
	const struct sim_sensor *sensor = &channel_of(iio, spec)->base;

	return sysfs_emit(text, "%s\n", sensor->label[0] ? sensor->label : sensor->name);
}

static const struct iio_info monitor_info = {
	.read_raw = monitor_read_raw,
	.read_label = monitor_read_label,
};

/* ---- showing ---- */

static void describe_channel(struct monitor *monitor, unsigned int i)
{
	monitor->specs[i] = (struct iio_chan_spec){
		.type = monitor->base.sensors[i]->type,
		.indexed = 1,
		.channel = (int)monitor->base.sensors[i]->index,
		.address = i,
		.scan_index = -1,
		.info_mask_separate = BIT(IIO_CHAN_INFO_RAW) | BIT(IIO_CHAN_INFO_SCALE),
	};
}

static int show_monitor(struct sim_device *device)
{
	struct monitor *monitor = container_of(device, struct monitor, base);
	struct iio_dev *iio;
	unsigned int i;
	int r;

	iio = iio_device_alloc(&device->platform->dev, sizeof(struct monitor *));
	if (!iio)
		return sim_fail(-ENOMEM, "out of memory");
	*(struct monitor **)iio_priv(iio) = monitor;
	for (i = 0; i < device->n_sensors; i++)
		describe_channel(monitor, i);
	iio->name = device->name;
	iio->info = &monitor_info;
	iio->modes = INDIO_DIRECT_MODE;
	iio->channels = monitor->specs;
	iio->num_channels = (int)device->n_sensors;
	r = iio_device_register(iio);
	if (r) {
		iio_device_free(iio);
		return sim_fail(r, "the IIO core refuses monitor '%s'", device->name);
	}
	device->shown = &iio->dev;
	return 0;
}

static void hide_monitor(struct sim_device *device)
{
	struct iio_dev *iio = dev_to_iio_dev(device->shown);

	iio_device_unregister(iio);
	iio_device_free(iio);
}

static const struct sim_sensor_type types[] = {
	{ "power", IIO_POWER, 0 },
	{ "voltage", IIO_VOLTAGE, 0 },
	{ "current", IIO_CURRENT, 0 },
};

static struct sim_device_class monitors = {
	.noun = "monitor",
	.part = "channel",
	.platform = "wattsim-iio",
	.value = "raw",
	.naming = { types, ARRAY_SIZE(types), INDEX_MAX,
		    "powerN, voltageN or currentN, N from 0 to 31" },
	.sensors_max = CHANNELS_MAX,
	.device_size = sizeof(struct monitor),
	.sensor_size = sizeof(struct channel),
	.show = show_monitor,
	.hide = hide_monitor,
	.read = read_count,
	.devices = LIST_HEAD_INIT(monitors.devices),
};

/* ---- the noun ---- */

#define KEY_SCALE SIM_SENSOR_KEYS

#define NAME_KEY \
	{ \
		"channel", SIM_TEXT, true, 0, SIM_TEXT_MAX - 1 \
	}
#define CHANNEL_KEYS \
	{ \
		[SIM_SENSOR_NAME] = NAME_KEY, [SIM_SENSOR_METER] = SIM_KEY_METER, \
		[SIM_SENSOR_LABEL] = SIM_KEY_LABEL, [SIM_SENSOR_VOLTAGE] = SIM_KEY_VOLTAGE, \
		[KEY_SCALE] = { "scale", SIM_NUMBER, false, 1, 1000000000 }, \
	}
#define FAIL_KEYS \
	{ \
		NAME_KEY, SIM_KEY_ERRNO \
	}

static int run_add(const char *target, const struct sim_value *values)
{
	return sim_device_add(&monitors, target);
}

static int run_channel(const char *target, const struct sim_value *values)
{
	struct sim_sensor *added;
	int r = sim_device_add_sensor(&monitors, target, values, &added);

	if (!r)
		container_of(added, struct channel, base)->scale =
			(u32)sim_number_or(&values[KEY_SCALE], SCALE);
	return r;
}

static int run_fail(const char *target, const struct sim_value *values)
{
	return sim_device_fail_sensor(&monitors, target, values);
}

static int run_show(const char *target, const struct sim_value *values)
{
	return sim_device_show(&monitors, target);
}

static int run_hide(const char *target, const struct sim_value *values)
{
	return sim_device_hide(&monitors, target);
}

static int run_remove(const char *target, const struct sim_value *values)
{
	return sim_device_remove(&monitors, target);
}

static void list_monitors(struct seq_file *file)
{
	sim_devices_list(&monitors, file);
}

static const struct sim_verb monitor_verbs[] = {
	{ "add", true, {}, run_add },          { "channel", true, CHANNEL_KEYS, run_channel },
	{ "show", true, {}, run_show },        { "hide", true, {}, run_hide },
	{ "fail", true, FAIL_KEYS, run_fail }, { "remove", true, {}, run_remove },
};

static struct sim_noun monitor_noun = {
	.name = "monitor",
	.owner = THIS_MODULE,
	.verbs = monitor_verbs,
	.n_verbs = ARRAY_SIZE(monitor_verbs),
	.show = list_monitors,
};

static int __init monitors_init(void)
{
	sim_noun_register(&monitor_noun);
	return 0;
}

static void __exit monitors_exit(void)
{
	sim_noun_unregister(&monitor_noun);
	sim_lock();
	sim_devices_free(&monitors);
	sim_unlock();
}

module_init(monitors_init);
module_exit(monitors_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Wattribute's simulator: IIO power monitors, for tests only");
