/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts the events of the hooks and the records of a sweep in the order in which to account them.
 * Pure: no clock, no kernel. One thread per object.
 *
 * The rule. Events come first, in the order of the ring, which for one task is the order in which
 * they happened; then the sweep. That is right for every event before the sweep. One that
 * happened during the sweep is compared with its task's record there: a birth always comes first, a
 * migration is placed by the time the task had used (exact, and what has to stay in order), any
 * other by the clock. If the sweep came
 * to the task first, the event is deferred for the next batch, and so is all that follows it of that
 * task. An event whose task the sweep did not tell of has nothing to be compared with and passes.
 */
#ifndef WATT_SOURCE_ACTIVITY_MERGE_H
#define WATT_SOURCE_ACTIVITY_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/usage.h"

/* A growing list of records. */
struct watt_usage_list {
	struct watt_usage *records;
	size_t n;
	size_t cap;
};

void watt_usage_list_done(struct watt_usage_list *list);
/* -ENOMEM; the list is as before. */
int watt_usage_list_append(struct watt_usage_list *list, const struct watt_usage *records,
			   size_t n);

/*
 * Puts events of several logs into one order: by time, births first and deaths last.
 * Right for each task, because what happens to it happens one after the other. Returns how many of
 * them are before t_ns.
 */
size_t watt_usage_list_sort(struct watt_usage_list *list, uint64_t t_ns);

/* Scratch memory of the merge, kept from one to the next. Zeroed: empty. */
struct watt_merge {
	struct watt_merge_entry *entries;
	size_t n_entries; /* a power of two */
};

void watt_merge_done(struct watt_merge *merge);
/*
 * list holds the events, of which those from n_before on happened since the sweep began. Adds the
 * n tasks behind them, and moves what has to wait to deferred, which must be empty. -ENOMEM: nothing
 * was changed.
 */
int watt_merge(struct watt_merge *merge, struct watt_usage_list *list, size_t n_before,
	       const struct watt_usage *tasks, size_t n, struct watt_usage_list *deferred);

#endif
