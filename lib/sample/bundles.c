/* SPDX-License-Identifier: Apache-2.0 */
/* Which sources are read together, and by whom. It must not know what a channel's number means. */
#include "sample/bundles.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"

/* ---- set up ---- */

static struct watt_bundle_opts bundle_opts(const struct watt_bundles *bundles)
{
	return (struct watt_bundle_opts){
		.epoch_ns = bundles->opts->epoch_ns,
		.quantum_ns = bundles->opts->quantum_ns,
		.period_ns = bundles->opts->period_ns,
		.is_captured = bundles->opts->is_captured,
		.ring_size = bundles->opts->ring_size,
	};
}

/* Makes a bundle of those tiers (0: of all that there is). */
static int add_bundle(struct watt_bundles *bundles, const struct watt_deal *deal, uint32_t tiers,
		      struct watt_crew_member *reader, struct engine_bundle **ret)
{
	struct watt_bundle_opts opts = bundle_opts(bundles);
	struct engine_bundle *bundle = calloc(1, sizeof(*bundle));
	int r = bundle ? 0 : -ENOMEM;

	opts.tiers = tiers;
	if (r == 0)
		r = watt_grow((void **)&bundles->list, &bundles->cap, bundles->n,
			      sizeof(struct engine_bundle *));
	if (r == 0)
		r = watt_bundle_new(&opts, deal->sources, deal->n, deal->numbers, &bundle->bundle);
	if (r < 0) {
		free(bundle);
		return r;
	}
	bundle->reader = reader;
	bundles->list[bundles->n++] = bundle;
	*ret = bundle;
	return 0;
}

enum watt_tier watt_bundles_tier(const struct watt_bundles *bundles, const struct watt_power *power,
				 uint32_t channel)
{
	const struct watt_bundle_opts opts = bundle_opts(bundles);

	return watt_bundle_tier(&opts, power, power->channels[channel].group);
}

/* Makes a bundle for each tier of a source, each with a reader of its own. */
static int add_tiers(struct watt_bundles *bundles, struct watt_deal *deal)
{
	struct watt_power *power = deal->sources[0];
	size_t n_before = bundles->n;
	struct watt_crew_member *reader;
	uint32_t c;
	int r = 0;

	watt_refcount_get(&power->parts); /* on failure it stays the caller's */
	for (c = 0; c < power->n_channels && r == 0; c++) {
		enum watt_tier tier = watt_bundles_tier(bundles, power, c);

		if (deal->bundle[tier])
			continue;
		r = watt_crew_get_tier(bundles->crew, deal->reader, tier, &reader);
		if (r == 0)
			r = add_bundle(bundles, deal, 1u << tier, reader, &deal->bundle[tier]);
	}
	while (r < 0 && bundles->n > n_before) {
		watt_bundle_free(bundles->list[--bundles->n]->bundle);
		free(bundles->list[bundles->n]);
	}
	watt_refcount_put(&power->parts);
	return r;
}

int watt_bundles_add(struct watt_bundles *bundles, struct watt_deal *deal)
{
	size_t tier;
	int r;

	if (deal->n == 1 && deal->sources[0]->ops->flags & WATT_POWER_TIERED &&
	    deal->sources[0]->n_channels > 0)
		return add_tiers(bundles, deal);
	r = add_bundle(bundles, deal, 0, deal->reader, &deal->bundle[0]);
	for (tier = 1; tier < WATT_N_TIERS && r == 0; tier++)
		deal->bundle[tier] = deal->bundle[0];
	return r;
}

/* They are there at the beginning: a thread that runs is given them at the start. */
void watt_bundles_hand_first(struct watt_deal *deal)
{
	size_t tier;

	for (tier = 0; tier < WATT_N_TIERS; tier++) {
		struct engine_bundle *bundle = deal->bundle[tier];

		if (!bundle || bundle->is_first)
			continue;
		bundle->is_first = true;
		bundle->is_handed = !watt_reader_is_running(bundle->reader->reader);
		if (bundle->is_handed)
			watt_reader_add(bundle->reader->reader, bundle->bundle);
	}
}

int watt_bundles_hand_over(struct engine_bundle *bundle, enum watt_handover_kind kind)
{
	int r = watt_handover_send(bundle->reader->reader, bundle->bundle, kind);

	bundle->is_handed |= r == 0;
	return r;
}

static void forget_bundle(struct watt_bundles *bundles, struct engine_bundle *bundle)
{
	size_t i;

	watt_bundle_add_losses(bundle->bundle, false, &bundles->missed_before,
			       &bundles->lost_before);
	for (i = 0; i < WATT_N_TIERS; i++)
		watt_bundle_add_tier_stats(bundle->bundle, (enum watt_tier)i, false,
					   &bundles->tiers_before[i]);
	for (i = 0; bundles->list[i] != bundle; i++)
		continue;
	bundles->list[i] = bundles->list[--bundles->n];
	free(bundle);
}

/* Nobody reads a channel here any more: it is read in another place, or not at all. */
void watt_bundles_leave(struct watt_bundles *bundles, struct engine_bundle *bundle, uint32_t number)
{
	watt_bundle_retire(bundle->bundle, number);
	if (bundle->is_first || !watt_bundle_is_retired(bundle->bundle))
		return;
	if (watt_bundles_hand_over(bundle, bundle->reader->is_blocking ? WATT_HANDOVER_CLOSE :
									 WATT_HANDOVER_TAKE) == 0)
		forget_bundle(bundles, bundle);
}

int watt_bundles_hand_all(struct watt_bundles *bundles, enum watt_handover_kind kind)
{
	size_t i;
	int r = 0, first = 0;

	for (i = 0; i < bundles->n; i++) {
		if (!bundles->list[i]->is_handed)
			r = watt_bundles_hand_over(bundles->list[i], kind);
		first = first < 0 ? first : r;
	}
	return first;
}

void watt_bundles_done(struct watt_bundles *bundles)
{
	size_t i;

	for (i = 0; i < bundles->n; i++)
		free(bundles->list[i]);
	free(bundles->list);
	*bundles = (struct watt_bundles){ 0 };
}

/* ---- what they give ---- */

size_t watt_bundles_fetch(struct watt_bundles *bundles, struct watt_sample *ret, size_t n)
{
	size_t i, done = 0;

	/* whoever was first is last the next time, lest one that floods hide the others */
	for (i = 0; i < bundles->n && done < n; i++) {
		size_t at = (bundles->next + i) % bundles->n;

		done += watt_bundle_fetch(bundles->list[at]->bundle, ret + done, n - done);
	}
	if (bundles->n > 0)
		bundles->next = (bundles->next + 1) % bundles->n;
	return done;
}

uint64_t watt_bundles_room_ns(const struct watt_bundles *bundles)
{
	uint64_t room_ns = UINT64_MAX;
	size_t i;

	for (i = 0; i < bundles->n; i++)
		room_ns = WATT_MIN(room_ns, watt_bundle_room_ns(bundles->list[i]->bundle));
	return room_ns;
}

void watt_bundles_tier_stats(const struct watt_bundles *bundles, enum watt_tier tier,
			     struct watt_tier_stats *ret)
{
	size_t i;

	*ret = bundles->tiers_before[tier];
	for (i = 0; i < bundles->n; i++)
		watt_bundle_add_tier_stats(bundles->list[i]->bundle, tier,
					   watt_reader_is_running(bundles->list[i]->reader->reader),
					   ret);
}

void watt_bundles_losses(const struct watt_bundles *bundles, uint64_t *ret_missed,
			 uint64_t *ret_lost)
{
	size_t i;

	*ret_missed = bundles->missed_before;
	*ret_lost = bundles->lost_before;
	for (i = 0; i < bundles->n; i++)
		watt_bundle_add_losses(bundles->list[i]->bundle,
				       watt_reader_is_running(bundles->list[i]->reader->reader),
				       ret_missed, ret_lost);
}
