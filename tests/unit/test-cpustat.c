/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/host/cpustat.c */
#include "unit.h"

#include "base/util.h"
#include "source/host/cpustat.h"

#define HZ 100
#define TICK_NS 10000000ULL

static void test_full_line(void **state)
{
	static const char text[] = "cpu  111 22 33 44 5 6 7 8 9 10\n"
				   "cpu0 100 20 30 40 5 6 7 8 90 10\n"
				   "cpu1 11 2 3 4 0 0 0 0 0 0\n"
				   "intr 5 not looked at\n"
				   "cpu2 neither is this\n";
	struct watt_cpu_time cpus[3];
	size_t n = 0;

	memset(cpus, 0xff, sizeof(cpus));
	assert_int_equal(watt_cpustat_parse(text, HZ, cpus, 3, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(cpus[0].online, 1);
	/* guests (90, 10) are part of user and nice */
	assert_int_equal(cpus[0].user_ns, 120 * TICK_NS);
	assert_int_equal(cpus[0].system_ns, 30 * TICK_NS);
	assert_int_equal(cpus[0].idle_ns, 45 * TICK_NS);
	assert_int_equal(cpus[0].irq_ns, 6 * TICK_NS);
	assert_int_equal(cpus[0].softirq_ns, 7 * TICK_NS);
	assert_int_equal(cpus[0].steal_ns, 8 * TICK_NS);
	assert_int_equal(cpus[1].user_ns, 13 * TICK_NS);
	assert_int_equal(cpus[2].online, 0);
	assert_int_equal(cpus[2].user_ns, 0);
}

static void test_sparse_and_too_many(void **state)
{
	static const char text[] = "cpu 0 0 0 0\ncpu1 1 0 0 0\ncpu5 5 0 0 0\ncpu200 9 0 0 0";
	struct watt_cpu_time cpus[6];
	size_t n = 0;

	assert_int_equal(watt_cpustat_parse(text, HZ, cpus, 6, &n), 0);
	assert_int_equal(n, 201);
	assert_int_equal(cpus[0].online, 0);
	assert_int_equal(cpus[1].user_ns, TICK_NS);
	assert_int_equal(cpus[5].online, 1);
	assert_int_equal(cpus[5].user_ns, 5 * TICK_NS);
}

static void test_columns(void **state)
{
	static const struct {
		const char *text;
		int r;
	} cases[] = {
		{ "cpu0 1 2 3 4\n", 0 },
		{ "cpu0 1 2 3 4", 0 },
		{ "cpu0 1 2 3 4 5 6 7 8 9 10 11 12\n", 0 },
		{ "cpu0  1  2  3  4 \n", 0 },
		{ "cpu0 1 2 3\n", -EBADMSG },
		{ "cpu0\n", -EBADMSG },
		{ "cpu0 1 2 x 4\n", -EBADMSG },
		{ "cpu0 1 2 3x 4\n", -EBADMSG },
		{ "cpu0 1 -2 3 4\n", -EBADMSG },
		{ "cpu0 1\t2 3 4\n", -EBADMSG },
		{ "cpu0x 1 2 3 4\n", -EBADMSG },
		{ "cpux 1 2 3 4\n", -EBADMSG },
		{ "cpu 1 2 3 4\n", -EBADMSG },
		{ "", -EBADMSG },
		{ "intr 1\ncpu0 1 2 3 4\n", -EBADMSG },
		{ "cpu0 1 2 3 4\ncpu0 1 2 3 4\n", -EBADMSG },
		{ "cpu1 1 2 3 4\ncpu0 1 2 3 4\n", -EBADMSG },
		{ "cpu0 99999999999999999999 2 3 4\n", -ERANGE },
		{ "cpu0 18446744073709551615 0 3 4\n", -ERANGE },
		{ "cpu0 18446744073709551615 1 3 4\n", -ERANGE },
		{ "cpu0 1 2 3 4 5 6 7 8 9 99999999999999999999\n", -ERANGE },
		{ "cpu4294967296 1 2 3 4\n", -ERANGE },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		struct watt_cpu_time cpu = { .user_ns = 77 };
		size_t n = 55;

		assert_int_equal(watt_cpustat_parse(cases[i].text, HZ, &cpu, 1, &n), cases[i].r);
		assert_int_equal(n, cases[i].r < 0 ? 55 : 1);
		assert_int_equal(cpu.user_ns, cases[i].r < 0 ? 77 : 3 * TICK_NS);
	}
}

static void test_hz(void **state)
{
	struct watt_cpu_time cpu;
	size_t n;

	assert_int_equal(watt_cpustat_parse("cpu0 1 0 0 1024\n", 1024, &cpu, 1, &n), 0);
	assert_int_equal(cpu.user_ns, 976562);
	assert_int_equal(cpu.idle_ns, 1000000000);
	assert_int_equal(watt_cpustat_parse("cpu0 1 0 0 1\n", 0, &cpu, 1, &n), -EINVAL);
	assert_int_equal(watt_cpustat_parse("cpu0 1 0 0 1\n", -1, &cpu, 1, &n), -EINVAL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full_line),
		cmocka_unit_test(test_sparse_and_too_many),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_hz),
	};

	return cmocka_run_group_tests_name("cpustat", tests, NULL, NULL);
}
