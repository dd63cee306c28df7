/* SPDX-License-Identifier: Apache-2.0 */
/* lib/holds.c: attribution stops for who waits for the earliest time, and not for ever. */
#include "unit.h"

#include "holds.h"

#define S 1000000000ULL

static void test_earliest(void **state)
{
	struct watt_holds holds = { 0 };
	uint32_t i;

	assert_int_equal(watt_holds_first_ns(&holds), 0);
	assert_int_equal(watt_holds_put(&holds, 0, 7 * S, 0), 0);
	assert_int_equal(watt_holds_put(&holds, 3, 5 * S, 0), 0);
	assert_int_equal(watt_holds_put(&holds, 4, 9 * S, 0), 0);
	assert_int_equal(watt_holds_first_ns(&holds), 5 * S);
	assert_int_equal(watt_holds_put(&holds, 3, 8 * S, 0), 0); /* and no more for 5 s */
	assert_int_equal(holds.n, 3);
	assert_int_equal(watt_holds_first_ns(&holds), 7 * S);
	watt_holds_drop(&holds, 0);
	watt_holds_drop(&holds, 0);
	assert_int_equal(watt_holds_first_ns(&holds), 8 * S);
	for (i = 10; i < 60; i++)
		assert_int_equal(watt_holds_put(&holds, i, 100 * S - i, 0), 0);
	watt_holds_drop(&holds, 3);
	watt_holds_drop(&holds, 4);
	assert_int_equal(watt_holds_first_ns(&holds), 100 * S - 59);
	watt_holds_done(&holds);
	assert_int_equal(watt_holds_first_ns(&holds), 0);
}

static void test_patience(void **state)
{
	struct watt_holds holds = { 0 };

	assert_int_equal(watt_holds_put(&holds, 1, 5 * S, 100 * S), 0);
	assert_int_equal(watt_holds_put(&holds, 2, 6 * S, 104 * S), 0);
	watt_holds_expire(&holds, 110 * S);
	assert_int_equal(watt_holds_first_ns(&holds), 5 * S);
	watt_holds_expire(&holds, 110 * S + 1);
	assert_int_equal(watt_holds_first_ns(&holds), 6 * S);
	assert_int_equal(watt_holds_put(&holds, 2, 6 * S, 114 * S), 0); /* asked again */
	watt_holds_expire(&holds, 124 * S);
	assert_int_equal(watt_holds_first_ns(&holds), 6 * S);
	watt_holds_expire(&holds, 125 * S);
	assert_int_equal(watt_holds_first_ns(&holds), 0);
	watt_holds_done(&holds);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_earliest),
		cmocka_unit_test(test_patience),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
