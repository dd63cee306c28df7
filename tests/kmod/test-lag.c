/* SPDX-License-Identifier: Apache-2.0 */
/* kmod/lag.c: what a thread ran since the last tick, on a clock that is behind by nobody knows what. */
#include "../unit/unit.h"

#include "lag.h"

#define MS 1000000ULL
#define TICK_NS (4 * MS)

/*
 * A thread runs for n_ms on a CPU whose task clock is behind_ns behind, and more so by a thousandth
 * of the time; it is looked at every period_ns. The largest error after the first second.
 */
static s64 largest_error(u64 period_ns, s64 behind_ns, u64 drift)
{
	struct watt_lag lag = { 0 };
	u64 now_ns, begin_ns = 1000 * MS;
	s64 worst_ns = 0;

	for (now_ns = begin_ns; now_ns < begin_ns + 6000 * MS; now_ns += period_ns) {
		u64 task_ns = now_ns - (u64)behind_ns - (now_ns - begin_ns) * drift / 1000;
		u64 counted_ns = task_ns / TICK_NS * TICK_NS;
		u64 ran_ns = watt_lag_running_ns(&lag, now_ns, counted_ns, TICK_NS);
		s64 error_ns = (s64)(ran_ns - (task_ns - counted_ns));

		assert_in_range(ran_ns, 0, TICK_NS);
		if (now_ns > begin_ns + 1000 * MS && llabs(error_ns) > llabs(worst_ns))
			worst_ns = error_ns;
	}
	return worst_ns;
}

/* Looked at often enough, what was not counted is known to some per mille of a tick. */
static void test_running(void **state)
{
	assert_in_range(largest_error(MS + 7000, 0, 0) + 30000, 0, 60000);
	assert_in_range(largest_error(MS + 7000, 123456789, 0) + 30000, 0, 60000);
	/* ahead: the two clocks began at different times */
	assert_in_range(largest_error(MS + 7000, -987654321, 0) + 30000, 0, 60000);
	assert_in_range(largest_error(10 * MS + 77777, 5000, 0) + 200000, 0, 400000);
}

/* Interrupts take time from the clock of tasks: off by what they took of late. */
static void test_falls_behind(void **state)
{
	assert_in_range(largest_error(MS + 7000, 1000, 1) + 2100000, 0, 4200000);
}

/* A second without a look, and a clock that made a step: a tick is the most there can be. */
static void test_steps(void **state)
{
	struct watt_lag lag = { 0 };

	assert_int_equal(watt_lag_running_ns(&lag, 1000 * MS, 999 * MS, TICK_NS), 0);
	assert_int_equal(watt_lag_running_ns(&lag, 1002 * MS, 1000 * MS, TICK_NS), MS);
	assert_int_equal(watt_lag_running_ns(&lag, 1005 * MS, 1000 * MS, TICK_NS), TICK_NS);
	assert_int_equal(watt_lag_running_ns(&lag, 1100 * MS, 1000 * MS, TICK_NS), TICK_NS);
	assert_int_equal(watt_lag_running_ns(&lag, 1101 * MS, 1004 * MS, TICK_NS), MS);
	assert_int_equal(watt_lag_running_ns(&lag, 9000 * MS, 8000 * MS, TICK_NS), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_running),
		cmocka_unit_test(test_falls_behind),
		cmocka_unit_test(test_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
