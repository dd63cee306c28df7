/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "source/power/estimate/cpu_activity.h"

#define MS 1000000ULL
#define S 1000000000ULL

static struct watt_cpu_time make_time(uint64_t user_ms, uint64_t idle_ms, uint64_t steal_ms)
{
	return (struct watt_cpu_time){ .user_ns = user_ms * MS,
				       .idle_ns = idle_ms * MS,
				       .steal_ns = steal_ms * MS,
				       .online = 1 };
}

static void take(struct watt_cpu_activity *cpu, uint64_t user_ms, uint64_t idle_ms,
		 uint64_t steal_ms, uint64_t now_ns)
{
	struct watt_cpu_time time = make_time(user_ms, idle_ms, steal_ms);

	watt_cpu_activity_update(cpu, &time, 1, now_ns);
}

static void test_busy_is_what_is_neither_idle_nor_stolen(void **state)
{
	struct watt_cpu_activity cpu = { 0 };

	take(&cpu, 5000, 700, 90, 10 * S);
	assert_int_equal(cpu.online_ns, 0);
	assert_int_equal(cpu.busy_ns, 0);
	take(&cpu, 5600, 1000, 190, 11 * S);
	assert_int_equal(cpu.online_ns, S);
	assert_int_equal(cpu.busy_ns, 600 * MS);
}

/* What user and system lack because ticks missed it is in there all the same. */
static void test_time_between_ticks_counts(void **state)
{
	struct watt_cpu_activity cpu = { 0 };

	take(&cpu, 0, 0, 0, S);
	take(&cpu, 10, 500, 0, 2 * S);
	assert_int_equal(cpu.busy_ns, 500 * MS);
}

/* However often it is read, the sum is that of one reading. */
static void test_rounding_never_adds_up(void **state)
{
	struct watt_cpu_activity often = { 0 }, once = { 0 };
	uint64_t t_ns, idle_ns, idle_ms = 0;

	take(&often, 0, 0, 0, S);
	take(&once, 0, 0, 0, S);
	/* Idle for 3 of each 7 ms, shown in steps of 10 ms. */
	for (t_ns = 0; t_ns <= 100 * S; t_ns += 7 * MS) {
		idle_ns = t_ns / 7 * 3;
		idle_ms = idle_ns / (10 * MS) * 10;
		take(&often, t_ns / MS - idle_ms + 1, idle_ms, 0, S + t_ns);
	}
	t_ns -= 7 * MS;
	take(&once, t_ns / MS - idle_ms + 1, idle_ms, 0, S + t_ns);
	assert_int_equal(often.online_ns, once.online_ns);
	/* The highest of all readings is at most one step above the last one. */
	assert_in_range(often.busy_ns, once.busy_ns, once.busy_ns + 10 * MS);
}

static void test_steps_back_take_nothing_back(void **state)
{
	struct watt_cpu_activity cpu = { 0 };
	uint64_t busy_ns;

	take(&cpu, 0, 1000, 0, S);
	take(&cpu, 500, 1500, 0, 2 * S);
	busy_ns = cpu.busy_ns;
	assert_int_equal(busy_ns, 500 * MS);
	take(&cpu, 510, 1480, 0, 2 * S + 10 * MS);
	assert_int_equal(cpu.busy_ns, 510 * MS);
	take(&cpu, 511, 1530, 0, 2 * S + 30 * MS);
	assert_int_equal(cpu.busy_ns, 510 * MS);
	assert_int_equal(cpu.online_ns, S + 30 * MS);
}

/* Kernels before 6.9 lose idle time when a CPU goes away and comes back. */
static void test_reset_counts_for_nothing(void **state)
{
	struct watt_cpu_activity cpu = { 0 };

	take(&cpu, 0, 90000, 0, S);
	take(&cpu, 1000, 90000, 0, 2 * S);
	take(&cpu, 1500, 20, 0, 3 * S);
	assert_int_equal(cpu.busy_ns, S);
	assert_int_equal(cpu.online_ns, S);
	take(&cpu, 2000, 520, 0, 4 * S);
	assert_int_equal(cpu.busy_ns, S + 500 * MS);
	assert_int_equal(cpu.online_ns, 2 * S);
}

static void test_offline_time_counts_for_nothing(void **state)
{
	struct watt_cpu_activity cpus[2] = { 0 };
	struct watt_cpu_time times[2];

	times[0] = times[1] = make_time(0, 0, 0);
	watt_cpu_activity_update(cpus, times, 2, S);
	times[0] = times[1] = make_time(250, 750, 0);
	watt_cpu_activity_update(cpus, times, 2, 2 * S);
	times[0] = make_time(500, 1500, 0);
	times[1] = (struct watt_cpu_time){ 0 };
	watt_cpu_activity_update(cpus, times, 2, 3 * S);
	times[0] = make_time(750, 2250, 0);
	times[1] = make_time(260, 750, 0);
	watt_cpu_activity_update(cpus, times, 2, 4 * S);
	assert_int_equal(cpus[1].online_ns, S);
	assert_int_equal(cpus[1].busy_ns, 250 * MS);
	times[0] = make_time(1000, 3000, 0);
	times[1] = make_time(1260, 750, 0);
	watt_cpu_activity_update(cpus, times, 2, 5 * S);
	assert_int_equal(cpus[0].online_ns, 4 * S);
	assert_int_equal(cpus[0].busy_ns, S);
	assert_int_equal(cpus[1].online_ns, 2 * S);
	assert_int_equal(cpus[1].busy_ns, S + 250 * MS);
}

/* Between two ticks nothing is known; a captured machine stands still for ever. */
static void test_standing_still_is_made_up_for(void **state)
{
	struct watt_cpu_activity cpu = { 0 };

	take(&cpu, 100, 100, 0, S);
	take(&cpu, 100, 100, 0, S + 4 * MS);
	take(&cpu, 100, 100, 0, S + 8 * MS);
	assert_int_equal(cpu.online_ns, 8 * MS);
	assert_int_equal(cpu.busy_ns, 0);
	take(&cpu, 110, 100, 0, S + 12 * MS);
	assert_int_equal(cpu.busy_ns, 12 * MS);
}

static void test_clock_that_goes_back_begins_anew(void **state)
{
	struct watt_cpu_activity cpu = { 0 };

	take(&cpu, 0, 0, 0, 5 * S);
	take(&cpu, 1000, 0, 0, 6 * S);
	take(&cpu, 2000, 0, 0, 4 * S);
	assert_int_equal(cpu.online_ns, S);
	take(&cpu, 3000, 0, 0, 5 * S);
	assert_int_equal(cpu.online_ns, 2 * S);
	assert_int_equal(cpu.busy_ns, 2 * S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_busy_is_what_is_neither_idle_nor_stolen),
		cmocka_unit_test(test_time_between_ticks_counts),
		cmocka_unit_test(test_rounding_never_adds_up),
		cmocka_unit_test(test_steps_back_take_nothing_back),
		cmocka_unit_test(test_reset_counts_for_nothing),
		cmocka_unit_test(test_offline_time_counts_for_nothing),
		cmocka_unit_test(test_standing_still_is_made_up_for),
		cmocka_unit_test(test_clock_that_goes_back_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
