/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readings are normal around what the parts took: their covariance is that of the rest, of the
 * factors, which nobody knows either, and of the steps in which the meter counts.
 */
#include "slow_bound.h"

#include <math.h>
#include <stdbool.h>

#include "base/util.h"

/* The rest of the machine: fans of 8 W up and down, and disks of 12 W, a third of the time. */
#define REST_W2 64.0
#define REST_S 9.0
#define REST_MEAN_W 90.0
#define REST_MEAN_SD_W 30.0
/* What is known of a factor before. */
#define FACTOR_MEAN 1.1
#define FACTOR_SD 0.15
#define AGE_STEP_S 0.025
#define N_AGES 400
#define MAX_DELAY_S 8.6
/* To both sides, for a derivative. */
#define NEAR_S 0.05
/* Less than this tells nothing: rounding. */
#define MIN_CHANGE_W 1e-3

static const double windows_s[] = { 0.1, 0.5, 1, 2, 4 };
#define N_WINDOWS WATT_ARRAY_SIZE(windows_s)

struct normal {
	double l[SLOW_BOUND_MAX][SLOW_BOUND_MAX]; /* Cholesky's */
	double log_size;
	size_t n;
};

static double get_part_w(const struct slow_seen *seen, size_t i, size_t part, double age_s,
			 double window_s)
{
	return seen->get_w(seen->machine, part, seen->t_s[i] - age_s + window_s / 2, window_s);
}

static double covariance(const struct slow_seen *seen, double h[][SLOW_BOUND_PARTS], size_t i,
			 size_t j)
{
	double sum = REST_W2 * exp(-fabs(seen->t_s[i] - seen->t_s[j]) / REST_S) +
		     REST_MEAN_SD_W * REST_MEAN_SD_W;
	size_t p;

	if (i == j)
		sum += seen->quantum_w * seen->quantum_w / 12;
	for (p = 0; p < SLOW_BOUND_PARTS; p++)
		sum += FACTOR_SD * FACTOR_SD * h[i][p] * h[j][p];
	return sum;
}

static void make_normal(const struct slow_seen *seen, double age_s, double window_s,
			struct normal *ret)
{
	double h[SLOW_BOUND_MAX][SLOW_BOUND_PARTS];
	size_t i, j, k, p;

	ret->n = seen->n;
	ret->log_size = 0;
	for (i = 0; i < seen->n; i++)
		for (p = 0; p < SLOW_BOUND_PARTS; p++)
			h[i][p] = get_part_w(seen, i, p, age_s, window_s);
	for (i = 0; i < seen->n; i++)
		for (j = 0; j <= i; j++) {
			double sum = covariance(seen, h, i, j);

			for (k = 0; k < j; k++)
				sum -= ret->l[i][k] * ret->l[j][k];
			ret->l[i][j] = i == j ? sqrt(sum) : sum / ret->l[j][j];
			if (i == j)
				ret->log_size += log(sum);
		}
}

/* x' C^-1 x */
static double get_square(const struct normal *normal, const double *x)
{
	double z[SLOW_BOUND_MAX], sum = 0;
	size_t i, k;

	for (i = 0; i < normal->n; i++) {
		z[i] = x[i];
		for (k = 0; k < i; k++)
			z[i] -= normal->l[i][k] * z[k];
		z[i] /= normal->l[i][i];
		sum += z[i] * z[i];
	}
	return sum;
}

/* Factors, rest and noise as they are, the age alone is sought, and near the truth. */
static double find_least_ms(const struct slow_seen *seen)
{
	static struct normal normal;
	double slope[SLOW_BOUND_MAX] = { 0 };
	bool is_told = false;
	size_t i, p;

	make_normal(seen, seen->age_s, seen->window_s, &normal);
	for (i = 0; i < seen->n; i++) {
		for (p = 0; p < SLOW_BOUND_PARTS; p++)
			slope[i] += seen->factors[p] *
				    (get_part_w(seen, i, p, seen->age_s - NEAR_S, seen->window_s) -
				     get_part_w(seen, i, p, seen->age_s + NEAR_S, seen->window_s)) /
				    (2 * NEAR_S);
		is_told |= fabs(slope[i]) > MIN_CHANGE_W;
	}
	return is_told ? 1000 / sqrt(get_square(&normal, slope)) : INFINITY;
}

static double get_log_likelihood(const struct slow_seen *seen, double age_s, double window_s)
{
	static struct normal normal;
	double off[SLOW_BOUND_MAX];
	size_t i, p;

	make_normal(seen, age_s, window_s, &normal);
	for (i = 0; i < seen->n; i++) {
		off[i] = seen->power_w[i] - REST_MEAN_W;
		for (p = 0; p < SLOW_BOUND_PARTS; p++)
			off[i] -= FACTOR_MEAN * get_part_w(seen, i, p, age_s, window_s);
	}
	return -(get_square(&normal, off) + normal.log_size) / 2;
}

struct slow_bound slow_bound_find(const struct slow_seen *seen)
{
	static double logs[N_AGES][N_WINDOWS];
	double best = -INFINITY, sum = 0, sum_s = 0, sum_s2 = 0, mean_s;
	size_t a, w;

	for (a = 0; a < N_AGES; a++)
		for (w = 0; w < N_WINDOWS; w++) {
			double age_s = (double)a * AGE_STEP_S, delay_s = age_s - windows_s[w] / 2;

			logs[a][w] = delay_s < 0 || delay_s > MAX_DELAY_S ?
					     -INFINITY :
					     get_log_likelihood(seen, age_s, windows_s[w]);
			best = fmax(best, logs[a][w]);
		}
	for (a = 0; a < N_AGES; a++)
		for (w = 0; w < N_WINDOWS; w++) {
			double weight = exp(logs[a][w] - best), age_s = (double)a * AGE_STEP_S;

			sum += weight;
			sum_s += weight * age_s;
			sum_s2 += weight * age_s * age_s;
		}
	mean_s = sum_s / sum;
	return (struct slow_bound){ find_least_ms(seen), (mean_s - seen->age_s) * 1000,
				    1000 * sqrt(fmax(sum_s2 / sum - mean_s * mean_s, 0)) };
}
