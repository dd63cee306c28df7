/* SPDX-License-Identifier: Apache-2.0 */
/* lib/sink/decimal.c */
#include "unit.h"

#include <math.h>

#include "sink/decimal.h"

static void test_signed(void **state)
{
	char buf[WATT_DECIMAL_SIZE];

	assert_string_equal(watt_decimal_signed(buf, 0, 9), "0");
	assert_string_equal(watt_decimal_signed(buf, 1, 9), "0.000000001");
	assert_string_equal(watt_decimal_signed(buf, -1, 9), "-0.000000001");
	assert_string_equal(watt_decimal_signed(buf, 1234500000, 9), "1.2345");
	assert_string_equal(watt_decimal_signed(buf, -2000000000, 9), "-2");
	assert_string_equal(watt_decimal_signed(buf, 1200, 0), "1200");
	assert_string_equal(watt_decimal_signed(buf, INT64_MAX, 9), "9223372036.854775807");
	assert_string_equal(watt_decimal_signed(buf, INT64_MIN, 9), "-9223372036.854775808");
	assert_string_equal(watt_decimal_signed(buf, INT64_MIN, 19), "-0.9223372036854775808");
}

static void test_unsigned(void **state)
{
	char buf[WATT_DECIMAL_SIZE];

	assert_string_equal(watt_decimal_unsigned(buf, UINT64_MAX, 9), "18446744073.709551615");
	assert_string_equal(watt_decimal_unsigned(buf, UINT64_MAX, 0), "18446744073709551615");
	assert_string_equal(watt_decimal_unsigned(buf, 500, 3), "0.5");
}

static void test_doubles_come_back(void **state)
{
	static const double values[] = { 0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, -2.5, 1e22 };
	char buf[WATT_DECIMAL_SIZE];
	size_t i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		assert_true(strtod(watt_decimal_double(buf, values[i]), NULL) == values[i]);
	assert_string_equal(watt_decimal_double(buf, 0.1), "0.1");
	assert_string_equal(watt_decimal_double(buf, NAN), "null");
	assert_string_equal(watt_decimal_double(buf, -INFINITY), "null");
}

static void test_floats_come_back(void **state)
{
	char buf[WATT_DECIMAL_SIZE];
	unsigned int i;

	for (i = 1; i < 1000; i++) {
		float value = 1234567.0F / (float)i;

		assert_true(strtof(watt_decimal_float(buf, value), NULL) == value);
	}
	assert_string_equal(watt_decimal_float(buf, 0.1F), "0.1");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signed),
		cmocka_unit_test(test_unsigned),
		cmocka_unit_test(test_doubles_come_back),
		cmocka_unit_test(test_floats_come_back),
	};

	return cmocka_run_group_tests_name("decimal", tests, NULL, NULL);
}
