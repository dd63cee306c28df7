/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filter: docs/learned.md has its formulas, and tests/accuracy shows what it reaches.
 * Built with -ffp-contract=off.
 */
#include "attrib/learned_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define DEVIATION_ERROR 0.5 /* of a process from its program, the same */
#define SPREAD_RATE 0.002   /* by which a slice moves how far they are thought to differ */
#define CURVE_RATE 0.02     /* by which a slice moves the curve */
#define GATE 25             /* squared sigmas of a slice that teaches */
#define FORGET 0.01         /* of running means, a slice */
#define TOLD_FORGET 0.05    /* of what is known of who runs, the same */
#define KNOWN_SLICES 10     /* of a process, until it may differ from its program */
#define KNOWN_SLICES_FEW 3  /* the same while few have a learner and power has just risen */
#define DIFFERS_FEW 1       /* squared sigmas by which it has to: while few have a learner */
#define DIFFERS 9           /* and when there are more */
#define FEW_DEVIATIONS 16
#define DEVIATIONS_MAX 64 /* learners of processes: programs come first */
/* What a prior says of a program holds no better than this: machines and programs change. */
#define PRIOR_TRUST 0.1
#define FEATURES_LEFT 0.3 /* by which a program is off what features say, the same */
#define NEW_SLICES 10     /* that tell what is known by a new scale */

double watt_learned_mean_w(const struct watt_learned *l)
{
	return l->sum_weight > 0 ? l->sum_w / l->sum_weight : 0;
}

/* ---- who has a learner ---- */

static uint64_t deviation_key(uint64_t program, uint64_t process)
{
	return watt_hash_u64(program ^ watt_hash_u64(process + 1));
}

static void map_insert(struct watt_learned *l, size_t i)
{
	size_t at = watt_hash_u64(l->list[i].key) % MAP_SIZE;

	while (l->map[at])
		at = (at + 1) % MAP_SIZE;
	l->map[at] = (uint8_t)(i + 1);
}

void watt_learned_map(struct watt_learned *l)
{
	size_t i;

	memset(l->map, 0, sizeof(l->map));
	for (i = 1; i < l->n; i++)
		map_insert(l, i);
	l->n_maps++;
}

/* OTHERS: it has none. */
size_t watt_learner_find(const struct watt_learned *l, uint64_t key)
{
	size_t at = watt_hash_u64(key) % MAP_SIZE;

	for (; l->map[at]; at = (at + 1) % MAP_SIZE)
		if (l->list[l->map[at] - 1].key == key)
			return l->map[at] - 1;
	return OTHERS;
}

/* The one that had least of late and did nothing in the newest slice; OTHERS: all are needed. */
static size_t find_least(const struct watt_learned *l, bool only_processes)
{
	size_t i, least = OTHERS;

	for (i = 1; i < l->n; i++)
		if (l->list[i].newest_slice + 1 < l->n_slices &&
		    (!only_processes || l->list[i].is_process) &&
		    (least == OTHERS || l->list[i].recent_j < l->list[least].recent_j))
			least = i;
	return least;
}

static void reset(struct watt_learned *l, size_t i, const struct learner *to, double error_w)
{
	size_t j;

	free(l->list[i].name);
	free(l->list[i].cgroup);
	l->list[i] = *to;
	for (j = 0; j < l->n; j++)
		*cov_at(l, i, j) = *cov_at(l, j, i) = 0;
	*cov_at(l, i, i) = squared(error_w);
	watt_learned_forget_run(l, i);
}

size_t watt_learner_add(struct watt_learned *l, const struct learner *learner, double error_w)
{
	bool is_full = learner->is_process && l->n_deviations >= DEVIATIONS_MAX;
	size_t i = OTHERS;

	if (!is_full && l->n < WATT_LEARNED_MAX)
		i = l->n++;
	else
		i = find_least(l, is_full);
	if (i == OTHERS)
		return OTHERS;
	l->n_deviations -= l->list[i].is_process;
	l->n_deviations += learner->is_process;
	reset(l, i, learner, error_w);
	watt_learned_map(l);
	return i;
}

/* A program that is new here: with what is known of it, or as a stranger. */
static size_t add_program(struct watt_learned *l, const struct watt_learned_use *use)
{
	const struct watt_profile_program *known = NULL;
	struct learner one = { .key = use->program,
			       .process = use->process,
			       .watts = watt_learned_mean_w(l),
			       .is_executable = use->is_executable };
	double error_w = l->habit.prior_error * watt_learned_mean_w(l);
	size_t i;

	if (l->prior && use->name)
		known = watt_profile_find_program(l->prior, use->name, use->cgroup,
						  use->is_executable);
	if (known) {
		one.watts = known->power_w;
		one.cpu_s = known->cpu_s;
		one.n_slices = known->n_slices;
		error_w = __builtin_sqrt(squared(known->uncertainty_w) +
					 squared(PRIOR_TRUST * known->power_w));
	}
	i = watt_learner_add(l, &one, error_w);
	if (i == OTHERS || !use->name)
		return i;
	/* without memory for it, it has no name */
	l->list[i].name = strdup(use->name);
	l->list[i].cgroup = use->cgroup ? strdup(use->cgroup) : NULL;
	return i;
}

static size_t find_program(struct watt_learned *l, const struct watt_learned_use *use)
{
	size_t i = is_sought(l, use) ? use->at[0] : watt_learner_find(l, use->program);

	if (i == OTHERS)
		return add_program(l, use);
	l->list[i].has_many |= l->list[i].process != use->process;
	return i;
}

/* Whether a process has been active for long enough, and differs from its program. */
static bool does_differ(struct watt_learned *l, struct watt_learned_use *use, size_t n_uses)
{
	bool are_few = l->n_deviations < FEW_DEVIATIONS;
	double differs = are_few ? DIFFERS_FEW : DIFFERS;
	size_t at = watt_evidence_find(l, use);
	struct candidate *one = &l->candidates[at];

	use->counted_at = use->seen_at = (uint16_t)at;
	if (one->newest_slice != l->n_slices)
		one->n_slices++;
	one->newest_slice = l->n_slices;
	/* what gets a calm machine to work is new, and there is a place for each of it */
	if (are_few && n_uses <= FEW_DEVIATIONS && watt_learned_is_risen(l))
		return one->n_slices > KNOWN_SLICES_FEW;
	return one->n_slices > KNOWN_SLICES && squared(one->score) > differs * one->info;
}

static size_t find_deviation(struct watt_learned *l, struct watt_learned_use *use, size_t program,
			     size_t n_uses)
{
	const struct candidate *one;
	uint64_t key;
	size_t i;

	if (is_sought(l, use))
		i = use->at[1];
	else
		i = watt_learner_find(l, deviation_key(use->program, use->process));
	if (i != OTHERS || !use->process || program == OTHERS || !l->list[program].has_many ||
	    !does_differ(l, use, n_uses))
		return i;
	key = deviation_key(use->program, use->process);
	one = evidence_of(l, use);
	return watt_learner_add(
		l,
		&(struct learner){ .key = key,
				   .is_process = true,
				   .watts = variance_of(deviation_prior(l), one) * one->score },
		__builtin_sqrt(l->spread[true]) * watt_learned_mean_w(l));
}

/* ---- what it believes ---- */

static double curve_at(const struct watt_learned *l, const struct watt_learned_slice *slice,
		       double busy_s, size_t *ret_bin, double *ret_part)
{
	double at = busy_s / slice->dt_s / slice->n_cpus * BINS;
	size_t bin;

	at = WATT_MIN(at, BINS - 1e-9);
	bin = (size_t)at;
	*ret_bin = bin;
	*ret_part = at - (double)bin;
	return l->curve[bin] * (1 - *ret_part) + l->curve[bin + 1] * *ret_part;
}

static void seek(const struct watt_learned *l, struct watt_learned_use *use)
{
	use->at[0] = (uint16_t)watt_learner_find(l, use->program);
	use->at[1] = (uint16_t)watt_learner_find(l, deviation_key(use->program, use->process));
	use->sought = l->n_maps;
}

double watt_learned_watts(const struct watt_learned *l, const struct watt_learned_use *use,
			  double mean)
{
	double watts = l->list[use->at[0]].watts;

	if (use->at[1] != OTHERS)
		watts += l->list[use->at[1]].watts;
	return WATT_MAX(watts, FLOOR * mean);
}

/* Variance of what is known of its program and, where it has a learner, of itself. */
static double variance_known(const struct watt_learned *l, const struct watt_learned_use *use)
{
	size_t p = use->at[0], d = use->at[1];
	double variance = *cov_at(l, p, p);

	if (d != OTHERS)
		variance += 2 * *cov_at(l, p, d) + *cov_at(l, d, d);
	return variance;
}

/* Variance of its difference to its program, where it has no learner. */
static double variance_unknown(const struct watt_learned *l, const struct watt_learned_use *use,
			       double prior)
{
	bool may_differ = use->at[1] == OTHERS && use->at[0] != OTHERS &&
			  l->list[use->at[0]].has_many;

	return may_differ ? variance_of(prior, evidence_of(l, use)) : 0;
}

/* A square root is the same everywhere, as IEEE 754 wants it. */
static double root(double variance)
{
	return variance > 0 ? __builtin_sqrt(variance) : 0;
}

void watt_learned_weigh(const struct watt_learned *l, struct watt_learned_slice *slice)
{
	double mean = watt_learned_mean_w(l);
	size_t i;

	watt_evidence_fetch(l, slice);
	for (i = 0; i < slice->n_uses; i++) {
		seek(l, &slice->uses[i]);
		slice->uses[i].watts = l->n_slices ? watt_learned_watts(l, &slice->uses[i], mean) :
						     0;
	}
	watt_evidence_seek(l, slice);
}

double watt_learned_predict(const struct watt_learned *l, struct watt_learned_slice *slice)
{
	double busy_s = 0, sum_j = 0, part;
	size_t bin, i;

	if (!l->n_slices)
		return 0;
	watt_learned_weigh(l, slice);
	for (i = 0; i < slice->n_uses; i++) {
		busy_s += slice->uses[i].cpu_s;
		sum_j += time_of(l, &slice->uses[i]) * slice->uses[i].watts;
	}
	return sum_j * curve_at(l, slice, busy_s, &bin, &part);
}

void watt_learned_estimate(const struct watt_learned *l, struct watt_learned_slice *slice)
{
	double mean = watt_learned_mean_w(l), prior = deviation_prior(l);
	size_t i;

	for (i = 0; i < slice->n_uses; i++) {
		struct watt_learned_use *use = &slice->uses[i];

		use->watts = use->error = 0;
		if (!l->n_slices)
			continue;
		seek(l, use);
		use->watts = watt_learned_watts(l, use, mean);
		use->error = root(variance_known(l, use) + variance_unknown(l, use, prior));
	}
}

void watt_learned_doubt(const struct watt_learned *l, uint64_t program, uint64_t process,
			struct watt_learned_doubt *ret)
{
	struct watt_learned_use use = { .program = program, .process = process };

	*ret = (struct watt_learned_doubt){ .mean_w = watt_learned_mean_w(l) };
	if (!l->n_slices)
		return;
	seek(l, &use);
	ret->watts = watt_learned_watts(l, &use, ret->mean_w);
	ret->at[0] = use.at[0];
	ret->at[1] = use.at[1];
	ret->n_at = use.at[1] != OTHERS ? 2 : 1;
	if (use.at[1] == OTHERS && use.at[0] != OTHERS && l->list[use.at[0]].has_many)
		ret->own_w2 = variance_of(deviation_prior(l), evidence_of(l, &use));
}

size_t watt_learned_size(const struct watt_learned *l)
{
	return l->n;
}

const double *watt_learned_covariance(const struct watt_learned *l, size_t row)
{
	return cov_at(l, row, 0);
}

double watt_learned_prior(const struct watt_learned *l)
{
	return l->n ? l->spread[false] : squared(l->habit.prior_error);
}

double watt_learned_told(const struct watt_learned *l)
{
	return l->told;
}

double watt_learned_error(const struct watt_learned *l)
{
	return l->error;
}

double watt_learned_significance(const struct watt_learned *l)
{
	return l->unsure > 0 ? l->apart / l->unsure : 0;
}

uint64_t watt_learned_count_scaled(const struct watt_learned *l)
{
	return l->n_scaled;
}

size_t watt_learned_count(const struct watt_learned *l)
{
	return l->n ? l->n - 1 - watt_learned_count_common(l) : 0;
}

/* ---- what a slice teaches ---- */

static void activate(struct watt_learned *l, size_t i, double cpu_s)
{
	if (l->h[i] <= 0)
		l->active[l->n_active++] = i;
	l->h[i] += cpu_s;
	l->list[i].newest_slice = l->n_slices;
}

/* Finds who was active; the CPU time of each is in h. */
static void take_uses(struct watt_learned *l, struct watt_learned_slice *slice)
{
	size_t i;

	memset(l->h, 0, sizeof(l->h));
	l->n_active = 0;
	for (i = 0; i < slice->n_uses; i++) {
		struct watt_learned_use *use = &slice->uses[i];
		size_t p = find_program(l, use), d;

		activate(l, p, time_of(l, use)); /* from here on it can't be evicted */
		d = find_deviation(l, use, p, slice->n_uses);
		if (d != OTHERS)
			activate(l, d, time_of(l, use));
		use->at[0] = (uint16_t)p;
		use->at[1] = (uint16_t)d;
	}
}

static void move_mean(const struct watt_learned *l, double *mean, double to)
{
	*mean += TOLD_FORGET / l->told_weight * (to - *mean);
}

/* A mean of those who were active: what all have alike divides nothing. */
static double watts_of_all(const struct watt_learned *l, const struct watt_learned_slice *slice)
{
	double mean = watt_learned_mean_w(l), sum_j = 0, sum_s = 0;
	size_t i;

	for (i = 0; i < slice->n_uses; i++) {
		double time_s = time_of(l, &slice->uses[i]);

		sum_j += time_s * watt_learned_watts(l, &slice->uses[i], mean);
		sum_s += time_s;
	}
	return sum_s > 0 ? sum_j / sum_s : mean;
}

/* Running means of how much is known of those who were active. */
static void note_knowledge(struct watt_learned *l, const struct watt_learned_slice *slice)
{
	double mean = watt_learned_mean_w(l), sum_j = 0, told_j = 0, error_j = 0;
	double apart = 0, unsure = 0, common_w = watts_of_all(l, slice);
	double prior = deviation_prior(l);
	size_t i;

	for (i = 0; i < slice->n_uses; i++) {
		const struct watt_learned_use *use = &slice->uses[i];
		double watts = watt_learned_watts(l, use, mean), j = time_of(l, use) * watts;
		double known = variance_known(l, use), unknown = variance_unknown(l, use, prior);
		double error = root(known);

		sum_j += j;
		told_j += j * (1 - WATT_MIN(error / (l->habit.prior_error * mean), 1.0));
		error_j += time_of(l, use) * (unknown > 0 ? root(known + unknown) : error);
		apart += j * squared(watts - common_w);
		unsure += j * WATT_MAX(known, 0.0);
	}
	if (!(sum_j > 0) || !(mean > 0))
		return;
	if (l->habit.has_load && l->n_scaled < NEW_SLICES)
		l->told_weight = 0; /* what was known by another scale says nothing */
	l->told_weight += TOLD_FORGET * (1 - l->told_weight);
	move_mean(l, &l->told, told_j / sum_j);
	move_mean(l, &l->error, error_j / sum_j);
	move_mean(l, &l->apart, apart / sum_j);
	move_mean(l, &l->unsure, unsure / sum_j);
}

/* The two points of the curve next to the load move to what the watts leave unexplained. */
static void move_curve(struct watt_learned *l, double energy_j, double expected_j, size_t bin,
		       double part)
{
	double ratio = expected_j > 0 ? energy_j / expected_j : 0;

	if (!(ratio > 0.2) || !(ratio < 5))
		return;
	l->curve[bin] *= 1 + CURVE_RATE * (1 - part) * (ratio - 1);
	l->curve[bin + 1] *= 1 + CURVE_RATE * part * (ratio - 1);
}

/* cov * h, of which few are not 0; cov is symmetric. Returns h * cov * h. */
double watt_learned_explain(struct watt_learned *l)
{
	double sum = 0, *restrict ch = l->ch;
	size_t i, j, n = l->n;

	memset(ch, 0, n * sizeof(*ch));
	/* two at a time, in the order of one by one: sums are the same to the last bit */
	for (j = 0; j + 1 < l->n_active; j += 2) {
		const double *restrict a = cov_at(l, l->active[j], 0);
		const double *restrict b = cov_at(l, l->active[j + 1], 0);
		double ha = l->h[l->active[j]], hb = l->h[l->active[j + 1]];

		for (i = 0; i < n; i++)
			ch[i] = (ch[i] + a[i] * ha) + b[i] * hb;
	}
	if (j < l->n_active) {
		const double *restrict row = cov_at(l, l->active[j], 0);
		double h = l->h[l->active[j]];

		for (i = 0; i < n; i++)
			ch[i] += row[i] * h;
	}
	for (j = 0; j < l->n_active; j++)
		sum += l->h[l->active[j]] * l->ch[l->active[j]];
	return sum;
}

void watt_learned_correct(struct watt_learned *l, double error_j, double variance)
{
	const double *restrict ch = l->ch;
	size_t i, j, n = l->n;

	for (i = 0; i < n; i++) {
		double gain = ch[i] / variance, *restrict row = cov_at(l, i, 0);

		if (gain == 0)
			continue;
		l->list[i].watts += gain * error_j;
		l->run.moved_w[i] += gain * error_j;
		l->run.expected_w2[i] += gain * ch[i];
		for (j = 0; j < n; j++)
			row[j] -= gain * ch[j];
		if (!(row[i] > 0))
			row[i] = 0;
	}
}

/* Squared difference that is expected of each, as a mean of those who were active. */
static double mean_deviation(const struct watt_learned *l, const struct watt_learned_slice *slice)
{
	double sum = 0, prior = deviation_prior(l);
	size_t n = 0, i;

	for (i = 0; i < slice->n_uses; i++) {
		const struct watt_learned_use *use = &slice->uses[i];
		const struct candidate *one;
		double variance;

		if (use->at[0] == OTHERS || !use->process || !l->list[use->at[0]].has_many)
			continue;
		n++;
		if (use->at[1] != OTHERS) {
			sum += squared(l->list[use->at[1]].watts) +
			       *cov_at(l, use->at[1], use->at[1]);
			continue;
		}
		one = evidence_of(l, use);
		variance = variance_of(prior, one);
		sum += squared(variance * one->score) + variance;
	}
	return n ? sum / (double)n : -1;
}

/* How far programs differ, and processes of one, as the learners have it. */
static void learn_spread(struct watt_learned *l, const struct watt_learned_slice *slice)
{
	double mean = watt_learned_mean_w(l), sum = 0, deviation = mean_deviation(l, slice);
	double left = 0;
	size_t n = 0, n_informed = 0, i;

	for (i = 0; i < l->n_active; i++) {
		size_t at = l->active[i];

		if (l->list[at].is_process || l->list[at].is_common)
			continue;
		sum += squared(l->list[at].watts - mean) + *cov_at(l, at, at);
		n++;
		if (!l->list[at].is_informed)
			continue;
		left += watt_learned_left(l, at);
		n_informed++;
	}
	if (n_informed)
		l->left += SPREAD_RATE * (left / (double)n_informed / squared(mean) - l->left);
	l->left = WATT_MAX(l->left, squared(SPREAD_MIN));
	if (n)
		l->spread[false] +=
			SPREAD_RATE * (sum / (double)n / squared(mean) - l->spread[false]);
	if (deviation >= 0)
		l->spread[true] += SPREAD_RATE * (deviation / squared(mean) - l->spread[true]);
	for (i = 0; i < 2; i++)
		l->spread[i] = WATT_MAX(l->spread[i], squared(SPREAD_MIN));
}

/* Watts change, and go back to what is expected of them. */
static void age(struct watt_learned *l, double dt_s)
{
	double mean = watt_learned_mean_w(l), back = WATT_MIN(dt_s / l->habit.drift_s, 1.0), to_w;
	size_t i;

	for (i = 0; i < l->n; i++) {
		struct learner *one = &l->list[i];

		one->recent_j *= 1 - FORGET;
		if (one->is_common)
			continue;
		to_w = one->is_process ? 0 : mean + watt_learned_expect(l, one);
		one->watts += back * (to_w - one->watts);
	}
	for (i = 0; i < l->n_active; i++) {
		struct learner *one = &l->list[l->active[i]];

		one->recent_j += l->h[l->active[i]] * watt_learned_mean_w(l);
		if (one->is_common)
			continue;
		one->cpu_s += l->h[l->active[i]];
		one->n_slices++;
	}
}

/* What the watts make of the slice, without the curve. */
static double expect(const struct watt_learned *l, const struct watt_learned_slice *slice)
{
	double mean = watt_learned_mean_w(l), sum_j = 0;
	size_t i;

	for (i = 0; i < slice->n_uses; i++)
		sum_j += time_of(l, &slice->uses[i]) * watt_learned_watts(l, &slice->uses[i], mean);
	return sum_j;
}

/* The first slice gives the scale of everything. */
static int begin(struct watt_learned *l, double energy_j, double busy_s)
{
	const struct watt_profile_domain *prior = l->prior ? &l->prior->domain : NULL;
	struct learner others = { .watts = prior ? prior->mean_w : energy_j / busy_s };
	size_t i;

	l->cov = calloc((size_t)WATT_LEARNED_MAX * WATT_LEARNED_MAX, sizeof(*l->cov));
	if (!l->cov)
		return -ENOMEM;
	for (i = 0; i <= BINS; i++)
		l->curve[i] = prior ? prior->curve_ratio[i] : 1;
	l->sum_weight = l->habit.has_load ? energy_j : busy_s;
	l->sum_w = others.watts * l->sum_weight;
	l->scale_w = others.watts;
	l->noise = squared(energy_j * NOISE_BEGIN);
	l->spread[false] = squared(prior ? prior->spread_w / prior->mean_w : l->habit.prior_error);
	l->spread[true] = squared(DEVIATION_ERROR);
	l->left = squared(FEATURES_LEFT);
	watt_learned_forget_check(l);
	l->n = 1;
	reset(l, OTHERS, &others, l->habit.prior_error * others.watts);
	return 0;
}

static double total_s(const struct watt_learned_slice *slice)
{
	double sum_s = 0;
	size_t i;

	for (i = 0; i < slice->n_uses; i++)
		sum_s += slice->uses[i].cpu_s;
	return sum_s;
}

/*
 * Between an end of a slice and the reading beside it power was that of whoever ran then, and the
 * energy is that of the mean of all.
 */
static double edge_variance(const struct watt_learned *l, const struct watt_learned_slice *slice,
			    double busy_s)
{
	return slice->edge_s2 * (busy_s / slice->dt_s) * (l->apart + l->unsure);
}

static void filter(struct watt_learned *l, const struct watt_learned_slice *slice, double g,
		   double edge)
{
	double error_j = slice->energy_j, explained, variance;
	bool is_odd;
	size_t i;

	for (i = 0; i < l->n_active; i++) {
		l->h[l->active[i]] *= g;
		if (!l->list[l->active[i]].is_common)
			error_j -= l->h[l->active[i]] * l->list[l->active[i]].watts;
	}
	explained = watt_learned_explain(l);
	if (watt_learned_doubt_risen(l, error_j, explained + edge + l->noise))
		explained = watt_learned_explain(l);
	variance = explained + edge + l->noise;
	watt_learned_note_check(l, slice, error_j, explained, variance);
	is_odd = squared(error_j) >= GATE * variance;
	/* What nobody expected teaches nothing, but many such slices widen what is expected. */
	l->noise += (is_odd ? FORGET : WATT_MAX(FORGET, watt_learned_begin_rate(l))) *
		    (WATT_MAX(WATT_MIN(squared(error_j), GATE * variance) - explained - edge,
			      squared(slice->energy_j * 1e-4)) -
		     l->noise);
	watt_learned_note_quiet(l, error_j);
	if (is_odd) {
		watt_learned_doubt_active(l);
	} else {
		watt_evidence_note(l, slice, g, error_j, variance);
		watt_learned_correct(l, error_j, variance);
	}
	watt_learned_grow(l, slice->dt_s, squared(error_j) / variance);
}

int watt_learned_update(struct watt_learned *l, struct watt_learned_slice *slice)
{
	double busy_s = total_s(slice), g, part, expected_j;
	size_t bin;
	int r = 0;

	if (!(busy_s > 0) || !(slice->energy_j > 0) || !(slice->dt_s > 0) || !slice->n_cpus)
		return 0;
	if (!l->cov)
		r = begin(l, slice->energy_j, busy_s);
	if (r < 0)
		return r;
	l->n_slices++;
	watt_learned_make_discount(l, slice);
	take_uses(l, slice);
	watt_learned_take_discount(l, slice);
	g = curve_at(l, slice, busy_s, &bin, &part);
	if (l->habit.has_load)
		watt_learned_take_mean(l, slice->energy_j, busy_s, g);
	expected_j = expect(l, slice);
	if (!l->habit.has_load)
		watt_learned_take_mean_expected(l, expected_j, busy_s);
	move_curve(l, slice->energy_j, g * expected_j, bin, part);
	age(l, slice->dt_s);
	filter(l, slice, g, edge_variance(l, slice, busy_s));
	learn_spread(l, slice);
	note_knowledge(l, slice);
	return 0;
}

struct watt_learned *watt_learned_new(bool is_rest)
{
	/* what nobody is known to cause is often one program's, and tells little at a time */
	static const struct habit habits[] = { { PRIOR_ERROR, DRIFT_S, true },
					       { REST_PRIOR_ERROR, REST_DRIFT_S, false } };
	struct watt_learned *l = calloc(1, sizeof(*l));

	if (l)
		l->habit = habits[is_rest];
	return l;
}

void watt_learned_free(struct watt_learned *l)
{
	if (!l)
		return;
	watt_learned_forget_names(l);
	free(l->cov);
	free(l);
}
