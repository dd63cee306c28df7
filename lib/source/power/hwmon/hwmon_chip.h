/* SPDX-License-Identifier: Apache-2.0 */
/* A hwmon chip as sysfs shows it: its names and which sensors it has. One thread per object. */
#ifndef WATT_SOURCE_POWER_HWMON_HWMON_CHIP_H
#define WATT_SOURCE_POWER_HWMON_HWMON_CHIP_H

#include <stddef.h>
#include <stdint.h>

#include "source/power/sensor/sysfs_sensors.h"
#include "source/source.h"

/* inN in mV, currN in mA, powerN in uW, energyN in uJ */
extern const struct watt_sysfs_naming watt_hwmon_naming;

struct watt_hwmon_chip {
	char dir[128];                     /* where the attributes are, below sysfs */
	char name[64];                     /* content of `name`; empty: unknown */
	char device[96];                   /* stable name of the device */
	uint64_t update_ns;                /* update_interval; 0: not said */
	struct watt_sysfs_sensors sensors; /* enabled ones that have a value */
};

/*
 * Looks at hwmonN. Sensors that are disabled or not connected are left out. 0 also if it has
 * nothing that tells of power (no sensors); -ENOMEM.
 */
int watt_hwmon_chip_read(const struct watt_env *env, const char *hwmon,
			 struct watt_hwmon_chip *ret);
/* Accepts a zeroed chip. */
void watt_hwmon_chip_done(struct watt_hwmon_chip *chip);
/* Text of another attribute of a sensor, such as "_oem_info": as watt_root_read. */
int watt_hwmon_chip_attribute(const struct watt_env *env, const struct watt_hwmon_chip *chip,
			      const struct watt_sysfs_sensor *sensor, const char *suffix, char *buf,
			      size_t size);

#endif
