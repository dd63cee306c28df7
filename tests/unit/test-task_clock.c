/* SPDX-License-Identifier: Apache-2.0 */
/* bpf/task_clock.h: what a task ran since the last tick, on a clock that is off by nobody knows what. */
#include "unit.h"

#include <linux/types.h>

#include "../../bpf/task_clock.h"

#define MS 1000000ULL
#define TICK_NS (4 * MS)

/*
 * A task runs for six seconds on a CPU whose task clock is behind_ns behind, and is looked at every
 * period_ns. The largest error after the first two.
 */
static int64_t largest_error_ns(uint64_t period_ns, int64_t behind_ns)
{
	struct watt_bpf_clock clock = { 0 };
	uint64_t now_ns, begin_ns = 10000 * MS;
	int64_t worst_ns = 0;

	for (now_ns = begin_ns; now_ns < begin_ns + 6000 * MS; now_ns += period_ns) {
		uint64_t task_ns = now_ns - (uint64_t)behind_ns;
		uint64_t counted_ns = task_ns / TICK_NS * TICK_NS;
		uint64_t ran_ns = watt_bpf_running_ns(&clock, now_ns, counted_ns, TICK_NS);
		int64_t error_ns = llabs((int64_t)(ran_ns - (task_ns - counted_ns)));

		assert_in_range(ran_ns, 0, TICK_NS);
		if (now_ns > begin_ns + 2000 * MS && error_ns > worst_ns)
			worst_ns = error_ns;
	}
	return worst_ns;
}

static void test_behind(void **state)
{
	assert_in_range(largest_error_ns(MS + 7000, 123456789), 0, 30000);
	assert_in_range(largest_error_ns(10 * MS + 77777, 5000), 0, 200000);
}

/* It began to count first. */
static void test_ahead(void **state)
{
	assert_in_range(largest_error_ns(MS + 7000, -987654321), 0, 30000);
	assert_in_range(largest_error_ns(10 * MS + 77777, -987654321), 0, 200000);
}

/* By less than a tick: what was counted seems to be ahead just behind a tick, and behind later. */
static void test_nearly_the_same(void **state)
{
	assert_in_range(largest_error_ns(MS + 7000, 0), 0, 30000);
	assert_in_range(largest_error_ns(MS + 7000, -2 * (int64_t)MS), 0, 30000);
	assert_in_range(largest_error_ns(10 * MS + 77777, -(int64_t)MS), 0, 200000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_behind),
		cmocka_unit_test(test_ahead),
		cmocka_unit_test(test_nearly_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
