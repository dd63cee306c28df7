/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the CPUs are: which of them share an energy counter, and what becomes of those that come
 * online for the first time while a session runs. A CPU that goes stays where it was. One thread
 * per object.
 */
#ifndef WATT_PLACES_H
#define WATT_PLACES_H

#include "record/op.h"
#include "source/source.h"

struct watt_places {
	const struct watt_env *env;
	struct watt_cpu_map map;
	struct watt_cpu_place *list; /* of the map's slots */
	bool *has_come;              /* per CPU: what its slot has is told since then */
	bool *is_due;                /* per CPU: and was not told yet */
	uint32_t next;               /* CPU to look at */
	uint64_t wait_ns;            /* nobody knew where some are: not before then again */
};

/* env is borrowed. 0 or -ENOMEM. */
int watt_places_open(const struct watt_env *env, const struct watt_channel *const *channels,
		     size_t n_channels, struct watt_places *ret);
/* Accepts one of zeros. */
void watt_places_done(struct watt_places *places);
/*
 * The next CPU that has come, as an op that must be told before the batch that shows it; false:
 * there is none, and the next call begins again.
 */
bool watt_places_find(struct watt_places *places, const struct watt_usage_batch *batch,
		      uint64_t now_ns, struct watt_op *ret);
/* The same for all that have ever come: somebody listens who has not heard of them. */
bool watt_places_recall(struct watt_places *places, struct watt_op *ret);

#endif
