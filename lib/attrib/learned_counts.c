/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What counters at context switches tell the filter: a task beside a busy sibling takes less, by a
 * discount that is learned; and features of programs are what is expected of their watts. Built
 * with -ffp-contract=off.
 */
#include "attrib/learned_state.h"

#include <string.h>

#include "base/util.h"

#define FEATURE_ERROR 1.0 /* of what a unit of a feature is worth, in means, to begin with */
#define DISCOUNT 0.3      /* what is taken less beside a busy sibling, to begin with */
#define DISCOUNT_ERROR 0.2
#define DISCOUNT_MOST 0.9
#define NEVER_GOES (UINT64_MAX - 1) /* the newest slice of who is to stay */

/* Beside a busy sibling a task takes less. */
static double discount_of(const struct watt_learned *l)
{
	double discount = l->discount != OTHERS ? l->list[l->discount].watts : DISCOUNT;

	return WATT_MAX(0.0, WATT_MIN(discount, DISCOUNT_MOST));
}

double watt_learned_time(const struct watt_learned *l, const struct watt_learned_use *use)
{
	if (!(use->shared_s > 0))
		return use->cpu_s;
	return use->cpu_s - discount_of(l) * use->shared_s;
}

void watt_learned_take_discount(struct watt_learned *l, const struct watt_learned_slice *slice)
{
	double mean = watt_learned_mean_w(l), h = 0;
	size_t i;

	for (i = 0; i < slice->n_uses; i++)
		if (slice->uses[i].shared_s > 0)
			h -= slice->uses[i].shared_s * watt_learned_watts(l, &slice->uses[i], mean);
	if (h == 0 || l->discount == OTHERS)
		return;
	l->h[l->discount] = h;
	l->active[l->n_active++] = l->discount;
}

static bool is_any_shared(const struct watt_learned_slice *slice)
{
	size_t i = 0;

	while (i < slice->n_uses && !(slice->uses[i].shared_s > 0))
		i++;
	return i < slice->n_uses;
}

void watt_learned_make_discount(struct watt_learned *l, const struct watt_learned_slice *slice)
{
	struct learner one = { .key = watt_hash_u64(UINT64_MAX - WATT_N_FEATURES),
			       .is_common = true,
			       .newest_slice = NEVER_GOES,
			       .watts = DISCOUNT };

	if (l->discount == OTHERS && is_any_shared(slice))
		l->discount = watt_learner_add(l, &one, DISCOUNT_ERROR);
}

static bool add_features(struct watt_learned *l)
{
	bool has_all = true;
	size_t i;

	for (i = 0; i < WATT_N_FEATURES; i++) {
		struct learner one = { .key = watt_hash_u64(UINT64_MAX - i),
				       .is_common = true,
				       .newest_slice = NEVER_GOES };

		if (l->features[i] == OTHERS)
			l->features[i] =
				watt_learner_add(l, &one, FEATURE_ERROR * watt_learned_mean_w(l));
		has_all &= l->features[i] != OTHERS;
	}
	return has_all;
}

double watt_learned_expect(const struct watt_learned *l, const struct learner *one)
{
	double watts = 0;
	size_t i;

	for (i = 0; i < WATT_N_FEATURES && one->is_informed; i++)
		watts += one->features[i] * l->list[l->features[i]].watts;
	return watts;
}

bool watt_learned_is_curious(const struct watt_learned *l, uint64_t program)
{
	size_t i = watt_learner_find(l, program);

	return i != OTHERS && !l->list[i].is_informed;
}

/* A slice in which the program takes what is expected of it, as far as that can be relied on. */
void watt_learned_inform(struct watt_learned *l, uint64_t program, const double *features)
{
	double mean = watt_learned_mean_w(l), error_w, variance;
	size_t at = watt_learner_find(l, program), i;

	if (at == OTHERS || !add_features(l))
		return;
	at = watt_learner_find(l, program); /* it may have given its place to a feature */
	if (at == OTHERS)
		return;
	l->list[at].is_informed = true;
	memcpy(l->list[at].features, features, sizeof(l->list[at].features));
	error_w = mean + watt_learned_expect(l, &l->list[at]) - l->list[at].watts;
	memset(l->h, 0, sizeof(l->h));
	l->n_active = 0;
	l->h[at] = 1;
	l->active[l->n_active++] = at;
	for (i = 0; i < WATT_N_FEATURES; i++) {
		if (features[i] == 0)
			continue;
		l->h[l->features[i]] = -features[i];
		l->active[l->n_active++] = l->features[i];
	}
	variance = watt_learned_explain(l) + l->left * squared(mean);
	watt_learned_correct(l, error_w, variance);
}

double watt_learned_left(const struct watt_learned *l, size_t at)
{
	const struct learner *one = &l->list[at];
	double mean = watt_learned_mean_w(l);
	double sum = squared(one->watts - mean - watt_learned_expect(l, one)) + *cov_at(l, at, at);
	size_t i, j;

	for (i = 0; i < WATT_N_FEATURES; i++) {
		sum -= 2 * one->features[i] * *cov_at(l, at, l->features[i]);
		for (j = 0; j < WATT_N_FEATURES; j++)
			sum += one->features[i] * one->features[j] *
			       *cov_at(l, l->features[i], l->features[j]);
	}
	return sum;
}

size_t watt_learned_count_common(const struct watt_learned *l)
{
	size_t n = l->discount != OTHERS, i;

	for (i = 0; i < WATT_N_FEATURES; i++)
		n += l->features[i] != OTHERS;
	return n;
}
