/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hears from the kernel who runs where. Calls sim_truth_*() of truth_account.h from tracepoints.
 */
#ifndef WATTSIM_TRUTH_WATCH_H
#define WATTSIM_TRUTH_WATCH_H

/* Outside of the truth's lock. After the end no probe runs any more. */
int sim_watch_start(void);
void sim_watch_stop(void);

#endif
