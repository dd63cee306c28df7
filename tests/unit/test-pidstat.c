/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/host/pidstat.c */
#include "unit.h"

#include "base/util.h"
#include "source/host/pidstat.h"

#define TAIL " S 7 1 1 -1 -1 4194560 9 8 7 6 150 50 3 2 20 -5 12 0 4242 1 2 3"
#define MORE " 4 5 6 7 8 9 10 11 12 13 14 0 17 3 0 0"

static void test_line(void **state)
{
	struct watt_pidstat stat;

	assert_int_equal(watt_pidstat_parse("12 (bash)" TAIL MORE, &stat), 0);
	assert_int_equal(stat.pid, 12);
	assert_string_equal(stat.comm, "bash");
	assert_int_equal(stat.state, 'S');
	assert_int_equal(stat.parent_pid, 7);
	assert_false(stat.is_kthread);
	assert_int_equal(stat.utime_ticks, 150);
	assert_int_equal(stat.stime_ticks, 50);
	assert_int_equal(stat.start_ticks, 4242);
	assert_int_equal(stat.cpu, 3);
}

static void test_comm(void **state)
{
	static const struct {
		const char *text, *comm;
	} cases[] = {
		{ "1 ()" TAIL, "" },
		{ "1 (a b)" TAIL, "a b" },
		{ "1 (a) R 1 (b)" TAIL, "a) R 1 (b" },
		{ "1 (() R 1 ()" TAIL, "() R 1 (" },
		{ "1 (a\nb)" TAIL, "a\nb" },
		{ "1 (\xff\xfe)" TAIL, "\xff\xfe" },
		{ "1 (fifteen bytes..)" TAIL, "fifteen bytes.." },
		{ "1 (kworker/u8:1-events_unbound)" TAIL, "kworker/u8:1-ev" },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		struct watt_pidstat stat;

		assert_int_equal(watt_pidstat_parse(cases[i].text, &stat), 0);
		assert_string_equal(stat.comm, cases[i].comm);
		assert_int_equal(stat.start_ticks, 4242);
	}
}

static void test_kthread(void **state)
{
	struct watt_pidstat stat;

	assert_int_equal(watt_pidstat_parse("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 "
					    "0 1 0 3",
					    &stat),
			 0);
	assert_true(stat.is_kthread);
	assert_int_equal(stat.parent_pid, 0);
	assert_int_equal(stat.cpu, 0);
}

static void test_worker(void **state)
{
	static const struct {
		const char *comm, *expected;
	} cases[] = {
		{ "kworker/0:1-events", "kworker/0:1" },
		{ "kworker/u8:2+ext4-rsv", "kworker/u8:2" },
		{ "kworker/1:0H", "kworker/1:0H" },
		/* rescuers are called after what they rescue */
		{ "kworker/R-rcu_g", "kworker/R-rcu_g" },
		{ "irq/24-ACPI", "irq/24-ACPI" },
		{ "kworker/", "kworker/" },
	};
	struct watt_pidstat stat;
	char text[256];
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		snprintf(text, sizeof(text),
			 "9 (%s) I 2 0 0 0 -1 69238880 0 0 0 0 0 0 0 0 20 0 1 0 3", cases[i].comm);
		assert_int_equal(watt_pidstat_parse(text, &stat), 0);
		assert_string_equal(stat.comm, cases[i].expected);
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *text;
		int r;
	} cases[] = {
		{ "", -EBADMSG },
		{ " ", -EBADMSG },
		{ "12", -EBADMSG },
		{ "12 bash" TAIL, -EBADMSG },
		{ "12 (bash" TAIL, -EBADMSG },
		{ "12 bash)" TAIL, -EBADMSG },
		{ "12)(" TAIL, -EBADMSG },
		{ "x (a)" TAIL, -EBADMSG },
		{ "-1 (a)" TAIL, -EBADMSG },
		{ "1 (a)", -EBADMSG },
		{ "1 (a) ", -EBADMSG },
		{ "1 (a) 5 7 1 1", -EBADMSG },
		{ "1 (a) S", -EBADMSG },
		{ "1 (a) S 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", -EBADMSG },
		{ "1 (a) S 1 1 1 1 1 1 1 1 1 1 x 1 1 1 1 1 1 1 1", -EBADMSG },
		{ "1 (a) S 1 1 1 1 1 1 1 1 1 1 -1 1 1 1 1 1 1 1 1", -EBADMSG },
		{ "1 (a) S -1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", -EBADMSG },
		{ "1 (a) S 1 1 1 1 1 1 1 1 1 1 99999999999999999999 1 1 1 1 1 1 1 1", -ERANGE },
		{ "1 (a) S 4294967296 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", -ERANGE },
		{ "4294967296 (a)" TAIL, -ERANGE },
		{ "99999999999999999999 (a)" TAIL, -ERANGE },
		{ "1  (a)" TAIL, -EBADMSG },
		{ "1 (a)  S 1", -EBADMSG },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		struct watt_pidstat stat = { .pid = 77 };

		if (watt_pidstat_parse(cases[i].text, &stat) != cases[i].r)
			fail_msg("'%s' gives %d", cases[i].text,
				 watt_pidstat_parse(cases[i].text, &stat));
		assert_int_equal(stat.pid, 77);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line),    cmocka_unit_test(test_comm),
		cmocka_unit_test(test_kthread), cmocka_unit_test(test_worker),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests_name("pidstat", tests, NULL, NULL);
}
