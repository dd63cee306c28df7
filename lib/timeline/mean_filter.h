/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a mean over a second tells of its newest tenth. The nine before are known, but each with a
 * doubt of its own, and when the mean's window began and ended is not known exactly, either: what
 * the mean says more or less than all of them is divided by how much each is doubted. What was put
 * into the curve can't be taken back, so what an older one should have had is made up for a part at
 * a time. Built so that every machine finds the same. One thread per object.
 */
#ifndef WATT_TIMELINE_MEAN_FILTER_H
#define WATT_TIMELINE_MEAN_FILTER_H

#include <stddef.h>
#include <stdint.h>

#include "base/util.h"

struct watt_mean_filter;

/* The newest stretch, by itself, and what the mean says. */
struct watt_mean_news {
	uint64_t from_ns, to_ns; /* the stretch */
	watt_i128 expected_nj;   /* in it, as it was seen */
	watt_i128 least_nj;      /* of it, so much is certain */
	int64_t doubt_uj;        /* standard deviation of what is expected */
	uint64_t mean_from_ns;   /* the mean is of the time from here to its end */
	watt_i128 told_nj;       /* what of the mean's energy is not in the curve yet */
	int64_t noise_uj;        /* standard deviation of that */
};

/* NULL: there is no memory. */
struct watt_mean_filter *watt_mean_filter_new(void);
/* Accepts NULL; returns NULL. */
struct watt_mean_filter *watt_mean_filter_free(struct watt_mean_filter *filter);
/* What to put into the curve for it. */
watt_i128 watt_mean_filter_take(struct watt_mean_filter *filter, const struct watt_mean_news *news);
/* A stretch of which no mean tells: it goes into the curve as expected. */
void watt_mean_filter_note(struct watt_mean_filter *filter, const struct watt_mean_news *news);

#endif
