/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of chips whose voltages and currents are known to belong together, from their data
 * sheets and drivers. It must not read files: names and indexes in, a rule out.
 */
#include "source/power/hwmon/chip_rules.h"

#include <string.h>

#include "base/util.h"

#define BIT(n) (1ULL << (n))
#define PAIRS(...) \
	.pairs = (const struct watt_config_pair[]){ __VA_ARGS__ }, \
	.n_pairs = sizeof((const struct watt_config_pair[]){ __VA_ARGS__ }) / \
		   sizeof(struct watt_config_pair)

static const struct watt_chip_rule rules[] = {
	/* in4..6 are the shunts, in7 is their sum, curr4 the sum of the currents */
	{ "ina3221", .is_same_index = true, .skip_voltages = BIT(4) | BIT(5) | BIT(6) | BIT(7) },
	/* in0 is the shunt */
	{ "ina209", PAIRS({ 1, 1 }), .skip_voltages = BIT(0) },
	{ "ina219", PAIRS({ 1, 1 }), .skip_voltages = BIT(0) },
	{ "ina226", PAIRS({ 1, 1 }), .skip_voltages = BIT(0) },
	{ "ina238", PAIRS({ 1, 1 }), .skip_voltages = BIT(0) },
	{ "ina260", PAIRS({ 1, 1 }) },
	{ "ina233", PAIRS({ 1, 1 }), .skip_voltages = BIT(2) },
	/* in2 is an auxiliary input */
	{ "ltc2945", PAIRS({ 1, 1 }), .skip_voltages = BIT(2) },
	{ "ltc4260", PAIRS({ 1, 1 }), .skip_voltages = BIT(2) },
	{ "ltc4261", PAIRS({ 1, 1 }), .skip_voltages = BIT(2) },
	{ "ltc2947", PAIRS({ 0, 1 }) },
	{ "ltc2992", PAIRS({ 0, 1 }, { 2, 2 }),
	  .skip_voltages = BIT(1) | BIT(3) | BIT(4) | BIT(5) },
	{ "ltc4282", PAIRS({ 1, 1 }), .skip_voltages = BIT(2) | BIT(3) | BIT(4) },
	{ "adm1275", PAIRS({ 1, 1 }) },
	{ "adm1276", PAIRS({ 1, 1 }) },
	{ "adm1278", PAIRS({ 1, 1 }) },
	{ "adm1293", PAIRS({ 1, 1 }) },
	/* in1 is the input, the current is that of the output */
	{ "max20730", PAIRS({ 2, 1 }) },
	{ "max20751", PAIRS({ 2, 1 }) },
	{ "max34440", .is_same_index = true, .skip_currents = BIT(7) | BIT(8) },
	{ "max34451", .is_same_index = true },
	{ "tps40422", .is_same_index = true },
	{ "tps53679", .is_same_index = true },
	{ "tps546d24", .is_same_index = true },
	{ "ir35221", .is_same_index = true },
	{ "xdpe12284", .is_same_index = true },
	{ "pmbus", .is_same_index = true },
	{ "ucd9000", .is_same_index = true },
	{ "ucd90320", .is_same_index = true },
	/* what was negotiated with the charger, not what flows */
	{ "steamdeck_hwmon", .skip_voltages = BIT(0), .skip_currents = BIT(1) },
	{ "mp2975", PAIRS({ 1, 1 }),
	  .skip_currents = BIT(2) | BIT(3) | BIT(4) | BIT(5) | BIT(6) | BIT(7) | BIT(8) },
};

static uint64_t to_mask(const uint32_t *index, size_t n)
{
	uint64_t mask = 0;
	size_t i;

	for (i = 0; i < n; i++)
		if (index[i] < 64)
			mask |= BIT(index[i]);
	return mask;
}

static bool find_user(const struct watt_config *config, const char *name,
		      struct watt_chip_rule *ret)
{
	size_t i;

	for (i = 0; i < config->n_chips; i++) {
		const struct watt_config_chip *chip = &config->chips[i];

		if (strcmp(chip->name, name))
			continue;
		*ret = (struct watt_chip_rule){
			.name = chip->name,
			.pairs = chip->pairs,
			.n_pairs = chip->n_pairs,
			.skip_voltages = to_mask(chip->skip_voltages, chip->n_skip_voltages),
			.skip_currents = to_mask(chip->skip_currents, chip->n_skip_currents),
			.is_same_index = chip->is_same_index,
			.is_user = true,
		};
		return true;
	}
	return false;
}

bool watt_chip_rule_find(const struct watt_config *config, const char *name,
			 struct watt_chip_rule *ret)
{
	size_t i;

	if (find_user(config, name, ret))
		return true;
	for (i = 0; i < WATT_ARRAY_SIZE(rules); i++) {
		if (strcmp(rules[i].name, name))
			continue;
		*ret = rules[i];
		return true;
	}
	return false;
}

bool watt_chip_rule_skips_voltage(const struct watt_chip_rule *rule, uint32_t index)
{
	return index < 64 && (rule->skip_voltages & BIT(index));
}

bool watt_chip_rule_skips_current(const struct watt_chip_rule *rule, uint32_t index)
{
	return index < 64 && (rule->skip_currents & BIT(index));
}
