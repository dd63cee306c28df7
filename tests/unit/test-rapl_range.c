/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/power/powercap/rapl_range.c */
#include "unit.h"

#include "base/util.h"
#include "source/power/powercap/rapl_range.h"

#define TWO32 4294967296ULL

static void test_known(void **state)
{
	static const struct {
		uint64_t range_uj;
		uint64_t modulus_nj;
	} cases[] = {
		{ 262143328850ULL, TWO32 * 61035 },          /* 2^-14 J, cut to whole nJ */
		{ 65532610987ULL, TWO32 * 15258 },           /* 2^-16 J */
		{ 65712999613ULL, TWO32 * 15300 },           /* memory of servers */
		{ 4294967295000000ULL, TWO32 * 1000000000 }, /* psys in whole J */
		{ 4294967ULL, TWO32 },                       /* 1 nJ */
		{ 1000000ULL, 1000001000ULL },               /* no unit gives this: range + 1 uJ */
		{ 262143328851ULL, 262143328852000ULL },
		{ 1ULL, 2000ULL },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		uint64_t modulus_nj = 0;

		assert_int_equal(watt_rapl_modulus_nj(cases[i].range_uj, &modulus_nj), 0);
		assert_int_equal(modulus_nj, cases[i].modulus_nj);
	}
}

/* Whatever the unit, what the kernel prints for it leads back to it. */
static void test_every_unit(void **state)
{
	uint64_t unit_nj, modulus_nj;

	for (unit_nj = 1; unit_nj < 2000000000; unit_nj = unit_nj * 5 / 4 + 1) {
		watt_u128 range_uj = (watt_u128)0xffffffffU * unit_nj / 1000;

		assert_int_equal(watt_rapl_modulus_nj((uint64_t)range_uj, &modulus_nj), 0);
		assert_int_equal(modulus_nj, TWO32 * unit_nj);
	}
}

static void test_out_of_range(void **state)
{
	uint64_t modulus_nj = 7;

	assert_int_equal(watt_rapl_modulus_nj(0, &modulus_nj), -ERANGE);
	assert_int_equal(watt_rapl_modulus_nj(UINT64_MAX, &modulus_nj), -ERANGE);
	assert_int_equal(watt_rapl_modulus_nj(UINT64_MAX / 1000, &modulus_nj), -ERANGE);
	assert_int_equal(modulus_nj, 7);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_every_unit),
		cmocka_unit_test(test_out_of_range),
	};

	return cmocka_run_group_tests_name("rapl_range", tests, NULL, NULL);
}
