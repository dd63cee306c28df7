/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether an energy counter can be believed: some cards have one that stands still or says
 * something else, and no error. It must move, never down, and by what the power says. Plain value,
 * one thread per object.
 */
#ifndef WATT_SOURCE_POWER_NVML_COUNTER_CHECK_H
#define WATT_SOURCE_POWER_NVML_COUNTER_CHECK_H

#include <stdbool.h>
#include <stdint.h>

enum watt_counter_verdict {
	WATT_COUNTER_UNDECIDED = 0,
	WATT_COUNTER_TRUSTED = 1,
	WATT_COUNTER_STUCK = 2,     /* it was looked at for long enough, and stood still */
	WATT_COUNTER_IMPOSSIBLE = 3 /* it went down, or counts something else */
};

struct watt_counter_check {
	unsigned int n;
	uint64_t t_ns; /* of the newest reading */
	int64_t energy_mj;
	unsigned int n_steps;
	/* between the reading before the first step and the one that saw it, and the newest one */
	uint64_t first_from_ns, first_to_ns, last_from_ns, last_to_ns;
	int64_t first_mj;
	int64_t least_mw, most_mw;
	enum watt_counter_verdict verdict;
};

/* One reading of both; returns the verdict so far. power_mw below 0: it has none. */
enum watt_counter_verdict watt_counter_check_push(struct watt_counter_check *check, uint64_t t_ns,
						  int64_t energy_mj, int64_t power_mw);

#endif
