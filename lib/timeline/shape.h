/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies between two readings of a slow channel, as the parts of the machine tell it, and what
 * they miss. Pure.
 */
#ifndef WATT_TIMELINE_SHAPE_H
#define WATT_TIMELINE_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct watt_ages;

struct watt_shape {
	/* Energy since some instant; false: not known then. */
	bool (*get_j)(const struct watt_shape *shape, uint64_t t_ns, double *ret_j);
	const struct watt_ages *ages;
	size_t channel;
	uint64_t window_ns; /* a reading is the mean of so long */
	/* and the middle of that is so old when it is read, give or take spread_ns. */
	uint64_t age_ns, spread_ns;
	uint64_t step_ns; /* how fine it is */
	bool is_found;    /* that age is; else it is a guess */
	bool is_followed; /* else it is only known well enough to tell where a straight line is wrong */
};

/* What the shape misses at the newest reading, by that and those before. All zeros: not known. */
struct watt_miss {
	double power_w;
	double doubt_w2;         /* variance of that */
	uint64_t from_ns, to_ns; /* from the reading before to it; to_ns 0: not known */
	double shape_w;          /* what the shape had there, when it was looked at */
	bool is_vague;           /* nobody knows it well since the reading before */
};

/*
 * A reading that the curve has at t_ns, of an instant around at_ns: goes on from the one before, at
 * from_ns, or begins. It counts the less, the more it could be of another instant at which the
 * parts took something else: where they step, it tells little of what they miss. false: the parts
 * are not known there, and nothing changed.
 */
bool watt_miss_see(struct watt_miss *miss, const struct watt_shape *shape, uint64_t from_ns,
		   uint64_t t_ns, uint64_t at_ns, double power_w);
/* The shape may have been found anew since the newest reading: says the same of that by this one. */
void watt_miss_follow(struct watt_miss *miss, const struct watt_shape *shape);

/*
 * Whether a straight line from the reading before, so long ago, to one of an instant around at_ns
 * may go elsewhere than the total did: the parts changed meanwhile by more than what they miss may.
 */
bool watt_shape_is_bent(const struct watt_shape *shape, uint64_t at_ns, uint64_t dt_ns);

#endif
