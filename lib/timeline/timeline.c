/* SPDX-License-Identifier: Apache-2.0 */
/* The curves of all channels. Time is what the samples say; no clock is read here. */
#include "timeline/timeline.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "timeline/ages.h"
#include "timeline/curve.h"
#include "timeline/delays.h"
#include "timeline/witnesses.h"
#include "timeline/history.h"

/*
 * From this period on, what lies between two readings is more wrong by a straight line than by
 * parts that count as they are, whatever the age of the readings is.
 */
#define SLOW_NS (5 * WATT_NSEC_PER_SEC)
/* BMCs show the mean of so long. */
#define USUAL_WINDOW_NS WATT_NSEC_PER_SEC
/* and that is no older, where nobody knows how old it is. */
#define USUAL_MAX_AGE_NS (8 * WATT_NSEC_PER_SEC)

struct watt_timeline {
	size_t n_curves;
	struct watt_curve *curves;
	struct watt_ages *ages;           /* NULL: that of no channel is sought */
	struct watt_witnesses *witnesses; /* NULL: no channel is read for another one */
};

/* Channels whose age is sought may come later than those that they are compared with. */
static int grow_ages(struct watt_timeline *tl)
{
	bool is_sought = tl->ages;
	size_t i;
	int r = 0;

	for (i = 0; i < tl->n_curves && !is_sought; i++)
		is_sought = watt_ages_is_sought(tl->curves[i].channel);
	if (!is_sought)
		return 0;
	if (!tl->ages)
		r = watt_ages_new(&tl->ages);
	return r < 0 ? r : watt_ages_grow(tl->ages, tl->curves, tl->n_curves);
}

int watt_timeline_grow(struct watt_timeline *tl, const struct watt_channel *const *channels,
		       size_t n_channels)
{
	struct watt_curve *curves;
	int r;

	if (n_channels <= tl->n_curves)
		return 0;
	curves = reallocarray(tl->curves, n_channels, sizeof(*curves));
	if (!curves)
		return -ENOMEM;
	tl->curves = curves;
	for (; tl->n_curves < n_channels; tl->n_curves++)
		watt_curve_init(&curves[tl->n_curves], channels[tl->n_curves]);
	r = watt_witnesses_grow(&tl->witnesses, tl->curves, tl->n_curves);
	return r < 0 ? r : grow_ages(tl);
}

int watt_timeline_new(const struct watt_channel *const *channels, size_t n_channels,
		      struct watt_timeline **ret)
{
	struct watt_timeline *tl = calloc(1, sizeof(*tl));

	if (!tl)
		return -ENOMEM;
	if (watt_timeline_grow(tl, channels, n_channels) < 0) {
		watt_timeline_free(tl);
		return -ENOMEM;
	}
	*ret = tl;
	return 0;
}

int watt_timeline_set_delays(struct watt_timeline *tl, const struct watt_rules *delays,
			     const struct watt_log *log)
{
	return watt_delays_apply(delays, tl->curves, tl->n_curves, log);
}

struct watt_timeline *watt_timeline_free(struct watt_timeline *tl)
{
	size_t i;

	if (!tl)
		return NULL;
	for (i = 0; i < tl->n_curves; i++)
		watt_curve_done(&tl->curves[i]);
	watt_ages_free(tl->ages);
	watt_witnesses_free(tl->witnesses);
	free(tl->curves);
	free(tl);
	return NULL;
}

/* Of a mean, the age of its end; of the others, that of what they speak of. */
static uint64_t count_age_ns(const struct watt_channel *channel, const struct watt_match *match)
{
	bool is_instant = channel->quantity == WATT_QUANTITY_POWER &&
			  channel->semantics != WATT_SEMANTICS_AVERAGE;

	return is_instant ? match->age_ns : match->delay_ns;
}

/* 0: it is not known. */
static void use_age(struct watt_timeline *tl, size_t channel)
{
	const struct watt_match *match = watt_ages_get(tl->ages, channel);
	struct watt_curve *curve = &tl->curves[channel];

	watt_curve_set_found_delay(curve, match ? count_age_ns(curve->channel, match) : 0);
}

int watt_timeline_get_age(const struct watt_timeline *tl, size_t channel,
			  struct watt_age_found *ret)
{
	const struct watt_match *match = watt_ages_get(tl->ages, channel);

	*ret = (struct watt_age_found){ .channel = tl->curves[channel].channel };
	if (!match || tl->curves[channel].is_delay_told)
		return -ENODATA;
	ret->delay_ns = tl->curves[channel].found_delay_ns;
	ret->uncertainty_ns = match->uncertainty_ns;
	ret->n = match->n;
	return 0;
}

/* How old its readings are, as the curve counts it, and how sure that is. */
static void set_age(const struct watt_timeline *tl, size_t channel, struct watt_shape *shape)
{
	const struct watt_match *match = watt_ages_get(tl->ages, channel);
	const struct watt_match *guess = match ? match : watt_ages_guess(tl->ages, channel);
	const struct watt_curve *curve = &tl->curves[channel];

	shape->is_found = match || curve->is_delay_told;
	shape->age_ns = curve->delay_ns;
	if (curve->is_delay_told) {
		/* a mean that was found belongs to the age that was; and it has nothing of the future */
		shape->window_ns = WATT_MAX(curve->channel->window_ns, USUAL_WINDOW_NS);
		if (curve->delay_ns)
			shape->window_ns = WATT_MIN(shape->window_ns, 2 * curve->delay_ns);
		return;
	}
	if (match)
		shape->window_ns = match->window_ns;
	shape->age_ns = shape->spread_ns = USUAL_MAX_AGE_NS / 2;
	if (!guess)
		return;
	shape->age_ns = count_age_ns(curve->channel, guess);
	/* evenly from side to side, as wide as its standard deviation says */
	shape->spread_ns = WATT_MIN(guess->uncertainty_ns * 7 / 4, shape->spread_ns);
}

/* NULL: nothing is known of what lies between its readings. */
static const struct watt_shape *get_shape(const struct watt_timeline *tl, size_t channel,
					  struct watt_shape *shape)
{
	const struct watt_match *match = watt_ages_get(tl->ages, channel);
	const struct watt_channel *ch = tl->curves[channel].channel;
	uint64_t window_ns;

	if (!tl->ages || !watt_ages_is_sought(ch))
		return NULL;
	window_ns = WATT_MAX(ch->window_ns, USUAL_WINDOW_NS);
	*shape = (struct watt_shape){ .get_j = watt_ages_get_shape_j,
				      .ages = tl->ages,
				      .channel = channel,
				      .window_ns = window_ns,
				      .step_ns = WATT_HISTORY_STEP_NS,
				      .is_followed = match || ch->period_ns >= SLOW_NS };
	set_age(tl, channel, shape);
	return shape;
}

static int push_sample(struct watt_timeline *tl, const struct watt_sample *sample,
		       const struct watt_hint *hint)
{
	struct watt_shape shape;
	struct watt_curve *curve = &tl->curves[sample->channel];
	uint64_t samples, t0_ns, gaps;
	watt_i128 energy0_nj;
	int r;

	samples = curve->stats.samples;
	gaps = curve->stats.gaps;
	t0_ns = curve->stats.last_ns;
	energy0_nj = curve->energy_nj;
	r = watt_curve_push(curve, sample, get_shape(tl, sample->channel, &shape), hint);
	if (r < 0 || !tl->ages || curve->stats.samples == samples)
		return r;
	/* what is not known of a part is no history of it */
	r = watt_ages_see(tl->ages, sample->channel, curve, sample,
			  curve->stats.gaps == gaps ? t0_ns : 0, energy0_nj);
	if (r <= 0 || curve->is_delay_told)
		return WATT_MIN(r, 0);
	use_age(tl, sample->channel);
	return r;
}

/* The reading that waits, with what is known by now. */
static int push_held(struct watt_timeline *tl, size_t channel)
{
	const struct watt_sample *held = watt_witnesses_get_held(tl->witnesses, channel);
	struct watt_hint hint;
	int r;

	if (!held)
		return 0;
	hint = watt_witnesses_take_hint(tl->witnesses, channel, tl->curves);
	r = push_sample(tl, held, &hint);
	if (r >= 0)
		watt_witnesses_drop_held(tl->witnesses, channel);
	return r;
}

int watt_timeline_push(struct watt_timeline *tl, const struct watt_sample *sample)
{
	int32_t complete;
	int r, held = 0;

	if (sample->channel >= tl->n_curves || sample->t_after_ns < sample->t_before_ns)
		return -EINVAL;
	if (!tl->witnesses)
		return push_sample(tl, sample, NULL);
	if (watt_witnesses_has_help(tl->witnesses, sample->channel)) {
		r = push_held(tl, sample->channel);
		if (r >= 0)
			watt_witnesses_hold(tl->witnesses, sample);
		return r;
	}
	r = push_sample(tl, sample, NULL);
	if (r < 0)
		return r;
	complete = watt_witnesses_hear(tl->witnesses, sample);
	if (complete >= 0)
		held = push_held(tl, (size_t)complete);
	return held < 0 ? held : WATT_MAX(r, held);
}

void watt_timeline_sleep(struct watt_timeline *tl, uint64_t from_ns, uint64_t to_ns)
{
	size_t i;

	for (i = 0; i < tl->n_curves; i++)
		watt_curve_sleep(&tl->curves[i], from_ns, to_ns);
}

int watt_timeline_energy_nj(const struct watt_timeline *tl, size_t channel, uint64_t t_ns,
			    watt_i128 *ret_nj)
{
	if (channel >= tl->n_curves)
		return -EINVAL;
	return watt_curve_energy_nj(&tl->curves[channel], t_ns, ret_nj);
}

uint64_t watt_timeline_edge_ns(const struct watt_timeline *tl, size_t channel, uint64_t t_ns)
{
	return channel < tl->n_curves ? watt_curve_edge_ns(&tl->curves[channel], t_ns) : 0;
}

void watt_timeline_forget(struct watt_timeline *tl, size_t channel, uint64_t t_ns)
{
	if (channel < tl->n_curves)
		watt_curve_forget(&tl->curves[channel], t_ns);
}

void watt_timeline_get_stats(const struct watt_timeline *tl, size_t channel,
			     struct watt_curve_stats *ret)
{
	if (channel >= tl->n_curves)
		return;
	*ret = tl->curves[channel].stats;
	ret->pace_ns = watt_curve_pace_ns(&tl->curves[channel]);
	ret->patience_ns = watt_curve_patience_ns(&tl->curves[channel]);
}

bool watt_timeline_find_gap(const struct watt_timeline *tl, size_t channel, uint64_t t0_ns,
			    uint64_t t1_ns, struct watt_gap *ret)
{
	return channel < tl->n_curves &&
	       watt_curve_find_gap(&tl->curves[channel], t0_ns, t1_ns, ret);
}

uint64_t watt_timeline_transient_ns(const struct watt_timeline *tl, size_t channel, uint64_t t0_ns,
				    uint64_t t1_ns)
{
	return channel < tl->n_curves ?
		       watt_curve_transient_ns(&tl->curves[channel], t0_ns, t1_ns) :
		       0;
}
