/* SPDX-License-Identifier: Apache-2.0 */
/* A hwmon chip as sysfs shows it: its names and which sensors it has. One thread per object. */
#ifndef WATT_SOURCE_POWER_HWMON_CHIP_H
#define WATT_SOURCE_POWER_HWMON_CHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/source.h"

enum watt_hwmon_type {
	WATT_HWMON_VOLTAGE = 0, /* inN, mV */
	WATT_HWMON_CURRENT = 1, /* currN, mA */
	WATT_HWMON_POWER = 2,   /* powerN, uW */
	WATT_HWMON_ENERGY = 3,  /* energyN, uJ */
};

/* A sensor that is enabled and has a value. */
struct watt_hwmon_sensor {
	enum watt_hwmon_type type;
	uint32_t index;
	bool has_input;
	bool has_average;
	char label[64]; /* as read; empty: none */
	char clean[64]; /* cleaned; empty: none */
};

struct watt_hwmon_chip {
	char dir[128];                     /* where the attributes are, below sysfs */
	char name[64];                     /* content of `name`; empty: unknown */
	char device[96];                   /* stable name of the device */
	uint64_t update_ns;                /* update_interval; 0: not said */
	struct watt_hwmon_sensor *sensors; /* by type, then by index */
	size_t n_sensors;
	size_t sensors_cap;
};

/* "curr12_input": type, number and "_input". false: the name of no sensor. */
bool watt_hwmon_attribute_parse(const char *name, enum watt_hwmon_type *ret_type,
				uint32_t *ret_index, const char **ret_suffix);
/* "in", "curr", "power", "energy" */
const char *watt_hwmon_type_prefix(enum watt_hwmon_type type);

/*
 * Looks at hwmonN. Sensors that are disabled or not connected are left out. 0 also if it has
 * nothing that tells of power (n_sensors 0); -ENOMEM.
 */
int watt_hwmon_chip_read(const struct watt_env *env, const char *hwmon,
			 struct watt_hwmon_chip *ret);
/* Accepts a zeroed chip. */
void watt_hwmon_chip_done(struct watt_hwmon_chip *chip);
/* First sensor of a type, and how many there are: they lie together. */
const struct watt_hwmon_sensor *watt_hwmon_chip_get(const struct watt_hwmon_chip *chip,
						    enum watt_hwmon_type type, size_t *ret_n);
/* Text of another attribute of a sensor, such as "_oem_info": as watt_root_read. */
int watt_hwmon_chip_attribute(const struct watt_env *env, const struct watt_hwmon_chip *chip,
			      const struct watt_hwmon_sensor *sensor, const char *suffix, char *buf,
			      size_t size);

#endif
