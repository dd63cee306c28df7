// SPDX-License-Identifier: GPL-2.0-only
#include "counter.h"

#include <linux/time64.h>

#include "compat.h"

/* Readings jitter, and counters move in steps: time that may be missing between two of them. */
#define SLACK_NS (10 * NSEC_PER_MSEC)

static u64 growth(const struct watt_counter *counter, u32 raw, u64 most_raw, bool *ret_is_reset)
{
	u32 grown = raw - counter->last_raw;

	*ret_is_reset = grown > most_raw;
	if (!*ret_is_reset)
		return grown;
	return raw <= most_raw ? raw : 0;
}

bool watt_counter_read(struct watt_counter *counter, u32 raw, u64 now_ns, u64 raw_per_s)
{
	u64 time_ns = now_ns - counter->read_ns + SLACK_NS;
	u64 most_raw = watt_mul_div(time_ns, raw_per_s, NSEC_PER_SEC);
	bool is_reset = false;

	if (counter->read_ns)
		counter->total_raw += growth(counter, raw, most_raw, &is_reset);
	counter->last_raw = raw;
	counter->read_ns = now_ns;
	return is_reset;
}

void watt_counter_forget(struct watt_counter *counter)
{
	counter->read_ns = 0;
}
