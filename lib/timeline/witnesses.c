/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a witness says is used where it is certainly of the same time: its value came when the other
 * one did. A mean over a second tells what was used in the newest tenth, as far as the nine before
 * are known.
 */
#include "timeline/witnesses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/counter.h"
#include "timeline/mean_filter.h"
#include "timeline/stretch.h"

/* What may have been in a stretch that nobody saw, if what was seen around it is the same. */
#define UNSEEN_PART 128
/* A mean over 1 s is told in mW. */
#define QUANTUM_UJ 1000
/* Times of values agree to a part of the window that was seen. */
#define AGREE 4

struct helped {
	int32_t helps; /* the channel that it is read for; -1: it is read for itself */
	int32_t power; /* the channel that tells of the power, and that of a mean; -1: none */
	int32_t mean;
	uint32_t n_witnesses;
	bool is_held;
	struct watt_sample held;
	uint32_t n_heard;
	bool has_power, has_mean; /* since it is held */
	struct watt_sample power_said, mean_said;
	struct watt_mean_filter *filter; /* of what the mean tells; NULL: none does */
};

struct watt_witnesses {
	struct helped *list;
	size_t n;
};

/* ---- who helps whom ---- */

static int32_t find_helped(const struct watt_curve *curves, size_t n, const struct watt_channel *of)
{
	size_t i;

	for (i = 0; i < n; i++) {
		const struct watt_channel *channel = curves[i].channel;

		if (!(channel->flags & WATT_CHANNEL_HELPS) &&
		    !watt_quantity_is_context(channel->quantity) &&
		    !strcmp(channel->domain, of->domain) && !strcmp(channel->source, of->source))
			return (int32_t)i;
	}
	return -1;
}

/* A power tells a counter of its steps; a mean tells a power of what it does not see. */
static int join(struct watt_witnesses *witnesses, struct watt_curve *curves, size_t witness)
{
	const struct watt_channel *channel = curves[witness].channel;
	int32_t of = find_helped(curves, witnesses->n, channel);
	struct helped *helped = of < 0 ? NULL : &witnesses->list[of];
	bool is_counter = of >= 0 && curves[of].channel->quantity == WATT_QUANTITY_ENERGY;

	if (of < 0 || channel->quantity != WATT_QUANTITY_POWER || !channel->window_ns)
		return 0;
	if (is_counter && helped->power < 0) {
		helped->power = (int32_t)witness;
	} else if (!is_counter && helped->mean < 0) {
		helped->filter = watt_mean_filter_new();
		if (!helped->filter)
			return -ENOMEM;
		helped->mean = (int32_t)witness;
		curves[of].keep_ns = channel->window_ns + 4 * channel->period_ns;
	} else {
		return 0;
	}
	helped->n_witnesses++;
	witnesses->list[witness].helps = of;
	return 0;
}

int watt_witnesses_grow(struct watt_witnesses **witnesses, struct watt_curve *curves,
			size_t n_curves)
{
	struct watt_witnesses *self = *witnesses;
	struct helped *list;
	size_t first = self ? self->n : 0, i;
	bool is_needed = self;
	int r = 0;

	for (i = 0; i < n_curves && !is_needed; i++)
		is_needed = curves[i].channel->flags & WATT_CHANNEL_HELPS;
	if (!is_needed || first == n_curves)
		return 0;
	if (!self)
		*witnesses = self = calloc(1, sizeof(*self));
	list = self ? reallocarray(self->list, n_curves, sizeof(*list)) : NULL;
	if (!list)
		return -ENOMEM;
	self->list = list;
	for (i = first; i < n_curves; i++)
		list[i] = (struct helped){ .helps = -1, .power = -1, .mean = -1 };
	self->n = n_curves;
	for (i = first; i < n_curves && r == 0; i++)
		if (curves[i].channel->flags & WATT_CHANNEL_HELPS)
			r = join(self, curves, i);
	return r;
}

struct watt_witnesses *watt_witnesses_free(struct watt_witnesses *witnesses)
{
	size_t i;

	if (!witnesses)
		return NULL;
	for (i = 0; i < witnesses->n; i++)
		watt_mean_filter_free(witnesses->list[i].filter);
	free(witnesses->list);
	free(witnesses);
	return NULL;
}

/* ---- who waits ---- */

bool watt_witnesses_has_help(const struct watt_witnesses *witnesses, size_t channel)
{
	return witnesses->list[channel].n_witnesses;
}

void watt_witnesses_hold(struct watt_witnesses *witnesses, const struct watt_sample *sample)
{
	struct helped *helped = &witnesses->list[sample->channel];

	helped->held = *sample;
	helped->is_held = true;
	helped->n_heard = 0;
	helped->has_power = helped->has_mean = false;
}

const struct watt_sample *watt_witnesses_get_held(const struct watt_witnesses *witnesses,
						  size_t channel)
{
	return witnesses->list[channel].is_held ? &witnesses->list[channel].held : NULL;
}

void watt_witnesses_drop_held(struct watt_witnesses *witnesses, size_t channel)
{
	witnesses->list[channel].is_held = false;
}

int32_t watt_witnesses_hear(struct watt_witnesses *witnesses, const struct watt_sample *sample)
{
	int32_t of = witnesses->list[sample->channel].helps;
	struct helped *helped = of < 0 ? NULL : &witnesses->list[of];
	bool is_good = sample->status == WATT_STATUS_OK;

	if (!helped || !helped->is_held)
		return -1;
	if ((int32_t)sample->channel == helped->power) {
		helped->power_said = *sample;
		helped->has_power = is_good;
	} else {
		helped->mean_said = *sample;
		helped->has_mean = is_good;
	}
	return ++helped->n_heard >= helped->n_witnesses ? of : -1;
}

/* ---- what they tell ---- */

/* Until when the value is the mean. */
static uint64_t end_ns(const struct watt_curve *curve, const struct watt_sample *sample)
{
	const struct watt_channel *channel = curve->channel;
	uint64_t t_ns = watt_curve_effective_ns(curve, sample);

	return channel->flags & WATT_CHANNEL_STEPS ? t_ns : t_ns + channel->window_ns / 2;
}

/* Whether both came at the same time, to a part of this. */
static bool is_of_one_time(uint64_t a_ns, const struct watt_sample *a, uint64_t b_ns,
			   const struct watt_sample *b, uint64_t window_ns)
{
	uint64_t apart_ns = a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns;

	return apart_ns <= window_ns / AGREE &&
	       a->t_after_ns - a->t_before_ns <= window_ns / AGREE * 2 &&
	       b->t_after_ns - b->t_before_ns <= window_ns / AGREE * 2;
}

static void tell_power(const struct helped *helped, const struct watt_curve *curves, uint64_t t_ns,
		       struct watt_hint *hint)
{
	const struct watt_curve *curve = &curves[helped->power];
	uint64_t window_ns = curve->channel->window_ns;

	if (!is_of_one_time(t_ns, &helped->held, end_ns(curve, &helped->power_said),
			    &helped->power_said, window_ns))
		return;
	hint->has_power = true;
	hint->window_ns = window_ns;
	hint->power_uw = (int64_t)watt_counter_nj(curve->channel, helped->power_said.raw);
}

/* The newest stretch as the curve would have it without help. */
static void expect(const struct watt_curve *curve, int64_t power_uw, struct watt_mean_news *news)
{
	struct watt_bend bends[WATT_STRETCH_MAX_BENDS];
	const struct watt_stretch stretch = { .length_ns = news->to_ns - news->from_ns,
					      .seen_ns = curve->channel->window_ns,
					      .seen_uw = power_uw,
					      .before_uw = curve->power_uw,
					      .has_before = true };
	size_t n = watt_stretch_find_bends(&stretch, bends);
	watt_i128 unseen_nj = n > 1 ? bends[n - 2].energy_nj : 0;
	int64_t step_uw = power_uw > curve->power_uw ? power_uw - curve->power_uw :
						       curve->power_uw - power_uw;
	uint64_t unseen_ns = n > 1 ? bends[n - 2].at_ns : 0;

	news->expected_nj = bends[n - 1].energy_nj;
	news->least_nj = bends[n - 1].energy_nj - unseen_nj;
	/* a step may have been anywhere: its part, divided by the square root of 12 */
	news->doubt_uj =
		(int64_t)((watt_i128)step_uw * (watt_i128)unseen_ns / 1000000 * 2 / 7 / 1000);
	news->doubt_uj += (int64_t)(unseen_nj / UNSEEN_PART / 1000);
}

/*
 * When its window began and ended is known to an interval, as are the points of the curve there: if
 * the power was another one at its beginning than at its end, so is what it has. Four times half the
 * interval divided by the square root of 12, and some.
 */
static int64_t get_noise_uj(const struct watt_curve *curve, const struct watt_sample *sample,
			    const struct watt_mean_news *news, int64_t power_uw)
{
	uint64_t d_ns = WATT_MAX((sample->t_after_ns - sample->t_before_ns) / 2, 1);
	watt_i128 begin_nj, end_nj, differ_nj = 0;

	if (news->mean_from_ns >= curve->stats.first_ns + d_ns &&
	    watt_curve_energy_nj(curve, news->mean_from_ns - d_ns, &begin_nj) == 0 &&
	    watt_curve_energy_nj(curve, news->mean_from_ns + d_ns, &end_nj) == 0)
		differ_nj =
			(end_nj - begin_nj - (watt_i128)power_uw * 2 * (watt_i128)d_ns / 1000000) /
			2;
	return (int64_t)((differ_nj < 0 ? -differ_nj : differ_nj) * 5 / 4 / 1000) + QUANTUM_UJ;
}

/* What of the mean's energy is not in the curve yet; false: it is not of what is in the curve. */
static bool find_told(const struct helped *helped, const struct watt_curve *mean,
		      const struct watt_curve *curve, const struct watt_mean_news *news,
		      watt_i128 *ret_nj)
{
	uint64_t from_ns = news->mean_from_ns, t_ns = news->to_ns;
	watt_i128 used_nj;
	struct watt_gap gap;
	int64_t power_uw;

	if (from_ns < curve->stats.first_ns || from_ns >= curve->stats.last_ns ||
	    !is_of_one_time(t_ns, &helped->held, end_ns(mean, &helped->mean_said),
			    &helped->mean_said, mean->channel->period_ns) ||
	    watt_curve_find_gap(curve, from_ns, t_ns, &gap) ||
	    watt_curve_energy_nj(curve, from_ns, &used_nj) < 0)
		return false;
	power_uw = (int64_t)watt_counter_nj(mean->channel, helped->mean_said.raw);
	*ret_nj = (watt_i128)power_uw * (watt_i128)(t_ns - from_ns) / 1000000 -
		  (curve->energy_nj - used_nj);
	return true;
}

static void tell_mean(struct helped *helped, const struct watt_curve *curves,
		      const struct watt_curve *curve, uint64_t t_ns, struct watt_hint *hint)
{
	const struct watt_curve *mean = &curves[helped->mean];
	uint64_t window_ns = mean->channel->window_ns;
	struct watt_mean_news news = { .from_ns = curve->stats.last_ns, .to_ns = t_ns };
	int64_t power_uw;

	if (!curve->has_value || curve->lost_sight || t_ns <= curve->stats.last_ns ||
	    t_ns < window_ns)
		return;
	news.mean_from_ns = t_ns - window_ns;
	power_uw = (int64_t)watt_counter_nj(curve->channel, helped->held.raw);
	expect(curve, power_uw, &news);
	if (!helped->has_mean || !find_told(helped, mean, curve, &news, &news.told_nj)) {
		watt_mean_filter_note(helped->filter, &news);
		return;
	}
	news.noise_uj = get_noise_uj(curve, &helped->held, &news, power_uw);
	hint->has_energy = true;
	hint->energy_nj = watt_mean_filter_take(helped->filter, &news);
}

struct watt_hint watt_witnesses_take_hint(struct watt_witnesses *witnesses, size_t channel,
					  const struct watt_curve *curves)
{
	struct helped *helped = &witnesses->list[channel];
	const struct watt_curve *curve = &curves[channel];
	struct watt_hint hint = { 0 };
	uint64_t t_ns;

	if (!helped->is_held || helped->held.status != WATT_STATUS_OK)
		return hint;
	t_ns = watt_curve_effective_ns(curve, &helped->held);
	if (helped->has_power)
		tell_power(helped, curves, t_ns, &hint);
	if (helped->mean >= 0 && (curve->channel->flags & WATT_CHANNEL_STEPS))
		tell_mean(helped, curves, curve, t_ns, &hint);
	return hint;
}
