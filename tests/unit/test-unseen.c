/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/activity/procfs/unseen.c */
#include "unit.h"

#include "source/activity/procfs/unseen.h"

#define TICK_NS 10000000ULL
#define S 1000000000ULL

static struct watt_cpu_time busy(uint64_t user_ns, uint64_t irq_ns)
{
	return (struct watt_cpu_time){ .user_ns = user_ns, .irq_ns = irq_ns, .online = 1 };
}

static void test_nothing_died(void **state)
{
	struct watt_unseen unseen = { 0 };
	uint64_t i;

	for (i = 0; i <= 1000; i++) {
		/* the ticks are one off now and then, and the tasks lag by one */
		uint64_t jitter_ns = i % 2 * TICK_NS;
		struct watt_cpu_time cpu = busy(100 * S + i * TICK_NS + jitter_ns, 0);

		assert_int_equal(watt_unseen_update(&unseen, &cpu, 1, TICK_NS), 0);
		watt_unseen_add(&unseen, i ? TICK_NS : 0);
		assert_int_equal(unseen.unseen_ns, 0);
	}
	watt_unseen_done(&unseen);
	assert_null(unseen.cpus);
}

static void test_much_died(void **state)
{
	struct watt_unseen unseen = { 0 };
	struct watt_cpu_time cpu = busy(5 * S, 0);
	uint64_t before_ns;

	assert_int_equal(watt_unseen_update(&unseen, &cpu, 1, TICK_NS), 0);
	assert_int_equal(unseen.unseen_ns, 0);
	/* of 100 s, 60 were seen */
	cpu = busy(105 * S, 0);
	watt_unseen_add(&unseen, 60 * S);
	assert_int_equal(watt_unseen_update(&unseen, &cpu, 1, TICK_NS), 0);
	assert_in_range(unseen.unseen_ns, 40 * S - 2 * TICK_NS, 40 * S);
	/* a curve never falls, even if the tasks catch up */
	before_ns = unseen.unseen_ns;
	watt_unseen_add(&unseen, 20 * S);
	assert_int_equal(watt_unseen_update(&unseen, &cpu, 1, TICK_NS), 0);
	assert_int_equal(unseen.unseen_ns, before_ns);
	watt_unseen_done(&unseen);
}

/* Half busy CPUs: the ticks that hit are a matter of luck. */
static void test_noise_grows(void **state)
{
	struct watt_unseen unseen = { 0 };
	struct watt_cpu_time cpu = { .online = 1 };

	assert_int_equal(watt_unseen_update(&unseen, &cpu, 1, TICK_NS), 0);
	cpu.user_ns = 100 * S;
	cpu.idle_ns = 100 * S;
	watt_unseen_add(&unseen, 100 * S - 70 * TICK_NS);
	assert_int_equal(watt_unseen_update(&unseen, &cpu, 1, TICK_NS), 0);
	assert_int_equal(unseen.unseen_ns, 0);
	cpu.user_ns += 10 * TICK_NS;
	assert_int_equal(watt_unseen_update(&unseen, &cpu, 1, TICK_NS), 0);
	assert_in_range(unseen.unseen_ns, TICK_NS, 10 * TICK_NS);
	watt_unseen_done(&unseen);
}

static void test_more_seen_than_busy(void **state)
{
	struct watt_unseen unseen = { 0 };
	struct watt_cpu_time cpu = busy(0, 0);

	assert_int_equal(watt_unseen_update(&unseen, &cpu, 1, TICK_NS), 0);
	watt_unseen_add(&unseen, 50 * S);
	cpu = busy(10 * S, 0);
	assert_int_equal(watt_unseen_update(&unseen, &cpu, 1, TICK_NS), 0);
	assert_int_equal(unseen.unseen_ns, 0);
	watt_unseen_done(&unseen);
}

static void test_cpus_come_and_go(void **state)
{
	struct watt_unseen unseen = { 0 };
	struct watt_cpu_time cpus[3] = { busy(10 * S, 0), busy(20 * S, 0), busy(1000 * S, 0) };

	cpus[1].online = 0;
	assert_int_equal(watt_unseen_update(&unseen, cpus, 2, TICK_NS), 0);
	assert_int_equal(unseen.n_online, 1);
	/* what a CPU did before it was first seen isn't ours */
	cpus[1].online = 1;
	assert_int_equal(watt_unseen_update(&unseen, cpus, 3, TICK_NS), 0);
	assert_int_equal(unseen.n_online, 3);
	assert_int_equal(unseen.busy_ns, 0);
	/* offline for a while: its count goes on where it was */
	cpus[0].online = 0;
	assert_int_equal(watt_unseen_update(&unseen, cpus, 3, TICK_NS), 0);
	cpus[0] = busy(11 * S, 0);
	assert_int_equal(watt_unseen_update(&unseen, cpus, 3, TICK_NS), 0);
	assert_int_equal(unseen.busy_ns, S);
	/* a count that steps back is not a wrap */
	cpus[0] = busy(11 * S - TICK_NS, 0);
	assert_int_equal(watt_unseen_update(&unseen, cpus, 3, TICK_NS), 0);
	assert_int_equal(unseen.busy_ns, S);
	watt_unseen_done(&unseen);
}

static void test_interrupts(void **state)
{
	struct watt_unseen with = { 0 }, without = { .is_irq_separate = true };
	struct watt_cpu_time cpu = busy(0, 0);

	assert_int_equal(watt_unseen_update(&with, &cpu, 1, TICK_NS), 0);
	assert_int_equal(watt_unseen_update(&without, &cpu, 1, TICK_NS), 0);
	cpu = busy(10 * S, 5 * S);
	assert_int_equal(watt_unseen_update(&with, &cpu, 1, TICK_NS), 0);
	assert_int_equal(watt_unseen_update(&without, &cpu, 1, TICK_NS), 0);
	assert_int_equal(with.busy_ns, 15 * S);
	assert_int_equal(without.busy_ns, 10 * S);
	watt_unseen_done(&with);
	watt_unseen_done(&without);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_died),     cmocka_unit_test(test_much_died),
		cmocka_unit_test(test_noise_grows),      cmocka_unit_test(test_more_seen_than_busy),
		cmocka_unit_test(test_cpus_come_and_go), cmocka_unit_test(test_interrupts),
	};

	return cmocka_run_group_tests_name("unseen", tests, NULL, NULL);
}
