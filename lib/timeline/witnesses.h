/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Channels that are read for the sake of another one: its reading waits for theirs, which come right
 * behind it, and what they tell of the same time is a hint for its curve. A counter is told the
 * power at the end of each step, a power that sees a part of the time what a mean over more of it
 * says. One thread per object.
 */
#ifndef WATT_TIMELINE_WITNESSES_H
#define WATT_TIMELINE_WITNESSES_H

#include "timeline/curve.h"

struct watt_witnesses;

/* There are so many channels now. *witnesses: NULL until one of them helps. 0 or -ENOMEM. */
int watt_witnesses_grow(struct watt_witnesses **witnesses, struct watt_curve *curves,
			size_t n_curves);
/* Accepts NULL; returns NULL. */
struct watt_witnesses *watt_witnesses_free(struct watt_witnesses *witnesses);

/* Whether readings of a channel wait for those of others. */
bool watt_witnesses_has_help(const struct watt_witnesses *witnesses, size_t channel);
/* The reading of such a channel waits from now on. */
void watt_witnesses_hold(struct watt_witnesses *witnesses, const struct watt_sample *sample);
/* The one that waits; NULL: there is none. */
const struct watt_sample *watt_witnesses_get_held(const struct watt_witnesses *witnesses,
						  size_t channel);
/* It was taken. */
void watt_witnesses_drop_held(struct watt_witnesses *witnesses, size_t channel);
/*
 * A reading of a witness. The channel whose reading has waited for this one and for no other; -1:
 * none has.
 */
int32_t watt_witnesses_hear(struct watt_witnesses *witnesses, const struct watt_sample *sample);
/*
 * What is known of the one that waits, which is pushed next; all false: nothing. Once for each: what
 * a mean told is reckoned with from then on.
 */
struct watt_hint watt_witnesses_take_hint(struct watt_witnesses *witnesses, size_t channel,
					  const struct watt_curve *curves);

#endif
