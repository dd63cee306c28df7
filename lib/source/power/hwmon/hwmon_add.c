/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a hwmon chip tells of power, best first: counters of energy, then power (averages before
 * instants), then voltage times current. It must not decide where that belongs.
 */
#include "source/power/hwmon/hwmon_add.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/parse.h"
#include "base/util.h"
#include "source/power/hwmon/chip_rules.h"
#include "source/power/hwmon/hwmon_pair.h"
#include "source/power/hwmon/psu.h"

#define PATH_SIZE 192

/* ACPI's "unknown", in the uW that the driver makes of it */
#define POWER_METER_UNKNOWN_UW 4294967295000

struct adding {
	struct watt_sensor_set *set;
	const struct watt_hwmon_world *world;
	const struct watt_hwmon_chip *chip;
	uint32_t ordinal;
	uint32_t n_chips;
	uint32_t n_powers;
	bool is_psu;
	uint64_t period_ns; /* of the group */
};

static void value_path(const struct adding *a, const struct watt_sysfs_sensor *sensor,
		       bool is_average, char *buf)
{
	snprintf(buf, PATH_SIZE, "%s/%s%u%s", a->chip->dir, watt_hwmon_naming.prefix[sensor->type],
		 sensor->index, is_average ? "_average" : "_input");
}

static uint64_t attribute_ns(const struct adding *a, const struct watt_sysfs_sensor *sensor,
			     const char *suffix)
{
	uint64_t value_ms;
	char text[32];

	if (watt_hwmon_chip_attribute(a->world->env, a->chip, sensor, suffix, text, sizeof(text)) <
		    0 ||
	    watt_parse_u64(text, &value_ms) < 0 || value_ms > 3600000)
		return 0;
	return value_ms * WATT_NSEC_PER_MSEC;
}

/* "95.0%": readings are within 5 % of the truth; a uniform error of that width. */
static uint32_t accuracy_ppm(const struct adding *a, const struct watt_sysfs_sensor *sensor)
{
	uint64_t num, den, error_ppm;
	char text[32], *percent;

	if (watt_hwmon_chip_attribute(a->world->env, a->chip, sensor, "_accuracy", text,
				      sizeof(text)) < 0)
		return 0;
	percent = strchr(text, '%');
	if (percent)
		*percent = '\0';
	if (watt_parse_ratio(text, &num, &den) < 0 || num > 100000 || den > 100000 ||
	    num > 100 * den)
		return 0;
	error_ppm = 1000000 - 10000 * num / den;
	return (uint32_t)(error_ppm * 1000000 / 1732051);
}

static int add_spec(struct adding *a, struct watt_sensor_spec *spec,
		    const struct watt_sysfs_sensor *sensor, const char *label, const char *part)
{
	struct watt_hwmon_power power = {
		.chip = a->chip,
		.sensor = sensor,
		.label = label && label[0] ? label : NULL,
		.part = part,
		.ordinal = a->ordinal,
		.n_powers = a->n_powers,
		.n_chips = a->n_chips,
		.is_psu = a->is_psu,
	};
	int r;

	/* of several such chips nobody knows which is meant */
	if (!power.label && a->n_powers == 1 && a->n_chips == 1)
		power.label = watt_rail_map_label_of_chip(a->world->rails, a->chip->name);
	watt_hwmon_place(a->world, &power, &spec->place);
	spec->chip = a->chip->device;
	spec->label = power.label;
	spec->part = power.label ? power.label : part;
	spec->channel.scale_den = 1;
	if (!spec->channel.period_ns)
		spec->channel.period_ns = a->chip->update_ns;
	r = watt_sensor_set_add(a->set, spec);
	if (r > 0 && spec->channel.period_ns &&
	    (!a->period_ns || spec->channel.period_ns < a->period_ns))
		a->period_ns = spec->channel.period_ns;
	return r < 0 ? r : 0;
}

static int add_energy(struct adding *a, const struct watt_sysfs_sensor *sensor)
{
	char path[PATH_SIZE], part[32];
	struct watt_sensor_spec spec = {
		.factor = { { .path = path } },
		.channel = { .quantity = WATT_QUANTITY_ENERGY,
			     .semantics = WATT_SEMANTICS_COUNTER,
			     .scale_num = 1000 },
	};

	if (!sensor->has_input)
		return 0;
	value_path(a, sensor, false, path);
	snprintf(part, sizeof(part), "energy%u", sensor->index);
	return add_spec(a, &spec, sensor, sensor->label, part);
}

/*
 * The largest power that the device states. Limits may be exceeded for a while: four times that.
 * 0: it states none that makes sense.
 */
static uint64_t stated_max_uw(const struct adding *a, const struct watt_sysfs_sensor *sensor)
{
	static const char *const suffixes[] = { "_rated_max", "_cap_max" };
	uint64_t value_uw, max_uw = 0;
	char text[32];
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(suffixes); i++)
		if (watt_hwmon_chip_attribute(a->world->env, a->chip, sensor, suffixes[i], text,
					      sizeof(text)) > 0 &&
		    watt_parse_u64(text, &value_uw) == 0 && value_uw >= 1000000 &&
		    value_uw <= 100000000000)
			max_uw = WATT_MAX(max_uw, value_uw);
	return 4 * max_uw;
}

static int add_power(struct adding *a, const struct watt_sysfs_sensor *sensor)
{
	bool is_meter = !strcmp(a->chip->name, "power_meter");
	char path[PATH_SIZE], part[32], oem_info[96] = "";
	const char *label = sensor->label;
	struct watt_sensor_spec spec = {
		.factor = { { .path = path } },
		.unknown_raw = is_meter ? POWER_METER_UNKNOWN_UW : 0,
		.channel = { .quantity = WATT_QUANTITY_POWER, .scale_num = 1 },
	};

	value_path(a, sensor, sensor->has_average, path);
	snprintf(part, sizeof(part), "power%u", sensor->index);
	spec.channel.semantics = sensor->has_average ? WATT_SEMANTICS_AVERAGE :
						       WATT_SEMANTICS_INSTANT;
	if (sensor->has_average) {
		spec.channel.window_ns = attribute_ns(a, sensor, "_average_interval");
		spec.channel.period_ns = spec.channel.window_ns;
	}
	spec.channel.uncertainty_ppm = accuracy_ppm(a, sensor);
	spec.channel.max_power_uw = stated_max_uw(a, sensor);
	if (!label[0] && watt_hwmon_chip_attribute(a->world->env, a->chip, sensor, "_oem_info",
						   oem_info, sizeof(oem_info)) > 0)
		label = oem_info;
	return add_spec(a, &spec, sensor, label, part);
}

static int add_product(struct adding *a, const struct watt_sysfs_sensor *voltage,
		       const struct watt_sysfs_sensor *current)
{
	/* the mean of a product is not the product of means of other times */
	bool is_average = voltage->has_average && current->has_average;
	char voltage_path[PATH_SIZE], current_path[PATH_SIZE], part[32];
	struct watt_sensor_spec spec = {
		.factor = { { .path = voltage_path }, { .path = current_path } },
		.channel = { .quantity = WATT_QUANTITY_POWER,
			     .semantics = is_average ? WATT_SEMANTICS_AVERAGE :
						       WATT_SEMANTICS_INSTANT,
			     .flags = WATT_CHANNEL_SIGNED,
			     .scale_num = 1 },
	};

	if (!is_average && (!voltage->has_input || !current->has_input))
		return 0;
	value_path(a, voltage, is_average, voltage_path);
	value_path(a, current, is_average, current_path);
	snprintf(part, sizeof(part), "power%u", current->index);
	return add_spec(a, &spec, current, voltage->label[0] ? voltage->label : current->label,
			part);
}

/* Light in a fibre is reported as power, too. */
static bool is_optical(const struct watt_sysfs_sensor *sensor)
{
	return !strcmp(sensor->clean, "tx_power") || !strcmp(sensor->clean, "rx_power");
}

static bool has_energy_of(const struct watt_sysfs_sensor *energies, size_t n,
			  const struct watt_sysfs_sensor *power)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(energies[i].clean, power->clean))
			return true;
	return false;
}

/* A counter that stands at 0 tells less than a power beside it. */
static bool is_dead(const struct adding *a, const struct watt_sysfs_sensor *energy)
{
	char path[PATH_SIZE];
	uint64_t value = 1;

	value_path(a, energy, false, path);
	return watt_root_read_u64(&a->world->env->sysfs, path, &value) == 0 && value == 0;
}

static bool all_dead(const struct adding *a, const struct watt_sysfs_sensor *energies, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!is_dead(a, &energies[i]))
			return false;
	return n > 0;
}

static size_t count_powers(const struct watt_sysfs_sensor *powers, size_t n)
{
	size_t i, count = 0;

	for (i = 0; i < n; i++)
		count += !is_optical(&powers[i]);
	return count;
}

static int add_direct(struct adding *a)
{
	/* not one chip but all of the firmware's sensors: energy of one says nothing of others */
	bool is_collection = !strcmp(a->chip->name, "scmi_sensors");
	const struct watt_sysfs_sensor *energies, *powers;
	size_t n_energies, n_powers, i;
	int r = 0;

	energies = watt_sysfs_sensors_get(&a->chip->sensors, WATT_SYSFS_ENERGY, &n_energies);
	powers = watt_sysfs_sensors_get(&a->chip->sensors, WATT_SYSFS_POWER, &n_powers);
	if (count_powers(powers, n_powers) && all_dead(a, energies, n_energies))
		n_energies = 0;
	a->n_powers = (uint32_t)(n_energies && !is_collection ?
					 n_energies :
					 n_energies + count_powers(powers, n_powers));
	for (i = 0; i < n_energies && r == 0; i++)
		r = add_energy(a, &energies[i]);
	for (i = 0; i < n_powers && r == 0 && (!n_energies || is_collection); i++)
		if (!is_optical(&powers[i]) && !has_energy_of(energies, n_energies, &powers[i]))
			r = add_power(a, &powers[i]);
	return r;
}

/* A rule leaves out all currents of a chip whose numbers are no measurement. */
static bool has_currents(const struct watt_chip_rule *rule,
			 const struct watt_sysfs_sensor *currents, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!watt_chip_rule_skips_current(rule, currents[i].index))
			return true;
	return false;
}

/* Of what alternates, voltage times current is no power. */
static bool is_wanted(const struct adding *a, const struct watt_sysfs_sensor *voltage)
{
	return !a->is_psu || !watt_psu_is_apparent(voltage->clean);
}

static int add_products(struct adding *a)
{
	const struct watt_sysfs_sensor *voltages, *currents;
	_cleanup_free_ struct watt_hwmon_match *matches = NULL;
	struct watt_chip_rule rule;
	size_t n_voltages, n_currents, n, i;
	bool has_rule;
	int r = 0;

	voltages = watt_sysfs_sensors_get(&a->chip->sensors, WATT_SYSFS_VOLTAGE, &n_voltages);
	currents = watt_sysfs_sensors_get(&a->chip->sensors, WATT_SYSFS_CURRENT, &n_currents);
	if (n_voltages == 0 || n_currents == 0)
		return 0;
	matches = calloc(n_currents, sizeof(*matches));
	if (!matches)
		return -ENOMEM;
	has_rule = watt_chip_rule_find(a->world->env->config, a->chip->name, &rule);
	n = watt_hwmon_pair(voltages, n_voltages, currents, n_currents, has_rule ? &rule : NULL,
			    matches);
	if (n == 0 && (!has_rule || has_currents(&rule, currents, n_currents)))
		watt_log(
			&a->world->env->log, WATT_LOG_WARNING,
			"hwmon: %s (%s) has voltages and currents, but nothing tells which belong together; a chip rule in the configuration can",
			a->chip->device, a->chip->name[0] ? a->chip->name : "no name");
	a->n_powers = (uint32_t)n;
	for (i = 0; i < n && r == 0; i++)
		if (is_wanted(a, &voltages[matches[i].in_at]))
			r = add_product(a, &voltages[matches[i].in_at],
					&currents[matches[i].curr_at]);
	return r;
}

/* Some units tell the power of their input alone: what comes out is a product. */
static bool lacks_outputs(const struct adding *a)
{
	const struct watt_sysfs_sensor *powers;
	size_t n, i;

	powers = watt_sysfs_sensors_get(&a->chip->sensors, WATT_SYSFS_POWER, &n);
	for (i = 0; i < n; i++)
		if (!strncmp(powers[i].clean, "pout", strlen("pout")))
			return false;
	return a->is_psu;
}

int watt_hwmon_add(struct watt_sensor_set *set, const struct watt_hwmon_world *world,
		   const struct watt_hwmon_chip *chip, uint32_t ordinal, uint32_t n_chips)
{
	struct adding a = {
		.set = set, .world = world, .chip = chip, .ordinal = ordinal, .n_chips = n_chips
	};
	size_t n_energies, n_powers;
	int r;

	watt_sysfs_sensors_get(&chip->sensors, WATT_SYSFS_ENERGY, &n_energies);
	watt_sysfs_sensors_get(&chip->sensors, WATT_SYSFS_POWER, &n_powers);
	a.is_psu = watt_psu_is(world->env, chip);
	r = n_energies || n_powers ? add_direct(&a) : 0;
	if (r == 0 && ((!n_energies && !n_powers) || lacks_outputs(&a)))
		r = add_products(&a);
	return r < 0 ? r : watt_sensor_set_end_group(set, a.period_ns);
}
