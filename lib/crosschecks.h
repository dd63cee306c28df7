/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Channels that measure a domain which another channel measures already: are they of one opinion?
 * Looked at once, when enough time has passed since the start for an answer. One thread.
 */
#ifndef WATT_CROSSCHECKS_H
#define WATT_CROSSCHECKS_H

#include <stdbool.h>

#include "base/log.h"
#include "source/power/crosscheck.h"

struct watt_crosscheck_pair {
	uint32_t used;      /* index of the channel that measures the domain */
	uint32_t duplicate; /* and of the one that would */
	struct watt_crosscheck_reading used_reading;
	struct watt_crosscheck_reading duplicate_reading;
	struct watt_sample newest_used; /* t_after_ns 0: none yet */
	struct watt_sample waiting;     /* of the duplicate, for its neighbour; 0 as above */
	uint32_t n_pairs;               /* readings of about one instant so far */
	struct watt_crosscheck result;
	int error; /* -EAGAIN: not compared yet; 0: result holds; else why it can't be */
};

struct watt_crosschecks {
	struct watt_crosscheck_pair *list;
	size_t n, cap;
	uint64_t due_ns; /* when to compare; 0: before the first reading, or done */
	bool is_done;
};

/* 0 or -ENOMEM. */
int watt_crosschecks_add(struct watt_crosschecks *dups, const struct watt_channel *used,
			 uint32_t used_index, const struct watt_channel *duplicate,
			 uint32_t duplicate_index);
void watt_crosschecks_done(struct watt_crosschecks *dups);
/* A reading of any channel. */
void watt_crosschecks_push(struct watt_crosschecks *dups, const struct watt_sample *sample);
/* Compares when it is time, and logs a line for each pair that does not agree. */
void watt_crosschecks_compare(struct watt_crosschecks *dups, uint64_t now_ns,
			      const struct watt_log *log);
/* By the index of the duplicate channel; NULL: it is none. */
const struct watt_crosscheck_pair *watt_crosschecks_find(const struct watt_crosschecks *dups,
							 size_t index);

#endif
