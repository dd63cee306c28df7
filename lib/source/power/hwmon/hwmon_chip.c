/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at one hwmonN of sysfs: what the chip is called, which device it is, which sensors it has
 * and what they are called. It must not read values nor decide what they mean.
 */
#include "source/power/hwmon/hwmon_chip.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/parse.h"
#include "base/utf8.h"
#include "base/util.h"
#include "source/power/sensor/device_name.h"

const struct watt_sysfs_naming watt_hwmon_naming = {
	.prefix = { [WATT_SYSFS_VOLTAGE] = "in",
		    [WATT_SYSFS_CURRENT] = "curr",
		    [WATT_SYSFS_POWER] = "power",
		    [WATT_SYSFS_ENERGY] = "energy" },
	.other = "_average",
	.is_numbered = true,
};

int watt_hwmon_chip_attribute(const struct watt_env *env, const struct watt_hwmon_chip *chip,
			      const struct watt_sysfs_sensor *sensor, const char *suffix, char *buf,
			      size_t size)
{
	return watt_root_readf(&env->sysfs, buf, size, "%s/%s%u%s", chip->dir,
			       watt_hwmon_naming.prefix[sensor->type], sensor->index, suffix);
}

/* Disabled, or a pin that nothing is connected to. */
static bool is_unused(const struct watt_env *env, const struct watt_hwmon_chip *chip,
		      const struct watt_sysfs_sensor *sensor)
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

	for (i = 0; i < chip->sensors.n; i++) {
		struct watt_sysfs_sensor *sensor = &chip->sensors.sensor[i];

		if (watt_hwmon_chip_attribute(env, chip, sensor, "_label", sensor->label,
					      sizeof(sensor->label)) < 0)
			sensor->label[0] = '\0';
		watt_clean_name(sensor->label, sensor->clean, sizeof(sensor->clean));
		if (!is_unused(env, chip, sensor))
			chip->sensors.sensor[kept++] = *sensor;
	}
	chip->sensors.n = kept;
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
	if (watt_utf8_is_printable(name, strlen(name)))
		return;
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

	for (i = 0; i < WATT_ARRAY_SIZE(below) && r == 0 && chip.sensors.n == 0; i++) {
		snprintf(chip.dir, sizeof(chip.dir), "class/hwmon/%s%s", hwmon, below[i]);
		r = watt_sysfs_sensors_list(&chip.sensors, env, chip.dir, &watt_hwmon_naming);
	}
	if (r < 0) {
		watt_hwmon_chip_done(&chip);
		return r;
	}
	read_device(env, hwmon, &chip);
	if (chip.sensors.n) {
		name_sensors(env, &chip);
		read_update_interval(env, &chip);
	}
	*ret = chip;
	return 0;
}

void watt_hwmon_chip_done(struct watt_hwmon_chip *chip)
{
	watt_sysfs_sensors_done(&chip->sensors);
}
