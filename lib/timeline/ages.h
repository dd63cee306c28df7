/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds how old the readings of slow channels are while they come: keeps what the fast parts of
 * the machine took for some minutes, and matches each slow channel against it. What it finds
 * depends on the readings alone, so that a replay finds the same. One thread per object.
 */
#ifndef WATT_TIMELINE_AGES_H
#define WATT_TIMELINE_AGES_H

#include "timeline/curve.h"
#include "timeline/match.h"

struct watt_ages;

/* Whether the age of its readings has to be found. */
static inline bool watt_ages_is_sought(const struct watt_channel *channel)
{
	return channel->flags & WATT_CHANNEL_AGE_UNKNOWN;
}

/* 0 or -ENOMEM. */
int watt_ages_new(struct watt_ages **ret);
/* Accepts NULL; returns NULL. */
struct watt_ages *watt_ages_free(struct watt_ages *ages);
/* There are so many channels now. 0 or -ENOMEM. */
int watt_ages_grow(struct watt_ages *ages, const struct watt_curve *curves, size_t n_curves);
/*
 * The curve of a channel went on from one point to the next one, with this reading. 1: the age of
 * its readings has been found, found anew, or is believed no more. 0, -ENOMEM.
 */
int watt_ages_see(struct watt_ages *ages, size_t channel, const struct watt_curve *curve,
		  const struct watt_sample *sample, uint64_t t0_ns, watt_i128 energy0_nj);
/* What was found last; NULL: nothing yet. */
const struct watt_match *watt_ages_get(const struct watt_ages *ages, size_t channel);
/* What the last search found, however vague that is; NULL: nothing yet. */
const struct watt_match *watt_ages_guess(const struct watt_ages *ages, size_t channel);

/*
 * What the parts took by then, since some instant, each times the factor that was found: how the
 * channel goes between its readings. false: nothing was found, or not all parts are known then.
 */
bool watt_ages_get_shape_j(const struct watt_shape *shape, uint64_t t_ns, double *ret_j);

#endif
