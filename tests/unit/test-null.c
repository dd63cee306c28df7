/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/power/null.c */
#include "unit.h"

#include "source/config/config.h"
#include "source/registry.h"

static const struct watt_config no_config;

static void test_zero_watts_simulated(void **state)
{
	const struct watt_env env = { .config = &no_config };
	struct watt_sample sample = { .channel = 5 };
	struct watt_power *power;

	assert_true(watt_power_null.flags & WATT_POWER_TEST);
	assert_int_equal(watt_power_null.open(&env, &power), 0);
	assert_int_equal(power->n_channels, 1);
	assert_int_equal(power->n_groups, 1);
	assert_int_equal(power->groups[0].n, 1);
	assert_int_equal(power->channels[0].origin, WATT_ORIGIN_SIMULATED);
	assert_int_equal(power->channels[0].quantity, WATT_QUANTITY_POWER);
	watt_power_null.read(power, 0, &sample);
	assert_int_equal(sample.status, WATT_STATUS_OK);
	assert_int_equal(sample.raw, 0);
	assert_int_equal(sample.channel, 5);
	assert_true(sample.t_before_ns > 0 && sample.t_after_ns >= sample.t_before_ns);
	watt_power_null.close(power);
	watt_power_null.close(NULL);
}

static void test_probe(void **state)
{
	const struct watt_env env = { .config = &no_config };
	struct watt_diag diag = { .state = WATT_BROKEN };

	assert_int_equal(watt_power_null.probe(&env, &diag), 0);
	assert_int_equal(diag.state, WATT_AVAILABLE);
	assert_int_equal(diag.n_channels, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zero_watts_simulated),
		cmocka_unit_test(test_probe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
