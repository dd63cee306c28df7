/* SPDX-License-Identifier: Apache-2.0 */
/* cli/time_arg.c */
#include "unit.h"

#include <time.h>

#include "time_arg.h"

#define NS 1000000000ULL
#define START_NS (1795268700 * NS) /* 2026-11-21 13:45:00 UTC */

static void assert_time(const char *text, enum time_arg_kind kind, uint64_t ns)
{
	struct time_arg arg = { TIME_ARG_NONE, 42 };

	assert_int_equal(time_arg_parse(text, &arg), 0);
	assert_int_equal(arg.kind, kind);
	assert_int_equal(arg.ns, ns);
}

static void test_since_the_beginning(void **state)
{
	assert_time("0", TIME_ARG_SINCE, 0);
	assert_time("90", TIME_ARG_SINCE, 90 * NS);
	assert_time("2.5", TIME_ARG_SINCE, 2500000000);
	assert_time("90s", TIME_ARG_SINCE, 90 * NS);
	assert_time("1m30s", TIME_ARG_SINCE, 90 * NS);
	assert_time("1.5min", TIME_ARG_SINCE, 90 * NS);
	assert_time("1h0m0.25s", TIME_ARG_SINCE, 3600 * NS + 250000000);
	assert_time("1s500ms2us", TIME_ARG_SINCE, 1500002000);
	assert_time("8784h", TIME_ARG_SINCE, 8784 * 3600 * NS);
}

static void test_of_the_clock(void **state)
{
	assert_time("2026-11-21T13:45:00Z", TIME_ARG_WALL, START_NS);
	assert_time("2026-11-21 14:45+01:00", TIME_ARG_WALL, START_NS);
	assert_time("2026-11-21T08:45:00.125-0500", TIME_ARG_WALL, START_NS + 125000000);
	assert_time("@1795268700.5", TIME_ARG_WALL, START_NS + 500000000);
	assert_time("13:45", TIME_ARG_OF_DAY, (13 * 3600 + 45 * 60) * NS);
	assert_time("13:45:07.5", TIME_ARG_OF_DAY, (13 * 3600 + 45 * 60 + 7) * NS + 500000000);
	/* without a zone: where we are, which the test says */
	assert_time("2026-11-21 14:45:00", TIME_ARG_WALL, START_NS);
}

static void test_mistakes(void **state)
{
	static const char *const bad[] = {
		"",
		" ",
		"-1",
		"1x",
		"1s1m",
		"1m1min",
		"1ss",
		"s",
		"1.",
		".5",
		"1e3",
		"90 s",
		"8785h",
		"24:00",
		"13:60",
		"13:4",
		"13:45:",
		"13:45:61",
		"13:45:7",
		"13:45Z",
		"@",
		"@1x",
		"2026-11-21",
		"2026-13-01T00:00Z",
		"1m30",
		"1969-12-31T00:00Z",
		"2026-11-21T13:45:00Zx",
		"2026-11-21T13:45+1",
		"99999999999999999999",
		"2026-02-31T00:00Z",
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct time_arg arg = { TIME_ARG_NONE, 42 };

		assert_int_equal(time_arg_parse(bad[i], &arg), -EINVAL);
		assert_int_equal(arg.kind, TIME_ARG_NONE);
	}
}

static int64_t since_ns(const char *text)
{
	struct time_arg arg;

	assert_int_equal(time_arg_parse(text, &arg), 0);
	return time_arg_since_ns(&arg, START_NS + 300000000);
}

static void test_in_a_recording(void **state)
{
	static const struct time_arg none;

	assert_int_equal(time_arg_since_ns(&none, START_NS), 0);
	assert_int_equal(since_ns("12.5"), 12500000000);
	assert_int_equal(since_ns("2026-11-21T13:46:00.3Z"), 60 * NS);
	assert_int_equal(since_ns("2026-11-21T13:44:00.3Z"), -60 * (int64_t)NS);
	assert_int_equal(since_ns("14:46:00.3"), 60 * NS);
	assert_int_equal(since_ns("14:45:00"), -300000000);
	assert_int_equal(since_ns("14:44:00.3"), 86340 * NS); /* of the next day */
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_since_the_beginning),
		cmocka_unit_test(test_of_the_clock),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_in_a_recording),
	};

	setenv("TZ", "UTC-1", 1);
	tzset();
	return cmocka_run_group_tests_name("time_arg", tests, NULL, NULL);
}
