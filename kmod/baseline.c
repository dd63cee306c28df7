// SPDX-License-Identifier: GPL-2.0-only
/*
 * Points of power fall into bins of activity, each of which is represented by its first decile, so
 * that neither noise nor the odd disturbance moves it. Where the machine was seen idle, idle power
 * is what was seen; else it is where the line through the bins, lowered until no bin lies below
 * it, meets zero activity. It is the arithmetic of the library in the kernel's terms: a test feeds
 * both.
 */
#include "baseline.h"

#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "compat.h"

/* Counters have a new value each ms: shorter blocks do not show power. */
#define BLOCK_NS (45 * NSEC_PER_MSEC)
#define MIN_IDLE_POINTS 20 /* in the lowest bin */
#define MIN_BIN_POINTS 4   /* for a bin to count */
#define MIN_BINS 6         /* for a line */
#define MIN_POINTS 60      /* for a line */

#define TENTH (WATT_BASELINE_DEPTH / 10)

u64 watt_baseline_idle_nj(const struct watt_baseline *baseline, u64 time_ns, u64 energy_nj)
{
	if (!baseline->is_known)
		return 0;
	return min(watt_mul_div(baseline->power_uw, time_ns, 1000000), energy_nj);
}

/* The least tenth of the points in order, the largest of them: its end. */
static u32 first_decile(const struct watt_baseline_bin *bin)
{
	u32 least[TENTH + 1], n = 0, i, j;

	for (i = 0; i < bin->n; i++) {
		u32 power_mw = bin->power_mw[i];

		if (n > bin->n / 10 && power_mw >= least[n - 1])
			continue;
		j = n > bin->n / 10 ? n - 1 : n++;
		for (; j && least[j - 1] > power_mw; j--)
			least[j] = least[j - 1];
		least[j] = power_mw;
	}
	return least[n - 1];
}

static void add_point(struct watt_baseline_bin *bin, u32 power_mw)
{
	bin->power_mw[bin->next] = power_mw;
	bin->next = (bin->next + 1) % WATT_BASELINE_DEPTH;
	bin->n = min_t(u32, bin->n + 1, WATT_BASELINE_DEPTH);
	bin->low_mw = first_decile(bin);
}

static bool counts(const struct watt_baseline_bin *bin)
{
	return bin->n >= MIN_BIN_POINTS;
}

/* By least squares, in halves of bins; the slope is a part of `whole`. */
struct line {
	s64 slope, whole;
};

static struct line fit_line(const struct watt_baseline_bin *bins)
{
	s64 n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, i;

	for (i = 0; i < WATT_BASELINE_BINS; i++) {
		s64 x = 2 * i + 1, y = bins[i].low_mw;

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

/* Where the lowered line meets zero activity; no more than any bin. */
static u64 line_power_uw(const struct watt_baseline_bin *bins)
{
	struct line line = fit_line(bins);
	s64 least = S64_MAX, i;
	u64 lowest_mw = U32_MAX;

	for (i = 0; i < WATT_BASELINE_BINS; i++) {
		if (!counts(&bins[i]))
			continue;
		least = min(least, bins[i].low_mw * line.whole - line.slope * (2 * i + 1));
		lowest_mw = min_t(u64, lowest_mw, bins[i].low_mw);
	}
	if (least <= 0)
		return 0;
	return min(watt_mul_div(least, 1000, line.whole), lowest_mw * 1000);
}

static unsigned int n_bins(const struct watt_baseline_bin *bins)
{
	unsigned int i, n = 0;

	for (i = 0; i < WATT_BASELINE_BINS; i++)
		n += counts(&bins[i]);
	return n;
}

static void learn(struct watt_baseline *baseline)
{
	const struct watt_baseline_bin *bins = baseline->bins;

	if (bins[0].n >= MIN_IDLE_POINTS)
		baseline->power_uw = bins[0].low_mw * 1000ULL;
	else if (baseline->n_points >= MIN_POINTS && n_bins(bins) >= MIN_BINS)
		baseline->power_uw = line_power_uw(bins);
	else
		return;
	baseline->is_known = true;
}

static void add_block(struct watt_baseline *baseline, unsigned int n_cpus)
{
	u64 power_mw = watt_mul_div(baseline->block_nj, 1000, baseline->block_ns);
	u64 capacity_ns = max_t(u64, baseline->block_ns * n_cpus, 1);
	u64 bin = div64_u64(WATT_BASELINE_BINS * baseline->block_busy_ns, capacity_ns);

	add_point(&baseline->bins[min_t(u64, bin, WATT_BASELINE_BINS - 1)],
		  min_t(u64, power_mw, U32_MAX));
	baseline->n_points++;
	learn(baseline);
}

void watt_baseline_add(struct watt_baseline *baseline, u64 time_ns, u64 energy_nj, u64 busy_ns,
		       unsigned int n_cpus)
{
	baseline->block_nj += energy_nj;
	baseline->block_ns += time_ns;
	baseline->block_busy_ns += busy_ns;
	if (baseline->block_ns < BLOCK_NS)
		return;
	add_block(baseline, n_cpus);
	baseline->block_nj = 0;
	baseline->block_ns = 0;
	baseline->block_busy_ns = 0;
}
