/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last hour by who took it: of each step of the history and each level, the users that took
 * most, and what all others did, what was idle and what was nobody's. In watts, which add up to the
 * machine's of that step. Bounded, whatever the number of users. One thread per object.
 */
#ifndef WATT_AGENT_TAKERS_H
#define WATT_AGENT_TAKERS_H

#include "history.h"
#include "roster.h"

#define TAKERS_MOST 8 /* of a level in a step; everybody else is one of all others */

struct taker {
	uint32_t name; /* index */
	float power_w;
};

struct takers_step {
	struct taker takers[TAKERS_MOST];
	uint32_t n;
	float others_w, idle_w, unattributed_w; /* NAN: nothing is known of this step */
};

struct takers_name {
	char *labels;  /* as those of a user in the roster; owned; NULL: the place is free */
	uint32_t refs; /* steps that have it */
};

struct takers_level {
	struct takers_step *steps; /* by the history's slots; owned; NULL: the level is off */
	struct takers_name *names; /* owned */
	size_t n_names;
};

struct takers {
	struct takers_level levels[LEVEL_N];
	nanojoules whole_nj, idle_nj,
		unattributed_nj; /* of the partition, at the last step's end */
};

/* A step of the history has ended: what the roster let out since the last one. */
void takers_add(struct takers *takers, const struct history *history, struct roster *roster,
		const struct census *census);
/* Of a step of the history, the oldest is 0; NULL: there is none, or the level is off. */
const struct takers_step *takers_get(const struct takers *takers, const struct history *history,
				     enum level_kind kind, size_t index);
void takers_done(struct takers *takers);

#endif
