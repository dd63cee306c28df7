/* SPDX-License-Identifier: Apache-2.0 */
/* How the voltages and currents of a known chip belong together. Thread-safe. */
#ifndef WATT_SOURCE_POWER_HWMON_CHIP_RULES_H
#define WATT_SOURCE_POWER_HWMON_CHIP_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/config/config.h"

struct watt_chip_rule {
	const char *name; /* content of the chip's `name` file */
	const struct watt_config_pair *pairs;
	size_t n_pairs;
	uint64_t skip_voltages; /* bit N: inN is no supply rail */
	uint64_t skip_currents; /* bit N: currN */
	bool is_same_index;     /* inN belongs to currN, unless pairs says otherwise */
	bool is_user;           /* from the configuration */
};

/* The rule for a chip: the user's, else the built-in one. false: there is none. */
bool watt_chip_rule_find(const struct watt_config *config, const char *name,
			 struct watt_chip_rule *ret);
bool watt_chip_rule_skips_voltage(const struct watt_chip_rule *rule, uint32_t index);
bool watt_chip_rule_skips_current(const struct watt_chip_rule *rule, uint32_t index);

#endif
