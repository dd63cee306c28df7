/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The energy curve of one channel: points (t, E) with straight lines between them. Takes raw
 * readings, gives nJ. It must not know of other channels, nor read a clock.
 */
#ifndef WATT_TIMELINE_CURVE_H
#define WATT_TIMELINE_CURVE_H

#include "timeline/shape.h"
#include "timeline/timeline.h"

#include "base/util.h"

/* What other channels tell of the time from the newest reading to this one. */
struct watt_hint {
	bool has_power; /* of a counter: the mean power of its end */
	int64_t power_uw;
	uint64_t window_ns; /* of so much of it */
	bool has_energy;    /* of a power: what was used in all of it */
	watt_i128 energy_nj;
};

struct watt_point {
	watt_i128 energy_nj;
	uint64_t t_ns;
	bool is_gap;       /* the line that ends here covers time without data */
	bool is_transient; /* the same: time in which its parts changed faster than it can show */
};

struct watt_curve {
	watt_i128 energy_nj; /* E at the newest point */
	const struct watt_channel *channel;
	uint64_t delay_ns;         /* the channel's, or what somebody assumes instead */
	uint64_t found_delay_ns;   /* where delay_ns goes, some with each reading */
	uint64_t read_ns;          /* when the newest good reading was read */
	struct watt_point *points; /* ring of cap points, oldest at head */
	size_t cap, head, n;
	struct watt_curve_stats stats;
	uint64_t sleep_from_ns, sleep_to_ns; /* it did between these; to 0: it did not */
	uint64_t zero_ns; /* the newest reading of a counter that has never moved from 0; 0: none */
	int64_t raw;
	int64_t power_uw; /* the same; of a counter, what a hint said of the end of its newest step */
	uint64_t keep_ns;      /* so much before what is forgotten is still asked for */
	int64_t area_rest;     /* of the trapezoids so far, below 1 nJ, in half uW ns */
	uint64_t typical_ns;   /* usual distance of readings */
	struct watt_miss miss; /* of the shape, at the newest point */
	bool is_delay_told;    /* somebody assumes delay_ns: nothing else is found */
	bool has_value;        /* raw and power_uw hold the newest good reading */
	bool has_power;        /* of a counter: power_uw holds what a hint said */
	bool lost_sight;       /* a reading without a value came since */
	bool has_slept;        /* the machine did since: no count goes on */
};

void watt_curve_init(struct watt_curve *curve, const struct watt_channel *channel);
void watt_curve_done(struct watt_curve *curve);
/* As watt_timeline_sleep(). */
void watt_curve_sleep(struct watt_curve *curve, uint64_t from_ns, uint64_t to_ns);
/*
 * Between readings, the curve follows the shape where that is known well enough, else what a hint
 * tells, else a straight line. NULL: there is none.
 */
int watt_curve_push(struct watt_curve *curve, const struct watt_sample *sample,
		    const struct watt_shape *shape, const struct watt_hint *hint);
/* The instant that a reading speaks of; of a mean whose end is known, that end. */
uint64_t watt_curve_effective_ns(const struct watt_curve *curve, const struct watt_sample *sample);
/*
 * Readings speak of an instant that long before them. The curve goes there in small steps, so that
 * time never goes back in it, and none is left out: energy is neither lost nor made.
 */
void watt_curve_set_found_delay(struct watt_curve *curve, uint64_t delay_ns);
int watt_curve_energy_nj(const struct watt_curve *curve, uint64_t t_ns, watt_i128 *ret_nj);
/* As watt_timeline_edge_ns(). */
uint64_t watt_curve_edge_ns(const struct watt_curve *curve, uint64_t t_ns);
/* As watt_timeline_find_gap(). */
bool watt_curve_find_gap(const struct watt_curve *curve, uint64_t t0_ns, uint64_t t1_ns,
			 struct watt_gap *ret);
/* As watt_timeline_transient_ns(). */
uint64_t watt_curve_transient_ns(const struct watt_curve *curve, uint64_t t0_ns, uint64_t t1_ns);
/* As watt_curve_stats.pace_ns and patience_ns. */
uint64_t watt_curve_pace_ns(const struct watt_curve *curve);
uint64_t watt_curve_patience_ns(const struct watt_curve *curve);
void watt_curve_forget(struct watt_curve *curve, uint64_t t_ns);

#endif
