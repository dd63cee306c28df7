/* SPDX-License-Identifier: Apache-2.0 */
/* lib/barriers.c: attribution stops for who waits for the earliest time, and not for ever. */
#include "unit.h"

#include "barriers.h"

#define S 1000000000ULL

static void test_earliest(void **state)
{
	struct watt_barriers barriers = { 0 };
	uint32_t i;

	assert_int_equal(watt_barriers_first_ns(&barriers), 0);
	assert_int_equal(watt_barriers_put(&barriers, 0, 7 * S, 0), 0);
	assert_int_equal(watt_barriers_put(&barriers, 3, 5 * S, 0), 0);
	assert_int_equal(watt_barriers_put(&barriers, 4, 9 * S, 0), 0);
	assert_int_equal(watt_barriers_first_ns(&barriers), 5 * S);
	assert_int_equal(watt_barriers_put(&barriers, 3, 8 * S, 0), 0); /* and no more for 5 s */
	assert_int_equal(barriers.n, 3);
	assert_int_equal(watt_barriers_first_ns(&barriers), 7 * S);
	watt_barriers_drop(&barriers, 0);
	watt_barriers_drop(&barriers, 0);
	assert_int_equal(watt_barriers_first_ns(&barriers), 8 * S);
	for (i = 10; i < 60; i++)
		assert_int_equal(watt_barriers_put(&barriers, i, 100 * S - i, 0), 0);
	watt_barriers_drop(&barriers, 3);
	watt_barriers_drop(&barriers, 4);
	assert_int_equal(watt_barriers_first_ns(&barriers), 100 * S - 59);
	watt_barriers_done(&barriers);
	assert_int_equal(watt_barriers_first_ns(&barriers), 0);
}

static void test_patience(void **state)
{
	struct watt_barriers barriers = { 0 };

	assert_int_equal(watt_barriers_put(&barriers, 1, 5 * S, 100 * S), 0);
	assert_int_equal(watt_barriers_put(&barriers, 2, 6 * S, 104 * S), 0);
	watt_barriers_expire(&barriers, 110 * S);
	assert_int_equal(watt_barriers_first_ns(&barriers), 5 * S);
	watt_barriers_expire(&barriers, 110 * S + 1);
	assert_int_equal(watt_barriers_first_ns(&barriers), 6 * S);
	assert_int_equal(watt_barriers_put(&barriers, 2, 6 * S, 114 * S), 0); /* asked again */
	watt_barriers_expire(&barriers, 124 * S);
	assert_int_equal(watt_barriers_first_ns(&barriers), 6 * S);
	watt_barriers_expire(&barriers, 125 * S);
	assert_int_equal(watt_barriers_first_ns(&barriers), 0);
	watt_barriers_done(&barriers);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_earliest),
		cmocka_unit_test(test_patience),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
