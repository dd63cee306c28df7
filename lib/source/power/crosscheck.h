/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do two channels that claim to measure the same domain agree? Pure; thread-safe.
 */
#ifndef WATT_SOURCE_POWER_CROSSCHECK_H
#define WATT_SOURCE_POWER_CROSSCHECK_H

#include <stdbool.h>

#include <wattribute/channel.h>
#include <wattribute/sample.h>

/* Two readings of one energy counter. */
struct watt_crosscheck_reading {
	const struct watt_channel *channel;
	struct watt_sample first;
	struct watt_sample last;
};

struct watt_crosscheck {
	int64_t power_a_uw; /* mean between the two readings of a */
	int64_t power_b_uw;
	int64_t difference_ppm; /* (a - b) / their mean */
	int64_t tolerance_ppm;  /* what timing, resolution and known quirks leave open */
	bool is_agreeing;       /* the difference is not larger than that */
};

/*
 * Compares mean powers. The readings should be of about the same instants: the time that only one
 * of the two saw counts twice in the tolerance. 0; -EINVAL: not two
 * energy counters, or time does not advance; -ENODATA: a reading has no value, or a counter was
 * reset, or neither has moved; -EAGAIN: the interval is so short that nothing could be told
 * (tolerance of more than one half).
 */
int watt_crosscheck(const struct watt_crosscheck_reading *a,
		    const struct watt_crosscheck_reading *b, struct watt_crosscheck *ret);

#endif
