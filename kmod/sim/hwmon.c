// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chips of hwmon, through the kernel's own hwmon core. A chip is described first and then shown;
 * each of its sensors shows a meter, as energy, power, voltage or current.
 */
#include <linux/err.h>
#include <linux/hwmon.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/string.h>

#include "device.h"

#define INDEX_MAX 15

struct sensor {
	struct sim_sensor base;
	bool is_enabled;
};

struct chip {
	struct sim_device base;
	/* what the core is given when it is shown */
	u32 configs[hwmon_max][INDEX_MAX + 2];
	struct hwmon_channel_info infos[hwmon_max];
	const struct hwmon_channel_info *info_list[hwmon_max + 1];
	struct hwmon_chip_info info;
};

/* ---- what the hwmon core asks ---- */

static struct sensor *find_sensor(const struct chip *chip, enum hwmon_sensor_types type, int index)
{
	struct sim_sensor *found = sim_device_find_sensor(&chip->base, type, (unsigned int)index);

	return found ? container_of(found, struct sensor, base) : NULL;
}

static bool is_enable(enum hwmon_sensor_types type, u32 attribute)
{
	return (type == hwmon_energy && attribute == hwmon_energy_enable) ||
	       (type == hwmon_power && attribute == hwmon_power_enable) ||
	       (type == hwmon_in && attribute == hwmon_in_enable) ||
	       (type == hwmon_curr && attribute == hwmon_curr_enable);
}

static bool is_label(enum hwmon_sensor_types type, u32 attribute)
{
	return (type == hwmon_energy && attribute == hwmon_energy_label) ||
	       (type == hwmon_power && attribute == hwmon_power_label) ||
	       (type == hwmon_in && attribute == hwmon_in_label) ||
	       (type == hwmon_curr && attribute == hwmon_curr_label);
}

static umode_t chip_is_visible(const void *data, enum hwmon_sensor_types type, u32 attribute,
			       int index)
{
	const struct sensor *sensor = find_sensor(data, type, index);

	if (!sensor || (is_label(type, attribute) && !sensor->base.label[0]))
		return 0;
	return is_enable(type, attribute) ? 0644 : 0444;
}

/* In the unit of its file: uJ, uW, mV or mA. */
static int read_input(struct sim_sensor *sensor, long *ret)
{
	u64 energy_uj;
	u32 power_uw;
	int r = sim_counter_read(&sensor->counter, &energy_uj);

	if (!r)
		r = sim_sensor_power_uw(sensor, &power_uw);
	if (r)
		return r;
	if (sensor->type == hwmon_energy)
		*ret = (long)energy_uj;
	else if (sensor->type == hwmon_power)
		*ret = power_uw;
	else if (sensor->type == hwmon_in)
		*ret = sensor->voltage_mv;
	else
		*ret = DIV_ROUND_CLOSEST(power_uw, sensor->voltage_mv);
	return 0;
}

static int chip_read(struct device *device, enum hwmon_sensor_types type, u32 attribute, int index,
		     long *ret)
{
	struct sensor *sensor = find_sensor(dev_get_drvdata(device), type, index);

	if (!sensor)
		return -EOPNOTSUPP;
	if (is_enable(type, attribute)) {
		*ret = READ_ONCE(sensor->is_enabled);
		return 0;
	}
	return READ_ONCE(sensor->is_enabled) ? read_input(&sensor->base, ret) : -ENODATA;
}

static int chip_read_string(struct device *device, enum hwmon_sensor_types type, u32 attribute,
			    int index, const char **ret)
{
	struct sensor *sensor = find_sensor(dev_get_drvdata(device), type, index);

	if (!sensor)
		return -EOPNOTSUPP;
	*ret = sensor->base.label;
	return 0;
}

static int chip_write(struct device *device, enum hwmon_sensor_types type, u32 attribute, int index,
		      long value)
{
	struct sensor *sensor = find_sensor(dev_get_drvdata(device), type, index);

	if (!sensor || !is_enable(type, attribute))
		return -EOPNOTSUPP;
	if (value != 0 && value != 1)
		return -EINVAL;
	WRITE_ONCE(sensor->is_enabled, value);
	return 0;
}

static const struct hwmon_ops chip_ops = {
	.is_visible = chip_is_visible,
	.read = chip_read,
	.read_string = chip_read_string,
	.write = chip_write,
};

/* ---- showing ---- */

static u32 config_of(int type)
{
	switch (type) {
	case hwmon_energy:
		return HWMON_E_INPUT | HWMON_E_LABEL | HWMON_E_ENABLE;
	case hwmon_power:
		return HWMON_P_INPUT | HWMON_P_LABEL | HWMON_P_ENABLE;
	case hwmon_in:
		return HWMON_I_INPUT | HWMON_I_LABEL | HWMON_I_ENABLE;
	default:
		return HWMON_C_INPUT | HWMON_C_LABEL | HWMON_C_ENABLE;
	}
}

/* Up to the last index of each type; is_visible leaves out those between. */
static void describe_chip(struct chip *chip)
{
	unsigned int i, k, n = 0;

	memset(chip->configs, 0, sizeof(chip->configs));
	for (i = 0; i < chip->base.n_sensors; i++) {
		const struct sim_sensor *sensor = chip->base.sensors[i];

		for (k = 0; k <= sensor->index; k++)
			chip->configs[sensor->type][k] = config_of(sensor->type);
	}
	for (i = 0; i < hwmon_max; i++) {
		if (!chip->configs[i][0])
			continue;
		chip->infos[i].type = i;
		chip->infos[i].config = chip->configs[i];
		chip->info_list[n++] = &chip->infos[i];
	}
	chip->info_list[n] = NULL;
	chip->info.ops = &chip_ops;
	chip->info.info = chip->info_list;
}

static int show_chip(struct sim_device *device)
{
	struct chip *chip = container_of(device, struct chip, base);
	struct device *shown;

	describe_chip(chip);
	shown = hwmon_device_register_with_info(&device->platform->dev, device->name, chip,
						&chip->info, NULL);
	if (IS_ERR(shown))
		return sim_fail((int)PTR_ERR(shown), "the hwmon core refuses chip '%s'",
				device->name);
	device->shown = shown;
	return 0;
}

static void hide_chip(struct sim_device *device)
{
	hwmon_device_unregister(device->shown);
}

static const struct sim_sensor_type types[] = {
	{ "energy", hwmon_energy, 1 },
	{ "power", hwmon_power, 1 },
	{ "in", hwmon_in, 0 },
	{ "curr", hwmon_curr, 1 },
};

static struct sim_device_class chips = {
	.noun = "chip",
	.part = "sensor",
	.platform = "wattsim",
	.value = "value",
	.naming = { types, ARRAY_SIZE(types), INDEX_MAX,
		    "energyN, powerN, currN (N from 1) or inN (from 0)" },
	.sensors_max = SIM_DEVICE_SENSORS_MAX,
	.device_size = sizeof(struct chip),
	.sensor_size = sizeof(struct sensor),
	.show = show_chip,
	.hide = hide_chip,
	.read = read_input,
	.devices = LIST_HEAD_INIT(chips.devices),
};

/* ---- the noun ---- */

#define KEY_ENABLE SIM_SENSOR_KEYS

#define NAME_KEY \
	{ \
		"sensor", SIM_TEXT, true, 0, SIM_TEXT_MAX - 1 \
	}
#define SENSOR_KEYS \
	{ \
		[SIM_SENSOR_NAME] = NAME_KEY, [SIM_SENSOR_METER] = SIM_KEY_METER, \
		[SIM_SENSOR_LABEL] = SIM_KEY_LABEL, [SIM_SENSOR_VOLTAGE] = SIM_KEY_VOLTAGE, \
		[KEY_ENABLE] = { "enable", SIM_NUMBER, false, 0, 1 }, \
	}
#define FAIL_KEYS \
	{ \
		NAME_KEY, SIM_KEY_ERRNO \
	}
#define RESET_KEYS \
	{ \
		NAME_KEY \
	}

static int run_add(const char *target, const struct sim_value *values)
{
	if (hwmon_is_bad_char(target[0]) || strpbrk(target, "-* \t\n"))
		return sim_fail(-EINVAL, "'%s': hwmon takes no '-' or '*' in a name", target);
	return sim_device_add(&chips, target);
}

static int run_sensor(const char *target, const struct sim_value *values)
{
	struct sim_sensor *added;
	int r = sim_device_add_sensor(&chips, target, values, &added);

	if (!r)
		container_of(added, struct sensor, base)->is_enabled =
			sim_number_or(&values[KEY_ENABLE], 1);
	return r;
}

static int run_fail(const char *target, const struct sim_value *values)
{
	return sim_device_fail_sensor(&chips, target, values);
}

static int run_reset(const char *target, const struct sim_value *values)
{
	struct sim_sensor *sensor;
	int r = sim_device_get_sensor(&chips, target, values[0].text, &sensor);

	if (!r)
		sim_counter_set(&sensor->counter, 0);
	return r;
}

static int run_show(const char *target, const struct sim_value *values)
{
	return sim_device_show(&chips, target);
}

static int run_hide(const char *target, const struct sim_value *values)
{
	return sim_device_hide(&chips, target);
}

static int run_remove(const char *target, const struct sim_value *values)
{
	return sim_device_remove(&chips, target);
}

static void list_chips(struct seq_file *file)
{
	sim_devices_list(&chips, file);
}

static const struct sim_verb chip_verbs[] = {
	{ "add", true, {}, run_add },          { "sensor", true, SENSOR_KEYS, run_sensor },
	{ "show", true, {}, run_show },        { "hide", true, {}, run_hide },
	{ "fail", true, FAIL_KEYS, run_fail }, { "reset", true, RESET_KEYS, run_reset },
	{ "remove", true, {}, run_remove },
};

static struct sim_noun chip_noun = {
	.name = "chip",
	.owner = THIS_MODULE,
	.verbs = chip_verbs,
	.n_verbs = ARRAY_SIZE(chip_verbs),
	.show = list_chips,
};

static int __init chips_init(void)
{
	sim_noun_register(&chip_noun);
	return 0;
}

static void __exit chips_exit(void)
{
	sim_noun_unregister(&chip_noun);
	sim_lock();
	sim_devices_free(&chips);
	sim_unlock();
}

module_init(chips_init);
module_exit(chips_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Wattribute's simulator: hwmon chips, for tests only");
