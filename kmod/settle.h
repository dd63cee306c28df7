/* SPDX-License-Identifier: GPL-2.0-only */
/* What is new of a process's CPU time, and on which unit it was used. Pure. */
#ifndef WATTRIBUTE_SETTLE_H
#define WATTRIBUTE_SETTLE_H

#include <linux/types.h>

struct watt_process;

enum watt_settled {
	WATT_SETTLED = 0,
	WATT_SETTLED_HALFWAY = 1, /* a thread was seen on its way: places are a guess */
	WATT_SETTLED_HELD = 2,    /* there is less than before: nothing is new, nothing is stored */
};

/* A first reading: what is in parts[].delta_ns and run_ns was used before. */
void watt_settle_begin(struct watt_process *process, unsigned int n_units, u64 run_ns);

/*
 * run_ns is what all threads ever ran, however they moved, and parts[].delta_ns where that was, of
 * which each becomes what is new. A thread that is read while it moves can seem to be in two places
 * or in none, with all that it ever ran: what is new is divided then among the places that seem to
 * have more, and what a place got too much it has not coming the next time. is_quiet: no thread
 * began to move since the reading before, so that places are right.
 */
enum watt_settled watt_settle(struct watt_process *process, unsigned int n_units, u64 run_ns,
			      bool is_quiet);

#endif
