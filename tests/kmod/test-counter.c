/* SPDX-License-Identifier: Apache-2.0 */
/* kmod/counter.c: a wrap counts, a restart does not. */
#include "../unit/unit.h"

#include "counter.h"

#define S 1000000000ULL
/* 4 kW in 2^-14 J. */
#define RAW_PER_S (4000ULL << 14)
#define J (1U << 14)

static struct watt_counter begun(u32 raw)
{
	struct watt_counter counter = { 0 };

	assert_false(watt_counter_read(&counter, raw, 10 * S, RAW_PER_S));
	assert_int_equal(counter.total_raw, 0);
	return counter;
}

static void test_counts(void **state)
{
	struct watt_counter counter = begun(5 * J);

	assert_false(watt_counter_read(&counter, 105 * J, 11 * S, RAW_PER_S));
	assert_int_equal(counter.total_raw, 100 * J);
	assert_false(watt_counter_read(&counter, 105 * J, 12 * S, RAW_PER_S));
	assert_int_equal(counter.total_raw, 100 * J);
}

static void test_wraps(void **state)
{
	struct watt_counter counter = begun(0xffffffff - 20 * J);

	assert_false(watt_counter_read(&counter, 80 * J - 1, 11 * S, RAW_PER_S));
	assert_int_equal(counter.total_raw, 100 * J);
}

/* What it counted before is not known; what it shows is new. */
static void test_begins_anew(void **state)
{
	struct watt_counter counter = begun(32768 * J);

	assert_true(watt_counter_read(&counter, 30 * J, 11 * S, RAW_PER_S));
	assert_int_equal(counter.total_raw, 30 * J);
	assert_false(watt_counter_read(&counter, 80 * J, 12 * S, RAW_PER_S));
	assert_int_equal(counter.total_raw, 80 * J);
}

/* Something else than a restart at zero: nothing of it is known. */
static void test_jumps(void **state)
{
	struct watt_counter counter = begun(5 * J);

	assert_true(watt_counter_read(&counter, 100000 * J, 11 * S, RAW_PER_S));
	assert_int_equal(counter.total_raw, 0);
	assert_false(watt_counter_read(&counter, 100001 * J, 12 * S, RAW_PER_S));
	assert_int_equal(counter.total_raw, J);
}

/* In the time for which nobody could read it, it may have counted as much as it can. */
static void test_long_time(void **state)
{
	struct watt_counter counter = begun(0);

	assert_false(watt_counter_read(&counter, 40000 * J, 20 * S, RAW_PER_S));
	assert_int_equal(counter.total_raw, 40000ULL * J);
	assert_true(watt_counter_read(&counter, 80001 * J, 30 * S - S / 10, RAW_PER_S));
	assert_int_equal(counter.total_raw, 40000ULL * J);
}

static void test_forgets(void **state)
{
	struct watt_counter counter = begun(100 * J);

	assert_false(watt_counter_read(&counter, 150 * J, 11 * S, RAW_PER_S));
	watt_counter_forget(&counter);
	assert_false(watt_counter_read(&counter, 3 * J, 12 * S, RAW_PER_S));
	assert_int_equal(counter.total_raw, 50 * J);
	assert_false(watt_counter_read(&counter, 4 * J, 13 * S, RAW_PER_S));
	assert_int_equal(counter.total_raw, 51 * J);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),      cmocka_unit_test(test_wraps),
		cmocka_unit_test(test_begins_anew), cmocka_unit_test(test_jumps),
		cmocka_unit_test(test_long_time),   cmocka_unit_test(test_forgets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
