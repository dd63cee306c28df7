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
/* Of fewer, there is no guess. */
#define MIN_GUESS_READINGS 4
#define SOME_READINGS(n_parts) (9 + 2 * (size_t)(n_parts))
#define ENOUGH_READINGS 40
/* Fewer say nothing against what was found. */
#define DOUBTING_READINGS 24
/* Loads last for some seconds: in less, a few changes of theirs fit anything. */
#define MIN_SPAN_NS (90 * 1000000000ULL)
#define COARSE_NS 200000000ULL
#define FINE_NS 50000000ULL
/* What is explained by less is chance. */
#define MIN_EXPLAINED 0.7
#define MIN_EXPLAINED_BY_FEW 0.85
#define MIN_EXPLAINED_BY_FEWEST 0.95
/*
 * What a part takes, the machine takes about as well: a factor is 1, give or take the losses of its
 * supply, fans that follow it, and what a counter is wrong by.
 */
#define FACTOR_SD 0.3
/* What a watt more of all parts together adds to the total. */
#define MIN_PER_WATT 0.7
#define MAX_PER_WATT 1.7
/* Changes of less than this are the steps in which BMCs count. */
#define MIN_SD_W 1.5
/* Measured (slow_total): of 313 ages that are surer than this, two were wrong by 250 ms. */
#define MAX_UNCERTAINTY_NS 200000000.0
/* Of a BMC that counts in whole watts, which can explain more than there is by chance. */
#define MIN_NOISE_W2 (1.0 / 12)
/* What is left of a reading on any machine, as if so many readings had said it. */
#define USUAL_NOISE_W2 80.0
#define USUAL_READINGS 16
/* A factor that is off by a deviation of its own counts as a reading that is off by its noise. */
#define FACTOR_WEIGHT_W2 (USUAL_NOISE_W2 / (FACTOR_SD * FACTOR_SD))
/* Measured (slow_total): of 16, ages are wrong by more than what chance alone says. */
#define DOUBTED_READINGS 6
/* What no part tells of, as fans and disks, goes on for so long; readings also have noise. */
#define ALIKE_S 5.0
#define MAX_ALIKE 0.9
/* What is so unlikely, in noises, is not looked at closely. */
#define NEAR 9
/* A told window may be a minute. */
#define MAX_WINDOW_NS (60 * 1000000000ULL)
#define N_AGES ((WATT_MATCH_MAX_DELAY_NS + MAX_WINDOW_NS / 2) / COARSE_NS + 1)
#define N_TERMS (WATT_MATCH_PARTS + 1)

/* Means that are tried where nobody tells of how long they are; most BMCs have that of a second. */
static const uint64_t windows_ns[] = { 100000000, 500000000, 1000000000, 2000000000, 4000000000 };
static const double window_weights[] = { 1, 1, 4, 1, 1 };
#define N_WINDOWS WATT_ARRAY_SIZE(windows_ns)

/* What a reading is made of: each part and 1. */
struct reading {
	double terms[N_TERMS];
	double power_w;
	uint64_t t_ns;
};

/*
 * One fit: sums of products of the terms and the reading, each without what the reading before has
 * told already of what no part tells of.
 */
struct fit {
	double a[N_TERMS][N_TERMS];
	double b[N_TERMS];
	double yy;
	double expected;      /* as yy, of what was expected before */
	double x[N_TERMS];    /* the solution */
	double left;          /* sum of squares that it leaves */
	double sum_w, sum_w2; /* of the readings as they are */
	struct reading last;
	uint64_t dt_ns; /* between the two newest readings, and how alike those are: */
	double alike, scale;
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

/* How alike what is left of two readings is: exp(), nearly, and the same on every processor. */
static double get_alike(uint64_t t0_ns, uint64_t t1_ns)
{
	double x = 1 + (double)(t1_ns - t0_ns) / 1e9 / ALIKE_S / 4;

	x *= x;
	return WATT_MIN(1 / (x * x), MAX_ALIKE);
}

static void add_reading(struct fit *fit, const struct reading *reading)
{
	uint64_t dt_ns = fit->n ? reading->t_ns - fit->last.t_ns : 0;
	double terms[N_TERMS], power_w;
	size_t i, j;

	if (!fit->n || dt_ns != fit->dt_ns) {
		fit->alike = fit->n ? get_alike(fit->last.t_ns, reading->t_ns) : 0;
		fit->scale = 1 / sqrt(1 - fit->alike * fit->alike);
		fit->dt_ns = dt_ns;
	}
	power_w = (reading->power_w - fit->alike * fit->last.power_w) * fit->scale;
	for (i = 0; i < N_TERMS; i++)
		terms[i] = (reading->terms[i] - fit->alike * fit->last.terms[i]) * fit->scale;
	for (i = 0; i < N_TERMS; i++) {
		for (j = 0; j <= i; j++)
			fit->a[i][j] += terms[i] * terms[j];
		fit->b[i] += terms[i] * power_w;
	}
	fit->yy += power_w * power_w;
	fit->sum_w += reading->power_w;
	fit->sum_w2 += reading->power_w * reading->power_w;
	fit->last = *reading;
	fit->n++;
}

/* The sum of squares that there was before anything was explained. */
static double get_total(const struct fit *fit)
{
	return fit->sum_w2 - fit->sum_w * fit->sum_w / (double)WATT_MAX(fit->n, (size_t)1);
}

/* The lesser part that is explained: of the readings, and of what each says that is new. */
static double get_explained(const struct fit *fit, double rest_squares)
{
	double news = fit->yy - fit->b[0] * fit->b[0] / fit->a[0][0];

	return 1 - WATT_MAX(rest_squares / get_total(fit), fit->left / news);
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
}

/*
 * The rest, which is 1, and the mean of each part in its window. false: there is no history of it
 * at every age that is tried, and each is to be judged by the same.
 */
static bool get_reading(const struct watt_match_parts *parts, const struct watt_observation *seen,
			uint64_t delay_ns, uint64_t window_ns, struct reading *ret)
{
	uint64_t w_ns = seen->window_ns ? seen->window_ns : window_ns;
	uint64_t t1_ns = seen->t_ns - delay_ns;
	size_t p;

	if (seen->t_ns < WATT_MATCH_MAX_DELAY_NS + w_ns ||
	    !is_known(parts, seen->t_ns - WATT_MATCH_MAX_DELAY_NS - w_ns, seen->t_ns))
		return false;
	*ret = (struct reading){ .terms = { 1 }, .power_w = seen->power_w, .t_ns = seen->t_ns };
	for (p = 0; p < WATT_MATCH_PARTS; p++)
		if (parts->energy_j[p])
			ret->terms[1 + p] =
				(energy_at(parts, p, t1_ns) - energy_at(parts, p, t1_ns - w_ns)) /
				((double)w_ns / 1e9);
	return true;
}

static void fit_at(const struct watt_match_parts *parts, const struct watt_observation *list,
		   size_t n, uint64_t delay_ns, uint64_t window_ns, struct fit *ret)
{
	struct reading reading;
	size_t i, p;

	*ret = (struct fit){ 0 };
	for (i = 0; i < n; i++)
		if (get_reading(parts, &list[i], delay_ns, window_ns, &reading))
			add_reading(ret, &reading);
	for (p = 0; p < WATT_MATCH_PARTS; p++)
		if (parts->energy_j[p])
			expect_one(ret, 1 + p);
	solve(ret);
}

struct best {
	struct fit fit;
	uint64_t delay_ns;
	uint64_t window_ns;
	/* What is left at each age and window of the coarse grid; INFINITY: it was not tried. */
	double left[N_AGES][N_WINDOWS];
};

/* Of the mean that is tried; where it is told, each reading has its own, and this is the first. */
static uint64_t get_window_ns(const struct watt_observation *list, size_t window)
{
	return list[0].window_ns ? list[0].window_ns : windows_ns[window];
}

static size_t count_windows(const struct watt_observation *list)
{
	return list[0].window_ns ? 1 : N_WINDOWS;
}

/* INFINITY: no reading is of that age. */
static double try_at(const struct watt_match_parts *parts, const struct watt_observation *list,
		     size_t n, int64_t age_ns, size_t window, struct best *best)
{
	uint64_t window_ns = get_window_ns(list, window);
	int64_t delay_ns = age_ns - (int64_t)(window_ns / 2);
	struct fit fit;

	if (delay_ns < 0 || delay_ns > (int64_t)WATT_MATCH_MAX_DELAY_NS)
		return INFINITY;
	fit_at(parts, list, n, (uint64_t)delay_ns, window_ns, &fit);
	if (!best->fit.n || fit.left < best->fit.left) {
		best->fit = fit;
		best->delay_ns = (uint64_t)delay_ns;
		best->window_ns = window_ns;
	}
	return fit.left;
}

/* The best of a coarse grid, then of a fine one around that. */
static void search(const struct watt_match_parts *parts, const struct watt_observation *list,
		   size_t n, struct best *ret)
{
	int64_t around_ns, age_ns, half_ns;
	size_t w, a;

	*ret = (struct best){ .fit = { .n = 0 } };
	for (w = 0; w < count_windows(list); w++)
		for (a = 0; a < N_AGES; a++) {
			age_ns = (int64_t)(a * COARSE_NS);
			half_ns = (int64_t)(get_window_ns(list, w) / 2);
			if (age_ns < half_ns && age_ns + (int64_t)COARSE_NS > half_ns)
				age_ns = half_ns; /* the youngest that there is */
			ret->left[a][w] = try_at(parts, list, n, age_ns, w, ret);
		}
	around_ns = (int64_t)(ret->delay_ns + ret->window_ns / 2);
	for (w = 0; w < count_windows(list); w++)
		for (age_ns = around_ns - (int64_t)COARSE_NS;
		     age_ns <= around_ns + (int64_t)COARSE_NS; age_ns += (int64_t)FINE_NS)
			try_at(parts, list, n, age_ns, w, ret);
}

/* What a fit leaves of the readings. */
struct rest {
	double squares;     /* their sum, of the readings as they are */
	double independent; /* how many readings they are worth */
};

/*
 * What no part tells of goes on from one reading to the next: by what is left, where neighbours are
 * still alike, they say the same again.
 */
static struct rest find_rest(const struct watt_match_parts *parts,
			     const struct watt_observation *list, size_t n, const struct fit *fit,
			     uint64_t delay_ns, uint64_t window_ns)
{
	double last_w = 0, before = 0, products = 0, squares = 0, alike;
	struct rest rest = { 0 };
	struct reading reading;
	uint64_t last_ns = 0;
	size_t i, t;

	for (i = 0; i < n; i++) {
		double left_w, news;

		if (!get_reading(parts, &list[i], delay_ns, window_ns, &reading))
			continue;
		left_w = reading.power_w;
		for (t = 0; t < N_TERMS; t++)
			left_w -= fit->x[t] * reading.terms[t];
		rest.squares += left_w * left_w;
		alike = last_ns ? get_alike(last_ns, reading.t_ns) : 0;
		news = (left_w - alike * last_w) / sqrt(1 - alike * alike);
		products += before * news;
		squares += news * news;
		before = news;
		last_w = left_w;
		last_ns = reading.t_ns;
	}
	alike = squares > 0 ? WATT_MIN(WATT_MAX(products / squares, 0), 0.99) : 0;
	rest.independent = (double)fit->n * (1 - alike) / (1 + alike);
	return rest;
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
		(products - sum * fit->b[0] / fit->a[0][0]) / (squares - sum * sum / fit->a[0][0]);
	return per_watt >= MIN_PER_WATT && per_watt <= MAX_PER_WATT;
}

/* What the readings say of the age: each that is tried counts by how well it explains them. */
struct belief {
	double least, noise;
	double sum, sum_ns, sum_ns2;
};

static void believe(struct belief *belief, double age_ns, double left, double weight)
{
	/* exp(), but for improbable ages, and the same to the last digit on every processor */
	double unlikely = 1 + WATT_MAX(left - belief->least, 0) / (2 * belief->noise) / 16;

	unlikely *= unlikely;
	unlikely *= unlikely;
	unlikely *= unlikely;
	weight /= unlikely * unlikely;
	belief->sum += weight;
	belief->sum_ns += weight * age_ns;
	belief->sum_ns2 += weight * age_ns * age_ns;
}

static double get_noise(const struct best *best, const struct rest *rest)
{
	double noise = (best->fit.left + USUAL_READINGS * USUAL_NOISE_W2) /
		       (WATT_MAX(rest->independent - N_TERMS, 0) + USUAL_READINGS);

	/* the search has bent itself to few, and what nobody models goes on from one to the next */
	return WATT_MAX(noise, MIN_NOISE_W2) * (1 + DOUBTED_READINGS / (double)best->fit.n);
}

/*
 * The mean of all ages, each by how well it explains the readings, and how far they are from it:
 * where few readings saw a change, there are ages that explain them alike.
 */
static double find_age_ns(const struct watt_match_parts *parts, const struct watt_observation *list,
			  size_t n, struct best *best, double noise, double *ret_uncertainty_ns)
{
	struct belief belief = { .least = best->fit.left, .noise = noise };
	size_t at = (best->delay_ns + best->window_ns / 2) / COARSE_NS, a, w;
	double limit = belief.least + 2 * belief.noise * NEAR, mean_ns, var_ns2;
	int64_t age_ns;
	int i;

	for (a = 0; a < N_AGES; a++)
		for (w = 0; w < count_windows(list); w++) {
			if (best->left[a][w] > limit && a + 1 != at && a != at && a != at + 1)
				continue;
			for (i = -2; i < 2; i++) {
				age_ns = (int64_t)(a * COARSE_NS) + i * (int64_t)FINE_NS;
				believe(&belief, (double)age_ns,
					try_at(parts, list, n, age_ns, w, best), window_weights[w]);
			}
		}
	mean_ns = belief.sum_ns / belief.sum;
	var_ns2 = WATT_MAX(belief.sum_ns2 / belief.sum - mean_ns * mean_ns, 0);
	/* the grid itself is worth something, too */
	*ret_uncertainty_ns = sqrt(var_ns2 + (double)FINE_NS * (double)FINE_NS / 12);
	return mean_ns;
}

/* Whether the readings say so, or chance might as well. */
static bool is_believed(const struct best *best, double explained, size_t n_parts,
			double uncertainty_ns)
{
	double min_explained = best->fit.n < SOME_READINGS(n_parts) ? MIN_EXPLAINED_BY_FEWEST :
			       best->fit.n < ENOUGH_READINGS        ? MIN_EXPLAINED_BY_FEW :
								      MIN_EXPLAINED;

	return best->fit.n >= MIN_READINGS && is_their_sum(&best->fit) &&
	       explained >= min_explained && uncertainty_ns <= MAX_UNCERTAINTY_NS &&
	       best->delay_ns < WATT_MATCH_MAX_DELAY_NS;
}

int watt_match_find(const struct watt_match_parts *parts, const struct watt_observation *list,
		    size_t n, struct watt_match *ret)
{
	struct best best;
	double uncertainty_ns, age_ns, explained;
	struct rest rest;
	uint64_t window_ns, delay_ns;
	size_t p, n_parts = 0;

	for (p = 0; p < WATT_MATCH_PARTS; p++)
		n_parts += parts->energy_j[p] != NULL;
	if (n < MIN_GUESS_READINGS || list[n - 1].t_ns - list[0].t_ns < MIN_SPAN_NS)
		return -EAGAIN;
	search(parts, list, n, &best);
	if (best.fit.n < MIN_GUESS_READINGS ||
	    get_total(&best.fit) < MIN_SD_W * MIN_SD_W * (double)best.fit.n)
		return -EAGAIN;
	rest = find_rest(parts, list, n, &best.fit, best.delay_ns, best.window_ns);
	age_ns = find_age_ns(parts, list, n, &best, get_noise(&best, &rest), &uncertainty_ns);
	rest = find_rest(parts, list, n, &best.fit, best.delay_ns, best.window_ns);
	explained = get_explained(&best.fit, rest.squares);
	delay_ns = (uint64_t)WATT_MAX(age_ns - (double)best.window_ns / 2, 0);
	window_ns = list[n - 1].window_ns ? list[n - 1].window_ns : best.window_ns;
	*ret = (struct watt_match){
		.delay_ns = delay_ns,
		.window_ns = window_ns,
		.age_ns = delay_ns + window_ns / 2,
		.uncertainty_ns = (uint64_t)uncertainty_ns,
		.explained_ratio = explained,
		.rest_w = best.fit.x[0],
		.n = best.fit.n,
	};
	memcpy(ret->factor, best.fit.x + 1, sizeof(ret->factor));
	return is_believed(&best, explained, n_parts, uncertainty_ns) ? 0 : -ENODATA;
}

bool watt_match_holds(const struct watt_match_parts *parts, const struct watt_observation *list,
		      size_t n, const struct watt_match *match)
{
	struct rest rest;
	struct fit fit;

	fit_at(parts, list, n, match->delay_ns, match->window_ns, &fit);
	if (fit.n < DOUBTING_READINGS || get_total(&fit) < MIN_SD_W * MIN_SD_W * (double)fit.n)
		return true;
	rest = find_rest(parts, list, n, &fit, match->delay_ns, match->window_ns);
	return is_their_sum(&fit) && get_explained(&fit, rest.squares) >= MIN_EXPLAINED;
}
