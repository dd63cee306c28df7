/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the slices themselves say of how sure rows are: whether errors even out or last, whether
 * they are larger than was expected, and what readings that are far apart leave open. None of this
 * moves any watts. Built with -ffp-contract=off.
 */
#include "attrib/learned_state.h"

#include <string.h>

#include "base/util.h"

#define RUN_FORGET 0.05   /* of how far runs move watts, a run */
#define RUN_BEGIN 1.8     /* of it: before they say so, nothing is surer than the filter has it */
#define RUN_MOST 20       /* of it, that a run may say */
#define RUN_PART 0.4      /* of it: noise is taken for more than it is, so that watts move less */
#define OPEN_MOST_S 1.0   /* rows are told by the second */
#define OPEN_SCALE 0.8    /* at least, where slices can't say */
#define FRESH_FORGET 0.06 /* of what slices of the last second say */
#define SURPRISE 1.5      /* squared errors, by those expected, that say that watts have jumped */
#define SURPRISE_MOST 50
#define LEVEL_FORGET 0.01
#define LEVEL_PART 0.2 /* of an error goes into the watts of all, as a mean of slices */

/* Squared moves of all watts, by what they should be when errors are independent. */
static void end_run(struct watt_learned *l)
{
	double sum = 0;
	size_t n = 0, i;

	for (i = 0; i < l->n; i++) {
		if (l->list[i].is_common || !(l->run.expected_w2[i] > 0))
			continue;
		sum += squared(l->run.moved_w[i]) / l->run.expected_w2[i];
		n++;
	}
	if (n)
		l->scale += RUN_FORGET * (WATT_MIN(sum / (double)n, RUN_MOST) - l->scale);
	memset(&l->run, 0, sizeof(l->run));
}

static void follow(double *mean, double rate, double to)
{
	*mean += rate * (to - *mean);
}

void watt_learned_note_check(struct watt_learned *l, const struct watt_learned_slice *slice,
			     double error_j, double explained_j2, double expected_j2)
{
	struct check *check = &l->check;

	if (++l->run.n == RUN_SLICES)
		end_run(l);
	check->is_open = slice->is_joint;
	if (slice->is_joint)
		return;
	follow(&check->squares_j2, FRESH_FORGET, squared(error_j));
	follow(&check->explained_j2, FRESH_FORGET, explained_j2);
	follow(&check->expected_j2, FRESH_FORGET, expected_j2);
	follow(&check->energy_j, FRESH_FORGET, slice->energy_j);
	follow(&check->level_j, LEVEL_FORGET, error_j);
	follow(&check->level_j2, LEVEL_FORGET, squared(check->level_j));
}

void watt_learned_note_open(struct watt_learned *l, struct watt_learned_slice *slice,
			    double lasts_s)
{
	double expected_j = watt_learned_predict(l, slice);
	struct check *check = &l->check;

	if (!(expected_j > 0))
		return;
	lasts_s = WATT_MAX(slice->dt_s, WATT_MIN(lasts_s, OPEN_MOST_S));
	follow(&check->open_j2s, FRESH_FORGET, squared(slice->energy_j - expected_j) * lasts_s);
	follow(&check->open_energy_j, FRESH_FORGET, slice->energy_j);
}

void watt_learned_forget_check(struct watt_learned *l)
{
	memset(&l->run, 0, sizeof(l->run));
	memset(&l->check, 0, sizeof(l->check));
	l->scale = RUN_BEGIN;
}

void watt_learned_forget_run(struct watt_learned *l, size_t i)
{
	l->run.moved_w[i] = l->run.expected_w2[i] = 0;
}

/* What slices have too much of, watts have to explain. */
static double surprise(const struct check *check)
{
	double lacks = check->squares_j2 - SURPRISE * check->expected_j2;

	if (!(lacks > 0) || !(check->explained_j2 > 0))
		return 1;
	return WATT_MIN(1 + lacks / check->explained_j2, SURPRISE_MOST);
}

double watt_learned_scale(const struct watt_learned *l)
{
	double scale = RUN_PART * l->scale * surprise(&l->check);

	return l->check.is_open ? WATT_MAX(scale, OPEN_SCALE) : scale;
}

double watt_learned_level(const struct watt_learned *l)
{
	const struct check *check = &l->check;
	double slices = LEVEL_PART / LEVEL_FORGET;

	return check->energy_j > 0 && !check->is_open ?
		       squared(slices) * check->level_j2 / squared(check->energy_j) :
		       0;
}

double watt_learned_open(const struct watt_learned *l)
{
	const struct check *check = &l->check;

	return check->open_energy_j > 0 && check->is_open ?
		       check->open_j2s / squared(check->open_energy_j) :
		       0;
}
