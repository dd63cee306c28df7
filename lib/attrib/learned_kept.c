/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept of a learner: its programs for a profile, and all of it as it is, for a recording that
 * goes on in another file. It must not compute anything that the filter goes by.
 */
#include "attrib/learned_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "base/words.h"

_Static_assert(BINS + 1 == WATT_PROFILE_CURVE, "a profile has the whole curve");

/* What is loaded has to lie within; live values do by far. */
#define MOST 1e12
#define LEAST 1e-18
#define MOST_COUNT (1ULL << 62)

void watt_learned_set_prior(struct watt_learned *l, const struct watt_profile_part *prior)
{
	l->prior = prior && prior->domain.mean_w > 0 ? prior : NULL;
}

void watt_learned_forget_names(struct watt_learned *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		free(l->list[i].name);
		free(l->list[i].cgroup);
		l->list[i].name = l->list[i].cgroup = NULL;
	}
}

static int tell_learner(const struct watt_learned *l, size_t i, struct watt_profile_part *ret)
{
	const struct learner *one = &l->list[i];
	double mean_w = watt_learned_mean_w(l);
	double power_w = WATT_MAX(one->watts, FLOOR * mean_w);
	double variance = WATT_MAX(watt_learned_scale(l) * *cov_at(l, i, i), 0.0);
	struct watt_profile_program program = {
		.name = one->name,
		.cgroup = one->is_executable ? NULL : one->cgroup,
		.is_executable = one->is_executable,
		.power_w = power_w,
		.uncertainty_w = __builtin_sqrt(variance),
		.cpu_s = one->cpu_s,
		.n_slices = one->n_slices,
	};

	/* nobody knows less than a stranger would */
	program.uncertainty_w = WATT_MIN(program.uncertainty_w, l->habit.prior_error * mean_w);
	return one->is_process || !one->name ? 0 : watt_profile_add_program(ret, &program);
}

int watt_learned_tell(const struct watt_learned *l, struct watt_profile_part *ret)
{
	size_t i;
	int r = 0;

	ret->domain.mean_w = watt_learned_mean_w(l);
	ret->domain.spread_w = __builtin_sqrt(watt_learned_prior(l)) * ret->domain.mean_w;
	ret->domain.n_slices = l->n_slices;
	for (i = 0; i <= BINS; i++)
		ret->domain.curve_ratio[i] = l->n ? l->curve[i] : 1;
	for (i = 1; i < l->n && r == 0; i++)
		r = tell_learner(l, i, ret);
	if (!l->n && l->prior) {
		ret->domain.mean_w = l->prior->domain.mean_w;
		ret->domain.spread_w = l->prior->domain.spread_w;
		memcpy(ret->domain.curve_ratio, l->prior->domain.curve_ratio,
		       sizeof(ret->domain.curve_ratio));
	}
	if (l->prior)
		ret->domain.n_slices += l->prior->domain.n_slices;
	for (i = 0; l->prior && i < l->prior->n && r == 0; i++) {
		const struct watt_profile_program *known = &l->prior->programs[i];

		if (!watt_profile_find_program(ret, known->name, known->cgroup,
					       known->is_executable))
			r = watt_profile_add_program(ret, known);
	}
	watt_profile_sort(ret);
	return r;
}

static void visit_learner(struct learner *one, struct watt_words *words)
{
	size_t i;

	watt_words_u64(words, &one->key, UINT64_MAX);
	watt_words_u64(words, &one->process, UINT64_MAX);
	watt_words_bool(words, &one->has_many);
	watt_words_bool(words, &one->is_process);
	watt_words_bool(words, &one->is_common);
	watt_words_bool(words, &one->is_informed);
	watt_words_bool(words, &one->is_executable);
	for (i = 0; i < WATT_N_FEATURES; i++)
		watt_words_double(words, &one->features[i], -MOST, MOST);
	watt_words_double(words, &one->watts, -MOST, MOST);
	watt_words_double(words, &one->recent_j, -MOST, MOST);
	watt_words_double(words, &one->cpu_s, 0, MOST);
	watt_words_u64(words, &one->newest_slice, UINT64_MAX);
	watt_words_u64(words, &one->n_slices, MOST_COUNT);
	watt_words_text(words, &one->name);
	watt_words_text(words, &one->cgroup);
}

static void visit_figures(struct watt_learned *l, struct watt_words *words)
{
	double unused[2] = { 0 };
	size_t i;

	for (i = 0; i <= BINS; i++)
		watt_words_double(words, &l->curve[i], 1e-6, 1e6);
	watt_words_double(words, &l->noise, 0, MOST);
	watt_words_double(words, &l->sum_w, LEAST, MOST);
	watt_words_double(words, &l->sum_weight, LEAST, MOST);
	watt_words_double(words, &l->scale_w, LEAST, MOST);
	watt_words_u64(words, &l->n_scaled, MOST_COUNT);
	watt_words_double(words, &l->told, 0, 1);
	watt_words_double(words, &l->error, 0, MOST);
	watt_words_double(words, &l->told_weight, 0, 1);
	watt_words_double(words, &l->apart, 0, MOST);
	watt_words_double(words, &l->unsure, 0, MOST);
	watt_words_double(words, &l->spread[0], squared(SPREAD_MIN), MOST);
	watt_words_double(words, &l->spread[1], squared(SPREAD_MIN), MOST);
	watt_words_double(words, &l->left, squared(SPREAD_MIN), MOST);
	for (i = 0; i < WATT_N_FEATURES; i++)
		watt_words_size(words, &l->features[i], l->n - 1);
	watt_words_size(words, &l->discount, l->n - 1);
	/* two figures that are no longer needed */
	watt_words_double(words, &unused[0], -MOST, MOST);
	watt_words_double(words, &unused[1], 0, MOST);
	watt_words_u32(words, &l->run.n, RUN_SLICES - 1);
	watt_words_double(words, &l->quiet.squares_j2, 0, MOST);
	watt_words_u32(words, &l->quiet.n, QUIET_SLICES - 1);
	watt_words_double(words, &l->scale, 0, MOST);
	watt_words_u64(words, &l->n_slices, MOST_COUNT);
}

/* Not as half of it: rounding makes the two halves differ in the last bit. */
static void visit_covariance(struct watt_learned *l, struct watt_words *words)
{
	size_t i, j;

	for (i = 0; i < l->n; i++)
		for (j = 0; j < l->n; j++)
			watt_words_double(words, cov_at(l, i, j), i == j ? 0 : -MOST, MOST);
}

static void visit_candidates(struct watt_learned *l, struct watt_words *words)
{
	size_t i, at = 0, n = 0;

	for (i = 0; i < CANDIDATES && !words->is_loading; i++)
		n += l->candidates[i].n_slices > 0;
	watt_words_size(words, &n, CANDIDATES);
	for (i = 0; i < n && !words->error; i++, at++) {
		struct candidate *one;

		while (!words->is_loading && !l->candidates[at].n_slices)
			at++;
		watt_words_size(words, &at, CANDIDATES - 1);
		one = &l->candidates[at];
		watt_words_u64(words, &l->counted[at], UINT64_MAX);
		watt_words_u64(words, &one->newest_slice, MOST_COUNT);
		watt_words_u32(words, &one->n_slices, UINT32_MAX);
		watt_words_double(words, &one->own_s, 0, MOST);
		watt_words_double(words, &one->program_s, 0, MOST);
		watt_words_double(words, &one->info, 0, MOST);
		watt_words_double(words, &one->score, -MOST, MOST);
	}
}

/* Nothing is known any more, but for the prior. */
static void forget(struct watt_learned *l)
{
	const struct watt_profile_part *prior = l->prior;
	const struct habit habit = l->habit;

	watt_learned_forget_names(l);
	free(l->cov);
	*l = (struct watt_learned){ .prior = prior, .habit = habit, .n_maps = l->n_maps };
}

static void load_begin(struct watt_learned *l, struct watt_words *words)
{
	l->cov = calloc((size_t)WATT_LEARNED_MAX * WATT_LEARNED_MAX, sizeof(*l->cov));
	if (!l->cov)
		words->error = -ENOMEM;
}

static void load_end(struct watt_learned *l, struct watt_words *words)
{
	double mean_w = watt_learned_mean_w(l);
	size_t i;

	if (!(mean_w >= 1e-9 && mean_w <= WATT_PROFILE_WATTS_MAX))
		words->error = -EBADMSG;
	for (i = 0; i < l->n; i++)
		l->n_deviations += l->list[i].is_process;
	watt_learned_map(l);
}

int watt_learned_visit(struct watt_learned *l, struct watt_words *words)
{
	size_t n = l->n, i;

	if (words->is_loading)
		forget(l);
	watt_words_size(words, &n, WATT_LEARNED_MAX);
	if (words->error || !n)
		return words->error;
	if (words->is_loading)
		load_begin(l, words);
	l->n = words->error ? 0 : n;
	if (l->n)
		visit_figures(l, words);
	for (i = 0; i < l->n && !words->error; i++)
		visit_learner(&l->list[i], words);
	visit_covariance(l, words);
	visit_candidates(l, words);
	if (words->is_loading && !words->error)
		load_end(l, words);
	if (words->is_loading && words->error)
		forget(l);
	return words->error;
}

int watt_learned_visit_check(struct watt_learned *l, struct watt_words *words)
{
	struct check *check = &l->check;
	size_t i;

	watt_words_double(words, &check->squares_j2, 0, MOST);
	watt_words_double(words, &check->expected_j2, 0, MOST);
	watt_words_double(words, &check->explained_j2, 0, MOST);
	watt_words_double(words, &check->energy_j, -MOST, MOST);
	watt_words_double(words, &check->level_j, -MOST, MOST);
	watt_words_double(words, &check->level_j2, 0, MOST);
	watt_words_double(words, &check->open_j2s, 0, MOST);
	watt_words_double(words, &check->open_energy_j, -MOST, MOST);
	watt_words_bool(words, &check->is_open);
	for (i = 0; i < l->n; i++) {
		watt_words_double(words, &l->run.moved_w[i], -MOST, MOST);
		watt_words_double(words, &l->run.expected_w2[i], 0, MOST);
	}
	return words->error;
}
