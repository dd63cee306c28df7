/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A slice: the time between two sweeps, and what everybody did in it, by kind of activity. And
 * the queue of the slices that wait for the energy of slow domains.
 */
#ifndef WATT_ATTRIB_SLICE_H
#define WATT_ATTRIB_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attrib/member.h"
#include "base/activity.h"

/* What one actor did at one place: an amount of one kind of activity. */
struct watt_use {
	/* Its account can't go before the slice does. NULL: nobody that is known. */
	struct watt_member *actor;
	uint64_t amount;
	uint32_t place;
	uint32_t next;          /* next use of the same actor in this slice, plus 1 */
	uint32_t next_in_place; /* next use at the same place, plus 1 */
	uint32_t reserved;
};

/* Nobody told what was done at the place. */
#define WATT_UNITS_UNKNOWN UINT32_MAX

/* All uses of one kind of activity. */
struct watt_uses {
	struct watt_use *list;
	size_t n, cap;
	uint32_t *first; /* per place, plus 1; 0: nobody did anything there */
	/* Per place: what can be active at once, CPUs that are online or engines of a GPU. */
	uint32_t *n_units;
	uint32_t n_places;
	bool is_complete; /* nothing is added any more */
};

/* Who has reserved a part of the machine, and the process that stands for it. */
struct watt_reserve {
	struct watt_account *holder; /* only to be compared */
	struct watt_member *actor;   /* can't go before the slice does */
	uint64_t start_ns;           /* of the process */
	struct watt_request request;
	uint32_t pid;
};

struct watt_slice {
	uint64_t seq; /* 1, 2, ... */
	uint64_t t0_ns;
	uint64_t t1_ns;
	struct watt_uses uses[WATT_N_ACTIVITIES];
	/* For the idle policy `requests`: reserve.c */
	struct watt_reserve *reserves;
	size_t n_reserves;
	struct watt_request capacity; /* of the machine */
	uint32_t pending;             /* tasks that died in it and whose last word has not come */
	uint32_t reserved;
};

struct watt_slices {
	struct watt_slice **ring; /* power of two */
	size_t cap, head, n;
	uint64_t next_seq;
	uint32_t next_pending; /* of the slice to come */
};

/* Keeps the account of an actor from going (by 1), or lets it (by -1). NULL is nobody. */
void watt_actor_add_users(struct watt_member *actor, int by);

void watt_slices_init(struct watt_slices *slices);
void watt_slices_done(struct watt_slices *slices);
/* Begins a slice. NULL: no memory. */
struct watt_slice *watt_slices_add(struct watt_slices *slices, uint64_t t0_ns, uint64_t t1_ns);
/* The i-th oldest. */
struct watt_slice *watt_slices_get(const struct watt_slices *slices, size_t i);
/* By its number; NULL: it has gone, or has not come. */
struct watt_slice *watt_slices_find(const struct watt_slices *slices, uint64_t seq);
/* The slice in which an instant lies; NULL: none that is still here. */
struct watt_slice *watt_slices_find_time(const struct watt_slices *slices, uint64_t t_ns);
/* Frees the oldest one. */
void watt_slices_drop(struct watt_slices *slices);
/* Makes room for uses of a kind at places 0 .. n_places; nothing can act there yet. */
int watt_slice_open(struct watt_slice *slice, enum watt_activity_kind kind, uint32_t n_places);
/*
 * Adds to what an actor did at a place that there is room for; *use_index is where the actor's
 * uses begin (plus 1), 0: it has none yet. 0 or -ENOMEM.
 */
int watt_slice_add_use(struct watt_slice *slice, enum watt_activity_kind kind,
		       const struct watt_use *use, uint32_t *use_index);

#endif
