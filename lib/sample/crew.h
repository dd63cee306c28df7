/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The crew: all readers of an engine, one for what is quick, one for each source that can block,
 * and one more for each other tier of it; who of them runs, hangs, and is given up. One thread per
 * object (the engine's). Inside the stage only.
 */
#ifndef WATT_SAMPLE_CREW_H
#define WATT_SAMPLE_CREW_H

#include "sample/reader.h"
#include "sample/sample.h"

struct watt_crew_member {
	struct watt_reader *reader;
	const char *name; /* of its source, or "fast" */
	char title[32];   /* the same with its tier, for people */
	bool is_blocking;
	bool has_tier; /* it reads groups of that tier alone */
	enum watt_tier tier;
	bool is_given_up;
	bool has_hung; /* somebody was told */
};

struct watt_crew {
	const struct watt_engine_opts *opts; /* borrowed */
	struct watt_crew_member **members;
	size_t n, cap;
	struct watt_crew_member *fast;   /* NULL: no source is quick */
	struct watt_crew_member *finder; /* of what comes to quick sources; NULL: nothing can */
};

/* All are freed, those that were given up when they come back. Accepts one of zeros. */
void watt_crew_done(struct watt_crew *crew);

/* One for a source that can block, or that only looks for what comes. 0 or a negative errno. */
int watt_crew_add_waiting(struct watt_crew *crew, const struct watt_power_ops *ops,
			  const struct watt_env *env, struct watt_crew_member **ret);
/* The same for what comes to quick sources, once. */
int watt_crew_add_finder(struct watt_crew *crew, const struct watt_env *env);
/* The one that reads the source; it is made if there is none. 0 or a negative errno. */
int watt_crew_get(struct watt_crew *crew, const struct watt_power_ops *ops,
		  struct watt_crew_member **ret);
/*
 * Of the readers of the same source, the one that reads that tier; first is the source's first one.
 * It is made if there is none. 0 or a negative errno.
 */
int watt_crew_get_tier(struct watt_crew *crew, struct watt_crew_member *first, enum watt_tier tier,
		       struct watt_crew_member **ret);
/* For all readers of the source that can block; their threads don't run. */
void watt_crew_set_env(struct watt_crew *crew, const struct watt_power_ops *ops,
		       const struct watt_env *env);
/* The first one of a source that can block; NULL: there is none. */
struct watt_crew_member *watt_crew_find_waiting(const struct watt_crew *crew,
						const struct watt_power_ops *ops);
/* Whose reader it is; there must be one. */
struct watt_crew_member *watt_crew_find(const struct watt_crew *crew,
					const struct watt_reader *reader);

/* Says in the log who hangs, and who has come back. */
void watt_crew_watch_deadline(struct watt_crew *crew, struct watt_crew_member *member,
			      uint64_t now_ns);
/* Starts those that don't run. 0; -EBUSY: one was given up; a negative errno of a thread. */
int watt_crew_start(struct watt_crew *crew);
/* Stops all. Returns how many hang: they are given up, and the log is told. */
int watt_crew_stop(struct watt_crew *crew);
/* What can block closes on its own thread, and nobody waits for long. */
void watt_crew_close_waiting(struct watt_crew *crew);
/* As watt_engine_count_stranded(). */
int watt_crew_count_stranded(const struct watt_crew *crew);
/* As watt_engine_run_due(). */
uint64_t watt_crew_run_due(struct watt_crew *crew, uint64_t now_ns);

#endif
