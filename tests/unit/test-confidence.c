/* SPDX-License-Identifier: Apache-2.0 */
/* lib/view/confidence.c against series whose mean is known: the interval has to hold it as often as it
 * says, though the values depend on each other. */
#include "unit.h"

#include <math.h>

#include "view/confidence.h"

#define N 600
#define ROUNDS 500

static uint64_t seed;

/* In (0, 1). */
static double uniform(void)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* A process of first order around `mean`, in its steady state from the first value on. */
static void draw(double *values, size_t n, double mean, double phi)
{
	double x = normal() / sqrt(1 - phi * phi);
	size_t i;

	for (i = 0; i < n; i++) {
		values[i] = mean + x;
		x = phi * x + normal();
	}
}

static void fill(double *weights, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		weights[i] = 1e9;
}

struct cover {
	double ratio; /* of the intervals that there are */
	double none;  /* ratio of those that there are not */
};

static struct cover cover_of(size_t n, double phi)
{
	double values[N], weights[N];
	size_t round, held = 0, given = 0;

	fill(weights, n);
	for (round = 0; round < ROUNDS; round++) {
		struct watt_confidence e;

		draw(values, n, 20, phi);
		e = watt_confidence_mean(values, weights, n);
		if (isnan(e.ci95))
			continue;
		given++;
		held += fabs(e.mean - 20) <= e.ci95;
	}
	return (struct cover){ .ratio = given ? (double)held / (double)given : NAN,
			       .none = 1 - (double)given / ROUNDS };
}

/* 500 rounds of 95 % lie between 93 and 97 by chance alone; too wide is no harm. */
static void test_interval_holds_the_mean(void **state)
{
	static const double phis[] = { 0, 0.3, 0.6, 0.8, 0.9 };
	size_t i;

	seed = 1;
	for (i = 0; i < sizeof(phis) / sizeof(phis[0]); i++) {
		struct cover c = cover_of(N, phis[i]);

		print_message("correlation %.2f: %.1f %% held, %.1f %% without an interval\n",
			      phis[i], c.ratio * 100, c.none * 100);
		assert_true(c.ratio > 0.925 && c.ratio < 0.995);
		assert_true(c.none < 0.2);
	}
	assert_true(cover_of(100, 0.3).ratio > 0.925);
}

/* Where values depend on each other for as long as the measurement, none is given. */
static void test_too_little_is_said(void **state)
{
	double values[N], weights[N];
	struct watt_confidence e;

	seed = 2;
	assert_true(cover_of(100, 0.98).none > 0.9);
	assert_true(cover_of(20, 0.9).none > 0.9);
	fill(weights, N);
	draw(values, N, 20, 0);
	e = watt_confidence_mean(values, weights, 15);
	assert_true(isfinite(e.mean) && isnan(e.ci95));
	assert_int_equal(e.n_batches, 0);
	e = watt_confidence_mean(values, weights, 0);
	assert_true(isnan(e.mean) && isnan(e.ci95));
}

static void test_known_values(void **state)
{
	double values[64], weights[64];
	struct watt_confidence e;
	size_t i;

	/* The same everywhere: it is known without any doubt. */
	for (i = 0; i < 64; i++)
		values[i] = 3;
	fill(weights, 64);
	e = watt_confidence_mean(values, weights, 64);
	assert_true(e.mean == 3 && e.ci95 == 0);
	/* Each by its duration. */
	for (i = 0; i < 64; i++) {
		values[i] = i % 2 ? 1 : 4;
		weights[i] = i % 2 ? 2 : 1;
	}
	e = watt_confidence_mean(values, weights, 64);
	assert_true(fabs(e.mean - 2) < 1e-12);
	/* Independent values of 64: t of 63 degrees times sd / 8. */
	seed = 5;
	draw(values, 64, 0, 0);
	fill(weights, 64);
	e = watt_confidence_mean(values, weights, 64);
	assert_true(e.ci95 > 0.18 && e.ci95 < 0.35);
}

/* A difference that is none is called significant about once in 20 times; a real one is found. */
static void test_differences(void **state)
{
	double a[N], b[N], weights[N];
	size_t round, wrong = 0, found = 0, held = 0, given = 0;

	seed = 3;
	fill(weights, N);
	for (round = 0; round < ROUNDS; round++) {
		struct watt_confidence from, to;
		struct watt_confidence_difference d;

		draw(a, N, 20, 0.7);
		draw(b, N / 2, 20, 0.5);
		from = watt_confidence_mean(a, weights, N);
		to = watt_confidence_mean(b, weights, N / 2);
		d = watt_confidence_compare(&from, &to);
		if (!d.is_known)
			continue;
		given++;
		wrong += d.is_significant;
		held += fabs(d.delta) <= d.ci95;
		to.mean += 1;
		found += watt_confidence_compare(&from, &to).is_significant;
	}
	print_message("%zu of %zu differences that are none are called significant\n", wrong,
		      given);
	assert_true(given > ROUNDS * 8 / 10);
	assert_int_equal(wrong + held, given);
	assert_true((double)wrong / (double)given < 0.075);
	assert_true((double)found / (double)given > 0.95);
}

static void test_difference_of_nothing(void **state)
{
	struct watt_confidence none = watt_confidence_mean(NULL, NULL, 0);
	struct watt_confidence four = { .mean = 4, .se = 0.1, .df = 20 };
	struct watt_confidence zero = { .mean = 0, .se = 0.1, .df = 20 };
	struct watt_confidence five = { .mean = 5, .se = 0.1, .df = 20 };
	struct watt_confidence_difference d;

	d = watt_confidence_compare(&none, &four);
	assert_true(isnan(d.delta) && isnan(d.ratio) && !d.is_known && !d.is_significant);
	d = watt_confidence_compare(&zero, &four);
	assert_true(d.delta == 4 && isnan(d.ratio) && d.is_known && d.is_significant);
	d = watt_confidence_compare(&four, &five);
	assert_true(fabs(d.ratio - 0.25) < 1e-12);
	/* sqrt(0.02) times t of 40 degrees */
	assert_true(fabs(d.ci95 - 0.14142 * 2.0211) < 1e-3);
	assert_true(fabs(d.ratio_ci95 - d.ci95 / 4) < 1e-12);
	four.se = 0;
	d = watt_confidence_compare(&four, &four);
	assert_true(d.is_known && !d.is_significant && d.ci95 == 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interval_holds_the_mean),
		cmocka_unit_test(test_too_little_is_said),
		cmocka_unit_test(test_known_values),
		cmocka_unit_test(test_differences),
		cmocka_unit_test(test_difference_of_nothing),
	};

	return cmocka_run_group_tests_name("confidence", tests, NULL, NULL);
}
