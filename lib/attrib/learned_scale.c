/* SPDX-License-Identifier: Apache-2.0 */
/*
 * By what scale the filter takes those for whom nobody knows: the mean of all, which follows when a
 * machine that did next to nothing gets to work. Built with -ffp-contract=off.
 */
#include "attrib/learned_state.h"

#include "base/util.h"

#define MEAN_FORGET 0.001 /* of the mean of all */
#define SCALE_LEAP 4      /* of the mean, that a slice counts for most in it */
#define SCALE_RISE 2      /* of the mean, by which what nobody knows is so anew */
#define DOUBT_RISE 2      /* of what was known of those who ran in a slice that nobody expected */
#define RISEN_WEIGHT 8    /* of newer slices, by which more is known, in what it is at first */
#define SURPRISE 4        /* squared sigmas of a slice that says who ran is another by now */
#define SETTLING 80       /* slices, in which what is known is soon wrong */
#define QUIET_FACTOR 1.5  /* by which few slices may have less of it by chance */

/* Whether the scale is so new that what is known may be by another one. */
static bool is_settling(const struct watt_learned *l)
{
	return l->habit.has_load && l->n_scaled < SETTLING;
}

bool watt_learned_is_risen(const struct watt_learned *l)
{
	return is_settling(l) && l->n_scaled < l->n_slices;
}

/* Variance of what is known least, by a mean of all. */
static double widest(const struct watt_learned *l, size_t i, double mean_w)
{
	const struct learner *one = &l->list[i];

	return one->is_common ? 0 : l->spread[one->is_process] * squared(mean_w);
}

/* What is known of one is less sure, by a factor of its variance, with all it is correlated to. */
static void widen(struct watt_learned *l, size_t i, double by)
{
	double factor = __builtin_sqrt(by);
	size_t j;

	for (j = 0; j < l->n; j++) {
		*cov_at(l, i, j) *= factor;
		*cov_at(l, j, i) *= factor;
	}
}

/*
 * Power is far above what it was: a machine that did next to nothing has got to work. What was
 * thought of those that nobody knew was by the old scale, and so is what slices leave unexplained.
 */
static void rescale(struct watt_learned *l, double energy_j)
{
	double mean = watt_learned_mean_w(l), rise = squared(mean / l->scale_w), most, unknown;
	size_t i;

	for (i = 0; i < l->n; i++) {
		double variance = *cov_at(l, i, i);

		most = widest(l, i, l->scale_w);
		if (!(variance > 0) || !(most > 0))
			continue;
		unknown = WATT_MIN(variance / most, 1.0);
		if (!l->list[i].is_process)
			l->list[i].watts += unknown * (mean - l->scale_w);
		most = WATT_MAX(rise * most / variance, 1.0);
		widen(l, i, WATT_MIN(1 + unknown * (rise - 1), most));
	}
	l->noise = WATT_MAX(l->noise, squared(energy_j * NOISE_BEGIN));
	l->n_scaled = 0;
	l->scale_w = mean;
}

void watt_learned_take_mean(struct watt_learned *l, double energy_j, double busy_s, double g)
{
	double mean = watt_learned_mean_w(l);
	double watts = WATT_MIN(energy_j / g / busy_s, SCALE_LEAP * mean);

	l->sum_w += squared(watts) * busy_s - MEAN_FORGET * l->sum_w;
	l->sum_weight += watts * busy_s - MEAN_FORGET * l->sum_weight;
	l->n_scaled++;
	mean = watt_learned_mean_w(l);
	if (mean > SCALE_RISE * l->scale_w)
		rescale(l, energy_j);
	l->scale_w = WATT_MIN(l->scale_w, mean);
}

void watt_learned_take_mean_expected(struct watt_learned *l, double expected_j, double busy_s)
{
	l->sum_w += expected_j - MEAN_FORGET * l->sum_w;
	l->sum_weight += busy_s - MEAN_FORGET * l->sum_weight;
	l->n_scaled++;
}

void watt_learned_doubt_active(struct watt_learned *l)
{
	double mean = watt_learned_mean_w(l);
	size_t i;

	for (i = 0; i < l->n_active && is_settling(l); i++) {
		size_t at = l->active[i];
		double variance = *cov_at(l, at, at), most = widest(l, at, mean);

		if (variance > 0 && variance < most)
			widen(l, at, WATT_MIN(squared(DOUBT_RISE), most / variance));
	}
}

/* By how much less is known of one than could be. */
static double get_room(const struct watt_learned *l, size_t at, double mean_w)
{
	return WATT_MAX(widest(l, at, mean_w) - *cov_at(l, at, at), 0.0);
}

bool watt_learned_doubt_risen(struct watt_learned *l, double error_j, double variance)
{
	double mean = watt_learned_mean_w(l), lacks = squared(error_j) - variance, room = 0;
	size_t i;

	if (!watt_learned_is_risen(l) || squared(error_j) < SURPRISE * variance)
		return false;
	for (i = 0; i < l->n_active; i++)
		room += squared(l->h[l->active[i]]) * get_room(l, l->active[i], mean);
	if (!(room > 0))
		return false;
	lacks = WATT_MIN(lacks / room, 1.0);
	for (i = 0; i < l->n_active; i++) {
		size_t at = l->active[i];

		*cov_at(l, at, at) += lacks * get_room(l, at, mean);
	}
	return true;
}

void watt_learned_note_quiet(struct watt_learned *l, double error_j)
{
	struct quiet *quiet = &l->quiet;

	quiet->squares_j2 += squared(error_j);
	if (++quiet->n < QUIET_SLICES)
		return;
	if (is_settling(l))
		l->noise = WATT_MIN(l->noise, QUIET_FACTOR * quiet->squares_j2 / QUIET_SLICES);
	*quiet = (struct quiet){ 0 };
}

double watt_learned_begin_rate(const struct watt_learned *l)
{
	double first = watt_learned_is_risen(l) ? RISEN_WEIGHT : 1;

	return first / ((double)l->n_scaled + first);
}
