/* SPDX-License-Identifier: Apache-2.0 */
/* lib/rates.c */
#include "unit.h"

#include "rates.h"
#include "rules_of.h"

static const struct watt_power_ops hwmon_ops = { .name = "hwmon" };
static const struct watt_power_ops powercap_ops = { .name = "powercap" };

static void keep_line(void *data, enum watt_log_level level, const char *text)
{
	snprintf(data, 256, "%s", text);
}

static void test_valid(void **state)
{
	static const struct {
		const char *text;
		uint64_t hwmon_ns, powercap_ns;
	} cases[] = {
		{ NULL, 7, 7 },
		{ "hwmon=1kHz", 1000000, 7 },
		{ "hwmon=1000,powercap=20", 1000000, 50000000 },
		{ "powercap=0.5Hz", 7, 2000000000 },
		{ "hwmon=12.5hz", 80000000, 7 },
		{ "hwmon=0.5KHZ", 2000000, 7 },
		{ "hwmon=10,hwmon=20", 50000000, 7 },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct watt_power hwmon = { .ops = &hwmon_ops, .asked_period_ns = 7 };
		struct watt_power powercap = { .ops = &powercap_ops, .asked_period_ns = 7 };
		struct watt_power *const sources[] = { &hwmon, &powercap };
		struct watt_rules rates = rules_of(cases[i].text, &watt_rate_syntax);

		assert_int_equal(watt_rates_apply(&rates, sources, 2, NULL), 0);
		watt_rules_clear(&rates);
		assert_int_equal(hwmon.asked_period_ns, cases[i].hwmon_ns);
		assert_int_equal(powercap.asked_period_ns, cases[i].powercap_ns);
	}
}

static void test_a_source_that_is_not_used(void **state)
{
	struct watt_power hwmon = { .ops = &hwmon_ops }, powercap = { .ops = &powercap_ops };
	struct watt_power *const sources[] = { &hwmon, &powercap };
	struct watt_rules rates = rules_of("iio=10", &watt_rate_syntax);
	char line[256] = "";
	struct watt_log log = { keep_line, line };

	assert_int_equal(watt_rates_apply(&rates, sources, 2, &log), -ENOENT);
	assert_string_equal(line, "no source that is used here is called 'iio'; there are: hwmon, "
				  "powercap");
	watt_rules_clear(&rates);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_valid),
		cmocka_unit_test(test_a_source_that_is_not_used),
	};

	return cmocka_run_group_tests_name("rates", tests, NULL, NULL);
}
