/* SPDX-License-Identifier: Apache-2.0 */
/* cli/statistics.c and sparkline.c */
#include "unit.h"

#include <math.h>

#include "sparkline.h"
#include "view/statistics.h"
#include "text.h"

static void assert_near(double found, double expected)
{
	if (!(fabs(found - expected) < 1e-3 * fabs(expected)))
		fail_msg("%f is not %f", found, expected);
}

static void test_known_values(void **state)
{
	/* 2 4 4 4 5 5 7 9: mean 5, sum of squares 32. */
	static const double values[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
	struct watt_statistics s = watt_statistics_of(values, 8);

	assert_int_equal(s.n, 8);
	assert_near(s.mean, 5);
	assert_near(s.sd, sqrt(32.0 / 7));
	assert_near(s.ci95, 2.365 * s.sd / sqrt(8));
}

static void test_few_values(void **state)
{
	static const double one[] = { 3 }, holes[] = { NAN, 3, INFINITY, 5 };
	struct watt_statistics s = watt_statistics_of(one, 1);

	assert_near(s.mean, 3);
	assert_true(isnan(s.sd) && isnan(s.ci95));
	s = watt_statistics_of(NULL, 0);
	assert_true(s.n == 0 && isnan(s.mean));
	s = watt_statistics_of(holes, 4);
	assert_int_equal(s.n, 2);
	assert_near(s.mean, 4);
	assert_near(s.ci95, 12.706 * sqrt(2) / sqrt(2));
}

/* A large mean must not eat a small spread. */
static void test_precision(void **state)
{
	static const double values[] = { 1e9 + 1, 1e9 + 2, 1e9 + 3 };

	assert_near(watt_statistics_of(values, 3).sd, 1);
}

static void test_student(void **state)
{
	assert_true(isnan(watt_statistics_t95(0)));
	assert_near(watt_statistics_t95(1), 12.706);
	assert_near(watt_statistics_t95(30), 2.042);
	/* Where the table ends, the formula goes on without a step. */
	assert_near(watt_statistics_t95(31), 2.0395);
	assert_near(watt_statistics_t95(60), 2.0003);
	assert_near(watt_statistics_t95(1000000), 1.95996);
}

static void test_sparkline(void **state)
{
	struct sparkline line = { 0 };
	double min, max;
	char buf[64];
	int i;

	text_set_utf8(false);
	assert_string_equal(sparkline_draw(&line, 8, buf, sizeof(buf)), "");
	sparkline_range(&line, 8, &min, &max);
	assert_true(isnan(max));
	sparkline_add(&line, 0);
	sparkline_add(&line, 4);
	sparkline_add(&line, NAN);
	sparkline_add(&line, 8);
	assert_string_equal(sparkline_draw(&line, 8, buf, sizeof(buf)), "_= #");
	/* The newest values stay; bars grow with what is still to be seen. */
	assert_string_equal(sparkline_draw(&line, 1, buf, sizeof(buf)), "#");
	assert_string_equal(sparkline_draw(&line, 8, buf, 3), "_=");
	for (i = 0; i < 2 * SPARKLINE_POINTS; i++)
		sparkline_add(&line, 1);
	sparkline_range(&line, 1000, &min, &max);
	assert_near(max, 1);
	text_set_utf8(true);
	assert_string_equal(sparkline_draw(&line, 2, buf, sizeof(buf)), "\u2588\u2588");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_values), cmocka_unit_test(test_few_values),
		cmocka_unit_test(test_precision),    cmocka_unit_test(test_student),
		cmocka_unit_test(test_sparkline),
	};

	return cmocka_run_group_tests_name("statistics", tests, NULL, NULL);
}
