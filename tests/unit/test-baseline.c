/* SPDX-License-Identifier: Apache-2.0 */
/* lib/attrib/baseline.c */
#include "unit.h"

#include "attrib/baseline.h"
#include "base/util.h"
#include "base/words.h"

#define MS 1000000ULL

static uint64_t seed = 7;

static uint64_t rnd(void)
{
	seed = watt_hash_u64(seed + 0x9e3779b97f4a7c15ULL);
	return seed;
}

/* 50 ms of a domain of 4 CPUs with 10 W idle and 20 W more at full load, with noise above. */
static void feed(struct watt_baseline *baseline, double busy, uint64_t noise_mw)
{
	uint64_t noise = noise_mw ? rnd() % noise_mw : 0;
	int64_t energy_nj = (int64_t)((10000 + 20000 * busy + (double)noise) * 50 * 1000);

	assert_int_equal(
		watt_baseline_add(baseline, 50 * MS, energy_nj, (uint64_t)(busy * 200 * MS), 4), 0);
}

static void test_idle_machine(void **state)
{
	struct watt_baseline baseline = { 0 };
	int i;

	assert_true(watt_baseline_doubt_uw(&baseline) == UINT64_MAX);
	for (i = 0; i < 8; i++)
		feed(&baseline, 0.01, 500);
	assert_false(baseline.is_ready);
	assert_int_equal(baseline.from, WATT_BASELINE_UNKNOWN);
	/* it may be all of the least that was seen, or nothing */
	assert_in_range(watt_baseline_doubt_uw(&baseline), 10000 * 577, 10700 * 577);
	assert_int_equal(watt_baseline_idle_nj(&baseline, 50 * MS, 1000000000), 0);
	for (i = 0; i < 200; i++)
		feed(&baseline, 0.01, 500);
	assert_true(baseline.is_ready);
	assert_in_range(baseline.baseline_uw, 10200000, 10600000);
	assert_int_equal(baseline.from, WATT_BASELINE_SEEN);
	assert_int_equal(watt_baseline_doubt_uw(&baseline), 0);
	watt_baseline_done(&baseline);
}

/* Never seen idle: the line through what was seen leads there. */
static void test_busy_machine(void **state)
{
	struct watt_baseline baseline = { 0 };
	int i;

	for (i = 0; i < 2400; i++)
		feed(&baseline, 0.3 + 0.69 * (double)(i / 4 % 60) / 60, 400);
	assert_true(baseline.is_ready);
	assert_in_range(baseline.baseline_uw, 9000000, 11000000);
	watt_baseline_done(&baseline);
}

/* Of 16 W at least, 10 W may be idle, or more, or less; until the machine has been idle. */
static void test_unsure_until_idle(void **state)
{
	struct watt_baseline baseline = { 0 }, later = { 0 };
	struct watt_words words = { 0 };
	int i;

	for (i = 0; i < 2400; i++)
		feed(&baseline, 0.3 + 0.69 * (double)(i / 4 % 60) / 60, 400);
	assert_in_range(baseline.doubt_uw, 1500000, 3500000);
	assert_int_equal(watt_baseline_visit(&baseline, &words), 0);
	words.is_loading = true;
	assert_int_equal(watt_baseline_visit(&later, &words), 0);
	assert_int_equal(later.doubt_uw, baseline.doubt_uw);
	assert_int_equal(baseline.from, WATT_BASELINE_EXTRAPOLATED);
	assert_int_equal(later.from, WATT_BASELINE_EXTRAPOLATED);
	for (i = 0; i < 20; i++)
		feed(&later, 0.01, 500);
	assert_int_equal(later.doubt_uw, 0);
	watt_words_done(&words);
	watt_baseline_done(&later);
	watt_baseline_done(&baseline);
}

/* Where siblings make the upper half of the load cheap, the line of a busy machine ends too high. */
static void test_unsure_of_what_bends(void **state)
{
	struct watt_baseline baseline = { 0 };
	double busy, taken;
	int i;

	for (i = 0; i < 2400; i++) {
		busy = 0.6 + 0.39 * (double)(i / 4 % 60) / 60;
		taken = 0.5 + (busy - 0.5) / 3; /* of what it would at an even slope */
		assert_int_equal(watt_baseline_add(&baseline, 50 * MS,
						   (int64_t)((10000 + 20000 * taken) * 50 * 1000),
						   (uint64_t)(busy * 200 * MS), 4),
				 0);
	}
	assert_int_equal(baseline.from, WATT_BASELINE_EXTRAPOLATED);
	assert_in_range(baseline.baseline_uw, 16000000, 17000000);
	assert_in_range(baseline.doubt_uw, 4500000, 5500000);
	watt_baseline_done(&baseline);
}

static void test_not_from_one_level(void **state)
{
	struct watt_baseline baseline = { 0 };
	int i;

	for (i = 0; i < 2000; i++)
		feed(&baseline, 0.9, 400);
	assert_false(baseline.is_ready);
	watt_baseline_done(&baseline);
}

static void test_never_more_than_there_is(void **state)
{
	struct watt_baseline baseline = { .is_ready = true, .baseline_uw = 10000000 };

	assert_int_equal(watt_baseline_idle_nj(&baseline, 100 * MS, 2000000000), 1000000000);
	assert_int_equal(watt_baseline_idle_nj(&baseline, 100 * MS, 900000000), 900000000);
	assert_int_equal(watt_baseline_idle_nj(&baseline, 100 * MS, -5), 0);
}

static void test_given_is_kept(void **state)
{
	struct watt_baseline baseline = { .is_ready = true,
					  .is_given = true,
					  .baseline_uw = 4000000 };
	int i;

	for (i = 0; i < 500; i++)
		feed(&baseline, 0.01, 500);
	assert_int_equal(baseline.baseline_uw, 4000000);
	assert_int_equal(baseline.doubt_uw, 0);
	watt_baseline_done(&baseline);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle_machine),
		cmocka_unit_test(test_busy_machine),
		cmocka_unit_test(test_unsure_until_idle),
		cmocka_unit_test(test_unsure_of_what_bends),
		cmocka_unit_test(test_not_from_one_level),
		cmocka_unit_test(test_never_more_than_there_is),
		cmocka_unit_test(test_given_is_kept),
	};

	return cmocka_run_group_tests_name("baseline", tests, NULL, NULL);
}
