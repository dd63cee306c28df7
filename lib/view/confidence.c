/* SPDX-License-Identifier: Apache-2.0 */
/* Batch means with a guard, and Welch's interval for the difference of two of them. */
#include "view/confidence.h"

#include <math.h>

#include "view/statistics.h"

#define N_LEAST 16
#define EFFECTIVE_LEAST 12.0
#define BATCHES_LEAST 8
#define BATCHES_MOST 64

/* The quantile of a correlation by chance alone that is let pass: one in five. */
#define CHANCE 0.84

static double sum_of(const double *values, size_t first, size_t last)
{
	double sum = 0;

	for (; first < last; first++)
		sum += values[first];
	return sum;
}

static double mean_of(const double *values, const double *weights, size_t first, size_t last)
{
	double sum = 0, weight = 0;

	for (; first < last; first++) {
		sum += values[first] * weights[first];
		weight += weights[first];
	}
	return weight > 0 ? sum / weight : NAN;
}

/* Correlation of each value with the next one, and the mean square of their deviations. */
static double correlation(const double *values, size_t n, double mean, double *ret_square)
{
	double square = 0, product = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		square += (values[i] - mean) * (values[i] - mean);
		if (i)
			product += (values[i] - mean) * (values[i - 1] - mean);
	}
	*ret_square = square / (double)(n - 1);
	return square > 0 ? product / square : 0;
}

struct batches {
	size_t n;
	double variance; /* of the mean of all */
};

/* Joins values into n batches. Returns whether these are uncorrelated enough. */
static bool join(const double *values, const double *weights, size_t n_values, double mean,
		 struct batches *batches)
{
	double batch[BATCHES_MOST], whole = sum_of(weights, 0, n_values);
	double variance = 0, r, square;
	size_t n = batches->n, i;

	for (i = 0; i < n; i++) {
		size_t first = i * n_values / n, last = (i + 1) * n_values / n;
		double weight = sum_of(weights, first, last) / whole;

		batch[i] = mean_of(values, weights, first, last);
		variance += weight * weight * (batch[i] - mean) * (batch[i] - mean);
	}
	variance *= (double)n / (double)(n - 1);
	/* It comes out too small by about 1/n where there is none. */
	r = correlation(batch, n, mean, &square) + 1 / (double)n;
	batches->variance = r > 0 ? variance * (1 + r) / (1 - fmin(r, 0.9)) : variance;
	return r <= CHANCE / sqrt((double)n);
}

static bool find_batches(const double *values, const double *weights, size_t n, double mean,
			 struct batches *ret)
{
	ret->n = n < BATCHES_MOST ? n : BATCHES_MOST;
	while (!join(values, weights, n, mean, ret)) {
		if (ret->n == BATCHES_LEAST)
			return false;
		ret->n = ret->n * 2 / 3 > BATCHES_LEAST ? ret->n * 2 / 3 : BATCHES_LEAST;
	}
	return true;
}

struct watt_confidence watt_confidence_mean(const double *values, const double *weights, size_t n)
{
	struct watt_confidence ret = { .n = n, .mean = NAN, .se = NAN, .df = NAN, .ci95 = NAN };
	double phi, square, effective;
	struct batches batches;

	if (n == 0)
		return ret;
	ret.mean = mean_of(values, weights, 0, n);
	if (n < N_LEAST)
		return ret;
	phi = correlation(values, n, ret.mean, &square);
	phi = fmax(0, fmin(phi + (1 + 3 * phi) / (double)n, 0.999));
	effective = (double)n * (1 - phi) / (1 + phi);
	if (square > 0 && effective < EFFECTIVE_LEAST)
		return ret;
	if (!find_batches(values, weights, n, ret.mean, &batches))
		return ret;
	ret.n_batches = batches.n;
	ret.se = sqrt(fmax(batches.variance, square / effective));
	ret.df = fmin((double)batches.n, effective) - 1;
	ret.ci95 = ret.se * watt_statistics_t95((size_t)ret.df);
	return ret;
}

struct watt_confidence_difference watt_confidence_compare(const struct watt_confidence *from,
							  const struct watt_confidence *to)
{
	double a = from->se * from->se, b = to->se * to->se, df;
	struct watt_confidence_difference ret = {
		.delta = to->mean - from->mean, .ci95 = NAN, .ratio = NAN, .ratio_ci95 = NAN
	};

	if (isfinite(ret.delta) && from->mean != 0)
		ret.ratio = ret.delta / from->mean;
	if (!isfinite(a) || !isfinite(b))
		return ret;
	/* Welch and Satterthwaite; two series without any spread are known as they are. */
	df = a + b > 0 ? (a + b) * (a + b) / (a * a / from->df + b * b / to->df) : 1;
	ret.ci95 = a + b > 0 ? sqrt(a + b) * watt_statistics_t95((size_t)fmax(df, 1)) : 0;
	if (from->mean != 0)
		ret.ratio_ci95 = ret.ci95 / fabs(from->mean);
	ret.is_known = true;
	ret.is_significant = fabs(ret.delta) > ret.ci95;
	return ret;
}
