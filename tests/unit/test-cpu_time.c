/* SPDX-License-Identifier: Apache-2.0 */
/* What comes of the times that the kernel wrote, and machines on which they are not asked for. */
#include "unit.h"

#include "source/config/config.h"
#include "source/host/cpu_time.h"

static const struct watt_cpu_time times[] = {
	{ .user_ns = 1, .system_ns = 2, .idle_ns = 1234567891, .irq_ns = 4, .online = 1 },
	{ .user_ns = 10, .idle_ns = 30, .online = 0 },
	{ .softirq_ns = 100, .steal_ns = 200, .online = 1 },
};

static void test_copy(void **state)
{
	struct watt_cpu_clock clock = { .times = times, .n_cpus = 3 };
	struct watt_cpu_time cpus[4], nothing = { 0 };

	memset(cpus, 0xff, sizeof(cpus));
	watt_cpu_clock_copy(&clock, cpus, 4);
	assert_memory_equal(&cpus[0], &times[0], sizeof(cpus[0]));
	assert_memory_equal(&cpus[2], &times[2], sizeof(cpus[2]));
	/* Offline, whatever it did before; and one that the kernel does not have. */
	assert_memory_equal(&cpus[1], &nothing, sizeof(nothing));
	assert_memory_equal(&cpus[3], &nothing, sizeof(nothing));
}

/* No more is written than was asked for. */
static void test_copy_fewer(void **state)
{
	struct watt_cpu_clock clock = { .times = times, .n_cpus = 3 };
	struct watt_cpu_time cpus[2], untouched;

	memset(cpus, 0xff, sizeof(cpus));
	memset(&untouched, 0xff, sizeof(untouched));
	watt_cpu_clock_copy(&clock, cpus, 1);
	assert_memory_equal(&cpus[0], &times[0], sizeof(cpus[0]));
	assert_memory_equal(&cpus[1], &untouched, sizeof(untouched));
}

static int open_on(const char *nohz_full)
{
	struct watt_cpu_clock clock = { .n_cpus = 7 };
	char *root = scratch_new();
	struct watt_config config = { 0 };
	struct watt_env env = { .config = &config };
	int r;

	scratch_write(root, "devices/system/cpu/nohz_full", nohz_full);
	assert_int_equal(watt_root_open(&env.sysfs, root), 0);
	r = watt_cpu_clock_open(&clock, &env, 2);
	if (r < 0) {
		assert_null(clock.skel);
		assert_null(clock.times);
		assert_int_equal(clock.n_cpus, 0);
	}
	watt_cpu_clock_close(&clock);
	watt_root_close(&env.sysfs);
	scratch_remove(root);
	return r;
}

/* The kernel shows more of such a CPU than it has written down. */
static void test_tickless(void **state)
{
	assert_int_equal(open_on("1-3\n"), -EOPNOTSUPP);
}

static void test_not_open(void **state)
{
	struct watt_cpu_clock clock = { 0 };
	struct watt_cpu_time cpu = { .user_ns = 5 };

	assert_int_equal(watt_cpu_clock_read(&clock, &cpu, 1), -ENODATA);
	assert_int_equal(cpu.user_ns, 5);
	watt_cpu_clock_close(&clock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_copy_fewer),
		cmocka_unit_test(test_tickless),
		cmocka_unit_test(test_not_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
