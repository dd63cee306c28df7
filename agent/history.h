/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last hour: mean power of each domain in steps of some seconds. Bounded, whatever the number of
 * refreshes. One thread per object.
 */
#ifndef WATT_AGENT_HISTORY_H
#define WATT_AGENT_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wattribute/snapshot.h>

#define HISTORY_POINTS 720
#define HISTORY_STEP_NS 5000000000ULL /* or a refresh, where that is longer */

struct history_point {
	uint64_t realtime_ns; /* of its end */
	float *power_w;       /* per domain; NAN: not known; owned */
	size_t n_domains;
};

struct history {
	struct history_point points[HISTORY_POINTS]; /* a ring */
	size_t first, n;
	uint64_t begin_ns;  /* of the step that is under way, CLOCK_MONOTONIC; 0: none */
	int64_t *energy_nj; /* in it, per domain; owned */
	uint64_t *known_ns; /* for which energy is known; owned */
	size_t n_domains;
};

/* Whether that ended a step, the newest one now. */
bool history_add(struct history *history, const struct watt_snapshot *snap);
/* Where in the ring a step is that there is; the oldest has index 0. */
static inline size_t history_slot(const struct history *history, size_t index)
{
	return (history->first + index) % HISTORY_POINTS;
}
/* The oldest has index 0; NULL: there are no more. */
const struct history_point *history_get(const struct history *history, size_t index);
void history_done(struct history *history);

#endif
