/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Windows: all that anybody can read is what was so at the end of a window. The sampler publishes;
 * readers take what they want without a lock, and all of one window as long as they are done
 * before the one after the next begins to be written.
 */
#ifndef WATTRIBUTE_PUBLISH_H
#define WATTRIBUTE_PUBLISH_H

#include "process.h"

/* What a window says of the machine. */
struct watt_window {
	u64 end_ns; /* CLOCK_MONOTONIC */
	u64 n_samples;
	u64 sample_ns, window_ns; /* the parameters */
	struct watt_counts counts;
	struct watt_amount energy, idle, unlisted;
	u64 *rapl_nj; /* [unit * WATT_RAPL_N + domain]; may be with WATT_RAPL_OLD */
};

int watt_publish_init(void);
void watt_publish_done(void);

/* Ends a window. dying: by next_dead; returns those of them that stay. For the sampler. */
struct watt_process *watt_publish(u64 now_ns, u64 n_samples, struct watt_process *dying);

/* The newest window. */
u64 watt_publish_window(void);
/*
 * Runs read() on a window that is not written meanwhile: *window, or a newer one, which is set
 * then. Under RCU, or in a context that may be long as well: it is repeated when it took too long.
 */
void watt_publish_get(u64 *window, struct watt_window *ret, u64 *ret_rapl_nj);
/*
 * What a window shows of a process, and the one before. False: it does not show it. Under RCU.
 * *window becomes a newer one if it is too old.
 */
bool watt_publish_get_process(const struct watt_process *process, u64 *window,
			      struct watt_state *ret, struct watt_state *ret_before);

#endif
