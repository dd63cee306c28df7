/* SPDX-License-Identifier: Apache-2.0 */
/* lib/sink/axis.c */
#include "unit.h"

#include <math.h>

#include "sink/axis.h"

static void assert_holds(const struct watt_axis *axis, double min, double max, size_t max_ticks)
{
	double part = axis->step / pow(10, floor(log10(axis->step) + 1e-9));
	size_t i;

	assert_true(axis->min <= min + 1e-9 * axis->step && axis->max >= max - 1e-9 * axis->step);
	assert_true(axis->min <= 0 && axis->max >= 0);
	assert_true(axis->n >= 2 && axis->n <= max_ticks + 1);
	assert_true(fabs(part - 1) < 1e-6 || fabs(part - 2) < 1e-6 || fabs(part - 5) < 1e-6);
	/* All labels differ, and say what the tick is. */
	for (i = 0; i < axis->n; i++) {
		char label[WATT_AXIS_LABEL_SIZE], next[WATT_AXIS_LABEL_SIZE];
		double value = watt_axis_tick(axis, i);

		watt_axis_label(axis, i, label);
		assert_true(fabs(strtod(label, NULL) / axis->scale - value) <= axis->step * 1e-6);
		if (i + 1 < axis->n)
			assert_string_not_equal(label, watt_axis_label(axis, i + 1, next));
	}
}

static void test_power_of_any_size(void **state)
{
	double size;
	size_t n;

	for (size = 1e-7; size < 1e8; size *= 1.37)
		for (n = 2; n < 12; n++) {
			struct watt_axis axis = watt_axis_power(0, size, n);

			assert_holds(&axis, 0, size, n);
			axis = watt_axis_power(-size, size / 3, n);
			assert_holds(&axis, -size, size / 3, n);
			axis = watt_axis_power(-size, -size / 3, n);
			assert_holds(&axis, -size, 0, n);
		}
}

static void test_power_labels(void **state)
{
	struct watt_axis axis = watt_axis_power(0, 37, 5);
	char label[WATT_AXIS_LABEL_SIZE];

	assert_string_equal(axis.unit, "W");
	assert_string_equal(watt_axis_label(&axis, 1, label), "10");
	assert_true(axis.max == 40);
	axis = watt_axis_power(0, 0.0042, 5);
	assert_string_equal(axis.unit, "mW");
	assert_string_equal(watt_axis_label(&axis, 1, label), "1");
	axis = watt_axis_power(-12, 4, 5);
	assert_string_equal(watt_axis_label(&axis, 0, label), "-15");
	/* Nothing at all still has an axis. */
	axis = watt_axis_power(0, 0, 5);
	assert_holds(&axis, 0, 0, 5);
	axis = watt_axis_power(NAN, NAN, 5);
	assert_holds(&axis, 0, 0, 5);
}

static void test_time(void **state)
{
	static const double lengths[] = { 1e-3, 0.5, 1, 7, 59, 119, 120, 600, 3599, 86400, 1e6 };
	size_t i, n;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		for (n = 2; n < 20; n++) {
			struct watt_axis axis = watt_axis_time(1.5, 1.5 + lengths[i], n);
			size_t k;

			assert_true(axis.n <= n + 1);
			for (k = 0; k < axis.n; k++) {
				assert_true(watt_axis_tick(&axis, k) >=
					    axis.min - 1e-3 * lengths[i]);
				assert_true(watt_axis_tick(&axis, k) <=
					    axis.max + 1e-3 * lengths[i]);
			}
		}
}

static void test_time_labels(void **state)
{
	struct watt_axis axis = watt_axis_time(0, 60, 6);
	char label[WATT_AXIS_LABEL_SIZE];

	assert_string_equal(watt_axis_label(&axis, 1, label), "10");
	axis = watt_axis_time(0.00002, 59.99, 6);
	assert_string_equal(watt_axis_label(&axis, 0, label), "0");
	assert_string_equal(watt_axis_label(&axis, axis.n - 1, label), "60");
	axis = watt_axis_time(0, 600, 10);
	assert_string_equal(axis.unit, "min:s");
	assert_string_equal(watt_axis_label(&axis, 1, label), "1:00");
	axis = watt_axis_time(600, 600.5, 5);
	assert_string_equal(watt_axis_label(&axis, 1, label), "10:00.1");
	axis = watt_axis_time(0, 7200, 4);
	assert_string_equal(axis.unit, "h:min");
	assert_string_equal(watt_axis_label(&axis, 3, label), "1:30");
	axis = watt_axis_time(7200, 7260, 6);
	assert_string_equal(watt_axis_label(&axis, 1, label), "2:00:10");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_power_of_any_size),
		cmocka_unit_test(test_power_labels),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_time_labels),
	};

	return cmocka_run_group_tests_name("axis", tests, NULL, NULL);
}
