/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells a wrap from a reset: a wrap is believed when the power that it implies is plausible.
 * A counter that restarts counts from zero, so what it shows then has been used since; what it
 * had counted between the last reading and the reset is lost, and is not made up.
 */
#include "timeline/counter.h"

#include "base/util.h"

/* Where a channel does not tell: above any machine that one counter could measure. */
#define DEFAULT_MAX_POWER_UW 20000000000ULL
/* Readings jitter, and counters move in steps: time that may be missing from an interval. */
#define SLACK_NS 10000000ULL

static watt_i128 divide_long(const struct watt_channel *channel, int64_t raw)
{
	watt_i128 value = (watt_i128)raw * (watt_i128)channel->scale_num;
	watt_i128 den = (watt_i128)channel->scale_den;
	watt_i128 q = value / den;

	if (value % den < 0)
		q--;
	return q;
}

/* Most products of most sensors fit into 64 bits, in which it is ten times as fast to divide. */
static bool divide_short(const struct watt_channel *channel, int64_t raw, int64_t *ret)
{
	int64_t den, product;

	if (channel->scale_den > INT64_MAX ||
	    __builtin_mul_overflow(raw, channel->scale_num, &product))
		return false;
	den = (int64_t)channel->scale_den;
	*ret = product / den - (product % den < 0);
	return true;
}

watt_i128 watt_counter_nj(const struct watt_channel *channel, int64_t raw)
{
	int64_t energy_nj;

	if (divide_short(channel, raw, &energy_nj))
		return energy_nj;
	return divide_long(channel, raw);
}

static uint64_t max_power_uw(const struct watt_channel *channel)
{
	return channel->max_power_uw ? channel->max_power_uw : DEFAULT_MAX_POWER_UW;
}

static bool is_plausible(const struct watt_channel *channel, watt_i128 energy_nj, uint64_t dt_ns)
{
	uint64_t slack_ns = WATT_MAX(SLACK_NS, 2 * channel->period_ns);
	uint64_t limit_fj;

	if (energy_nj < 0)
		return false;
	if (__builtin_mul_overflow(max_power_uw(channel), dt_ns + slack_ns, &limit_fj))
		return energy_nj <= (watt_i128)max_power_uw(channel) * (dt_ns + slack_ns) / 1000000;
	return energy_nj <= limit_fj / 1000000;
}

struct watt_counter_step watt_counter_step(const struct watt_channel *channel, int64_t raw0,
					   int64_t raw1, uint64_t dt_ns)
{
	struct watt_counter_step step = { 0 };
	watt_i128 e0 = watt_counter_nj(channel, raw0);
	watt_i128 e1 = watt_counter_nj(channel, raw1);
	watt_i128 used = e1 - e0;

	if (channel->wrap_nj)
		step.is_ambiguous = is_plausible(channel, (watt_i128)channel->wrap_nj, dt_ns);
	if (used < 0 && channel->wrap_nj) {
		used += (watt_i128)channel->wrap_nj;
		step.event = WATT_COUNTER_WRAPPED;
	}
	if (is_plausible(channel, used, dt_ns)) {
		step.energy_nj = used;
		return step;
	}
	step.event = WATT_COUNTER_RESET;
	step.energy_nj = is_plausible(channel, e1, dt_ns) ? e1 : 0;
	return step;
}
