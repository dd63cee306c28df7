/* SPDX-License-Identifier: Apache-2.0 */
/* lib/view/units.c */
#include "unit.h"

#include <math.h>

#include <wattribute/units.h>

static void test_digits(void **state)
{
	assert_int_equal(watt_units_digits(0), 3);
	assert_int_equal(watt_units_digits(400000), 2);
	assert_int_equal(watt_units_digits(100000), 2);
	assert_int_equal(watt_units_digits(20000), 3);
	assert_int_equal(watt_units_digits(1000), 4);
}

static void test_number(void **state)
{
	static const struct {
		double value;
		int digits, max;
		const char *text;
	} cases[] = {
		{ 12.345, 3, 3, "12.3" }, { 0.0421, 2, 3, "0.042" }, { 0.0004, 2, 3, "0.000" },
		{ 0, 3, 3, "0" },         { 9.996, 3, 3, "10.0" },   { 99.96, 3, 3, "100" },
		{ 1234.5, 3, 3, "1234" }, { -1.25, 3, 3, "-1.25" },  { 1, 2, 3, "1.0" },
		{ NAN, 3, 3, "-" },       { INFINITY, 3, 3, "-" },   { -0.2, 1, 0, "0" },
	};
	char buf[WATT_UNITS_SIZE];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(watt_units_number(buf, cases[i].value, cases[i].digits,
						      cases[i].max),
				    cases[i].text);
}

static void test_column(void **state)
{
	char buf[WATT_UNITS_SIZE];

	assert_string_equal(watt_units_column(buf, 12.345, 3, 4, 3), "  12.3  ");
	assert_string_equal(watt_units_column(buf, 0.0421, 2, 4, 3), "   0.042");
	assert_string_equal(watt_units_column(buf, 123.4, 2, 4, 3), " 123    ");
	assert_string_equal(watt_units_column(buf, NAN, 2, 4, 3), "   -    ");
	assert_string_equal(watt_units_column(buf, 123456, 2, 4, 0), "123456");
}

static void test_prefixes(void **state)
{
	char buf[WATT_UNITS_SIZE];

	assert_string_equal(watt_units_power(buf, 12.345, 3), "12.3 W");
	assert_string_equal(watt_units_power(buf, 0.0042, 2), "4.2 mW");
	assert_string_equal(watt_units_power(buf, 0, 2), "0 W");
	assert_string_equal(watt_units_power(buf, -8.2, 2), "-8.2 W");
	/* What rounds up to a thousand is one of the next. */
	assert_string_equal(watt_units_power(buf, 0.9996, 3), "1.00 W");
	assert_string_equal(watt_units_power(buf, 0.9994, 3), "999 mW");
	assert_string_equal(watt_units_energy(buf, 123456, 3), "123 kJ");
	assert_string_equal(watt_units_energy(buf, 3e-10, 3), "0.300 nJ");
	assert_string_equal(watt_units_energy(buf, NAN, 3), "-");
	assert_string_equal(watt_units_time(buf, 0.001, 3), "1 ms");
	assert_string_equal(watt_units_time(buf, 0.0000612, 2), "61 us");
	assert_string_equal(watt_units_time(buf, 3600, 3), "3600 s");
	assert_string_equal(watt_units_time(buf, 1.25, 3), "1.25 s");
}

static void test_quantity(void **state)
{
	static const struct {
		enum watt_quantity quantity;
		double value;
		const char *text;
	} cases[] = {
		{ WATT_QUANTITY_POWER, 1.5, "1.50 W" },
		{ WATT_QUANTITY_ENERGY, 1.5, "1.50 J" },
		{ WATT_QUANTITY_RATIO, 0.523, "52.3 %" },
		{ WATT_QUANTITY_RATIO, 0, "0 %" },
		{ WATT_QUANTITY_TEMPERATURE, 48.218, "48.2 C" },
		{ WATT_QUANTITY_TEMPERATURE, -4.5, "-4.5 C" },
		{ WATT_QUANTITY_FREQUENCY, 2201600000.0, "2.20 GHz" },
		{ WATT_QUANTITY_MEMORY, 29454520320.0, "27.4 GiB" },
		{ WATT_QUANTITY_SPEED, 2400, "2400 rpm" },
		{ WATT_QUANTITY_SPEED, NAN, "-" },
		{ WATT_QUANTITY_MEMORY, NAN, "-" },
	};
	char buf[WATT_UNITS_SIZE];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(watt_units_quantity(buf, cases[i].quantity, cases[i].value, 3),
				    cases[i].text);
}

static void test_uncertainty(void **state)
{
	char buf[WATT_UNITS_SIZE];

	assert_string_equal(watt_units_uncertainty(buf, 400000, 0), "+-40 %");
	assert_string_equal(watt_units_uncertainty(buf, 20000, 0), "+-2 %");
	assert_string_equal(watt_units_uncertainty(buf, 1500, 0), "+-0.15 %");
	assert_string_equal(watt_units_uncertainty(buf, 0, 0), "unknown");
	assert_string_equal(watt_units_uncertainty(buf, 400000, 1), "\xc2\xb1"
								    "40 %");
}

static void test_elapsed(void **state)
{
	char buf[WATT_UNITS_SIZE];

	assert_string_equal(watt_units_elapsed(buf, 12.9), "12 s");
	assert_string_equal(watt_units_elapsed(buf, 200), "3m 20s");
	assert_string_equal(watt_units_elapsed(buf, 3725), "1h 02m");
	assert_string_equal(watt_units_elapsed(buf, -1), "0.0 s");
}

static void test_fixed(void **state)
{
	char buf[WATT_UNITS_SIZE];

	assert_int_equal(watt_units_decimals(109.7, 3, 6), 0);
	assert_int_equal(watt_units_decimals(0.0421, 2, 6), 3);
	assert_int_equal(watt_units_decimals(0.0421, 2, 2), 2);
	assert_string_equal(watt_units_fixed(buf, 2.5, 2, 4, 3), "   2.50 ");
	assert_string_equal(watt_units_fixed(buf, NAN, 2, 2, 0), " -");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_digits),   cmocka_unit_test(test_number),
		cmocka_unit_test(test_column),   cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_quantity), cmocka_unit_test(test_uncertainty),
		cmocka_unit_test(test_elapsed),  cmocka_unit_test(test_fixed),
	};

	return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
