/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Least squares at each of some ages and windows, then again around the best. How sharp the
 * minimum is, measured by what is left unexplained there, says how sure the age is.
 */
#include "timeline/match.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* Fewer say nothing, the more so the more is unknown; fewer than ENOUGH must fit better. */
#define MIN_READINGS 7
#define SOME_READINGS(n_parts) (9 + 2 * (size_t)(n_parts))
#define ENOUGH_READINGS 24
/* Loads last for some seconds: in less, a few changes of theirs fit anything. */
#define MIN_SPAN_NS (90 * 1000000000ULL)
#define COARSE_NS 200000000ULL
#define FINE_NS 50000000ULL
/* What is explained by less is chance. */
#define MIN_EXPLAINED 0.7
#define MIN_EXPLAINED_BY_FEW 0.85
#define MIN_EXPLAINED_BY_FEWEST 0.95
/* What a part takes, the machine takes about as well: a factor is 1, give or take (W2 by 1). */
#define FACTOR_WEIGHT_W2 64
/* What a watt more of all parts together adds to the total. */
#define MIN_PER_WATT 0.7
#define MAX_PER_WATT 1.7
/* Changes of less than this are the steps in which BMCs count. */
#define MIN_SD_W 1.5
#define MAX_UNCERTAINTY_NS 400000000.0
/* Of a BMC that counts in whole watts, which can explain more than there is by chance. */
#define MIN_NOISE_W2 (1.0 / 12)
/* What is left of a reading on any machine, as if so many readings had said it. */
#define USUAL_NOISE_W2 36.0
#define USUAL_READINGS 4
/* Measured (slow_total): of 16, ages are wrong by twice what chance alone says. */
#define DOUBTED_READINGS 48
/* By so much must the second best be worse. */
#define RIVAL_NOISES 4
/* A told window may be a minute. */
#define MAX_WINDOW_NS (60 * 1000000000ULL)
#define N_AGES ((WATT_MATCH_MAX_DELAY_NS + MAX_WINDOW_NS / 2) / COARSE_NS + 1)
#define N_TERMS (WATT_MATCH_PARTS + 1)

/* Means that are tried where nobody tells of how long they are. */
static const uint64_t windows_ns[] = { 100000000, 500000000, 1000000000, 2000000000, 4000000000 };

/* One fit: sums of products of the terms (each part, 1) and the reading. */
struct fit {
	double a[N_TERMS][N_TERMS];
	double b[N_TERMS];
	double yy;
	double y;
	double expected;   /* as yy, of what was expected before */
	double x[N_TERMS]; /* the solution */
	double left;       /* sum of squares that it leaves */
	double total;      /* and that there were */
	size_t n;
};

/* Energy of a part at an instant, between two steps. */
static double energy_at(const struct watt_match_parts *parts, size_t p, uint64_t t_ns)
{
	uint64_t step = t_ns / parts->step_ns;
	const double *energy = parts->energy_j[p] + (step - parts->first);
	double share = (double)(t_ns % parts->step_ns) / (double)parts->step_ns;

	return energy[0] + (share > 0 ? (energy[1] - energy[0]) * share : 0);
}

static bool is_known(const struct watt_match_parts *parts, uint64_t t0_ns, uint64_t t1_ns)
{
	return t0_ns / parts->step_ns >= parts->first && t1_ns / parts->step_ns + 1 < parts->end;
}

static void add_reading(struct fit *fit, const double terms[N_TERMS], double power_w)
{
	size_t i, j;

	for (i = 0; i < N_TERMS; i++) {
		for (j = 0; j <= i; j++)
			fit->a[i][j] += terms[i] * terms[j];
		fit->b[i] += terms[i] * power_w;
	}
	fit->yy += power_w * power_w;
	fit->y += power_w;
	fit->n++;
}

/* Few readings say little of a factor: what is not known of it is taken from all machines. */
static void expect_one(struct fit *fit, size_t term)
{
	fit->a[term][term] += FACTOR_WEIGHT_W2;
	fit->b[term] += FACTOR_WEIGHT_W2;
	fit->expected += FACTOR_WEIGHT_W2;
}

/* Cholesky; a term that the others have already said gets no factor. */
static void solve(struct fit *fit)
{
	double l[N_TERMS][N_TERMS] = { 0 }, z[N_TERMS];
	int i, j, k;

	for (i = 0; i < N_TERMS; i++) {
		for (j = 0; j <= i; j++) {
			double sum = fit->a[i][j];

			for (k = 0; k < j; k++)
				sum -= l[i][k] * l[j][k];
			if (i != j)
				l[i][j] = l[j][j] > 0 ? sum / l[j][j] : 0;
			else
				l[i][i] = sum > 1e-6 * fit->a[i][i] && sum > 0 ? sqrt(sum) : 0;
		}
		z[i] = fit->b[i];
		for (k = 0; k < i; k++)
			z[i] -= l[i][k] * z[k];
		z[i] = l[i][i] > 0 ? z[i] / l[i][i] : 0;
	}
	for (i = N_TERMS - 1; i >= 0; i--) {
		double sum = z[i];

		for (k = i + 1; k < N_TERMS; k++)
			sum -= l[k][i] * fit->x[k];
		fit->x[i] = l[i][i] > 0 ? sum / l[i][i] : 0;
	}
	fit->left = fit->yy + fit->expected;
	for (i = 0; i < N_TERMS; i++)
		fit->left -= z[i] * z[i];
	fit->left = WATT_MAX(fit->left, 0);
	fit->total = fit->yy - fit->y * fit->y / (double)WATT_MAX(fit->n, (size_t)1);
}

/*
 * What a reading is made of: the rest, which is 1, and the mean of each part in its window. false:
 * there is no history of it at every age that is tried, and each is to be judged by the same.
 */
static bool get_terms(const struct watt_match_parts *parts, const struct watt_observation *reading,
		      uint64_t delay_ns, uint64_t window_ns, double ret[N_TERMS])
{
	uint64_t w_ns = reading->window_ns ? reading->window_ns : window_ns;
	uint64_t t1_ns = reading->t_ns - delay_ns;
	size_t p;

	if (reading->t_ns < WATT_MATCH_MAX_DELAY_NS + w_ns ||
	    !is_known(parts, reading->t_ns - WATT_MATCH_MAX_DELAY_NS - w_ns, reading->t_ns))
		return false;
	ret[0] = 1;
	for (p = 0; p < WATT_MATCH_PARTS; p++)
		ret[1 + p] = !parts->energy_j[p] ? 0 :
						   (energy_at(parts, p, t1_ns) -
						    energy_at(parts, p, t1_ns - w_ns)) /
							   ((double)w_ns / 1e9);
	return true;
}

static void fit_at(const struct watt_match_parts *parts, const struct watt_observation *list,
		   size_t n, uint64_t delay_ns, uint64_t window_ns, struct fit *ret)
{
	double terms[N_TERMS];
	size_t i, p;

	*ret = (struct fit){ 0 };
	for (i = 0; i < n; i++)
		if (get_terms(parts, &list[i], delay_ns, window_ns, terms))
			add_reading(ret, terms, list[i].power_w);
	for (p = 0; p < WATT_MATCH_PARTS; p++)
		if (parts->energy_j[p])
			expect_one(ret, 1 + p);
	solve(ret);
}

struct best {
	struct fit fit;
	uint64_t delay_ns;
	uint64_t window_ns;
	double left[N_AGES]; /* of the best at each age */
};

static void try_at(const struct watt_match_parts *parts, const struct watt_observation *list,
		   size_t n, uint64_t delay_ns, uint64_t window_ns, struct best *best)
{
	struct fit fit;
	size_t age = WATT_MIN((delay_ns + window_ns / 2) / COARSE_NS, N_AGES - 1);

	fit_at(parts, list, n, delay_ns, window_ns, &fit);
	best->left[age] = WATT_MIN(best->left[age], fit.left);
	if (best->fit.n && fit.left >= best->fit.left)
		return;
	best->fit = fit;
	best->delay_ns = delay_ns;
	best->window_ns = window_ns;
}

static struct best search(const struct watt_match_parts *parts, const struct watt_observation *list,
			  size_t n)
{
	struct best best = { .fit = { .n = 0 } }, coarse;
	bool is_told = n && list[0].window_ns;
	uint64_t d_ns;
	size_t w;

	for (w = 0; w < N_AGES; w++)
		best.left[w] = INFINITY;
	for (w = 0; w < (is_told ? 1 : WATT_ARRAY_SIZE(windows_ns)); w++)
		for (d_ns = 0; d_ns <= WATT_MATCH_MAX_DELAY_NS; d_ns += COARSE_NS)
			try_at(parts, list, n, d_ns, windows_ns[w], &best);
	coarse = best;
	for (d_ns = coarse.delay_ns > COARSE_NS ? coarse.delay_ns - COARSE_NS : 0;
	     d_ns <= WATT_MIN(coarse.delay_ns + COARSE_NS, WATT_MATCH_MAX_DELAY_NS);
	     d_ns += FINE_NS)
		try_at(parts, list, n, d_ns, coarse.window_ns, &best);
	return best;
}

/* What is left at an age, with the mean that explains most there. */
static double get_left_at(const struct watt_match_parts *parts, const struct watt_observation *list,
			  size_t n, int64_t age_ns)
{
	bool is_told = list[0].window_ns;
	double left = INFINITY;
	struct fit fit;
	size_t w;

	for (w = 0; w < (is_told ? 1 : WATT_ARRAY_SIZE(windows_ns)); w++) {
		int64_t window_ns = (int64_t)(is_told ? list[0].window_ns : windows_ns[w]);
		int64_t d_ns = age_ns - window_ns / 2;

		if (d_ns < 0 || d_ns > (int64_t)WATT_MATCH_MAX_DELAY_NS)
			continue;
		fit_at(parts, list, n, (uint64_t)d_ns, (uint64_t)window_ns, &fit);
		left = WATT_MIN(left, fit.left);
	}
	return left;
}

/*
 * How many readings they are worth. What no part tells of goes on from one reading to the next, and
 * says the same again: by what is left, how alike neighbours are.
 */
static double count_independent(const struct watt_match_parts *parts,
				const struct watt_observation *list, size_t n,
				const struct best *best)
{
	double before = 0, products = 0, squares = 0, alike, terms[N_TERMS];
	size_t i, t;

	for (i = 0; i < n; i++) {
		double left = list[i].power_w;

		if (!get_terms(parts, &list[i], best->delay_ns, best->window_ns, terms))
			continue;
		for (t = 0; t < N_TERMS; t++)
			left -= best->fit.x[t] * terms[t];
		products += before * left;
		squares += left * left;
		before = left;
	}
	alike = squares > 0 ? WATT_MIN(WATT_MAX(products / squares, 0), 0.99) : 0;
	return (double)best->fit.n * (1 - alike) / (1 + alike);
}

/*
 * Whether a watt more of the parts is about a watt more of the total, as it must be of a machine
 * that they are in: losses of its supply and fans come on top. Readings of something else fit by
 * chance with any factors.
 */
static bool is_their_sum(const struct fit *fit)
{
	/* of the sum of all parts, from the sums of each; not what was expected before */
	double sum = 0, squares = 0, products = 0, per_watt;
	size_t i, j;

	for (i = 1; i < N_TERMS; i++) {
		sum += fit->a[i][0];
		products += fit->b[i];
		for (j = 1; j <= i; j++)
			squares += i == j ? fit->a[i][j] : 2 * fit->a[i][j];
	}
	squares -= fit->expected;
	products -= fit->expected;
	per_watt =
		(products - sum * fit->y / (double)fit->n) / (squares - sum * sum / (double)fit->n);
	return per_watt >= MIN_PER_WATT && per_watt <= MAX_PER_WATT;
}

/* Another age, far from the best one, explains nearly as much: nobody knows which it is. */
static bool is_rivalled(const struct best *best, double noise)
{
	int64_t age_ns = (int64_t)(best->delay_ns + best->window_ns / 2);
	int64_t far_ns = (int64_t)(MAX_UNCERTAINTY_NS + COARSE_NS);
	size_t i;

	for (i = 0; i < N_AGES; i++)
		if (llabs((int64_t)(i * COARSE_NS) - age_ns) > far_ns &&
		    best->left[i] <= best->fit.left + RIVAL_NOISES * noise)
			return true;
	return false;
}

/*
 * How far the age can move, to the side where it moves more easily, until what is left has grown as
 * much as by chance. Where few readings saw a change, there are ages that explain them alike: no
 * curvature tells that.
 */
static double find_uncertainty_ns(const struct watt_match_parts *parts,
				  const struct watt_observation *list, size_t n,
				  const struct best *best)
{
	double independent = count_independent(parts, list, n, best);
	double noise = (best->fit.left + USUAL_READINGS * USUAL_NOISE_W2) /
		       (WATT_MAX(independent - N_TERMS, 0) + USUAL_READINGS);
	double far_ns = 0;
	int64_t age_ns = (int64_t)(best->delay_ns + best->window_ns / 2), step_ns;
	/* the search has bent itself to few, and what nobody models goes on from one to the next */
	double doubt = 1 + DOUBTED_READINGS / (double)best->fit.n;
	int side;

	noise = WATT_MAX(noise, MIN_NOISE_W2);
	if (is_rivalled(best, noise))
		return INFINITY;
	for (side = -1; side <= 1; side += 2) {
		double left = best->fit.left, limit = best->fit.left + noise * doubt;

		for (step_ns = (int64_t)FINE_NS;; step_ns += (int64_t)FINE_NS) {
			double before = left, at_ns;

			left = get_left_at(parts, list, n, age_ns + side * step_ns);
			if (left <= limit && (double)step_ns <= MAX_UNCERTAINTY_NS)
				continue;
			if (left <= limit)
				return INFINITY;
			at_ns = isfinite(left) && before < limit ?
					(limit - before) / (left - before) :
					1;
			far_ns = WATT_MAX(far_ns, (double)step_ns - (1 - at_ns) * (double)FINE_NS);
			break;
		}
	}
	/* the grid itself is worth something, too */
	return sqrt(far_ns * far_ns + (double)FINE_NS * (double)FINE_NS / 12);
}

int watt_match_find(const struct watt_match_parts *parts, const struct watt_observation *list,
		    size_t n, struct watt_match *ret)
{
	struct best best;
	double uncertainty_ns, min_explained;
	uint64_t window_ns;
	size_t p, n_parts = 0;

	for (p = 0; p < WATT_MATCH_PARTS; p++)
		n_parts += parts->energy_j[p] != NULL;
	if (n < MIN_READINGS || list[n - 1].t_ns - list[0].t_ns < MIN_SPAN_NS)
		return -EAGAIN;
	best = search(parts, list, n);
	if (best.fit.n < MIN_READINGS || best.fit.total < MIN_SD_W * MIN_SD_W * (double)best.fit.n)
		return -EAGAIN;
	min_explained = best.fit.n < SOME_READINGS(n_parts) ? MIN_EXPLAINED_BY_FEWEST :
			best.fit.n < ENOUGH_READINGS        ? MIN_EXPLAINED_BY_FEW :
							      MIN_EXPLAINED;
	uncertainty_ns = find_uncertainty_ns(parts, list, n, &best);
	if (!is_their_sum(&best.fit) || best.fit.left > (1 - min_explained) * best.fit.total ||
	    !(uncertainty_ns <= MAX_UNCERTAINTY_NS) || best.delay_ns == WATT_MATCH_MAX_DELAY_NS)
		return -ENODATA;
	window_ns = list[n - 1].window_ns ? list[n - 1].window_ns : best.window_ns;
	*ret = (struct watt_match){ .delay_ns = best.delay_ns,
				    .window_ns = window_ns,
				    .age_ns = best.delay_ns + window_ns / 2,
				    .uncertainty_ns = (uint64_t)uncertainty_ns,
				    .explained_ratio = 1 - best.fit.left / best.fit.total,
				    .rest_w = best.fit.x[0],
				    .n = best.fit.n };
	memcpy(ret->factor, best.fit.x + 1, sizeof(ret->factor));
	return 0;
}

bool watt_match_holds(const struct watt_match_parts *parts, const struct watt_observation *list,
		      size_t n, const struct watt_match *match)
{
	struct fit fit;

	fit_at(parts, list, n, match->delay_ns, match->window_ns, &fit);
	if (fit.n < ENOUGH_READINGS || fit.total < MIN_SD_W * MIN_SD_W * (double)fit.n)
		return true;
	return is_their_sum(&fit) && fit.left <= (1 - MIN_EXPLAINED) * fit.total;
}
