/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a hwmon chip into channels: energy, else power, else voltage times current. */
#ifndef WATT_SOURCE_POWER_HWMON_HWMON_ADD_H
#define WATT_SOURCE_POWER_HWMON_HWMON_ADD_H

#include "source/power/hwmon/hwmon_place.h"
#include "source/power/sensor/sensor.h"

/*
 * Adds what the chip tells of power, as one group. ordinal: how many of the n_chips of this name
 * come before it. 0, -ENOMEM. A sensor that does not work is left out with a warning.
 */
int watt_hwmon_add(struct watt_sensor_set *set, const struct watt_hwmon_world *world,
		   const struct watt_hwmon_chip *chip, uint32_t ordinal, uint32_t n_chips);

#endif
