/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power supply units on a PMBus: which chips are one, and where their input and outputs belong.
 * Immutable, thread-safe.
 */
#ifndef WATT_SOURCE_POWER_HWMON_PSU_H
#define WATT_SOURCE_POWER_HWMON_PSU_H

#include <stdbool.h>

#include "source/power/hwmon/hwmon_chip.h"
#include "source/power/sensor/place.h"

/*
 * By its driver, or by the mains that feed it. Other chips with an input and outputs are
 * converters on the board, that are fed by a supply.
 */
bool watt_psu_is(const struct watt_env *env, const struct watt_hwmon_chip *chip);
/*
 * Places what goes in ("pin") and what comes out ("pout1", "vout1" x "iout1"): the input shows the
 * machine from outside, its outputs lie in it. false: the label is neither.
 */
bool watt_psu_place(const struct watt_hwmon_chip *chip, const char *label, struct watt_place *ret);
/* "vin": times a current it is no power where it alternates. */
bool watt_psu_is_apparent(const char *label);

#endif
