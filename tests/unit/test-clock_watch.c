/* SPDX-License-Identifier: Apache-2.0 */
/* lib/base/clock_watch.c */
#include "unit.h"

#include "base/clock.h"
#include "base/clock_watch.h"
#include "base/util.h"

#define S WATT_NSEC_PER_SEC
#define MS WATT_NSEC_PER_MSEC
#define WALL_NS (1790000000 * S)

/* A machine that is up for ten minutes at 1 s of CLOCK_MONOTONIC, had it not slept before. */
static struct watt_clock_reading at(uint64_t t_ns, uint64_t slept_ns, int64_t set_ns)
{
	return (struct watt_clock_reading){
		.t_before_ns = t_ns,
		.t_after_ns = t_ns + 100,
		.realtime_ns = WALL_NS + t_ns + slept_ns + (uint64_t)set_ns,
		.boottime_ns = 600 * S + t_ns + slept_ns,
	};
}

static bool look(struct watt_clock_watch *watch, struct watt_clock_reading now,
		 struct watt_clock_news *ret)
{
	return watt_clock_watch_look(watch, &now, ret);
}

static void test_nothing_happens(void **state)
{
	struct watt_clock_watch watch = { 0 };
	struct watt_clock_news news;
	uint64_t i;

	for (i = 0; i < 1000; i++)
		assert_false(look(&watch, at(S + i * 50 * MS, 0, (int64_t)(i % 2) * 1000), &news));
	(void)state;
}

static void test_set(void **state)
{
	static const int64_t steps_ns[] = { 3600 * (int64_t)S, -3600 * (int64_t)S, 20 * MS,
					    -20 * (int64_t)MS, -1790000000 * (int64_t)S };
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(steps_ns); i++) {
		struct watt_clock_watch watch = { 0 };
		struct watt_clock_news news;

		assert_false(look(&watch, at(S, 0, 0), &news));
		assert_true(look(&watch, at(2 * S, 0, steps_ns[i]), &news));
		assert_int_equal(news.set_ns, steps_ns[i]);
		assert_int_equal(news.slept_ns, 0);
		assert_int_equal(news.from_ns, S + 100);
		assert_int_equal(news.to_ns, 2 * S + 100);
		assert_int_equal(news.realtime_off_ns, (int64_t)WALL_NS + steps_ns[i]);
		assert_false(look(&watch, at(3 * S, 0, steps_ns[i]), &news));
	}
	(void)state;
}

static void test_sleep(void **state)
{
	struct watt_clock_watch watch = { 0 };
	struct watt_clock_news news;

	assert_false(look(&watch, at(S, 0, 0), &news));
	assert_true(look(&watch, at(S + 50 * MS, 3600 * S, 0), &news));
	assert_int_equal(news.slept_ns, 3600 * S);
	assert_int_equal(news.set_ns, 0);
	assert_false(look(&watch, at(S + 100 * MS, 3600 * S, 0), &news));
	/* and its clock was set when it woke */
	assert_true(look(&watch, at(2 * S, 3610 * S, -2 * (int64_t)S), &news));
	assert_int_equal(news.slept_ns, 10 * S);
	assert_int_equal(news.set_ns, -2 * (int64_t)S);
	(void)state;
}

/* Steps too small to be told apart from a reading add up until they can be. */
static void test_small_steps_add_up(void **state)
{
	struct watt_clock_watch watch = { 0 };
	struct watt_clock_news news;

	assert_false(look(&watch, at(S, 0, 0), &news));
	assert_false(look(&watch, at(2 * S, 0, 6 * MS), &news));
	assert_true(look(&watch, at(3 * S, 0, 12 * MS), &news));
	assert_int_equal(news.set_ns, 12 * MS);
	(void)state;
}

/* Who was interrupted between two clocks sees them apart: that is no step, and forgets none. */
static void test_slow_reading(void **state)
{
	struct watt_clock_watch watch = { 0 };
	struct watt_clock_reading slow = at(2 * S, 0, 50 * (int64_t)MS);
	struct watt_clock_news news;

	assert_false(look(&watch, at(S, 0, 0), &news));
	slow.t_after_ns = slow.t_before_ns + 50 * MS;
	assert_false(look(&watch, slow, &news));
	assert_false(look(&watch, at(3 * S, 0, 0), &news));
	assert_true(look(&watch, at(4 * S, S, 0), &news));
	assert_int_equal(news.from_ns, 3 * S + 100);
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_happens), cmocka_unit_test(test_set),
		cmocka_unit_test(test_sleep),           cmocka_unit_test(test_small_steps_add_up),
		cmocka_unit_test(test_slow_reading),
	};

	return cmocka_run_group_tests_name("clock_watch", tests, NULL, NULL);
}
