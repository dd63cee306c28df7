/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of the third stage: one clock.
 *
 * Turns the samples of each channel into one monotone curve of energy E(t) in integer nJ (a
 * signed one for channels that may be negative), through wraps, resets, gaps and delays.
 * Attribution only ever takes differences between two instants of it, so windows telescope. This
 * is the one place where raw values become canonical. One thread per object. It must not read
 * clocks: time is what the samples say.
 */
#ifndef WATT_TIMELINE_TIMELINE_H
#define WATT_TIMELINE_TIMELINE_H

#include <stdbool.h>

#include <wattribute/channel.h>
#include <wattribute/sample.h>

#include "base/log.h"
#include "base/rules.h"
#include "base/util.h"

struct watt_timeline;

/* The curve of one channel so far. */
struct watt_curve_stats {
	uint64_t samples; /* good ones */
	uint64_t errors;  /* samples without a value */
	uint64_t wraps;
	uint64_t resets;
	uint64_t gaps;
	uint64_t gap_ns;    /* time for which no energy is known */
	uint64_t ambiguous; /* intervals so long that the counter may have wrapped more than once */
	uint64_t disordered;     /* samples older than the one before: dropped */
	uint64_t first_ns;       /* the curve begins here; 0: it has not begun */
	uint64_t last_ns;        /* and is known up to here */
	uint64_t pace_ns;        /* readings are so far apart, as a rule; 0: not known */
	uint64_t patience_ns;    /* without a reading for so long, the sensor is not well */
	enum watt_status status; /* of the newest sample */
	int64_t raw;             /* of the newest good sample */
	/* A counter that stood at 0 before its first good reading: its energy counts from there. */
	bool begins_at_zero;
};

/* channels[i] must outlive the timeline. */
int watt_timeline_new(const struct watt_channel *const *channels, size_t n_channels,
		      struct watt_timeline **ret);
/* There are so many channels now: those behind the ones that it has come in. 0 or -ENOMEM. */
int watt_timeline_grow(struct watt_timeline *tl, const struct watt_channel *const *channels,
		       size_t n_channels);
/*
 * Assumes other delays than the channels' own, before the first reading: in ns, by a channel's
 * name or a pattern with *. NULL: none. 0; -ENOENT: a pattern has no channel, and the log has the
 * sentence.
 */
int watt_timeline_set_delays(struct watt_timeline *tl, const struct watt_rules *delays,
			     const struct watt_log *log);
/* How old the readings of a channel are, as it was found while they came. */
struct watt_age_found {
	const struct watt_channel *channel;
	uint64_t delay_ns;
	uint64_t uncertainty_ns; /* standard */
	size_t n;                /* readings that say so */
};

/* 0; -ENODATA: nothing is known, or it is not sought; there is its channel alone then. */
int watt_timeline_get_age(const struct watt_timeline *tl, size_t channel,
			  struct watt_age_found *ret);
struct watt_timeline *watt_timeline_free(struct watt_timeline *tl);

/*
 * Adds a reading. 1: and by it, the age of the channel's readings was found, found anew, or is
 * believed no more. -EINVAL: no such channel; -ENOMEM. A sample without a value is counted.
 */
int watt_timeline_push(struct watt_timeline *tl, const struct watt_sample *sample);

/*
 * The machine slept, at a time between these two. What its counters counted meanwhile is of a time
 * that is not on this clock, and some of them began anew: where readings lie around it, there is a
 * gap. Before the readings behind it.
 */
void watt_timeline_sleep(struct watt_timeline *tl, uint64_t from_ns, uint64_t to_ns);

/*
 * Energy of a channel at an instant since its curve began (of one of context, what is read times
 * the time: 1e-6 of its canonical unit times 1 s for 1 nJ of 1 uW), by linear interpolation between the
 * two readings around it. 0; -EAGAIN: not known yet; -ENODATA: before the curve begins, or
 * forgotten.
 */
int watt_timeline_energy_nj(const struct watt_timeline *tl, size_t channel, uint64_t t_ns,
			    watt_i128 *ret_nj);
/*
 * How far an instant of which the energy is known lies from the nearest point that was measured: in
 * between, the energy is what it would be at even power. In ns.
 */
uint64_t watt_timeline_edge_ns(const struct watt_timeline *tl, size_t channel, uint64_t t_ns);
/* What is older than t_ns will not be asked again. */
void watt_timeline_forget(struct watt_timeline *tl, size_t channel, uint64_t t_ns);
void watt_timeline_get_stats(const struct watt_timeline *tl, size_t channel,
			     struct watt_curve_stats *ret);

/* Time for which no energy is known. */
struct watt_gap {
	uint64_t t0_ns;
	uint64_t t1_ns;
};

/*
 * The first gap of a channel that has a part behind t0_ns and before t1_ns, cut to that. false:
 * there is none.
 */
bool watt_timeline_find_gap(const struct watt_timeline *tl, size_t channel, uint64_t t0_ns,
			    uint64_t t1_ns, struct watt_gap *ret);

/*
 * For how long between two instants a total whose readings are of nobody knows when (exactly) can't
 * be held against its parts: they changed faster than it can show, or it did, and no part tells when.
 */
uint64_t watt_timeline_transient_ns(const struct watt_timeline *tl, size_t channel, uint64_t t0_ns,
				    uint64_t t1_ns);

#endif
