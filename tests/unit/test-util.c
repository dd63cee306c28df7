/* SPDX-License-Identifier: Apache-2.0 */
/* lib/base/util.h */
#include "unit.h"

#include "base/util.h"

static int n_calls;

static int count(int value)
{
	n_calls++;
	return value;
}

/* What an argument does, it does once, chosen or not. */
static void test_arguments_are_evaluated_once(void **state)
{
	int i = 3;

	assert_int_equal(WATT_MIN(count(1), count(2)), 1);
	assert_int_equal(n_calls, 2);
	assert_int_equal(WATT_MAX(count(1), count(2)), 2);
	assert_int_equal(n_calls, 4);
	assert_int_equal(WATT_MAX(WATT_MIN(count(5), count(4)), count(3)), 4);
	assert_int_equal(n_calls, 7);
	assert_int_equal(WATT_MIN(i++, 10), 3);
	assert_int_equal(i, 4);
}

/* As arithmetic has it: the wider type of both. */
static void test_types(void **state)
{
	const uint32_t narrow = UINT32_MAX;
	const uint64_t wide = UINT64_MAX;

	assert_true(WATT_MAX(narrow, wide) == UINT64_MAX);
	assert_true(WATT_MIN(narrow, wide) == UINT32_MAX);
	assert_int_equal(sizeof(WATT_MIN(narrow, wide)), sizeof(uint64_t));
	assert_true(WATT_MIN(-1, INT64_MAX) == -1);
	assert_true(WATT_MAX(2, 2.5) == 2.5);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arguments_are_evaluated_once),
		cmocka_unit_test(test_types),
	};

	return cmocka_run_group_tests_name("util", tests, NULL, NULL);
}
