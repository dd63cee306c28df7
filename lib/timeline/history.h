/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The energy that a channel had at each step of a grid, for the last minutes: what slow channels
 * are compared with. It must not know what it is compared for. One thread per object.
 */
#ifndef WATT_TIMELINE_HISTORY_H
#define WATT_TIMELINE_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"

#define WATT_HISTORY_STEP_NS 50000000ULL
/* So many steps are kept: 205 s; of what slower channels are compared with, up to 819 s. */
#define WATT_HISTORY_STEPS 4096
#define WATT_HISTORY_MAX_STEPS 16384

struct watt_history {
	double *energy_j; /* ring by step number; NULL: nothing was added */
	uint64_t first;   /* step numbers [first, end) are known */
	uint64_t end;
	uint64_t n_steps; /* of the ring; 0: WATT_HISTORY_STEPS */
};

/* Keeps so many steps from now on, and what is known. Never fewer than before. 0 or -ENOMEM. */
int watt_history_reserve(struct watt_history *history, uint64_t n_steps);

/* The energy went in a straight line between two instants, in order. 0 or -ENOMEM. */
int watt_history_add(struct watt_history *history, uint64_t t0_ns, watt_i128 energy0_nj,
		     uint64_t t1_ns, watt_i128 energy1_nj);
static inline double watt_history_get_j(const struct watt_history *history, uint64_t step)
{
	return history->energy_j[step % history->n_steps];
}
/* At an instant, between two steps. false: not known then. */
bool watt_history_find_j(const struct watt_history *history, uint64_t t_ns, double *ret_j);
void watt_history_done(struct watt_history *history);

#endif
