/* SPDX-License-Identifier: Apache-2.0 */
/* lib/crosschecks.c */
#include "unit.h"

#include "crosschecks.h"

#define SEC 1000000000ULL

static const struct watt_channel channels[2] = {
	{ .name = "perf_rapl/package-0",
	  .domain = "package-0",
	  .kind = WATT_DOMAIN_PACKAGE,
	  .quantity = WATT_QUANTITY_ENERGY,
	  .scale_num = 1,
	  .scale_den = 1 },
	{ .name = "powercap/package-0",
	  .domain = "package-0",
	  .kind = WATT_DOMAIN_PACKAGE,
	  .quantity = WATT_QUANTITY_ENERGY,
	  .scale_num = 1000,
	  .scale_den = 1 },
};

static int n_lines;

static void count_line(void *data, enum watt_log_level level, const char *text)
{
	assert_int_equal(level, WATT_LOG_WARNING);
	assert_non_null(strstr(text, "perf_rapl/package-0"));
	assert_non_null(strstr(text, "powercap/package-0"));
	n_lines++;
}

/* Two seconds of 10 W on the first counter and of the given power on the second. */
static const struct watt_crosscheck_pair *compare(struct watt_crosschecks *dups, int64_t second_w)
{
	const struct watt_log log = { .fn = count_line };
	int64_t i;

	n_lines = 0;
	assert_int_equal(watt_crosschecks_add(dups, &channels[0], 0, &channels[1], 1), 0);
	for (i = 0; i <= 40; i++) {
		uint64_t t_ns = SEC + (uint64_t)i * SEC / 20;
		struct watt_sample a = { t_ns, t_ns + 500, i * 10 * (int64_t)SEC / 20, 0, 0 };
		struct watt_sample b = { t_ns + 500, t_ns + 1000, i * second_w * 1000000 / 20, 1,
					 0 };

		watt_crosschecks_push(dups, &a);
		watt_crosschecks_push(dups, &b);
		watt_crosschecks_compare(dups, t_ns + 1000, &log);
		if (i < 39)
			assert_int_equal(watt_crosschecks_find(dups, 1)->error, -EAGAIN);
	}
	assert_null(watt_crosschecks_find(dups, 0));
	return watt_crosschecks_find(dups, 1);
}

static void test_agree(void **state)
{
	struct watt_crosschecks dups = { 0 };
	const struct watt_crosscheck_pair *dup = compare(&dups, 10);

	assert_int_equal(dup->error, 0);
	assert_true(dup->result.is_agreeing);
	assert_int_equal(n_lines, 0);
	watt_crosschecks_done(&dups);
}

static void test_disagree(void **state)
{
	struct watt_crosschecks dups = { 0 };
	const struct watt_crosscheck_pair *dup = compare(&dups, 12);

	assert_int_equal(dup->error, 0);
	assert_false(dup->result.is_agreeing);
	assert_int_equal(n_lines, 1);
	watt_crosschecks_done(&dups);
}

/* The duplicate is read once a second, and the power is another from second to second. */
static void test_slow_duplicate(void **state)
{
	const struct watt_log log = { .fn = count_line };
	struct watt_crosschecks dups = { 0 };
	int64_t i, energy_nj = 0;

	n_lines = 0;
	assert_int_equal(watt_crosschecks_add(&dups, &channels[0], 0, &channels[1], 1), 0);
	for (i = 0; i <= 90; i++) {
		uint64_t t_ns = SEC + (uint64_t)i * SEC / 20;
		struct watt_sample a = { t_ns, t_ns + 500, energy_nj, 0, 0 };
		struct watt_sample b = { t_ns - 1000, t_ns, energy_nj / 1000, 1, 0 };

		if (i % 20 == 0)
			watt_crosschecks_push(&dups, &b);
		watt_crosschecks_push(&dups, &a);
		watt_crosschecks_compare(&dups, t_ns + 1000, &log);
		energy_nj += (i / 20 % 2 ? 200 : 10) * (int64_t)SEC / 20;
	}
	assert_int_equal(dups.list[0].error, 0);
	assert_true(dups.list[0].result.is_agreeing);
	assert_in_range(dups.list[0].result.tolerance_ppm, 0, 1000);
	assert_int_equal(n_lines, 0);
	watt_crosschecks_done(&dups);
}

/* A second duplicate that never answers: the first one is not looked at again for that. */
static void test_is_said_once(void **state)
{
	const struct watt_log log = { .fn = count_line };
	struct watt_crosschecks dups = { 0 };
	int64_t i;

	n_lines = 0;
	assert_int_equal(watt_crosschecks_add(&dups, &channels[0], 0, &channels[1], 1), 0);
	assert_int_equal(watt_crosschecks_add(&dups, &channels[0], 0, &channels[1], 2), 0);
	for (i = 0; i <= 200; i++) {
		uint64_t t_ns = SEC + (uint64_t)i * SEC / 20;
		struct watt_sample a = { t_ns, t_ns + 500, i * 10 * (int64_t)SEC / 20, 0, 0 };
		struct watt_sample b = { t_ns + 500, t_ns + 1000, i * 20 * 1000000 / 20, 1, 0 };

		watt_crosschecks_push(&dups, &a);
		watt_crosschecks_push(&dups, &b);
		watt_crosschecks_compare(&dups, t_ns + 1000, &log);
	}
	assert_int_equal(n_lines, 1);
	assert_int_equal(watt_crosschecks_find(&dups, 2)->error, -EAGAIN);
	watt_crosschecks_done(&dups);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agree),
		cmocka_unit_test(test_disagree),
		cmocka_unit_test(test_slow_duplicate),
		cmocka_unit_test(test_is_said_once),
	};

	return cmocka_run_group_tests_name("duplicates", tests, NULL, NULL);
}
