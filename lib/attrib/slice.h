/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A slice: the time between two usage sweeps, and who ran in it. And the queue of the slices that
 * wait for the energy of slow domains.
 */
#ifndef WATT_ATTRIB_SLICE_H
#define WATT_ATTRIB_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attrib/account.h"

/* CPU time of one process on one slot, and the sums that it counts for at that time. */
struct watt_use {
	struct watt_account *process;
	struct watt_account *cgroup;  /* NULL: not known */
	struct watt_account *owner;   /* user or kernel; NULL: not known */
	struct watt_account *tracked; /* NULL: none */
	uint64_t cpu_ns;
	uint32_t slot;
	uint32_t next;         /* next use of the same process in this slice, plus 1 */
	uint32_t next_in_slot; /* next use of the same slot, plus 1 */
	uint32_t reserved;
};

struct watt_slice {
	uint64_t seq; /* 1, 2, ... */
	uint64_t t0_ns;
	uint64_t t1_ns;
	struct watt_use *uses;
	size_t n_uses, cap_uses;
	uint64_t *irq_ns;     /* per slot, and one more for CPUs that are in none */
	uint64_t *softirq_ns; /* the same */
	uint64_t *n_online;   /* CPUs that were online when it ended; the same */
	uint64_t *first_use;  /* plus 1; 0: nobody ran there; the same */
	uint32_t pending;     /* tasks that died in it and whose last word has not come */
	uint32_t reserved;
	uint64_t per_slot[];
};

struct watt_slices {
	struct watt_slice **ring; /* power of two */
	size_t cap, head, n;
	uint64_t next_seq;
	uint32_t n_slots;
	uint32_t next_pending; /* of the slice to come */
};

void watt_slices_init(struct watt_slices *slices, uint32_t n_slots);
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
/* Adds CPU time; *use_index is where the process' uses begin (plus 1), 0: it has none yet. */
int watt_slice_add_use(struct watt_slice *slice, const struct watt_use *use, uint32_t *use_index);

#endif
