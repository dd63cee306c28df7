/* SPDX-License-Identifier: Apache-2.0 */
/* lib/view/tally.c */
#include "unit.h"

#include <math.h>

#include <wattribute/tally.h>
#include <wattribute/units.h>

#define PARTS_MOST 40

/* All of a tally with its whole in front: "110 = 94 + 16 + 0". */
static void assert_shows(const double *parts, size_t n, int digits, const char *expected)
{
	struct watt_tally *tally = NULL;
	char text[256], buf[WATT_UNITS_SIZE];
	size_t i, used;

	assert_int_equal(watt_tally_new(parts, n, digits, 6, &tally), 0);
	used = (size_t)snprintf(text, sizeof(text), "%.*f", watt_tally_get_decimals(tally),
				watt_tally_get_whole(tally));
	for (i = 0; i < n; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, " %s %s", i ? "+" : "=",
					 watt_tally_text(tally, i, buf));
	assert_string_equal(text, expected);
	assert_null(watt_tally_free(tally));
}

/* "110 = 93 + 16 + 0" is what rounding each by itself makes of the first. */
static void test_adds_up(void **state)
{
	static const double joules[] = { 93.4, 15.9, 0.4 }, thirds[] = { 1 / 3., 1 / 3., 1 / 3. };
	static const double some[] = { 9, 1.5, -0.5, 0 }, small[] = { 0.00123, 0.00077 };

	assert_shows(joules, 3, 3, "110 = 94 + 16 + <1");
	assert_shows(thirds, 3, 3, "1.00 = 0.34 + 0.33 + 0.33");
	assert_shows(some, 4, 3, "10.0 = 9.0 + 1.5 + -0.5 + 0.0");
	assert_shows(small, 2, 2, "0.0020 = 0.0012 + 0.0008");
	assert_shows(joules, 0, 3, "0");
}

static void test_what_is_not_known_is_no_part(void **state)
{
	static const double parts[] = { NAN, 2.25, 1.5, INFINITY }, none[] = { NAN };
	struct watt_tally *tally = NULL;

	assert_shows(parts, 4, 2, "3.8 = - + 2.3 + 1.5 + -");
	assert_shows(none, 1, 2, "0 = -");
	assert_int_equal(watt_tally_new(parts, 4, 2, 6, &tally), 0);
	assert_true(isnan(watt_tally_get_part(tally, 0)));
	assert_true(isnan(watt_tally_get_part(tally, 4)));
	assert_false(watt_tally_is_below(tally, 0));
	watt_tally_free(tally);
}

static double draw(uint32_t *random)
{
	*random = *random * 1664525 + 1013904223;
	return (*random >> 8) / 16777216.0;
}

/* In steps, since tenths are no binary numbers. Returns the sum of what is shown. */
static double assert_close(const struct watt_tally *tally, const double *parts, size_t n)
{
	double scale = pow(10, watt_tally_get_decimals(tally)), sum = 0;
	char buf[WATT_UNITS_SIZE];
	size_t i;

	for (i = 0; i < n; i++) {
		double shown = watt_tally_get_part(tally, i);

		sum += round(shown * scale);
		assert_true(fabs(shown - parts[i]) * scale < 1 + 1e-6);
		watt_tally_text(tally, i, buf);
		if (watt_tally_is_below(tally, i))
			assert_true(buf[0] == '<' && shown == 0);
		else
			assert_true(fabs(strtod(buf, NULL) - shown) * scale < 1e-6);
	}
	return sum;
}

static size_t draw_parts(uint32_t *random, double *parts)
{
	size_t n = 1 + (size_t)(draw(random) * (PARTS_MOST - 1)), i;
	double spread = draw(random) * 12, size = pow(10, draw(random) * 8 - 4);

	/* Many are nothing, some exact, and a battery that charges is less than nothing. */
	for (i = 0; i < n; i++)
		parts[i] = draw(random) < 0.2 ? 0 :
			   draw(random) < 0.1 ? round(draw(random) * 9) :
						size * exp(-spread * draw(random)) *
							(draw(random) < 0.05 ? -1 : 1);
	return n;
}

/* Whatever the numbers: what is shown adds up, and no part is off by a step. */
static void test_any_column_adds_up(void **state)
{
	uint32_t random = 5;
	int i;

	for (i = 0; i < 3000; i++) {
		double parts[PARTS_MOST], inner[3], scale, whole;
		struct watt_tally *tally = NULL, *within = NULL;
		size_t n = draw_parts(&random, parts), k;
		int decimals;

		assert_int_equal(watt_tally_new(parts, n, 2 + i % 4, 3 + i % 4, &tally), 0);
		decimals = watt_tally_get_decimals(tally);
		scale = pow(10, decimals);
		whole = round(watt_tally_get_whole(tally) * scale);
		assert_true(assert_close(tally, parts, n) == whole);
		/* What a part is made of adds up to the part, though that was rounded before. */
		for (k = 0; k < 3; k++)
			inner[k] = parts[0] * (k == 0 ? 0.5 : 0.25);
		assert_int_equal(watt_tally_new_within(inner, 3, watt_tally_get_part(tally, 0),
						       decimals, &within),
				 0);
		assert_true(assert_close(within, inner, 3) ==
			    round(watt_tally_get_part(tally, 0) * scale));
		watt_tally_free(within);
		watt_tally_free(tally);
	}
}

static void test_bad_input(void **state)
{
	struct watt_tally *tally = NULL;
	double part = 1;

	assert_int_equal(watt_tally_new(&part, 1, 0, 3, &tally), -EINVAL);
	assert_int_equal(watt_tally_new(&part, 1, 3, -1, &tally), -EINVAL);
	assert_int_equal(watt_tally_new(&part, 1, 3, 10, &tally), -EINVAL);
	assert_int_equal(watt_tally_new_within(&part, 1, NAN, 1, &tally), -EINVAL);
	assert_int_equal(watt_tally_new_within(&part, 1, 1, 10, &tally), -EINVAL);
	assert_null(tally);
	assert_null(watt_tally_free(NULL));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_adds_up),
		cmocka_unit_test(test_what_is_not_known_is_no_part),
		cmocka_unit_test(test_any_column_adds_up),
		cmocka_unit_test(test_bad_input),
	};

	return cmocka_run_group_tests_name("tally", tests, NULL, NULL);
}
