/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The curves of activities that have readings of their own: how much each process had done at
 * each place at any instant, by straight lines between readings. Slices get the differences as
 * soon as they are known. Points older than the oldest slice that waits for them are forgotten.
 */
#ifndef WATT_ATTRIB_ACTIVITY_H
#define WATT_ATTRIB_ACTIVITY_H

#include <stdbool.h>

#include "attrib/slice.h"
#include "base/htab.h"

struct watt_activity_point {
	uint64_t t_ns;
	uint64_t amount;
};

/* What one process has done at one place. It goes when the process is gone and all is told. */
struct watt_activity_curve {
	struct watt_hnode node; /* by pid */
	uint32_t pid;
	uint64_t start_ns;         /* of the process; 0: nobody knows it yet */
	struct watt_member *actor; /* counted; NULL: nobody knows it yet */
	uint64_t raw;              /* of the newest reading */
	struct watt_activity_point *points;
	size_t n, cap;
};

/* One place of one kind. */
struct watt_activity_at {
	char *path;
	uint32_t n_units;
	bool is_outside;      /* whoever is there has a number of another pid namespace */
	uint64_t first_ns;    /* nothing is known before; 0: no batch told of it */
	uint64_t complete_ns; /* all is known up to here */
	struct watt_htab by_pid;
	struct watt_activity_curve **curves;
	size_t n, cap;
};

/* All of one kind. Places are numbered once and for ever. */
struct watt_activities {
	struct watt_activity_at *places;
	size_t n_places, cap_places;
	uint64_t next_seq; /* the first slice that is not filled */
};

/* A process that is gone, of which somebody may still tell something. */
struct watt_departed {
	uint32_t pid;
	uint64_t start_ns;
	uint64_t end_ns;           /* CLOCK_MONOTONIC, at most a sweep after its end */
	struct watt_member *actor; /* counted */
};

struct watt_departures {
	struct watt_departed *list; /* by end */
	size_t n, cap;
};

#endif
