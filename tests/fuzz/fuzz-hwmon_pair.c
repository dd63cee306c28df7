/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any set of voltages and currents under any rule: no sensor is used twice, none that is skipped
 * is used at all, and what belongs together by the rule is together.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "source/power/hwmon/hwmon_pair.h"

#define MAX_INPUTS 24

static const char *const labels[] = { "", "a", "b", "vin", "iin", "v", "i", "vout1", "iout1" };
static const char *const chips[] = { "ina3221",  "ina226", "ltc2992", "max20730", "mp2975",
				     "max34440", "pmbus",  "mystery", "user" };

struct bytes {
	const uint8_t *data;
	size_t size;
};

static uint8_t take(struct bytes *bytes)
{
	if (bytes->size == 0)
		return 0;
	bytes->size--;
	return *bytes->data++;
}

/* Each sensor has a number of its own, as files of one folder have. */
static size_t take_inputs(struct bytes *bytes, struct watt_sysfs_sensor *ret)
{
	size_t n = take(bytes) % MAX_INPUTS, i;
	uint32_t index = 0;

	for (i = 0; i < n; i++) {
		index += 1 + take(bytes) % 40u;
		ret[i].index = index - 1;
		watt_strlcpy(ret[i].clean, labels[take(bytes) % WATT_ARRAY_SIZE(labels)],
			     sizeof(ret->clean));
	}
	return n;
}

static void check_matches(const struct watt_hwmon_match *match, size_t n,
			  const struct watt_sysfs_sensor *voltages, size_t n_voltages,
			  const struct watt_sysfs_sensor *currents, size_t n_currents,
			  const struct watt_chip_rule *rule)
{
	size_t i, k;

	if (n > n_voltages || n > n_currents)
		abort();
	for (i = 0; i < n; i++) {
		if (match[i].in_at >= n_voltages || match[i].curr_at >= n_currents)
			abort();
		if (i && match[i].curr_at <= match[i - 1].curr_at)
			abort();
		for (k = 0; k < i; k++)
			if (match[k].in_at == match[i].in_at)
				abort();
		if (rule && (watt_chip_rule_skips_voltage(rule, voltages[match[i].in_at].index) ||
			     watt_chip_rule_skips_current(rule, currents[match[i].curr_at].index)))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct watt_sysfs_sensor voltages[MAX_INPUTS], currents[MAX_INPUTS];
	struct watt_hwmon_match match[MAX_INPUTS];
	struct bytes bytes = { data, size };
	struct watt_config_pair pairs[2];
	uint32_t skipped[2];
	struct watt_config_chip user = { .name = (char *)"user",
					 .pairs = pairs,
					 .skip_voltages = skipped,
					 .skip_currents = skipped };
	struct watt_config config = { .chips = &user, .n_chips = 1 };
	struct watt_chip_rule rule;
	size_t n_voltages, n_currents, n;
	const char *chip = chips[take(&bytes) % WATT_ARRAY_SIZE(chips)];
	bool has_rule;

	user.n_pairs = take(&bytes) % 3u;
	pairs[0] = (struct watt_config_pair){ take(&bytes), take(&bytes) };
	pairs[1] = (struct watt_config_pair){ take(&bytes), take(&bytes) };
	skipped[0] = take(&bytes);
	skipped[1] = take(&bytes) * 0x1010101u;
	user.n_skip_voltages = take(&bytes) % 3u;
	user.n_skip_currents = take(&bytes) % 3u;
	user.is_same_index = take(&bytes) & 1;
	n_voltages = take_inputs(&bytes, voltages);
	n_currents = take_inputs(&bytes, currents);
	has_rule = watt_chip_rule_find(&config, chip, &rule);
	n = watt_hwmon_pair(voltages, n_voltages, currents, n_currents, has_rule ? &rule : NULL,
			    match);
	check_matches(match, n, voltages, n_voltages, currents, n_currents,
		      has_rule ? &rule : NULL);
	return 0;
}
