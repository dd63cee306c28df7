/* SPDX-License-Identifier: Apache-2.0 */
/* Which sensors a device has, by the names of its attributes in sysfs. One thread per object. */
#ifndef WATT_SOURCE_POWER_SENSOR_SYSFS_SENSORS_H
#define WATT_SOURCE_POWER_SENSOR_SYSFS_SENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/source.h"

enum watt_sysfs_type {
	WATT_SYSFS_VOLTAGE = 0,
	WATT_SYSFS_CURRENT = 1,
	WATT_SYSFS_POWER = 2,
	WATT_SYSFS_ENERGY = 3,
};

#define WATT_SYSFS_TYPES 4
#define WATT_SYSFS_NO_INDEX UINT32_MAX /* in_power_input: the only one of its type */

/* How a subsystem names them: prefix, index, suffix. */
struct watt_sysfs_naming {
	const char *prefix[WATT_SYSFS_TYPES]; /* NULL: has no such sensors */
	const char *other;                    /* suffix of a value besides "_input" */
	bool is_numbered;                     /* a name without an index is no sensor's */
};

struct watt_sysfs_sensor {
	enum watt_sysfs_type type;
	uint32_t index;
	bool has_input;
	union { /* naming's other */
		bool has_other;
		bool has_average; /* hwmon */
		bool has_raw;     /* IIO */
	};
	char label[64]; /* as read; empty: none */
	char clean[64]; /* cleaned; empty: none */
};

struct watt_sysfs_sensors {
	struct watt_sysfs_sensor *sensor; /* by type, then by index */
	size_t n, cap;
};

/* "curr12_input": type, index and "_input". false: the name of no sensor. */
bool watt_sysfs_sensor_parse(const struct watt_sysfs_naming *naming, const char *name,
			     enum watt_sysfs_type *ret_type, uint32_t *ret_index,
			     const char **ret_suffix);
/*
 * Adds the sensors that have a value in dir, below sysfs; their labels are for the caller to
 * read. 0 also if dir is not there; -ENOMEM.
 */
int watt_sysfs_sensors_list(struct watt_sysfs_sensors *sensors, const struct watt_env *env,
			    const char *dir, const struct watt_sysfs_naming *naming);
/* Accepts zeroed ones. */
void watt_sysfs_sensors_done(struct watt_sysfs_sensors *sensors);
/* First sensor of a type, and how many there are: they lie together. */
const struct watt_sysfs_sensor *watt_sysfs_sensors_get(const struct watt_sysfs_sensors *sensors,
						       enum watt_sysfs_type type, size_t *ret_n);

#endif
