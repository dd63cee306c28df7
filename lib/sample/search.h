/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A search: a source that is looked for, opened or asked what has come, by a thread that may wait;
 * when it is asked the next time, and what. One thread per object (the engine's). Inside the stage
 * only.
 */
#ifndef WATT_SAMPLE_SEARCH_H
#define WATT_SAMPLE_SEARCH_H

#include "sample/lookup.h"

struct watt_search {
	const struct watt_power_ops *ops;
	uint64_t asked_period_ns; /* how often to read what it opens */
	struct watt_reader *reader;
	struct watt_lookup *lookup; /* NULL: it is under way */
	struct watt_power *power;   /* opened, and for the caller to take; else NULL */
	bool is_open;               /* or was tried, and may come one day */
	bool is_refused;            /* it did not open, and that was said */
	int error;                  /* of the newest open() */
	unsigned int n_rescans;     /* that are still due after the names have changed */
	bool is_heard;              /* the kernel has told of what comes since it was asked last */
	bool has_refused;           /* something that is there could not be read */
	unsigned int n_looks;       /* since that was tried last */
	uint64_t answered_ns;
	uint64_t next_ns; /* when to look again */
};

/* What is known of its channels. */
struct watt_search_view {
	const char *const *names; /* of those that are there */
	size_t n_names;
	bool is_any_gone;
};

/* It is looked for on the thread of the reader, from now on. 0 or -ENOMEM. */
int watt_search_new(const struct watt_power_ops *ops, struct watt_reader *reader,
		    uint64_t asked_period_ns, uint64_t now_ns, struct watt_search **ret);
/* No lookup may be under way. Accepts NULL; returns NULL. */
struct watt_search *watt_search_free(struct watt_search *search);
/* It was opened before, or tried: only what comes is of interest. */
void watt_search_skip_open(struct watt_search *search, uint64_t now_ns);
/* Whether it can be asked now; what was never opened doesn't wait for the start. */
bool watt_search_is_due(const struct watt_search *search, bool is_started, uint64_t now_ns);
/* Asks what has come. */
void watt_search_look(struct watt_search *search, const struct watt_search_view *view);
/* Its lookup is back. Gives what was opened, the caller's; NULL: nothing was. */
struct watt_power *watt_search_take_answer(struct watt_search *search, struct watt_lookup *lookup,
					   const struct watt_log *log);
/* When to look again, as of then or since a channel is gone. */
void watt_search_plan(struct watt_search *search, bool is_any_gone, uint64_t answered_ns);
/*
 * A channel is gone: the next look was put off as if all were there. Until then a counter that is
 * back may wrap, and nobody could tell how often.
 */
void watt_search_hurry(struct watt_search *search);
/*
 * Devices of this kind ("hwmon") have come or gone; NULL: any may have. What the source watches is
 * looked at now, and again, as if its names had changed.
 */
void watt_search_hear(struct watt_search *search, const char *subsystem);
/* Nobody has heard yet whether it opens. */
bool watt_search_is_being_opened(const struct watt_search *search);
/* Why nothing is open. */
enum watt_status watt_search_status(const struct watt_search *search);

#endif
