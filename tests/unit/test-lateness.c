/* SPDX-License-Identifier: Apache-2.0 */
/* lib/sample/lateness.c */
#include "unit.h"

#include "sample/lateness.h"

static void test_empty(void **state)
{
	static struct watt_lateness lateness;

	assert_int_equal(watt_lateness_percentile_ns(&lateness, 500), 0);
	assert_int_equal(watt_lateness_max_ns(&lateness), 0);
}

static void test_small_values_are_exact(void **state)
{
	static struct watt_lateness lateness;
	uint64_t i;

	for (i = 1; i <= 10; i++)
		watt_lateness_add(&lateness, i);
	assert_int_equal(watt_lateness_percentile_ns(&lateness, 0), 1);
	assert_int_equal(watt_lateness_percentile_ns(&lateness, 100), 1);
	assert_int_equal(watt_lateness_percentile_ns(&lateness, 500), 5);
	assert_int_equal(watt_lateness_percentile_ns(&lateness, 990), 10);
	assert_int_equal(watt_lateness_percentile_ns(&lateness, 1000), 10);
	assert_int_equal(watt_lateness_max_ns(&lateness), 10);
}

/* Of one value alone and of one below a larger one, over the whole range. */
static void test_never_understates(void **state)
{
	uint64_t value;

	for (value = 1; value < 1ULL << 35; value = value * 9 / 8 + 1) {
		static struct watt_lateness lateness;
		uint64_t p50_ns;

		memset(&lateness, 0, sizeof(lateness));
		watt_lateness_add(&lateness, value);
		assert_true(watt_lateness_percentile_ns(&lateness, 500) == value);
		watt_lateness_add(&lateness, 1ULL << 36);
		p50_ns = watt_lateness_percentile_ns(&lateness, 500);
		assert_true(p50_ns >= value && p50_ns <= value + value / 32);
	}
}

static void test_percentiles(void **state)
{
	static struct watt_lateness lateness;
	uint64_t i, p99_ns;

	for (i = 0; i < 1000; i++)
		watt_lateness_add(&lateness, i < 980 ? 20000 : 1000000);
	p99_ns = watt_lateness_percentile_ns(&lateness, 990);
	assert_in_range(watt_lateness_percentile_ns(&lateness, 980), 20000, 20625);
	assert_in_range(p99_ns, 1000000, 1000000);
}

static void test_out_of_range(void **state)
{
	static struct watt_lateness lateness;

	watt_lateness_add(&lateness, UINT64_MAX);
	assert_true(watt_lateness_percentile_ns(&lateness, 500) == UINT64_MAX);
	assert_true(watt_lateness_max_ns(&lateness) == UINT64_MAX);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_small_values_are_exact),
		cmocka_unit_test(test_never_understates),
		cmocka_unit_test(test_percentiles),
		cmocka_unit_test(test_out_of_range),
	};

	return cmocka_run_group_tests_name("lateness", tests, NULL, NULL);
}
