/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks meta providers, and collects what they answer whenever they do. Each provider has a thread
 * of its own, that begins with the first question to it; nobody waits for one. One that doesn't
 * come back from a question in time is left behind with it, and another one takes its place.
 * One thread per object, except for its own.
 */
#ifndef WATT_SAMPLE_INQUIRY_H
#define WATT_SAMPLE_INQUIRY_H

#include <stddef.h>
#include <stdint.h>

#include "source/source.h"

struct watt_inquiry;

struct watt_inquiry_opts {
	const struct watt_meta_ops *const *providers; /* ended by NULL; NULL: the registry */
	uint64_t deadline_ns; /* after which a question is one that hangs; 0: two seconds */
};

/* What became of the questions to one provider. */
struct watt_inquiry_stats {
	const char *name; /* of the provider */
	uint64_t asked;
	uint64_t answered;
	uint64_t late;    /* of those, after the deadline */
	uint64_t unknown; /* nobody knows, or may know */
	uint32_t hung;    /* calls that have not come back yet, and are past the deadline */
};

/* env is borrowed, and needed until watt_inquiry_stop() says that nothing hangs. 0 or -ENOMEM. */
int watt_inquiry_new(const struct watt_env *env, const struct watt_inquiry_opts *opts,
		     struct watt_inquiry **ret);
/* Ends the threads. How many hang in a call: they need env until they come back, if ever. */
int watt_inquiry_stop(struct watt_inquiry *inquiry);
/* Stops first, if nobody did. Accepts NULL; returns NULL. */
struct watt_inquiry *watt_inquiry_free(struct watt_inquiry *inquiry);

/* How many questions of this kind can be asked now; 0 also while all who could answer hang. */
size_t watt_inquiry_room(struct watt_inquiry *inquiry, enum watt_question_kind kind);
/* 0; -EAGAIN: there is no room; -ENOMEM. */
int watt_inquiry_ask(struct watt_inquiry *inquiry, const struct watt_question *question);
/* The next answer, the caller's. 0; 1: there is none yet. */
int watt_inquiry_next(struct watt_inquiry *inquiry, struct watt_answer *ret);
/* Leaves behind whoever hangs. To be called now and then, some times a second. */
void watt_inquiry_tend(struct watt_inquiry *inquiry, uint64_t now_ns);
/* Questions that may yet be answered soon, and answers that were not taken. */
size_t watt_inquiry_pending(struct watt_inquiry *inquiry);
/* Of provider i. 0; -EINVAL: there are not so many. */
int watt_inquiry_get_stats(struct watt_inquiry *inquiry, size_t i, struct watt_inquiry_stats *ret);

#endif
