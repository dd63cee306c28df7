/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of a BMC against ours: lib/source/power/redfish/bmc_clock.c. */
#include "unit.h"

#include "base/util.h"
#include "source/power/redfish/bmc_clock.h"

#define MS 1000000ULL
#define SECOND 1000000000ULL
/* Theirs is so much ahead of ours. */
#define AHEAD_NS (1700000000123456789LL)

/* Asked at t_ns of ours, it answers after 20 ms with whole seconds. */
static void ask(struct watt_bmc_clock *clock, uint64_t t_ns, int64_t ahead_ns)
{
	int64_t theirs_ns = (int64_t)t_ns + (int64_t)(10 * MS) + ahead_ns;

	watt_bmc_clock_see(clock, theirs_ns - theirs_ns % (int64_t)SECOND, SECOND, t_ns,
			   t_ns + 20 * MS);
}

/* The true time is always within what is said, and that gets as narrow as the questions are. */
static void test_whole_seconds_tell_milliseconds(void **state)
{
	struct watt_bmc_clock clock = { 0 };
	uint64_t t_ns, ours_ns, error_ns, i;

	assert_int_equal(watt_bmc_clock_to_ours(&clock, AHEAD_NS, &ours_ns, &error_ns), -ENODATA);
	for (i = 0; i < 60; i++) {
		t_ns = (100 + i) * SECOND + i * 37 % 50 * 20 * MS;
		ask(&clock, t_ns, AHEAD_NS);
		assert_int_equal(watt_bmc_clock_to_ours(&clock, AHEAD_NS + (int64_t)t_ns, &ours_ns,
							&error_ns),
				 0);
		assert_in_range(ours_ns, t_ns - error_ns, t_ns + error_ns);
	}
	assert_true(error_ns < 100 * MS);
	assert_int_equal(clock.steps, 0);
	assert_int_equal(watt_bmc_clock_to_ours(&clock, 1, &ours_ns, &error_ns), -ERANGE);
}

/* Asked each second it says the same each time; asked when it tells most, a few times are enough. */
static void test_when_to_ask(void **state)
{
	uint64_t t_ns, best_ns, ours_ns, error_ns, phase_ns, i;

	for (phase_ns = 0; phase_ns < SECOND; phase_ns += 70 * MS) {
		struct watt_bmc_clock plain = { 0 }, clock = { 0 };

		assert_int_equal(watt_bmc_clock_best_ns(&clock, SECOND), 0); /* nothing is known */
		for (i = 0, t_ns = 100 * SECOND + phase_ns; i < 8; i++) {
			ask(&plain, (100 + i) * SECOND + phase_ns, AHEAD_NS);
			ask(&clock, t_ns, AHEAD_NS);
			best_ns = watt_bmc_clock_best_ns(&clock, t_ns + SECOND / 2);
			if (best_ns)
				assert_in_range(best_ns, t_ns + SECOND / 2, t_ns + 3 * SECOND / 2);
			t_ns = best_ns ? best_ns : t_ns + SECOND;
		}
		assert_int_equal(watt_bmc_clock_to_ours(&plain, AHEAD_NS + (int64_t)t_ns, &ours_ns,
							&error_ns),
				 0);
		assert_in_range(error_ns, 480 * MS, 520 * MS);
		assert_int_equal(watt_bmc_clock_to_ours(&clock, AHEAD_NS + (int64_t)t_ns, &ours_ns,
							&error_ns),
				 0);
		assert_in_range(error_ns, 1, 25 * MS);
		assert_in_range(ours_ns, t_ns - error_ns, t_ns + error_ns);
		assert_int_equal(watt_bmc_clock_best_ns(&clock, t_ns), 0);
	}
}

/* Somebody sets it: what was known is forgotten. */
static void test_a_clock_that_is_set(void **state)
{
	struct watt_bmc_clock clock = { 0 };
	uint64_t ours_ns, error_ns, i;

	for (i = 0; i < 10; i++)
		ask(&clock, (100 + i) * SECOND, AHEAD_NS);
	ask(&clock, 111 * SECOND, AHEAD_NS - 3600 * (int64_t)SECOND);
	assert_int_equal(clock.steps, 1);
	assert_int_equal(watt_bmc_clock_to_ours(
				 &clock, AHEAD_NS - 3600 * (int64_t)SECOND + 111 * (int64_t)SECOND,
				 &ours_ns, &error_ns),
			 0);
	assert_in_range(ours_ns, 111 * SECOND - error_ns, 111 * SECOND + error_ns);
}

/* Of clocks that drift apart, the truth is never lost. */
static void test_drift(void **state)
{
	struct watt_bmc_clock clock = { 0 };
	uint64_t t_ns, ours_ns, error_ns, i;

	for (i = 0; i < 2000; i++) {
		int64_t ahead_ns = AHEAD_NS + (int64_t)(i * 100000); /* 100 ppm */

		t_ns = (100 + i) * SECOND + i * 37 % 50 * 20 * MS;
		ask(&clock, t_ns, ahead_ns);
		assert_int_equal(watt_bmc_clock_to_ours(&clock, ahead_ns + (int64_t)t_ns, &ours_ns,
							&error_ns),
				 0);
		assert_in_range(ours_ns, t_ns - error_ns, t_ns + error_ns);
	}
	assert_int_equal(clock.steps, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_seconds_tell_milliseconds),
		cmocka_unit_test(test_when_to_ask),
		cmocka_unit_test(test_a_clock_that_is_set),
		cmocka_unit_test(test_drift),
	};

	return cmocka_run_group_tests_name("bmc_clock", tests, NULL, NULL);
}
