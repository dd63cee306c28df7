/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/meta/kubernetes/quantity.c: amounts as Kubernetes writes them. */
#include "unit.h"

#include "base/util.h"
#include "source/meta/kubernetes/quantity.h"

static void test_amounts(void **state)
{
	static const struct {
		const char *text, *plain;
	} cases[] = {
		{ "0", "0" },
		{ "1", "1" },
		{ "250m", "0.25" },
		{ "+5", "5" },
		{ "-5k", "-5000" },
		{ "1.", "1" },
		{ ".001", "0.001" },
		{ ".001Ki", "1.024" },
		{ "128Mi", "134217728" },
		{ "129e6", "129000000" },
		{ "1E", "1000000000000000000" },
		{ "1E3", "1000" },
		{ "1E-3", "0.001" },
		{ "12e+2", "1200" },
		{ "100n", "0.0000001" },
		{ "7u", "0.000007" },
		{ "2P", "2000000000000000" },
		{ "3Pi", "3377699720527872" },
		{ "1.5Gi", "1610612736" },
		/* what is finer than a billionth is one */
		{ "1e-12", "0.000000001" },
		{ "0.1n", "0.000000001" },
		{ "1.0000000001", "1.000000001" },
		{ "-0.1n", "-0.000000001" },
		/* and there is an end */
		{ "9223372036854775807", "9223372036854775807" },
		{ "9223372036854775808", "9223372036854775807" },
		{ "8Ei", "9223372036854775807" },
		{ "1e99999999999", "9223372036854775807" },
		{ "-1e300", "-9223372036854775807" },
		{ "0e99999999999", "0" },
		{ "1e-99999999999", "0.000000001" },
		{ "00000000000000000000000000000000000000000000000000000000000012", "12" },
		{ "0.00000000000000000000000000000000000000000000000000000000001Ei",
		  "0.000000001" },
		{ "1234567890123456789012345678901234567890123456789e-40", "123456789.012345679" },
	};
	char buf[WATT_QUANTITY_TEXT_SIZE];
	watt_i128 amount;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		assert_int_equal(watt_quantity_parse(cases[i].text, &amount), 0);
		assert_string_equal(watt_quantity_print(amount, buf, sizeof(buf)), cases[i].plain);
	}
}

static void test_none(void **state)
{
	static const char *const cases[] = { "",     "+",   ".",       "-.",    " 1",    "1 ",
					     "1 Mi", "1i",  ".5i",     "0.1mi", "1.1.M", "1+1.0M",
					     "e3",   "1e",  "-3.01e-", "1K",    "1mm",   "1Mi1",
					     "0x1",  "NaN", "1e3m" };
	watt_i128 amount = 42;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		assert_int_equal(watt_quantity_parse(cases[i], &amount), -EBADMSG);
		assert_true(amount == 42);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_amounts),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests_name("quantity", tests, NULL, NULL);
}
