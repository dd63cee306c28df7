// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chips of hwmon, through the kernel's own hwmon core. A chip is described first and then shown;
 * each of its sensors shows a meter, as energy, power, voltage or current.
 */
#include <linux/err.h>
#include <linux/hwmon.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "counter.h"
#include "sim.h"

#define CHIPS_MAX 32
#define SENSORS_MAX 32 /* of a chip */
#define INDEX_MAX 15
#define VOLTAGE_MV 12000

struct sensor {
	enum hwmon_sensor_types type;
	unsigned int index;      /* of hwmon: in0 and power1 are 0 */
	char name[SIM_TEXT_MAX]; /* "power1" */
	char label[SIM_TEXT_MAX];
	bool is_enabled;
	u32 voltage_mv;             /* of a voltage, and of a current */
	struct sim_counter counter; /* in uJ; its error is that of the sensor */
};

struct chip {
	struct list_head node;
	char name[SIM_TEXT_MAX];
	struct platform_device *platform;
	struct device *hwmon; /* NULL: hidden */
	unsigned int n_sensors;
	struct sensor *sensors[SENSORS_MAX];
	/* what the core is given when it is shown */
	u32 configs[hwmon_max][INDEX_MAX + 2];
	struct hwmon_channel_info infos[hwmon_max];
	const struct hwmon_channel_info *info_list[hwmon_max + 1];
	struct hwmon_chip_info info;
};

static const struct {
	const char *prefix;
	enum hwmon_sensor_types type;
	unsigned int first; /* number of index 0 */
	u32 config;
} kinds[] = {
	{ "energy", hwmon_energy, 1, HWMON_E_INPUT | HWMON_E_LABEL | HWMON_E_ENABLE },
	{ "power", hwmon_power, 1, HWMON_P_INPUT | HWMON_P_LABEL | HWMON_P_ENABLE },
	{ "in", hwmon_in, 0, HWMON_I_INPUT | HWMON_I_LABEL | HWMON_I_ENABLE },
	{ "curr", hwmon_curr, 1, HWMON_C_INPUT | HWMON_C_LABEL | HWMON_C_ENABLE },
};

static LIST_HEAD(chips);
static unsigned int n_chips;

/* ---- what the hwmon core asks ---- */

static struct sensor *find_sensor(const struct chip *chip, enum hwmon_sensor_types type, int index)
{
	unsigned int i;

	for (i = 0; i < chip->n_sensors; i++)
		if (chip->sensors[i]->type == type &&
		    chip->sensors[i]->index == (unsigned int)index)
			return chip->sensors[i];
	return NULL;
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

	if (!sensor || (is_label(type, attribute) && !sensor->label[0]))
		return 0;
	return is_enable(type, attribute) ? 0644 : 0444;
}

/* In the unit of its file: uJ, uW, mV or mA. */
static int read_input(struct sensor *sensor, long *ret)
{
	u64 energy_uj;
	u32 power_uw;
	int r = sim_counter_read(&sensor->counter, &energy_uj);

	if (r)
		return r;
	power_uw = sim_meter_power_uw(sensor->counter.meter);
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
	return READ_ONCE(sensor->is_enabled) ? read_input(sensor, ret) : -ENODATA;
}

static int chip_read_string(struct device *device, enum hwmon_sensor_types type, u32 attribute,
			    int index, const char **ret)
{
	struct sensor *sensor = find_sensor(dev_get_drvdata(device), type, index);

	if (!sensor)
		return -EOPNOTSUPP;
	*ret = sensor->label;
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

/* ---- chips ---- */

static struct chip *find_chip(const char *name)
{
	struct chip *chip;

	list_for_each_entry(chip, &chips, node)
		if (!strcmp(chip->name, name))
			return chip;
	return NULL;
}

static int get_chip(const char *name, struct chip **ret)
{
	*ret = find_chip(name);
	return *ret ? 0 : sim_fail(-ENOENT, "there is no chip '%s'", name);
}

static u32 config_of(enum hwmon_sensor_types type)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].type == type)
			return kinds[i].config;
	return 0;
}

/* Up to the last index of each kind; is_visible leaves out those between. */
static void describe_chip(struct chip *chip)
{
	unsigned int i, k, n = 0;

	memset(chip->configs, 0, sizeof(chip->configs));
	for (i = 0; i < chip->n_sensors; i++)
		for (k = 0; k <= chip->sensors[i]->index; k++)
			chip->configs[chip->sensors[i]->type][k] =
				config_of(chip->sensors[i]->type);
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

static int show_chip(struct chip *chip)
{
	struct device *shown;

	if (chip->hwmon)
		return sim_fail(-EALREADY, "chip '%s' is shown already", chip->name);
	if (!chip->n_sensors)
		return sim_fail(-EINVAL, "chip '%s' has no sensor: 'chip sensor' adds one",
				chip->name);
	describe_chip(chip);
	shown = hwmon_device_register_with_info(&chip->platform->dev, chip->name, chip, &chip->info,
						NULL);
	if (IS_ERR(shown))
		return sim_fail((int)PTR_ERR(shown), "the hwmon core refuses chip '%s'",
				chip->name);
	chip->hwmon = shown;
	return 0;
}

static void hide_chip(struct chip *chip)
{
	if (chip->hwmon)
		hwmon_device_unregister(chip->hwmon);
	chip->hwmon = NULL;
}

static void free_chip(struct chip *chip)
{
	unsigned int i;

	hide_chip(chip);
	platform_device_unregister(chip->platform);
	for (i = 0; i < chip->n_sensors; i++) {
		sim_counter_done(&chip->sensors[i]->counter);
		kfree(chip->sensors[i]);
	}
	list_del(&chip->node);
	n_chips--;
	kfree(chip);
}

/* ---- the noun ---- */

enum sensor_key {
	SENSOR_NAME,
	SENSOR_METER,
	SENSOR_LABEL,
	SENSOR_ENABLE,
	SENSOR_VOLTAGE
};

#define NAME_KEY \
	{ \
		"sensor", SIM_TEXT, true, 0, SIM_TEXT_MAX - 1 \
	}
#define SENSOR_KEYS \
	{ \
		[SENSOR_NAME] = NAME_KEY, \
		[SENSOR_METER] = { "meter", SIM_TEXT, true, 0, SIM_TEXT_MAX - 1 }, \
		[SENSOR_LABEL] = { "label", SIM_TEXT, false, 0, SIM_TEXT_MAX - 1 }, \
		[SENSOR_ENABLE] = { "enable", SIM_NUMBER, false, 0, 1 }, \
		[SENSOR_VOLTAGE] = { "voltage_mv", SIM_NUMBER, false, 1, 1000000 }, \
	}
#define FAIL_KEYS \
	{ \
		NAME_KEY, \
		{ \
			"errno", SIM_NUMBER, true, 0, 133 \
		} \
	}
#define RESET_KEYS \
	{ \
		NAME_KEY \
	}

static int run_add(const char *target, const struct sim_value *values)
{
	static int id;
	struct chip *chip;

	if (find_chip(target))
		return sim_fail(-EEXIST, "there is a chip '%s' already", target);
	if (n_chips == CHIPS_MAX)
		return sim_fail(-ENOSPC, "there are %d chips already", CHIPS_MAX);
	if (hwmon_is_bad_char(target[0]) || strpbrk(target, "-* \t\n"))
		return sim_fail(-EINVAL, "'%s': hwmon takes no '-' or '*' in a name", target);
	chip = kzalloc(sizeof(*chip), GFP_KERNEL);
	if (!chip)
		return sim_fail(-ENOMEM, "out of memory");
	strscpy(chip->name, target, sizeof(chip->name));
	chip->platform = platform_device_register_simple("wattsim", id++, NULL, 0);
	if (IS_ERR(chip->platform)) {
		int r = (int)PTR_ERR(chip->platform);

		kfree(chip);
		return sim_fail(r, "chip '%s' gets no device", target);
	}
	list_add_tail(&chip->node, &chips);
	n_chips++;
	return 0;
}

/* "power1" is kind power, index 0. */
static int parse_sensor(const char *name, struct sensor *ret)
{
	unsigned int number;
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		len = strlen(kinds[i].prefix);
		if (strncmp(name, kinds[i].prefix, len) || kstrtouint(name + len, 10, &number))
			continue;
		if (number < kinds[i].first || number - kinds[i].first > INDEX_MAX)
			break;
		ret->type = kinds[i].type;
		ret->index = number - kinds[i].first;
		strscpy(ret->name, name, sizeof(ret->name));
		return 0;
	}
	return sim_fail(-EINVAL, "'%s' is not energyN, powerN, currN (N from 1) or inN (from 0)",
			name);
}

static int init_sensor(const struct chip *chip, struct sensor *sensor,
		       const struct sim_value *values)
{
	struct sim_meter *meter;
	int r = parse_sensor(values[SENSOR_NAME].text, sensor);

	if (r)
		return r;
	if (find_sensor(chip, sensor->type, (int)sensor->index))
		return sim_fail(-EEXIST, "chip '%s' has %s already", chip->name, sensor->name);
	r = sim_meter_get(values[SENSOR_METER].text, &meter);
	if (r)
		return r;
	sim_counter_init(&sensor->counter, meter, 1000, 1, 63, 0);
	strscpy(sensor->label, values[SENSOR_LABEL].text, sizeof(sensor->label));
	sensor->is_enabled = !values[SENSOR_ENABLE].is_set || values[SENSOR_ENABLE].number;
	sensor->voltage_mv = values[SENSOR_VOLTAGE].is_set ? (u32)values[SENSOR_VOLTAGE].number :
							     VOLTAGE_MV;
	return 0;
}

static int run_sensor(const char *target, const struct sim_value *values)
{
	struct sensor *sensor;
	struct chip *chip;
	int r = get_chip(target, &chip);

	if (r)
		return r;
	if (chip->hwmon)
		return sim_fail(-EBUSY, "chip '%s' is shown: hide it first", target);
	if (chip->n_sensors == SENSORS_MAX)
		return sim_fail(-ENOSPC, "chip '%s' has %d sensors already", target, SENSORS_MAX);
	sensor = kzalloc(sizeof(*sensor), GFP_KERNEL);
	if (!sensor)
		return sim_fail(-ENOMEM, "out of memory");
	r = init_sensor(chip, sensor, values);
	if (r)
		kfree(sensor);
	else
		chip->sensors[chip->n_sensors++] = sensor;
	return r;
}

static int get_sensor(const char *target, const char *name, struct sensor **ret)
{
	struct sensor wanted;
	struct chip *chip;
	int r = get_chip(target, &chip);

	if (!r)
		r = parse_sensor(name, &wanted);
	if (r)
		return r;
	*ret = find_sensor(chip, wanted.type, (int)wanted.index);
	return *ret ? 0 : sim_fail(-ENOENT, "chip '%s' has no %s", target, name);
}

static int run_fail(const char *target, const struct sim_value *values)
{
	struct sensor *sensor;
	int r = get_sensor(target, values[0].text, &sensor);

	if (!r)
		sim_counter_fail(&sensor->counter, -(int)values[1].number);
	return r;
}

static int run_reset(const char *target, const struct sim_value *values)
{
	struct sensor *sensor;
	int r = get_sensor(target, values[0].text, &sensor);

	if (!r)
		sim_counter_set(&sensor->counter, 0);
	return r;
}

static int run_show(const char *target, const struct sim_value *values)
{
	struct chip *chip;
	int r = get_chip(target, &chip);

	return r ?: show_chip(chip);
}

static int run_hide(const char *target, const struct sim_value *values)
{
	struct chip *chip;
	int r = get_chip(target, &chip);

	if (r)
		return r;
	if (!chip->hwmon)
		return sim_fail(-EALREADY, "chip '%s' is hidden already", target);
	hide_chip(chip);
	return 0;
}

static int run_remove(const char *target, const struct sim_value *values)
{
	struct chip *chip;
	int r = get_chip(target, &chip);

	if (!r)
		free_chip(chip);
	return r;
}

static void show_chips(struct seq_file *file)
{
	struct chip *chip;
	unsigned int i;

	list_for_each_entry(chip, &chips, node) {
		seq_printf(file, "chip %s %s\n", chip->name,
			   chip->hwmon ? dev_name(chip->hwmon) : "hidden");
		for (i = 0; i < chip->n_sensors; i++) {
			struct sensor *sensor = chip->sensors[i];
			long value = 0;
			int r = read_input(sensor, &value);

			seq_printf(file, "chip %s %s meter=%s value=%ld errno=%d\n", chip->name,
				   sensor->name, sim_meter_name(sensor->counter.meter), value, -r);
		}
	}
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
	.show = show_chips,
};

static int __init chips_init(void)
{
	sim_noun_register(&chip_noun);
	return 0;
}

static void __exit chips_exit(void)
{
	struct chip *chip, *next;

	sim_noun_unregister(&chip_noun);
	sim_lock();
	list_for_each_entry_safe(chip, next, &chips, node)
		free_chip(chip);
	sim_unlock();
}

module_init(chips_init);
module_exit(chips_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Wattribute's simulator: hwmon chips, for tests only");
