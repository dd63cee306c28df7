/* SPDX-License-Identifier: Apache-2.0 */
/* wattribute/types.h: energies without bounds. */
#include "unit.h"

#include <wattribute/types.h>

static void check(struct watt_energy energy, int64_t j, int32_t nj)
{
	assert_int_equal(energy.j, j);
	assert_int_equal(energy.nj, nj);
}

static void test_of_nj(void **state)
{
	check(watt_energy_from_nj(0), 0, 0);
	check(watt_energy_from_nj(1), 0, 1);
	check(watt_energy_from_nj(-1), -1, 999999999);
	check(watt_energy_from_nj(-1000000000), -1, 0);
	check(watt_energy_from_nj(INT64_MAX), 9223372036, 854775807);
	check(watt_energy_from_nj(INT64_MIN), -9223372037, 145224192);
	(void)state;
}

static void test_to_nj(void **state)
{
	static const int64_t values[] = { 0,
					  1,
					  -1,
					  999999999,
					  -999999999,
					  1000000000,
					  -1000000001,
					  9223372035999999999,
					  -9223372035000000000 };
	size_t i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		assert_int_equal(watt_energy_to_nj(watt_energy_from_nj(values[i])), values[i]);
	assert_int_equal(watt_energy_to_nj((struct watt_energy){ 9223372037, 0 }), INT64_MAX);
	assert_int_equal(watt_energy_to_nj((struct watt_energy){ -9223372038, 0 }), INT64_MIN);
	(void)state;
}

/* Differences of what is far beyond int64 nJ are exact. */
static void test_sums(void **state)
{
	struct watt_energy sum = { 0, 0 }, before;
	int i;

	for (i = 0; i < 1000; i++)
		sum = watt_energy_add(sum, watt_energy_from_nj(INT64_MAX));
	check(sum, 9223372036854, 775807000);
	before = sum;
	sum = watt_energy_add(sum, watt_energy_from_nj(-776807000));
	check(sum, 9223372036853, 999000000);
	check(watt_energy_sub(sum, before), -1, 223193000);
	assert_int_equal(watt_energy_to_nj(watt_energy_sub(sum, before)), -776807000);
	for (i = 0; i < 1000; i++)
		sum = watt_energy_sub(sum, watt_energy_from_nj(INT64_MAX));
	assert_int_equal(watt_energy_to_nj(sum), -776807000);
	(void)state;
}

static void test_order(void **state)
{
	struct watt_energy a = { -1, 999999999 }, b = { 0, 0 }, c = { 0, 1 };

	assert_true(watt_energy_compare(a, b) < 0);
	assert_true(watt_energy_compare(c, b) > 0);
	assert_true(watt_energy_compare(a, c) < 0);
	assert_int_equal(watt_energy_compare(c, c), 0);
	assert_true(watt_energy_is_zero(b));
	assert_false(watt_energy_is_zero(a));
	assert_false(watt_energy_is_zero(c));
	assert_float_equal(watt_energy_to_j(watt_energy_from_nj(-1500000000)), -1.5, 1e-12);
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_nj),
		cmocka_unit_test(test_to_nj),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
