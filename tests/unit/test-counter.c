/* SPDX-License-Identifier: Apache-2.0 */
/* lib/timeline/counter.c */
#include "unit.h"

#include "timeline/counter.h"

#define MS 1000000ULL

/* A package of a server: 2^32 steps of 61.035 uJ, read in uJ. */
static const struct watt_channel package = {
	.quantity = WATT_QUANTITY_ENERGY,
	.scale_num = 1000,
	.scale_den = 1,
	.wrap_nj = 262143328911360ULL,
	.max_power_uw = 400000000,
	.period_ns = MS,
};

static void test_counts(void **state)
{
	struct watt_counter_step step = watt_counter_step(&package, 1000, 5001000, 50 * MS);

	assert_int_equal(step.event, WATT_COUNTER_COUNTED);
	assert_int_equal(step.energy_nj, 5000000000LL);
	assert_false(step.is_ambiguous);
}

static void test_wraps(void **state)
{
	struct watt_counter_step step;

	step = watt_counter_step(&package, 262143328850LL, 61, 50 * MS);
	assert_int_equal(step.event, WATT_COUNTER_WRAPPED);
	/* 61.36 uJ to the modulus and 61 uJ beyond it */
	assert_int_equal(step.energy_nj, 122360);
}

static void test_resets(void **state)
{
	struct watt_counter_step step;

	/* to go from the middle over the top in 50 ms would take megawatts */
	step = watt_counter_step(&package, 131071664425LL, 2000, 50 * MS);
	assert_int_equal(step.event, WATT_COUNTER_RESET);
	assert_int_equal(step.energy_nj, 2000000);
	/* a jump ahead that no machine could make is one too, and says nothing */
	step = watt_counter_step(&package, 1000, 131071664425LL, 50 * MS);
	assert_int_equal(step.event, WATT_COUNTER_RESET);
	assert_int_equal(step.energy_nj, 0);
}

static void test_ambiguous(void **state)
{
	struct watt_counter_step step;

	step = watt_counter_step(&package, 1000, 2000, 700000 * MS); /* 400 W wrap it in 655 s */
	assert_true(step.is_ambiguous);
}

static void test_rounds_absolutely(void **state)
{
	static const struct watt_channel third = { .quantity = WATT_QUANTITY_ENERGY,
						   .scale_num = 1,
						   .scale_den = 3 };
	int64_t sum_nj = 0, raw;

	for (raw = 0; raw < 3000; raw++)
		sum_nj += watt_counter_step(&third, raw, raw + 1, MS).energy_nj;
	assert_int_equal(sum_nj, 1000);
	assert_int_equal(watt_counter_nj(&third, -1), -1);
	assert_int_equal(watt_counter_nj(&third, -3), -1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_wraps),
		cmocka_unit_test(test_resets),
		cmocka_unit_test(test_ambiguous),
		cmocka_unit_test(test_rounds_absolutely),
	};

	return cmocka_run_group_tests_name("counter", tests, NULL, NULL);
}
