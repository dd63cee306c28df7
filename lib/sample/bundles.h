/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bundles of an engine: open sources are divided among them by who reads them, and tiered ones
 * by how often. One thread per object (the engine's). Inside the stage only.
 */
#ifndef WATT_SAMPLE_BUNDLES_H
#define WATT_SAMPLE_BUNDLES_H

#include "sample/bundle.h"
#include "sample/crew.h"
#include "sample/handover.h"

struct engine_bundle {
	struct watt_crew_member *reader;
	struct watt_bundle *bundle;
	bool is_first;  /* of the sources that were there at the beginning: it stays */
	bool is_handed; /* the reader has it */
};

struct watt_bundles {
	const struct watt_engine_opts *opts; /* borrowed */
	struct watt_crew *crew;              /* borrowed */
	struct engine_bundle **list;
	size_t n, cap;
	size_t next;            /* whose samples are fetched first */
	uint64_t missed_before; /* by bundles that are no more */
	uint64_t lost_before;
	struct watt_tier_stats tiers_before[WATT_N_TIERS];
};

/* Open sources, and who is to read them. */
struct watt_deal {
	struct watt_power *const *sources;
	size_t n;
	const uint32_t *numbers; /* of their channels */
	struct watt_crew_member *reader;
	struct engine_bundle *bundle[WATT_N_TIERS]; /* all the same, unless tiers have their own */
};

/* Accepts one of zeros. What is in them belongs to the readers. */
void watt_bundles_done(struct watt_bundles *bundles);
/* Takes the sources, unless it fails. 0, -ENOMEM, or a negative errno of a reader. */
int watt_bundles_add(struct watt_bundles *bundles, struct watt_deal *deal);
/* The tier of a channel of an open source. */
enum watt_tier watt_bundles_tier(const struct watt_bundles *bundles, const struct watt_power *power,
				 uint32_t channel);
/* They are there at the beginning: a thread that runs is given them at the start. */
void watt_bundles_hand_first(struct watt_deal *deal);
/* As watt_handover_send(). */
int watt_bundles_hand_over(struct engine_bundle *bundle, enum watt_handover_kind kind);
/* Hands over all that no reader has. 0, or what went wrong first. */
int watt_bundles_hand_all(struct watt_bundles *bundles, enum watt_handover_kind kind);
/* Nobody reads a channel here any more: it is read in another place, or not at all. */
void watt_bundles_leave(struct watt_bundles *bundles, struct engine_bundle *bundle,
			uint32_t number);
/* As those of the engine. */
size_t watt_bundles_fetch(struct watt_bundles *bundles, struct watt_sample *ret, size_t n);
uint64_t watt_bundles_room_ns(const struct watt_bundles *bundles);
void watt_bundles_tier_stats(const struct watt_bundles *bundles, enum watt_tier tier,
			     struct watt_tier_stats *ret);
void watt_bundles_losses(const struct watt_bundles *bundles, uint64_t *ret_missed,
			 uint64_t *ret_lost);

#endif
