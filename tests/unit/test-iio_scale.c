/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/power/iio/iio_scale.c */
#include "unit.h"

#include "base/util.h"
#include "source/power/iio/iio_scale.h"

static void test_parse(void **state)
{
	static const struct {
		const char *scale, *offset;
		int r;
		int64_t mul, add;
		uint64_t num, den;
	} cases[] = {
		{ NULL, NULL, 0, 1, 0, 1, 1 },
		{ "6.25", NULL, 0, 1, 0, 25, 4 },
		{ "0.000000625", NULL, 0, 1, 0, 1, 1600000 },
		{ "2.5", "-20", 0, 1, -20, 5, 2 },
		{ "2", "7", 0, 1, 7, 2, 1 },
		/* (raw - 12.5) / 10 is (2 raw - 25) / 20 */
		{ "0.1", "-12.5", 0, 2, -25, 1, 20 },
		{ NULL, "0.25", 0, 4, 1, 1, 4 },
		{ NULL, "0.000", 0, 1, 0, 1, 1 },
		{ NULL, "-0", 0, 1, 0, 1, 1 },
		{ "0", NULL, -ERANGE, 0, 0, 0, 0 },
		{ "-1", NULL, -EBADMSG, 0, 0, 0, 0 },
		{ "", NULL, -EBADMSG, 0, 0, 0, 0 },
		{ "1.2.3", NULL, -EBADMSG, 0, 0, 0, 0 },
		{ NULL, "", -EBADMSG, 0, 0, 0, 0 },
		{ NULL, "--1", -EBADMSG, 0, 0, 0, 0 },
		{ NULL, "-", -EBADMSG, 0, 0, 0, 0 },
		{ NULL, "99999999999999999999", -ERANGE, 0, 0, 0, 0 },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		struct watt_iio_scale s = { 0 };

		assert_int_equal(watt_iio_scale_parse(cases[i].scale, cases[i].offset, &s),
				 cases[i].r);
		assert_int_equal(s.mul, cases[i].mul);
		assert_int_equal(s.add, cases[i].add);
		assert_int_equal(s.num, cases[i].num);
		assert_int_equal(s.den, cases[i].den);
	}
}

static void test_multiply(void **state)
{
	uint64_t num = 7, den = 9;

	assert_int_equal(watt_iio_fraction_multiply(1000, 1, 25, 4, &num, &den), 0);
	assert_int_equal(num, 6250);
	assert_int_equal(den, 1);
	/* it fits once it is reduced */
	assert_int_equal(watt_iio_fraction_multiply(UINT64_MAX, 3, 3, UINT64_MAX, &num, &den), 0);
	assert_int_equal(num, 1);
	assert_int_equal(den, 1);
	assert_int_equal(watt_iio_fraction_multiply(UINT64_MAX, 1, 2, 1, &num, &den), -ERANGE);
	assert_int_equal(watt_iio_fraction_multiply(1, UINT64_MAX, 1, 2, &num, &den), -ERANGE);
	assert_int_equal(num, 1);
	assert_int_equal(den, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_multiply),
	};

	return cmocka_run_group_tests_name("iio_scale", tests, NULL, NULL);
}
