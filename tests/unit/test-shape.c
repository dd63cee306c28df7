/* SPDX-License-Identifier: Apache-2.0 */
/* What a slow total has that its parts don't: lib/timeline/shape.c. */
#include "unit.h"

#include <math.h>

#include "base/util.h"
#include "timeline/shape.h"

#define S 1000000000ULL

/* 100 W until 60 s, 300 W from then on, each times a factor; nothing is known before 10 s. */
static double factor = 1;

static bool get_j(const struct watt_shape *shape, uint64_t t_ns, double *ret_j)
{
	double t_s = (double)t_ns / 1e9;

	if (t_ns < 10 * S)
		return false;
	*ret_j = factor * (100 * t_s + (t_s > 60 ? 200 * (t_s - 60) : 0));
	return true;
}

static const struct watt_shape sure = { .get_j = get_j, .window_ns = S };
static const struct watt_shape vague = { .get_j = get_j, .window_ns = S, .spread_ns = 2 * S };

static void test_a_reading_tells_what_is_missed(void **state)
{
	struct watt_miss miss = { 0 };

	assert_true(watt_miss_see(&miss, &sure, 30 * S, 30 * S, 30 * S, 150));
	assert_true(fabs(miss.power_w - 50) < 1e-6);
	/* and the one behind it what it is then: it goes most of the way */
	assert_true(watt_miss_see(&miss, &sure, 30 * S, 40 * S, 40 * S, 170));
	assert_in_range(llround(miss.power_w), 68, 70);
	/* in the middle of the step, the parts are the mean of both */
	assert_true(watt_miss_see(&miss, &sure, 40 * S, 60 * S, 60 * S, 270));
	assert_in_range(llround(miss.power_w), 69, 70);
}

/* Two seconds around a step, nobody knows whether a reading is of before or behind it. */
static void test_a_reading_near_a_step_tells_little(void **state)
{
	struct watt_miss miss = { 0 };

	assert_true(watt_miss_see(&miss, &vague, 30 * S, 30 * S, 30 * S, 150));
	assert_false(miss.is_vague);
	assert_true(watt_miss_see(&miss, &vague, 30 * S, 60 * S, 60 * S, 350));
	assert_in_range(llround(miss.power_w), 50, 65);
	assert_true(miss.is_vague);
	assert_true(watt_miss_see(&miss, &vague, 60 * S, 90 * S, 90 * S, 350));
	assert_false(miss.is_vague);
	assert_in_range(llround(miss.power_w), 50, 51);
}

/* What no part tells of goes up by much at once: nobody knows when. */
static void test_a_reading_far_off_is_vague(void **state)
{
	struct watt_miss miss = { 0 };

	assert_true(watt_miss_see(&miss, &sure, 29 * S, 30 * S, 30 * S, 150));
	assert_true(watt_miss_see(&miss, &sure, 30 * S, 31 * S, 31 * S, 160));
	assert_false(miss.is_vague);
	assert_true(watt_miss_see(&miss, &sure, 31 * S, 32 * S, 32 * S, 190));
	assert_true(miss.is_vague);
	assert_true(watt_miss_see(&miss, &sure, 32 * S, 33 * S, 33 * S, 190));
	assert_false(miss.is_vague);
}

/* A straight line between two readings is wrong where the parts stepped there, and nowhere else. */
static void test_a_line_is_bent_around_a_step(void **state)
{
	assert_false(watt_shape_is_bent(&sure, 58 * S, 2 * S));
	assert_true(watt_shape_is_bent(&sure, 61 * S, 2 * S));
	assert_false(watt_shape_is_bent(&sure, 63 * S, 2 * S));
	assert_true(watt_shape_is_bent(&vague, 63 * S, 2 * S));
	assert_false(watt_shape_is_bent(&vague, 66 * S, 2 * S));
	/* nothing is known of the parts */
	assert_false(watt_shape_is_bent(&vague, 3 * S, 2 * S));
}

/* Another factor says the same in other words. */
static void test_it_follows_another_shape(void **state)
{
	struct watt_miss miss = { 0 };

	assert_true(watt_miss_see(&miss, &sure, 30 * S, 30 * S, 30 * S, 150));
	assert_true(watt_miss_see(&miss, &sure, 30 * S, 40 * S, 40 * S, 150));
	factor = 1.2;
	watt_miss_follow(&miss, &sure);
	factor = 1;
	assert_true(fabs(miss.power_w - 30) < 1e-6);
}

static void test_unknown_parts_change_nothing(void **state)
{
	struct watt_miss miss = { 0 };

	assert_false(watt_miss_see(&miss, &sure, 5 * S, 5 * S, 5 * S, 150));
	assert_int_equal(miss.to_ns, 0);
	watt_miss_follow(&miss, &sure);
	assert_int_equal(miss.to_ns, 0);
	assert_true(watt_miss_see(&miss, &sure, 30 * S, 30 * S, 30 * S, 150));
	assert_false(watt_miss_see(&miss, &sure, 5 * S, 40 * S, 40 * S, 999));
	assert_true(fabs(miss.power_w - 50) < 1e-6);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_reading_tells_what_is_missed),
		cmocka_unit_test(test_a_reading_near_a_step_tells_little),
		cmocka_unit_test(test_a_reading_far_off_is_vague),
		cmocka_unit_test(test_a_line_is_bent_around_a_step),
		cmocka_unit_test(test_it_follows_another_shape),
		cmocka_unit_test(test_unknown_parts_change_nothing),
	};

	return cmocka_run_group_tests_name("shape", tests, NULL, NULL);
}
