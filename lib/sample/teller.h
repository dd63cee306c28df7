/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A teller: a source of activity that is opened and read on a thread of its own, so that nobody
 * waits for one that hangs. One thread per object, its owner's.
 */
#ifndef WATT_SAMPLE_TELLER_H
#define WATT_SAMPLE_TELLER_H

#include "source/source.h"

struct watt_teller;

/* Begins to open the source. 0 or a negative errno. env must outlive it. */
int watt_teller_new(const struct watt_env *env, const struct watt_activity_ops *ops,
		    const struct watt_cpu_map *map, struct watt_teller **ret);
/*
 * What it has told since the last call, and asks it again when it is time: 0, and the batch is
 * borrowed until the next call; -EAGAIN: nothing.
 */
int watt_teller_poll(struct watt_teller *teller, uint64_t now_ns, struct watt_activity_batch *ret);
/* Somebody waits for what it knows of now: it is asked again before its time. */
void watt_teller_hurry(struct watt_teller *teller);
/* Waits for an answer that is under way. 0; -ETIMEDOUT; -ENODATA: none is. */
int watt_teller_wait(struct watt_teller *teller, uint64_t deadline_ns);
/* 0, or 1: it hangs, and what it was opened with must stay for ever. */
int watt_teller_stop(struct watt_teller *teller, uint64_t deadline_ns);
/* Stops it too, where nobody has. Accepts NULL; returns NULL. */
struct watt_teller *watt_teller_free(struct watt_teller *teller);

#endif
