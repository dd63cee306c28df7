/* SPDX-License-Identifier: Apache-2.0 */
/* A run while it is made: sums and differences of totals. */
#ifndef WATT_VIEW_RUNS_H
#define WATT_VIEW_RUNS_H

#include <wattribute/run.h>

#include "base/textmap.h"
#include "view/totals.h"

/* A run, where its phases and threads are, and for how long its energy is known. */
struct watt_run_draft {
	struct watt_run *run;
	struct watt_textmap index; /* of phases, by their labels */
	char **labels;             /* what it refers to: one for each phase */
	size_t labels_cap, phases_cap, threads_cap, intervals_cap;
	uint64_t *windows_ns; /* per domain */
	size_t n_windows;
};

/* 0 or -ENOMEM. */
int watt_run_draft_init(struct watt_run_draft *draft);
/* The run too, unless somebody has taken it. */
void watt_run_draft_done(struct watt_run_draft *draft);

/*
 * Adds a stretch to the phase of its label. from and to are the totals at its ends; elapsed_ns is
 * told apart, as a run begins and ends between its totals. 0 or -ENOMEM.
 */
int watt_run_add_phase(struct watt_run_draft *draft, const char *label, uint64_t elapsed_ns,
		       const struct watt_totals *from, const struct watt_totals *to);
/* 0 or -ENOMEM. */
int watt_run_add_interval(struct watt_run_draft *draft, const struct watt_run_interval *interval);
/* Notes what the threads of a tracked set have used of it by a snapshot. 0 or -ENOMEM. */
int watt_run_note_threads(struct watt_run_draft *draft, const struct watt_view *view,
			  uint64_t tracked_id);
/* That, and for how long a snapshot of the run knows its energy. 0 or -ENOMEM. */
int watt_run_note(struct watt_run_draft *draft, const struct watt_view *view, uint64_t tracked_id);
/*
 * What was used from one to the other; balance: of the newest snapshot, to which is added what is
 * measured from outside. elapsed_ns is filled in before. 0 or -ENOMEM.
 */
int watt_run_fill(struct watt_run_draft *draft, const struct watt_totals *before,
		  const struct watt_totals *after, struct watt_balance *balance);
/*
 * Adds what no thread was seen to use, so that threads are all of the run; the greatest energy
 * first. 0 or -ENOMEM.
 */
int watt_run_end_threads(struct watt_run_draft *draft);

#endif
