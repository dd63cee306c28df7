/* SPDX-License-Identifier: Apache-2.0 */
/* What happened to a cumulative counter between two readings. Pure. */
#ifndef WATT_TIMELINE_COUNTER_H
#define WATT_TIMELINE_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#include <wattribute/channel.h>

#include "base/util.h"

enum watt_counter_event {
	WATT_COUNTER_COUNTED = 0, /* it went on */
	WATT_COUNTER_WRAPPED = 1, /* it passed its modulus once */
	WATT_COUNTER_RESET = 2, /* it began again: what it counted before the reset is not known */
};

struct watt_counter_step {
	enum watt_counter_event event;
	bool is_ambiguous;   /* so much time passed that it may have wrapped once more */
	watt_i128 energy_nj; /* known to have been used, never negative */
};

/* Raw to nJ, rounded down. Of absolute values, so that differences telescope. */
watt_i128 watt_counter_nj(const struct watt_channel *channel, int64_t raw);

/* The step from raw0 to raw1 in dt_ns. */
struct watt_counter_step watt_counter_step(const struct watt_channel *channel, int64_t raw0,
					   int64_t raw1, uint64_t dt_ns);

#endif
