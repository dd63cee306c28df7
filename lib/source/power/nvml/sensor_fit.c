/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The period is the slope of the edges over their numbers. Window and delay are those with which
 * the mean of the load explains the readings best, by a line: where the load is random, only the
 * true ones do. It must not read a clock or a GPU.
 */
#include "source/power/nvml/sensor_fit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/util.h"

#define MIN_EDGES 12
#define MIN_GAPS 6
#define MIN_EXPLAINED 0.7
#define MAX_DELAY_NS (600 * WATT_NSEC_PER_MSEC)
#define DELAY_STEP_NS (5 * WATT_NSEC_PER_MSEC)
#define MIN_WINDOW_NS (2 * WATT_NSEC_PER_MSEC)
#define MAX_WINDOW_NS (1500 * WATT_NSEC_PER_MSEC)
/*
 * From one window that is tried to the next: so near that the refinement finds the rest, for which
 * the ends of a long one must be as near as those of a short one.
 */
#define WINDOW_PARTS 4
#define WINDOW_STEP_NS (12 * WATT_NSEC_PER_MSEC)
#define FINEST_NS (100 * WATT_NSEC_PER_USEC)
/* Where nobody looked for longer, as on a busy machine, nobody knows when a value came. */
#define MAX_DOUBT_NS (8 * WATT_NSEC_PER_MSEC)
/* The gain of a board is off by up to 5 %, uniformly; what is not seen may be anything: a quarter
 * of the time seen is worth 5 % as a whole. */
#define GAIN_PPM 28868.0
#define UNSEEN_PPM 54433.0

struct work {
	const struct watt_load_pulse *pulses;
	size_t n_pulses;
	uint64_t *before_ns; /* on-time before each pulse */
	const struct watt_sensor_edge *edges;
	size_t n_edges;
	bool is_counter;
	double *x, *y;
};

/* ---- cadence ---- */

static uint64_t edge_ns(const struct watt_sensor_edge *edge)
{
	return edge->before_ns ? edge->before_ns + (edge->t_ns - edge->before_ns) / 2 : edge->t_ns;
}

static bool is_sure(const struct watt_sensor_edge *edge)
{
	return edge->before_ns && edge->t_ns - edge->before_ns <= MAX_DOUBT_NS;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/*
 * Where two values are the same no edge is seen, so many gaps may be of several periods: the median
 * of those that are about as short as the shortest. Only where the times of both ends are known: a
 * late one is taken for two, and a period for shorter than it is.
 */
static uint64_t usual_gap_ns(const struct work *work, uint64_t *gaps_ns)
{
	size_t i, n = 0;

	for (i = 1; i < work->n_edges; i++)
		if (is_sure(&work->edges[i - 1]) && is_sure(&work->edges[i]))
			gaps_ns[n++] = edge_ns(&work->edges[i]) - edge_ns(&work->edges[i - 1]);
	if (n < MIN_GAPS)
		return 0;
	qsort(gaps_ns, n, sizeof(*gaps_ns), compare_u64);
	for (i = 0; i < n && gaps_ns[i] < gaps_ns[n / 10] / 2 * 3; i++)
		;
	return gaps_ns[i / 2];
}

/* The slope of a line through them: those between two readings far apart count for little. */
static double slope_ns(const struct watt_sensor_edge *edges, size_t n, double period_ns)
{
	double sw = 0, sk = 0, st = 0, skk = 0, skt = 0, k = 0;
	uint64_t first_ns = edge_ns(&edges[0]);
	size_t i;

	for (i = 0; i < n; i++) {
		double t_ns = (double)(edge_ns(&edges[i]) - first_ns);
		double doubt_ns = (double)(edges[i].t_ns - edges[i].before_ns);
		double weight = 1 / (doubt_ns * doubt_ns + 1e10);

		if (i)
			k += WATT_MAX(round((t_ns - (double)(edge_ns(&edges[i - 1]) - first_ns)) /
					    period_ns),
				      1.0);
		sw += weight;
		sk += weight * k;
		st += weight * t_ns;
		skk += weight * k * k;
		skt += weight * k * t_ns;
	}
	return (sw * skt - sk * st) / (sw * skk - sk * sk);
}

static int find_period(const struct work *work, uint64_t *ret_ns)
{
	_cleanup_free_ struct watt_sensor_edge *sure = calloc(work->n_edges, sizeof(*sure));
	_cleanup_free_ uint64_t *gaps_ns = calloc(work->n_edges, sizeof(*gaps_ns));
	double period_ns;
	size_t i, n = 0;

	if (!sure || !gaps_ns)
		return -ENOMEM;
	for (i = 0; i < work->n_edges; i++)
		if (is_sure(&work->edges[i]))
			sure[n++] = work->edges[i];
	period_ns = (double)usual_gap_ns(work, gaps_ns);
	if (n < MIN_EDGES || period_ns < 1)
		return -ENODATA;
	period_ns = slope_ns(sure, n, period_ns);
	*ret_ns = (uint64_t)slope_ns(sure, n, period_ns);
	return 0;
}

/* ---- window and delay ---- */

/* How long the load was on before an instant. */
static uint64_t on_before_ns(const struct work *work, uint64_t t_ns)
{
	size_t low = 0, high = work->n_pulses, middle;
	const struct watt_load_pulse *pulse;

	while (low < high) {
		middle = (low + high) / 2;
		if (work->pulses[middle].from_ns < t_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return 0;
	pulse = &work->pulses[low - 1];
	return work->before_ns[low - 1] + WATT_MIN(t_ns, pulse->to_ns) - pulse->from_ns;
}

static double load_between(const struct work *work, uint64_t from_ns, uint64_t to_ns)
{
	return (double)(on_before_ns(work, to_ns) - on_before_ns(work, from_ns)) /
	       (double)(to_ns - from_ns);
}

/* Part of the variance of y that a rising line of x explains. */
static double explained(const double *x, const double *y, size_t n)
{
	double sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		sx += x[i];
		sy += y[i];
	}
	for (i = 0; i < n; i++) {
		double dx = x[i] - sx / (double)n, dy = y[i] - sy / (double)n;

		sxx += dx * dx;
		sxy += dx * dy;
		syy += dy * dy;
	}
	return sxx > 0 && syy > 0 && sxy > 0 ? sxy * sxy / (sxx * syy) : 0;
}

static double judge(const struct work *work, uint64_t window_ns, uint64_t delay_ns)
{
	size_t i, n = 0;

	for (i = 1; i < work->n_edges; i++) {
		uint64_t to_ns = edge_ns(&work->edges[i]) - delay_ns;
		uint64_t span_ns = edge_ns(&work->edges[i]) - edge_ns(&work->edges[i - 1]);
		int64_t value = work->edges[i].value;

		/* a counter's step belongs to the time between both */
		if (!is_sure(&work->edges[i]) ||
		    (work->is_counter && !is_sure(&work->edges[i - 1])))
			continue;
		work->y[n] = work->is_counter ?
				     (double)(value - work->edges[i - 1].value) / (double)span_ns :
				     (double)value;
		if (work->is_counter)
			window_ns = span_ns;
		work->x[n++] = load_between(work, to_ns - window_ns, to_ns);
	}
	return n < MIN_EDGES ? 0 : explained(work->x, work->y, n);
}

static void try_it(const struct work *work, uint64_t window_ns, uint64_t delay_ns,
		   struct watt_sensor_fit *best)
{
	double found;

	if (window_ns < MIN_WINDOW_NS / 2 || delay_ns > MAX_DELAY_NS)
		return;
	found = judge(work, window_ns, delay_ns);
	if (found > best->explained) {
		best->explained = found;
		best->window_ns = window_ns;
		best->delay_ns = delay_ns;
	}
}

/* Ever smaller steps to whatever side is better, along each of both and with the centre kept. */
static void refine(const struct work *work, struct watt_sensor_fit *best)
{
	uint64_t step_ns = 8 * WATT_NSEC_PER_MSEC;

	while (step_ns >= FINEST_NS) {
		const struct watt_sensor_fit at = *best;

		try_it(work, at.window_ns + step_ns, at.delay_ns, best);
		try_it(work, at.window_ns - WATT_MIN(step_ns, at.window_ns), at.delay_ns, best);
		try_it(work, at.window_ns, at.delay_ns + step_ns, best);
		try_it(work, at.window_ns, at.delay_ns - WATT_MIN(step_ns, at.delay_ns), best);
		try_it(work, at.window_ns + 2 * step_ns,
		       at.delay_ns - WATT_MIN(step_ns, at.delay_ns), best);
		try_it(work, at.window_ns - WATT_MIN(2 * step_ns, at.window_ns),
		       at.delay_ns + step_ns, best);
		if (at.explained >= best->explained)
			step_ns /= 2;
	}
}

static int find_window(const struct work *work, struct watt_sensor_fit *ret)
{
	uint64_t window_ns, delay_ns;

	for (delay_ns = 0; delay_ns <= MAX_DELAY_NS; delay_ns += DELAY_STEP_NS) {
		if (work->is_counter) {
			try_it(work, ret->period_ns, delay_ns, ret);
			continue;
		}
		for (window_ns = MIN_WINDOW_NS; window_ns <= MAX_WINDOW_NS;
		     window_ns += WATT_MIN(window_ns / WINDOW_PARTS, WINDOW_STEP_NS))
			try_it(work, window_ns, delay_ns, ret);
	}
	if (ret->explained < MIN_EXPLAINED)
		return -ENODATA;
	refine(work, ret);
	if (work->is_counter)
		ret->window_ns = 0;
	return 0;
}

static int fit(struct work *work, struct watt_sensor_fit *ret)
{
	size_t i;
	int r;

	work->before_ns = calloc(work->n_pulses + 1, sizeof(*work->before_ns));
	work->x = calloc(work->n_edges, sizeof(*work->x));
	work->y = calloc(work->n_edges, sizeof(*work->y));
	if (!work->before_ns || !work->x || !work->y)
		return -ENOMEM;
	for (i = 1; i < work->n_pulses; i++)
		work->before_ns[i] = work->before_ns[i - 1] + work->pulses[i - 1].to_ns -
				     work->pulses[i - 1].from_ns;
	*ret = (struct watt_sensor_fit){ 0 };
	r = find_period(work, &ret->period_ns);
	return r < 0 ? r : find_window(work, ret);
}

int watt_sensor_fit(const struct watt_load_pulse *pulses, size_t n_pulses,
		    const struct watt_sensor_edge *edges, size_t n_edges, bool is_counter,
		    struct watt_sensor_fit *ret)
{
	struct work work = { .pulses = pulses,
			     .n_pulses = n_pulses,
			     .edges = edges,
			     .n_edges = n_edges,
			     .is_counter = is_counter };
	int r;

	if (n_edges < MIN_EDGES)
		return -ENODATA;
	r = fit(&work, ret);
	free(work.before_ns);
	free(work.x);
	free(work.y);
	return r;
}

struct watt_gpu_timing watt_sensor_fit_timing(const struct watt_sensor_fit *fit, bool is_counter)
{
	double seen = is_counter || fit->window_ns >= fit->period_ns ?
			      1 :
			      (double)fit->window_ns / (double)fit->period_ns;

	return (struct watt_gpu_timing){ .period_ns = fit->period_ns,
					 .window_ns = fit->window_ns,
					 .delay_ns = fit->delay_ns,
					 .coverage_ppm = (uint32_t)round(seen * 1e6),
					 .uncertainty_ppm = (uint32_t)round(
						 hypot(GAIN_PPM, UNSEEN_PPM * (1 - seen))) };
}
