/* SPDX-License-Identifier: Apache-2.0 */
/* The energy events of one CPU, opened as a group and read by one call. One thread per object. */
#ifndef WATT_SOURCE_POWER_PERF_RAPL_PERF_BUNDLE_H
#define WATT_SOURCE_POWER_PERF_RAPL_PERF_BUNDLE_H

#include "source/power/perf_rapl/perf_event.h"
#include "source/power/perf_rapl/perf_plan.h"

struct watt_perf_bundle {
	const struct watt_perf_item *items; /* borrowed: those of its events, in order */
	uint32_t n;
	int fds[WATT_PERF_GROUP_MAX];
	bool is_gone;      /* with its CPU: to be opened again */
	uint64_t retry_ns; /* not before */
};

/* Begins with one event. As watt_perf_event_open; on failure there is nothing to close. */
int watt_perf_bundle_open(struct watt_perf_bundle *bundle, const struct watt_perf_item *item);
/*
 * Adds the item behind its last one. -EINVAL: it is full, or the event is of another CPU or PMU;
 * otherwise as watt_perf_event_open.
 */
int watt_perf_bundle_join(struct watt_perf_bundle *bundle, const struct watt_perf_item *item);
void watt_perf_bundle_close(struct watt_perf_bundle *bundle);
/*
 * Reads all events into ret[0 .. n): times, raw and status. Events that went away with their CPU
 * are opened again, at most once a second; their counts begin at 0 then.
 */
void watt_perf_bundle_read(struct watt_perf_bundle *bundle, struct watt_sample *ret);
/* Has any of its events counted anything yet? */
bool watt_perf_bundle_is_moving(const struct watt_perf_bundle *bundle);

#endif
