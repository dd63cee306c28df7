/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bundle: the groups of channels of some open sources, when each is due, and the ring that
 * their samples go into. One thread reads, one consumes; which is which is said at each call.
 * Inside the stage only.
 */
#ifndef WATT_SAMPLE_BUNDLE_H
#define WATT_SAMPLE_BUNDLE_H

#include <wattribute/session.h>

#include "source/source.h"

/* The number of a channel that nobody wants: it is not read. */
#define WATT_CHANNEL_UNWANTED UINT32_MAX

struct watt_bundle;

#define WATT_N_TIERS 3u

struct watt_bundle_opts {
	uint64_t epoch_ns;   /* CLOCK_MONOTONIC */
	uint64_t quantum_ns; /* never 0 */
	uint64_t period_ns;
	uint32_t ring_size; /* a power of two; 0: room for 2 s of readings */
	bool is_captured;   /* as in watt_engine_opts */
	uint32_t tiers;     /* bits 1 << tier: groups of these alone; 0: all */
};

/* Of a group, with the period that it will be read with. */
enum watt_tier watt_bundle_tier(const struct watt_bundle_opts *opts, const struct watt_power *power,
				uint32_t group);

/*
 * Takes the sources, unless it fails. Numbers are those of their channels in the engine, one
 * source after the other. Bundles of different tiers share a source, and the last one closes it.
 * -ENOMEM, -EINVAL.
 */
int watt_bundle_new(const struct watt_bundle_opts *opts, struct watt_power *const *sources,
		    size_t n_sources, const uint32_t *numbers, struct watt_bundle **ret);
/* Closes the sources that nobody else has. Accepts NULL; returns NULL. */
struct watt_bundle *watt_bundle_free(struct watt_bundle *bundle);

/* ---- the thread that reads ---- */

/* A list of those that it reads: one thread's. */
struct watt_bundle *watt_bundle_next(const struct watt_bundle *bundle);
void watt_bundle_set_next(struct watt_bundle *bundle, struct watt_bundle *next);
/* Reads every group, outside the schedule. */
void watt_bundle_read_all(struct watt_bundle *bundle);
/*
 * The same, before the first deadlines: energy begins there. Context is read to warm up what it is
 * read by, and is told from its first deadline on.
 */
void watt_bundle_read_first(struct watt_bundle *bundle);
/*
 * Reads what is due. has_clock: the time goes on while groups are read. Returns the next deadline;
 * UINT64_MAX: there is none.
 */
uint64_t watt_bundle_read_due(struct watt_bundle *bundle, uint64_t now_ns, bool has_clock);
/* Drops the deadlines up to now, as if they had never been. */
void watt_bundle_skip(struct watt_bundle *bundle, uint64_t now_ns);

/* ---- the consumer ---- */

/* For how long the ring has room when nobody fetches. */
uint64_t watt_bundle_room_ns(const struct watt_bundle *bundle);
size_t watt_bundle_fetch(struct watt_bundle *bundle, struct watt_sample *ret, size_t n);
/* From now on, nobody wants the channel of that number from here. */
void watt_bundle_retire(struct watt_bundle *bundle, uint32_t number);
/* Whether nobody wants any of its channels. */
bool watt_bundle_is_retired(const struct watt_bundle *bundle);
/* is_running: deadlines that pass unread are missed. Fills all but is_realtime. */
void watt_bundle_get_stats(const struct watt_bundle *bundle, uint32_t number, bool is_running,
			   struct watt_reader_stats *ret);
/* Adds those of a tier to what is in *ret. */
void watt_bundle_add_tier_stats(const struct watt_bundle *bundle, enum watt_tier tier,
				bool is_running, struct watt_tier_stats *ret);
/* Adds to what is in them. */
void watt_bundle_add_losses(const struct watt_bundle *bundle, bool is_running, uint64_t *missed,
			    uint64_t *lost);

#endif
