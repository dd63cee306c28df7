/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of counters by program. Built with -ffp-contract=off: what comes of them divides energy, and
 * has to be the same on every machine.
 */
#include "attrib/features.h"

#include <errno.h>
#include <stdlib.h>

#include "attrib/key.h"
#include "base/util.h"
#include "base/words.h"

#define LEAST_S 0.1  /* of CPU time, until a program is known */
#define BEGIN_S 1.0  /* and until the mean of all is */
#define KEPT_S 60.0  /* sums of a program are halved, so that it may change */
#define ALL_S 1000.0 /* the same of all */

static const enum watt_activity_kind counted[WATT_N_COUNTED] = {
	[WATT_FEATURE_CYCLES] = WATT_ACTIVITY_CYCLES,
	[WATT_FEATURE_INSTRUCTIONS] = WATT_ACTIVITY_INSTRUCTIONS,
	[WATT_FEATURE_IRQ] = WATT_ACTIVITY_IRQ_TIME,
};

void watt_features_begin(struct watt_features *features)
{
	features->n_slices++;
}

static struct watt_feature_sums *find(struct watt_features *features, uint64_t program)
{
	size_t first = watt_hash_u64(program) % (WATT_FEATURE_PROGRAMS / WATT_FEATURE_WAYS) *
		       WATT_FEATURE_WAYS;
	size_t oldest = first, i;

	for (i = first; i < first + WATT_FEATURE_WAYS; i++) {
		if (features->list[i].program == program) {
			features->list[i].newest = features->n_slices;
			return &features->list[i].sums;
		}
		if (features->list[i].newest < features->list[oldest].newest)
			oldest = i;
	}
	features->list[oldest].program = program;
	features->list[oldest].newest = features->n_slices;
	features->list[oldest].sums = (struct watt_feature_sums){ 0 };
	return &features->list[oldest].sums;
}

static void add_time(struct watt_feature_sums *sums, size_t feature, double cpu_s, double most_s)
{
	sums->cpu_s[feature] += cpu_s;
	if (sums->cpu_s[feature] <= most_s)
		return;
	sums->cpu_s[feature] *= 0.5;
	sums->amount[feature] *= 0.5;
}

void watt_features_add_time(struct watt_features *features, uint64_t program, double cpu_s,
			    uint32_t kinds)
{
	struct watt_feature_sums *sums = find(features, program);
	size_t i;

	for (i = 0; i < WATT_N_COUNTED; i++) {
		if (!(kinds & WATT_KEY_BIT(counted[i])))
			continue;
		add_time(sums, i, cpu_s, KEPT_S);
		add_time(&features->all, i, cpu_s, ALL_S);
	}
}

void watt_features_add(struct watt_features *features, uint64_t program,
		       enum watt_activity_kind kind, double amount)
{
	size_t feature = 0;

	while (feature < WATT_N_COUNTED && counted[feature] != kind)
		feature++;
	if (feature == WATT_N_COUNTED)
		return;
	find(features, program)->amount[feature] += amount;
	features->all.amount[feature] += amount;
}

/* Counts are compared with the mean; of times, the part of all time is. */
static double compare(const struct watt_feature_sums *one, const struct watt_feature_sums *all,
		      size_t feature)
{
	double own = one->amount[feature] / one->cpu_s[feature];
	double mean = all->amount[feature] / all->cpu_s[feature];

	if (feature == WATT_FEATURE_CYCLES || feature == WATT_FEATURE_INSTRUCTIONS)
		return mean > 0 ? own / mean - 1 : 0;
	return (own - mean) / 1e9; /* they are in ns */
}

bool watt_features_get(const struct watt_features *features, uint64_t program, double *ret)
{
	size_t first = watt_hash_u64(program) % (WATT_FEATURE_PROGRAMS / WATT_FEATURE_WAYS) *
		       WATT_FEATURE_WAYS;
	size_t at = first, i;
	bool has_any = false;

	while (at < first + WATT_FEATURE_WAYS && features->list[at].program != program)
		at++;
	if (at == first + WATT_FEATURE_WAYS)
		return false;
	for (i = 0; i < WATT_N_COUNTED; i++) {
		const struct watt_feature_sums *sums = &features->list[at].sums;

		ret[i] = 0;
		if (!(features->all.cpu_s[i] > 0))
			continue; /* nobody counts it */
		if (features->all.cpu_s[i] < BEGIN_S || sums->cpu_s[i] < LEAST_S)
			return false;
		ret[i] = compare(sums, &features->all, i);
		has_any = true;
	}
	ret[WATT_FEATURE_ONE] = 1;
	return has_any;
}

/* What is loaded has to lie within. */
#define MOST 1e18

static void visit_sums(struct watt_feature_sums *sums, struct watt_words *words)
{
	size_t i;

	for (i = 0; i < WATT_N_COUNTED; i++) {
		watt_words_double(words, &sums->amount[i], 0, MOST);
		watt_words_double(words, &sums->cpu_s[i], 0, MOST);
	}
}

static void visit_programs(struct watt_features *features, struct watt_words *words)
{
	size_t n = 0, at = 0, i;

	for (i = 0; i < WATT_FEATURE_PROGRAMS && !words->is_loading; i++)
		n += features->list[i].newest > 0;
	watt_words_size(words, &n, WATT_FEATURE_PROGRAMS);
	for (i = 0; i < n && !words->error; i++, at++) {
		while (!words->is_loading && !features->list[at].newest)
			at++;
		watt_words_size(words, &at, WATT_FEATURE_PROGRAMS - 1);
		watt_words_u64(words, &features->list[at].program, UINT64_MAX);
		watt_words_u64(words, &features->list[at].newest, UINT64_MAX >> 1);
		visit_sums(&features->list[at].sums, words);
	}
}

int watt_features_visit(struct watt_features **features, struct watt_words *words)
{
	bool has_any = *features;

	watt_words_bool(words, &has_any);
	if (words->is_loading) {
		free(*features);
		*features = has_any ? calloc(1, sizeof(**features)) : NULL;
		if (has_any && !*features)
			words->error = -ENOMEM;
	}
	if (!has_any || words->error)
		return words->error;
	watt_words_u64(words, &(*features)->n_slices, UINT64_MAX >> 1);
	visit_sums(&(*features)->all, words);
	visit_programs(*features, words);
	return words->error;
}
