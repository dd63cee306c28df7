/* SPDX-License-Identifier: Apache-2.0 */
/* lib/sample/schedule.c */
#include "unit.h"

#include "base/util.h"
#include "sample/schedule.h"

static void test_round(void **state)
{
	static const struct {
		uint64_t period_ns, quantum_ns, rounded_ns;
	} cases[] = {
		{ 0, 1000, 1000 },
		{ 1, 1000, 1000 },
		{ 1000, 1000, 1000 },
		{ 1001, 1000, 2000 },
		{ 976562, 1000000, 1000000 },
		{ 5, 1, 5 },
		{ UINT64_MAX, 1000, UINT64_MAX / 1000 * 1000 },
		{ UINT64_MAX, 1, UINT64_MAX },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++)
		assert_true(watt_schedule_round_ns(cases[i].period_ns, cases[i].quantum_ns) ==
			    cases[i].rounded_ns);
}

static void test_on_time(void **state)
{
	struct watt_schedule schedule;
	uint64_t deadline_ns = 0, k;

	watt_schedule_init(&schedule, 500, 100);
	assert_false(watt_schedule_is_due(&schedule, 499));
	for (k = 0; k < 50; k++) {
		assert_true(watt_schedule_is_due(&schedule, 500 + k * 100));
		assert_int_equal(watt_schedule_take(&schedule, 507 + k * 100, &deadline_ns), 0);
		assert_int_equal(deadline_ns, 500 + k * 100);
		assert_false(watt_schedule_is_due(&schedule, 599 + k * 100));
	}
}

static void test_missed(void **state)
{
	struct watt_schedule schedule;
	uint64_t deadline_ns = 0;

	watt_schedule_init(&schedule, 0, 100);
	assert_int_equal(watt_schedule_take(&schedule, 0, &deadline_ns), 0);
	/* late by less than a period: this one is still read */
	assert_int_equal(watt_schedule_take(&schedule, 199, &deadline_ns), 0);
	assert_int_equal(deadline_ns, 100);
	/* 200, 300 and 400 have passed; 500 is read, once, and 600 is next: no burst */
	assert_int_equal(watt_schedule_take(&schedule, 542, &deadline_ns), 3);
	assert_int_equal(deadline_ns, 500);
	assert_int_equal(schedule.due_ns, 600);
	assert_int_equal(watt_schedule_take(&schedule, 600, &deadline_ns), 0);
	assert_int_equal(deadline_ns, 600);
}

static void test_skip(void **state)
{
	struct watt_schedule schedule;
	uint64_t deadline_ns = 0;

	watt_schedule_init(&schedule, 1000, 100);
	watt_schedule_skip(&schedule, 400);
	assert_int_equal(schedule.due_ns, 1000);
	watt_schedule_skip(&schedule, 1000);
	assert_int_equal(schedule.due_ns, 1100);
	watt_schedule_skip(&schedule, 2250);
	assert_int_equal(schedule.due_ns, 2300);
	assert_int_equal(watt_schedule_take(&schedule, 2300, &deadline_ns), 0);
	assert_int_equal(deadline_ns, 2300);
}

/* A source that knows better: off the grid, and from there on by the period. */
static void test_move(void **state)
{
	struct watt_schedule schedule;
	uint64_t deadline_ns = 0;

	watt_schedule_init(&schedule, 0, 100);
	assert_int_equal(watt_schedule_take(&schedule, 0, &deadline_ns), 0);
	watt_schedule_move(&schedule, 3, 57);
	assert_false(watt_schedule_is_due(&schedule, 56));
	assert_int_equal(watt_schedule_take(&schedule, 60, &deadline_ns), 0);
	assert_int_equal(deadline_ns, 57);
	assert_int_equal(schedule.due_ns, 157);
	assert_int_equal(watt_schedule_take(&schedule, 400, &deadline_ns), 2);
	assert_int_equal(deadline_ns, 357);
	/* in the past: at once; and it is not believed that there is nothing for years */
	watt_schedule_move(&schedule, 400, 9);
	assert_int_equal(watt_schedule_take(&schedule, 401, &deadline_ns), 0);
	assert_int_equal(deadline_ns, 400);
	watt_schedule_move(&schedule, 410, UINT64_MAX);
	assert_int_equal(schedule.due_ns, 610);
}

/* Every deadline is either taken or missed, exactly once, however late the wakeups come. */
static void test_all_are_accounted(void **state)
{
	struct watt_schedule schedule;
	uint64_t now_ns = 0, taken = 0, missed = 0, deadline_ns = 0, last_ns = 0;
	unsigned int seed = 1;

	watt_schedule_init(&schedule, 0, 1000);
	while (taken < 20000) {
		now_ns += (uint64_t)rand_r(&seed) % 2500;
		if (!watt_schedule_is_due(&schedule, now_ns))
			continue;
		missed += watt_schedule_take(&schedule, now_ns, &deadline_ns);
		taken++;
		assert_int_equal(deadline_ns % 1000, 0);
		assert_true(deadline_ns <= now_ns && now_ns - deadline_ns < 1000);
		assert_true(taken == 1 || deadline_ns > last_ns);
		last_ns = deadline_ns;
	}
	assert_true(missed > 0);
	assert_int_equal(taken + missed, last_ns / 1000 + 1);
}

static void test_end_of_time(void **state)
{
	struct watt_schedule schedule;
	uint64_t deadline_ns = 0;

	watt_schedule_init(&schedule, 10, UINT64_MAX - 5);
	assert_int_equal(watt_schedule_take(&schedule, 10, &deadline_ns), 0);
	assert_true(schedule.due_ns == UINT64_MAX);
	assert_false(watt_schedule_is_due(&schedule, UINT64_MAX - 1));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round),       cmocka_unit_test(test_on_time),
		cmocka_unit_test(test_missed),      cmocka_unit_test(test_skip),
		cmocka_unit_test(test_move),        cmocka_unit_test(test_all_are_accounted),
		cmocka_unit_test(test_end_of_time),
	};

	return cmocka_run_group_tests_name("schedule", tests, NULL, NULL);
}
