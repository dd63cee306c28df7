/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at one hwmonN of sysfs: what the chip is called, which device it is, which sensors it has
 * and what they are called. It must not read values nor decide what they mean.
 */
#include "source/power/hwmon_chip.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/parse.h"
#include "base/util.h"
#include "source/power/device_name.h"

static const char *const prefixes[] = {
	[WATT_HWMON_VOLTAGE] = "in",
	[WATT_HWMON_CURRENT] = "curr",
	[WATT_HWMON_POWER] = "power",
	[WATT_HWMON_ENERGY] = "energy",
};

const char *watt_hwmon_type_prefix(enum watt_hwmon_type type)
{
	return prefixes[type];
}

bool watt_hwmon_attribute_parse(const char *name, enum watt_hwmon_type *ret_type,
				uint32_t *ret_index, const char **ret_suffix)
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
		/* the kernel writes no leading zeros: in01 would be a second in1 */
		if (digits == 0 || digits == 5 || (p[0] == '0' && digits > 1) || p[digits] != '_')
			continue;
		*ret_type = (enum watt_hwmon_type)type;
		*ret_index = index;
		*ret_suffix = p + digits;
		return true;
	}
	return false;
}

static struct watt_hwmon_sensor *find_sensor(struct watt_hwmon_chip *chip,
					     enum watt_hwmon_type type, uint32_t index)
{
	size_t i;

	for (i = 0; i < chip->n_sensors; i++)
		if (chip->sensors[i].type == type && chip->sensors[i].index == index)
			return &chip->sensors[i];
	return NULL;
}

static int note_attribute(struct watt_hwmon_chip *chip, const char *name)
{
	struct watt_hwmon_sensor *sensor;
	enum watt_hwmon_type type;
	const char *suffix;
	uint32_t index;
	int r;

	if (!watt_hwmon_attribute_parse(name, &type, &index, &suffix))
		return 0;
	if (strcmp(suffix, "_input") && strcmp(suffix, "_average"))
		return 0;
	sensor = find_sensor(chip, type, index);
	if (!sensor) {
		r = watt_grow((void **)&chip->sensors, &chip->sensors_cap, chip->n_sensors,
			      sizeof(*chip->sensors));
		if (r < 0)
			return r;
		sensor = &chip->sensors[chip->n_sensors++];
		*sensor = (struct watt_hwmon_sensor){ .type = type, .index = index };
	}
	if (!strcmp(suffix, "_input"))
		sensor->has_input = true;
	else
		sensor->has_average = true;
	return 0;
}

static int compare_sensors(const void *a, const void *b)
{
	const struct watt_hwmon_sensor *x = a, *y = b;

	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int list_sensors(const struct watt_env *env, struct watt_hwmon_chip *chip)
{
	struct watt_names names = WATT_NAMES_INIT;
	int r;
	size_t i;

	r = watt_root_list(&env->sysfs, chip->dir, "", &names);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	for (i = 0; i < names.n && r == 0; i++)
		r = note_attribute(chip, names.name[i]);
	watt_names_free(&names);
	if (chip->n_sensors)
		qsort(chip->sensors, chip->n_sensors, sizeof(*chip->sensors), compare_sensors);
	return r;
}

int watt_hwmon_chip_attribute(const struct watt_env *env, const struct watt_hwmon_chip *chip,
			      const struct watt_hwmon_sensor *sensor, const char *suffix, char *buf,
			      size_t size)
{
	return watt_root_readf(&env->sysfs, buf, size, "%s/%s%u%s", chip->dir,
			       prefixes[sensor->type], sensor->index, suffix);
}

/* Disabled, or a pin that nothing is connected to. */
static bool is_unused(const struct watt_env *env, const struct watt_hwmon_chip *chip,
		      const struct watt_hwmon_sensor *sensor)
{
	char text[16];

	if (!strcmp(sensor->clean, "nc"))
		return true;
	return watt_hwmon_chip_attribute(env, chip, sensor, "_enable", text, sizeof(text)) > 0 &&
	       !strcmp(text, "0");
}

static void name_sensors(const struct watt_env *env, struct watt_hwmon_chip *chip)
{
	size_t i, kept = 0;

	for (i = 0; i < chip->n_sensors; i++) {
		struct watt_hwmon_sensor *sensor = &chip->sensors[i];

		if (watt_hwmon_chip_attribute(env, chip, sensor, "_label", sensor->label,
					      sizeof(sensor->label)) < 0)
			sensor->label[0] = '\0';
		watt_clean_name(sensor->label, sensor->clean, sizeof(sensor->clean));
		if (!is_unused(env, chip, sensor))
			chip->sensors[kept++] = *sensor;
	}
	chip->n_sensors = kept;
}

/* Old drivers have no `name` of their own kind; their bus driver has one. */
static void read_name(const struct watt_env *env, const char *hwmon, struct watt_hwmon_chip *chip)
{
	char path[192], link[512];
	const char *base;

	if (watt_root_readf(&env->sysfs, chip->name, sizeof(chip->name), "class/hwmon/%s/name",
			    hwmon) > 0)
		return;
	if (watt_root_readf(&env->sysfs, chip->name, sizeof(chip->name),
			    "class/hwmon/%s/device/name", hwmon) > 0)
		return;
	chip->name[0] = '\0';
	snprintf(path, sizeof(path), "class/hwmon/%s/device/driver", hwmon);
	if (watt_root_readlink(&env->sysfs, path, link, sizeof(link)) > 0) {
		base = strrchr(link, '/');
		watt_strlcpy(chip->name, base ? base + 1 : link, sizeof(chip->name));
	} else if (!strncmp(chip->device, "ACPI000D", strlen("ACPI000D"))) {
		watt_strlcpy(chip->name, "power_meter", sizeof(chip->name));
	}
}

/* A name goes into messages of one line. */
static void keep_printable(char *name)
{
	for (; *name; name++)
		if ((unsigned char)*name < ' ' || (unsigned char)*name >= 0x7f)
			*name = '_';
}

static void read_device(const struct watt_env *env, const char *hwmon, struct watt_hwmon_chip *chip)
{
	char path[128];

	snprintf(path, sizeof(path), "class/hwmon/%s", hwmon);
	if (watt_device_name(&env->sysfs, path, chip->device, sizeof(chip->device)) < 0)
		chip->device[0] = '\0';
	read_name(env, hwmon, chip);
	keep_printable(chip->name);
	/* a virtual chip has no device: its name is all that stays the same */
	if (!chip->device[0])
		watt_strlcpy(chip->device, chip->name[0] ? chip->name : hwmon,
			     sizeof(chip->device));
}

static void read_update_interval(const struct watt_env *env, struct watt_hwmon_chip *chip)
{
	char path[192];
	uint64_t interval_ms;

	snprintf(path, sizeof(path), "%s/update_interval", chip->dir);
	if (watt_root_read_u64(&env->sysfs, path, &interval_ms) == 0 && interval_ms < 3600000)
		chip->update_ns = interval_ms * WATT_NSEC_PER_MSEC;
}

int watt_hwmon_chip_read(const struct watt_env *env, const char *hwmon, struct watt_hwmon_chip *ret)
{
	static const char *const below[] = { "", "/device" };
	struct watt_hwmon_chip chip = { 0 };
	int r = 0;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(below) && r == 0 && chip.n_sensors == 0; i++) {
		snprintf(chip.dir, sizeof(chip.dir), "class/hwmon/%s%s", hwmon, below[i]);
		r = list_sensors(env, &chip);
	}
	if (r < 0) {
		watt_hwmon_chip_done(&chip);
		return r;
	}
	read_device(env, hwmon, &chip);
	if (chip.n_sensors) {
		name_sensors(env, &chip);
		read_update_interval(env, &chip);
	}
	*ret = chip;
	return 0;
}

void watt_hwmon_chip_done(struct watt_hwmon_chip *chip)
{
	free(chip->sensors);
	chip->sensors = NULL;
	chip->n_sensors = 0;
}

const struct watt_hwmon_sensor *watt_hwmon_chip_get(const struct watt_hwmon_chip *chip,
						    enum watt_hwmon_type type, size_t *ret_n)
{
	const struct watt_hwmon_sensor *first = NULL;
	size_t i;

	*ret_n = 0;
	for (i = 0; i < chip->n_sensors; i++) {
		if (chip->sensors[i].type != type)
			continue;
		if (!first)
			first = &chip->sensors[i];
		(*ret_n)++;
	}
	return first;
}
