/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lower envelope of power against activity. Points of some slices fall into bins of activity; each
 * bin is represented by its first decile, which noise and the odd disturbance do not move. Where the
 * machine was seen idle, idle power is what was seen; else it is where the line through the bins,
 * lowered until no bin lies below it, meets zero activity.
 */
#include "attrib/baseline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "base/words.h"

#define BLOCK_NS 45000000ULL /* one slice of the usual length */
#define MIN_IDLE_POINTS 20   /* in the lowest bin: 1 s of an idle machine */
#define MIN_BIN_POINTS 4     /* for a bin to count */
#define MIN_BINS 6           /* for a line */
#define MIN_POINTS 60        /* for a line: 3 s */
/*
 * How far off an extrapolated idle power may be. Programs that differ have the line end too low: by
 * so much, in percent, of the way from there to the least power that was seen. What bends the line,
 * as siblings of cores and turbo do, has it end too high, by the more the longer it goes on where
 * nobody has been: by so much of itself, in percent, if that is from all CPUs busy to none.
 */
#define DOUBT_PERCENT 40
#define BEND_PERCENT 50
/*
 * Where nothing is known it may be anything from 0 to the least power that was seen. Taken for 0 it
 * is wrong by 1 / sqrt(3) of that, as a root of the mean square, and by no more than 1.74 of those.
 */
#define UNKNOWN_PERMILLE 577

void watt_baseline_done(struct watt_baseline *baseline)
{
	free(baseline->bins);
	*baseline = (struct watt_baseline){ 0 };
}

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void bin_add(struct watt_baseline_bin *bin, uint32_t power_mw)
{
	uint32_t sorted[WATT_BASELINE_DEPTH];

	bin->power_mw[bin->next] = power_mw;
	bin->next = (bin->next + 1) % WATT_BASELINE_DEPTH;
	bin->n = WATT_MIN(bin->n + 1, (uint32_t)WATT_BASELINE_DEPTH);
	memcpy(sorted, bin->power_mw, bin->n * sizeof(*sorted));
	qsort(sorted, bin->n, sizeof(*sorted), compare_u32);
	bin->low_mw = sorted[bin->n / 10];
}

static bool counts(const struct watt_baseline_bin *bin)
{
	return bin->n >= MIN_BIN_POINTS;
}

/*
 * A straight line of power against activity, by least squares, in halves of bins, of which those
 * that count lie in the odd ones. Slope and intercept are parts of `whole`, so that nothing is
 * rounded: who divides by the same rule elsewhere must come to the same.
 */
struct line {
	int64_t slope, whole;
};

static struct line fit_line(const struct watt_baseline_bin *bins)
{
	int64_t n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
	int64_t i;

	for (i = 0; i < WATT_BASELINE_BINS; i++) {
		int64_t x = 2 * i + 1, y = bins[i].low_mw;

		if (!counts(&bins[i]))
			continue;
		n++;
		sx += x;
		sy += y;
		sxx += x * x;
		sxy += x * y;
	}
	return (struct line){ .slope = n * sxy - sx * sy, .whole = n * sxx - sx * sx };
}

/* Where the line meets zero activity when it is lowered until no bin lies below it. */
static uint64_t lowered_intercept_uw(const struct watt_baseline_bin *bins, struct line line)
{
	int64_t least = INT64_MAX, i;

	for (i = 0; i < WATT_BASELINE_BINS; i++)
		if (counts(&bins[i]))
			least = WATT_MIN(least,
					 bins[i].low_mw * line.whole - line.slope * (2 * i + 1));
	return least > 0 ? (uint64_t)((watt_u128)least * 1000 / (uint64_t)line.whole) : 0;
}

static uint32_t lowest_mw(const struct watt_baseline_bin *bins)
{
	uint32_t low = UINT32_MAX;
	size_t i;

	for (i = 0; i < WATT_BASELINE_BINS; i++)
		if (counts(&bins[i]))
			low = WATT_MIN(low, bins[i].low_mw);
	return low;
}

/* How far the line goes on below all that was seen, in halves of bins. */
static uint64_t unseen_halves(const struct watt_baseline_bin *bins)
{
	uint64_t i = 0;

	while (i < WATT_BASELINE_BINS && !counts(&bins[i]))
		i++;
	return 2 * i + 1;
}

static size_t used_bins(const struct watt_baseline_bin *bins)
{
	size_t i, n = 0;

	for (i = 0; i < WATT_BASELINE_BINS; i++)
		n += counts(&bins[i]);
	return n;
}

static void judge(struct watt_baseline *baseline)
{
	const struct watt_baseline_bin *bins = baseline->bins;
	uint64_t lowest_uw, bend_uw;

	baseline->doubt_uw = 0;
	if (!baseline->is_ready)
		baseline->from = WATT_BASELINE_UNKNOWN;
	else if (baseline->is_given || !bins)
		baseline->from = WATT_BASELINE_GIVEN;
	else if (bins[0].n >= MIN_IDLE_POINTS)
		baseline->from = WATT_BASELINE_SEEN;
	else
		baseline->from = WATT_BASELINE_EXTRAPOLATED;
	if (baseline->from != WATT_BASELINE_EXTRAPOLATED)
		return;
	lowest_uw = WATT_MAX(lowest_mw(bins) * 1000ULL, baseline->baseline_uw);
	bend_uw = baseline->baseline_uw * unseen_halves(bins) / (2ULL * WATT_BASELINE_BINS) *
		  BEND_PERCENT / 100;
	baseline->doubt_uw = (lowest_uw - baseline->baseline_uw) * DOUBT_PERCENT / 100;
	baseline->doubt_uw = WATT_MAX(baseline->doubt_uw, bend_uw);
}

static void learn(struct watt_baseline *baseline)
{
	const struct watt_baseline_bin *bins = baseline->bins;
	uint64_t lowest_uw;

	if (bins[0].n >= MIN_IDLE_POINTS) {
		baseline->baseline_uw = bins[0].low_mw * 1000ULL;
	} else if (used_bins(bins) >= MIN_BINS && baseline->points >= MIN_POINTS) {
		lowest_uw = lowest_mw(bins) * 1000ULL;
		baseline->baseline_uw = lowered_intercept_uw(bins, fit_line(bins));
		baseline->baseline_uw = WATT_MIN(baseline->baseline_uw, lowest_uw);
	} else {
		return;
	}
	baseline->is_ready = true;
	judge(baseline);
}

static int add_block(struct watt_baseline *baseline, uint32_t n_cpus)
{
	uint64_t power_mw =
		(uint64_t)((watt_u128)baseline->block_energy_nj * 1000 / baseline->block_ns);
	uint64_t capacity_ns = baseline->block_ns * n_cpus;
	size_t bin = WATT_BASELINE_BINS * baseline->block_busy_ns / (capacity_ns ? capacity_ns : 1);

	if (!baseline->bins) {
		baseline->bins = calloc(WATT_BASELINE_BINS, sizeof(*baseline->bins));
		if (!baseline->bins)
			return -ENOMEM;
	}
	bin_add(&baseline->bins[WATT_MIN(bin, (size_t)WATT_BASELINE_BINS - 1)],
		(uint32_t)WATT_MIN(power_mw, (uint64_t)UINT32_MAX));
	baseline->points++;
	learn(baseline);
	return 0;
}

int watt_baseline_add(struct watt_baseline *baseline, uint64_t dt_ns, int64_t energy_nj,
		      uint64_t busy_ns, uint32_t n_cpus)
{
	int r = 0;

	if (energy_nj < 0 || baseline->is_given)
		return 0;
	baseline->block_ns += dt_ns;
	baseline->block_energy_nj += (uint64_t)energy_nj;
	baseline->block_busy_ns += busy_ns;
	if (baseline->block_ns < WATT_MAX(BLOCK_NS, baseline->min_block_ns))
		return 0;
	r = add_block(baseline, n_cpus);
	baseline->block_ns = baseline->block_energy_nj = baseline->block_busy_ns = 0;
	return r;
}

int64_t watt_baseline_idle_nj(const struct watt_baseline *baseline, uint64_t dt_ns,
			      int64_t energy_nj)
{
	watt_u128 idle_nj;

	if (!baseline->is_ready || energy_nj <= 0)
		return 0;
	idle_nj = (watt_u128)baseline->baseline_uw * dt_ns / 1000000;
	return idle_nj < (watt_u128)energy_nj ? (int64_t)idle_nj : energy_nj;
}

uint64_t watt_baseline_doubt_uw(const struct watt_baseline *baseline)
{
	uint32_t low_mw = UINT32_MAX;
	size_t i;

	if (baseline->is_ready)
		return baseline->doubt_uw;
	for (i = 0; baseline->bins && i < WATT_BASELINE_BINS; i++)
		if (baseline->bins[i].n)
			low_mw = WATT_MIN(low_mw, baseline->bins[i].low_mw);
	return low_mw == UINT32_MAX ? UINT64_MAX : (uint64_t)low_mw * UNKNOWN_PERMILLE;
}

static void visit_bin(struct watt_baseline_bin *bin, struct watt_words *words)
{
	uint32_t i;

	watt_words_u32(words, &bin->n, WATT_BASELINE_DEPTH);
	watt_words_u32(words, &bin->next, WATT_BASELINE_DEPTH - 1);
	watt_words_u32(words, &bin->low_mw, UINT32_MAX);
	for (i = 0; i < bin->n && !words->error; i++)
		watt_words_u32(words, &bin->power_mw[i], UINT32_MAX);
}

int watt_baseline_visit(struct watt_baseline *baseline, struct watt_words *words)
{
	bool has_bins = baseline->bins;
	size_t i;

	watt_words_bool(words, &has_bins);
	if (has_bins && !baseline->bins) {
		baseline->bins = calloc(WATT_BASELINE_BINS, sizeof(*baseline->bins));
		if (!baseline->bins)
			words->error = -ENOMEM;
	}
	for (i = 0; has_bins && i < WATT_BASELINE_BINS && !words->error; i++)
		visit_bin(&baseline->bins[i], words);
	watt_words_u64(words, &baseline->block_ns, UINT64_MAX >> 2);
	watt_words_u64(words, &baseline->block_energy_nj, UINT64_MAX >> 2);
	watt_words_u64(words, &baseline->block_busy_ns, UINT64_MAX >> 2);
	watt_words_u64(words, &baseline->points, UINT64_MAX >> 2);
	watt_words_u64(words, &baseline->baseline_uw, UINT64_MAX >> 2);
	watt_words_bool(words, &baseline->is_ready);
	if (words->error && words->is_loading)
		baseline->is_ready = baseline->is_given;
	judge(baseline);
	return words->error;
}
