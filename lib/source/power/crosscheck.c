/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares two counters of one domain, as powercap and perf on one machine, over about the same
 * time. Works on readings that somebody took; must not read anything.
 */
#include "source/power/crosscheck.h"

#include <errno.h>

#include "base/util.h"

#define PPM 1000000
/* Units cut to whole nJ, and clocks read by different means. */
#define BASE_TOLERANCE_PPM 100
/* On many servers perf counts memory in 2^-16 J where powercap counts in 15.3 uJ. */
#define DRAM_TOLERANCE_PPM 2800
/* The platform counter of some servers moves in whole joules, whatever its scale. */
#define PSYS_STEP_NJ 1000000000

/* Energy and time between two readings. */
struct span {
	watt_i128 energy_nj;
	int64_t time_ns;
	int64_t tolerance_ppm;
};

static int64_t middle_ns(const struct watt_sample *sample)
{
	return (int64_t)(sample->t_before_ns + (sample->t_after_ns - sample->t_before_ns) / 2);
}

static int64_t width_ns(const struct watt_sample *sample)
{
	return (int64_t)(sample->t_after_ns - sample->t_before_ns);
}

/* A reading may be one period old, at either end, and was taken somewhere between its times. */
static int64_t timing_tolerance_ppm(const struct watt_crosscheck_reading *reading, int64_t time_ns)
{
	watt_i128 open_ns = 2 * (watt_i128)reading->channel->period_ns + width_ns(&reading->first) +
			    width_ns(&reading->last);

	return (int64_t)WATT_MIN(open_ns * PPM / time_ns, (watt_i128)PPM);
}

/* In the time that only one of the two saw, the power may have been another. */
static int64_t overlap_tolerance_ppm(const struct watt_crosscheck_reading *a,
				     const struct watt_crosscheck_reading *b, int64_t time_ns)
{
	watt_i128 first_ns = (watt_i128)middle_ns(&a->first) - middle_ns(&b->first);
	watt_i128 last_ns = (watt_i128)middle_ns(&a->last) - middle_ns(&b->last);
	watt_i128 apart_ns =
		(first_ns < 0 ? -first_ns : first_ns) + (last_ns < 0 ? -last_ns : last_ns);

	return (int64_t)WATT_MIN(2 * apart_ns * PPM / time_ns, (watt_i128)PPM);
}

/* One step of what the channel shows, relative to what it counted. */
static int64_t step_tolerance_ppm(const struct watt_channel *channel, watt_i128 energy_nj)
{
	watt_i128 step_nj = channel->scale_num / channel->scale_den + 1;

	if (channel->kind == WATT_DOMAIN_TOTAL)
		step_nj = WATT_MAX(step_nj, PSYS_STEP_NJ);
	return (int64_t)WATT_MIN(step_nj * PPM / energy_nj, (watt_i128)PPM);
}

static bool is_energy_counter(const struct watt_channel *channel)
{
	return channel->quantity == WATT_QUANTITY_ENERGY &&
	       channel->semantics == WATT_SEMANTICS_COUNTER && channel->scale_den > 0;
}

static int measure(const struct watt_crosscheck_reading *reading, struct span *ret)
{
	const struct watt_channel *channel = reading->channel;
	struct span span;

	if (!is_energy_counter(channel))
		return -EINVAL;
	if (reading->first.status != WATT_STATUS_OK || reading->last.status != WATT_STATUS_OK)
		return -ENODATA;
	span.time_ns = middle_ns(&reading->last) - middle_ns(&reading->first);
	if (span.time_ns <= 0)
		return -EINVAL;
	span.energy_nj = ((watt_i128)reading->last.raw - reading->first.raw) *
			 (watt_i128)channel->scale_num / (watt_i128)channel->scale_den;
	if (span.energy_nj < 0)
		span.energy_nj += channel->wrap_nj;
	if (span.energy_nj <= 0)
		return -ENODATA;
	span.tolerance_ppm = timing_tolerance_ppm(reading, span.time_ns) +
			     step_tolerance_ppm(channel, span.energy_nj);
	*ret = span;
	return 0;
}

static int64_t mean_power_uw(const struct span *span)
{
	/* nJ / ns is W */
	return (int64_t)(span->energy_nj * 1000000 / span->time_ns);
}

int watt_crosscheck(const struct watt_crosscheck_reading *a,
		    const struct watt_crosscheck_reading *b, struct watt_crosscheck *ret)
{
	struct watt_crosscheck check = { 0 };
	struct span span_a, span_b;
	int64_t sum_uw;
	int r;

	r = measure(a, &span_a);
	if (r == 0)
		r = measure(b, &span_b);
	if (r < 0)
		return r;
	check.power_a_uw = mean_power_uw(&span_a);
	check.power_b_uw = mean_power_uw(&span_b);
	sum_uw = check.power_a_uw + check.power_b_uw;
	if (sum_uw <= 0)
		return -ENODATA;
	check.difference_ppm =
		(int64_t)((watt_i128)(check.power_a_uw - check.power_b_uw) * 2 * PPM / sum_uw);
	check.tolerance_ppm = BASE_TOLERANCE_PPM + span_a.tolerance_ppm + span_b.tolerance_ppm +
			      overlap_tolerance_ppm(a, b, span_a.time_ns);
	if (a->channel->kind == WATT_DOMAIN_DRAM)
		check.tolerance_ppm += DRAM_TOLERANCE_PPM;
	if (check.tolerance_ppm > PPM / 2)
		return -EAGAIN;
	check.is_agreeing = check.difference_ppm <= check.tolerance_ppm &&
			    check.difference_ppm >= -check.tolerance_ppm;
	*ret = check;
	return 0;
}
