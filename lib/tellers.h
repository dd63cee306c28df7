/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tellers of a session: sources of activity that tell by themselves, beside the one that is
 * swept. One thread per object.
 */
#ifndef WATT_TELLERS_H
#define WATT_TELLERS_H

#include "executor.h"
#include "options.h"
#include "sample/teller.h"
#include "source/select.h"

struct watt_tellers {
	struct watt_teller *list[WATT_MAX_SOURCES];
	size_t n;
};

/*
 * Begins to open all that the options want; one that does not work says so in the log. env must
 * outlive them. 0 or a negative errno; *ret, which begins as zeros, is then what there is of it.
 */
int watt_tellers_open(const struct watt_env *env, const struct watt_options *options,
		      const struct watt_cpu_map *map, struct watt_tellers *ret);
/* Waits for answers that are under way. */
void watt_tellers_wait(struct watt_tellers *tellers, uint64_t deadline_ns);
/* Tells the executor what they have told. 0 or a negative errno. */
int watt_tellers_take(struct watt_tellers *tellers, const struct watt_log *log,
		      struct watt_executor *executor);
/* Somebody waits for what they know of now: they are asked before their time. */
void watt_tellers_hurry(struct watt_tellers *tellers);
/* How many of them hang: what they were opened with must stay for ever. */
int watt_tellers_stop(struct watt_tellers *tellers, uint64_t deadline_ns);
/* Accepts zeros. */
void watt_tellers_done(struct watt_tellers *tellers);

#endif
