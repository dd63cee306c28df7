/* SPDX-License-Identifier: Apache-2.0 */
/* Which voltage and which current of a chip make a power. Thread-safe. */
#ifndef WATT_SOURCE_POWER_HWMON_HWMON_PAIR_H
#define WATT_SOURCE_POWER_HWMON_HWMON_PAIR_H

#include <stddef.h>

#include "source/power/hwmon/chip_rules.h"
#include "source/power/sensor/sysfs_sensors.h"

/* Where in the two lists. */
struct watt_hwmon_match {
	size_t in_at;
	size_t curr_at;
};

/*
 * Matches by equal cleaned labels, then by the chip's rule, then (without a rule) by equal
 * index. rule may be NULL. ret needs room for the shorter of the lists. Returns the number of
 * matches, in the order of the currents.
 */
size_t watt_hwmon_pair(const struct watt_sysfs_sensor *voltages, size_t n_voltages,
		       const struct watt_sysfs_sensor *currents, size_t n_currents,
		       const struct watt_chip_rule *rule, struct watt_hwmon_match *ret);

#endif
