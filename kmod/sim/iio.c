// SPDX-License-Identifier: GPL-2.0-only
/*
 * Power monitors of IIO, through the kernel's own IIO core: raw values and scales, as the drivers
 * of power monitors have them. A monitor is described first and then shown.
 */
#include <linux/err.h>
#include <linux/iio/iio.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "counter.h"
#include "sim.h"

#define MONITORS_MAX 32
#define CHANNELS_MAX 16 /* of a monitor */
#define INDEX_MAX 31
#define VOLTAGE_MV 12000
#define SCALE 1000

struct channel {
	enum iio_chan_type type;
	unsigned int index;
	char name[SIM_TEXT_MAX]; /* "power0" */
	char label[SIM_TEXT_MAX];
	u32 voltage_mv;             /* of a voltage, and of a current */
	u32 scale;                  /* a raw count, in uW, uV or uA */
	struct sim_counter counter; /* for its error */
};

struct monitor {
	struct list_head node;
	char name[SIM_TEXT_MAX];
	struct platform_device *platform;
	struct iio_dev *iio; /* NULL: hidden */
	unsigned int n_channels;
	struct channel *channels[CHANNELS_MAX];
	struct iio_chan_spec specs[CHANNELS_MAX];
};

static const struct {
	const char *prefix;
	enum iio_chan_type type;
} kinds[] = { { "power", IIO_POWER }, { "voltage", IIO_VOLTAGE }, { "current", IIO_CURRENT } };

static LIST_HEAD(monitors);
static unsigned int n_monitors;

/* ---- what the IIO core asks ---- */

static struct monitor *monitor_of(struct iio_dev *iio)
{
	return *(struct monitor **)iio_priv(iio);
}

static struct channel *channel_of(struct iio_dev *iio, const struct iio_chan_spec *spec)
{
	return monitor_of(iio)->channels[spec->address];
}

static int read_raw(struct channel *channel, int *ret)
{
	u64 value, unused;
	u32 power_uw;
	int r = sim_counter_read(&channel->counter, &unused);

	if (r)
		return r;
	power_uw = sim_meter_power_uw(channel->counter.meter);
	if (channel->type == IIO_POWER)
		value = power_uw;
	else if (channel->type == IIO_VOLTAGE)
		value = (u64)channel->voltage_mv * 1000;
	else
		value = div_u64((u64)power_uw * 1000, channel->voltage_mv);
	*ret = (int)min_t(u64, div_u64(value + channel->scale / 2, channel->scale), INT_MAX);
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
	const struct channel *channel = channel_of(iio, spec);

	return sysfs_emit(text, "%s\n", channel->label[0] ? channel->label : channel->name);
}

static const struct iio_info monitor_info = {
	.read_raw = monitor_read_raw,
	.read_label = monitor_read_label,
};

/* ---- monitors ---- */

static struct monitor *find_monitor(const char *name)
{
	struct monitor *monitor;

	list_for_each_entry(monitor, &monitors, node)
		if (!strcmp(monitor->name, name))
			return monitor;
	return NULL;
}

static int get_monitor(const char *name, struct monitor **ret)
{
	*ret = find_monitor(name);
	return *ret ? 0 : sim_fail(-ENOENT, "there is no monitor '%s'", name);
}

static void describe_channel(struct monitor *monitor, unsigned int i)
{
	monitor->specs[i] = (struct iio_chan_spec){
		.type = monitor->channels[i]->type,
		.indexed = 1,
		.channel = (int)monitor->channels[i]->index,
		.address = i,
		.scan_index = -1,
		.info_mask_separate = BIT(IIO_CHAN_INFO_RAW) | BIT(IIO_CHAN_INFO_SCALE),
	};
}

static int show_monitor(struct monitor *monitor)
{
	struct iio_dev *iio;
	unsigned int i;
	int r;

	if (monitor->iio)
		return sim_fail(-EALREADY, "monitor '%s' is shown already", monitor->name);
	if (!monitor->n_channels)
		return sim_fail(-EINVAL, "monitor '%s' has no channel: 'monitor channel' adds one",
				monitor->name);
	iio = iio_device_alloc(&monitor->platform->dev, sizeof(struct monitor *));
	if (!iio)
		return sim_fail(-ENOMEM, "out of memory");
	*(struct monitor **)iio_priv(iio) = monitor;
	for (i = 0; i < monitor->n_channels; i++)
		describe_channel(monitor, i);
	iio->name = monitor->name;
	iio->info = &monitor_info;
	iio->modes = INDIO_DIRECT_MODE;
	iio->channels = monitor->specs;
	iio->num_channels = (int)monitor->n_channels;
	r = iio_device_register(iio);
	if (r) {
		iio_device_free(iio);
		return sim_fail(r, "the IIO core refuses monitor '%s'", monitor->name);
	}
	monitor->iio = iio;
	return 0;
}

static void hide_monitor(struct monitor *monitor)
{
	if (!monitor->iio)
		return;
	iio_device_unregister(monitor->iio);
	iio_device_free(monitor->iio);
	monitor->iio = NULL;
}

static void free_monitor(struct monitor *monitor)
{
	unsigned int i;

	hide_monitor(monitor);
	platform_device_unregister(monitor->platform);
	for (i = 0; i < monitor->n_channels; i++) {
		sim_counter_done(&monitor->channels[i]->counter);
		kfree(monitor->channels[i]);
	}
	list_del(&monitor->node);
	n_monitors--;
	kfree(monitor);
}

/* ---- the noun ---- */

enum channel_key {
	CHANNEL_NAME,
	CHANNEL_METER,
	CHANNEL_LABEL,
	CHANNEL_SCALE,
	CHANNEL_VOLTAGE
};

#define NAME_KEY \
	{ \
		"channel", SIM_TEXT, true, 0, SIM_TEXT_MAX - 1 \
	}
#define CHANNEL_KEYS \
	{ \
		[CHANNEL_NAME] = NAME_KEY, \
		[CHANNEL_METER] = { "meter", SIM_TEXT, true, 0, SIM_TEXT_MAX - 1 }, \
		[CHANNEL_LABEL] = { "label", SIM_TEXT, false, 0, SIM_TEXT_MAX - 1 }, \
		[CHANNEL_SCALE] = { "scale", SIM_NUMBER, false, 1, 1000000000 }, \
		[CHANNEL_VOLTAGE] = { "voltage_mv", SIM_NUMBER, false, 1, 1000000 }, \
	}
#define FAIL_KEYS \
	{ \
		NAME_KEY, \
		{ \
			"errno", SIM_NUMBER, true, 0, 133 \
		} \
	}

static int run_add(const char *target, const struct sim_value *values)
{
	static int id;
	struct monitor *monitor;

	if (find_monitor(target))
		return sim_fail(-EEXIST, "there is a monitor '%s' already", target);
	if (n_monitors == MONITORS_MAX)
		return sim_fail(-ENOSPC, "there are %d monitors already", MONITORS_MAX);
	monitor = kzalloc(sizeof(*monitor), GFP_KERNEL);
	if (!monitor)
		return sim_fail(-ENOMEM, "out of memory");
	strscpy(monitor->name, target, sizeof(monitor->name));
	monitor->platform = platform_device_register_simple("wattsim-iio", id++, NULL, 0);
	if (IS_ERR(monitor->platform)) {
		int r = (int)PTR_ERR(monitor->platform);

		kfree(monitor);
		return sim_fail(r, "monitor '%s' gets no device", target);
	}
	list_add_tail(&monitor->node, &monitors);
	n_monitors++;
	return 0;
}

static int parse_channel(const char *name, struct channel *ret)
{
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		len = strlen(kinds[i].prefix);
		if (strncmp(name, kinds[i].prefix, len) ||
		    kstrtouint(name + len, 10, &ret->index) || ret->index > INDEX_MAX)
			continue;
		ret->type = kinds[i].type;
		strscpy(ret->name, name, sizeof(ret->name));
		return 0;
	}
	return sim_fail(-EINVAL, "'%s' is not powerN, voltageN or currentN, N from 0 to %d", name,
			INDEX_MAX);
}

static struct channel *find_channel(const struct monitor *monitor, const struct channel *wanted)
{
	unsigned int i;

	for (i = 0; i < monitor->n_channels; i++)
		if (monitor->channels[i]->type == wanted->type &&
		    monitor->channels[i]->index == wanted->index)
			return monitor->channels[i];
	return NULL;
}

static int init_channel(const struct monitor *monitor, struct channel *channel,
			const struct sim_value *values)
{
	struct sim_meter *meter;
	int r = parse_channel(values[CHANNEL_NAME].text, channel);

	if (r)
		return r;
	if (find_channel(monitor, channel))
		return sim_fail(-EEXIST, "monitor '%s' has %s already", monitor->name,
				channel->name);
	r = sim_meter_get(values[CHANNEL_METER].text, &meter);
	if (r)
		return r;
	sim_counter_init(&channel->counter, meter, 1000, 1, 63, 0);
	strscpy(channel->label, values[CHANNEL_LABEL].text, sizeof(channel->label));
	channel->scale = values[CHANNEL_SCALE].is_set ? (u32)values[CHANNEL_SCALE].number : SCALE;
	channel->voltage_mv = values[CHANNEL_VOLTAGE].is_set ? (u32)values[CHANNEL_VOLTAGE].number :
							       VOLTAGE_MV;
	return 0;
}

static int run_channel(const char *target, const struct sim_value *values)
{
	struct channel *channel;
	struct monitor *monitor;
	int r = get_monitor(target, &monitor);

	if (r)
		return r;
	if (monitor->iio)
		return sim_fail(-EBUSY, "monitor '%s' is shown: hide it first", target);
	if (monitor->n_channels == CHANNELS_MAX)
		return sim_fail(-ENOSPC, "monitor '%s' has %d channels already", target,
				CHANNELS_MAX);
	channel = kzalloc(sizeof(*channel), GFP_KERNEL);
	if (!channel)
		return sim_fail(-ENOMEM, "out of memory");
	r = init_channel(monitor, channel, values);
	if (r)
		kfree(channel);
	else
		monitor->channels[monitor->n_channels++] = channel;
	return r;
}

static int run_fail(const char *target, const struct sim_value *values)
{
	struct channel wanted, *channel;
	struct monitor *monitor;
	int r = get_monitor(target, &monitor);

	if (!r)
		r = parse_channel(values[0].text, &wanted);
	if (r)
		return r;
	channel = find_channel(monitor, &wanted);
	if (!channel)
		return sim_fail(-ENOENT, "monitor '%s' has no %s", target, wanted.name);
	sim_counter_fail(&channel->counter, -(int)values[1].number);
	return 0;
}

static int run_show(const char *target, const struct sim_value *values)
{
	struct monitor *monitor;
	int r = get_monitor(target, &monitor);

	return r ?: show_monitor(monitor);
}

static int run_hide(const char *target, const struct sim_value *values)
{
	struct monitor *monitor;
	int r = get_monitor(target, &monitor);

	if (r)
		return r;
	if (!monitor->iio)
		return sim_fail(-EALREADY, "monitor '%s' is hidden already", target);
	hide_monitor(monitor);
	return 0;
}

static int run_remove(const char *target, const struct sim_value *values)
{
	struct monitor *monitor;
	int r = get_monitor(target, &monitor);

	if (!r)
		free_monitor(monitor);
	return r;
}

static void show_monitors(struct seq_file *file)
{
	struct monitor *monitor;
	unsigned int i;

	list_for_each_entry(monitor, &monitors, node) {
		seq_printf(file, "monitor %s %s\n", monitor->name,
			   monitor->iio ? dev_name(&monitor->iio->dev) : "hidden");
		for (i = 0; i < monitor->n_channels; i++) {
			struct channel *channel = monitor->channels[i];
			int raw = 0, r = read_raw(channel, &raw);

			seq_printf(file, "monitor %s %s meter=%s raw=%d errno=%d\n", monitor->name,
				   channel->name, sim_meter_name(channel->counter.meter), raw,
				   r < 0 ? -r : 0);
		}
	}
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
	.show = show_monitors,
};

static int __init monitors_init(void)
{
	sim_noun_register(&monitor_noun);
	return 0;
}

static void __exit monitors_exit(void)
{
	struct monitor *monitor, *next;

	sim_noun_unregister(&monitor_noun);
	sim_lock();
	list_for_each_entry_safe(monitor, next, &monitors, node)
		free_monitor(monitor);
	sim_unlock();
}

module_init(monitors_init);
module_exit(monitors_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Wattribute's simulator: IIO power monitors, for tests only");
