/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of sinks. A sink is told what is measured, then windows in the order of time, then
 * that this was all; it keeps as little as it can. Everything it is told is plain values, so that
 * it can be told made-up ones. It must not touch hardware: it sees snapshots only.
 *
 * Every function returns 0 or a negative errno; what goes wrong with `out` is noticed by who calls.
 */
#ifndef WATT_SINK_SINK_H
#define WATT_SINK_SINK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <wattribute/phase.h>
#include <wattribute/recording.h>
#include <wattribute/series.h>
#include <wattribute/sink.h>

#include "base/log.h"
#include "view/view.h"

/* What is measured, beside its windows. Borrowed. */
struct watt_sink_about {
	const char *file;                       /* NULL: a live session */
	const struct watt_recording_info *info; /* of a live session with zeros and "" */
	const struct watt_recording *rec;       /* NULL: a live session */
	const struct watt_channel **channels;
	size_t n_channels;
	const struct watt_domain **domains;
	size_t n_domains;
	const struct watt_mark **marks;
	size_t n_marks;
	const struct watt_recording_loss **losses;
	size_t n_losses;
	uint64_t from_ns; /* of what is written, CLOCK_MONOTONIC */
	uint64_t to_ns;
};

struct watt_sink_window {
	struct watt_view view; /* its numbers are the window_* ones */
	const struct watt_snapshot *snap;
	uint64_t index; /* from 0 */
	uint64_t t0_ns; /* CLOCK_MONOTONIC */
	uint64_t t1_ns;
	uint64_t t1_realtime_ns; /* CLOCK_REALTIME at t1_ns */
	const char *phase;       /* NULL: none */
};

/* The windows of a recording as one. Borrowed. */
struct watt_sink_series {
	const struct watt_sink_about *about;
	const struct watt_series *series;
	const struct watt_phases *phases;
};

/* What a sink has to be told. */
enum watt_sink_need {
	WATT_SINK_WINDOWS = 0, /* of a recording: costs a replay */
	WATT_SINK_SAMPLES = 1,
	WATT_SINK_ABOUT = 2,  /* what is told in begin() is all */
	WATT_SINK_SERIES = 3, /* of a recording: all its windows at once */
};

struct watt_sink_ops;

struct watt_sink {
	const struct watt_sink_ops *ops;
	FILE *out;
	struct watt_log log;
	uint32_t kinds;  /* bits of enum watt_entity_kind */
	bool with_zeros; /* entities that used nothing have a place too */
	const struct watt_sink_about *about;
	void *data; /* data_size bytes that were zero */
};

/* What is NULL is not needed. */
struct watt_sink_ops {
	struct watt_sink_info info;
	size_t data_size;
	/* An option that is listed. -EINVAL: not this value. */
	int (*set)(struct watt_sink *sink, const char *option, const char *value);
	enum watt_sink_need (*need)(
		const struct watt_sink *sink); /* NULL: the series, or the windows */
	int (*begin)(struct watt_sink *sink);
	int (*window)(struct watt_sink *sink, const struct watt_sink_window *window);
	int (*sample)(struct watt_sink *sink, const struct watt_sample *sample);
	/* In place of begin(), windows, and end(). before: to compare with; NULL: none. */
	int (*series)(struct watt_sink *sink, const struct watt_sink_series *now,
		      const struct watt_sink_series *before);
	size_t n_kept; /* entities of a kind that a series keeps apart; 0: 1,000 */
	bool is_alone; /* it takes one series and compares nothing */
	int (*end)(struct watt_sink *sink);
	/* Frees what is in data; also after an error, or if begin() was never called. */
	void (*done)(struct watt_sink *sink);
};

/* clang-format off */
/* Options of sinks of windows, which need no set(). */
#define WATT_SINK_OPTION_KINDS \
	{ "kinds", "all or a list such as container,pod", \
	  "entities of these kinds; else those whose sum is the energy" }
#define WATT_SINK_OPTION_ZEROS \
	{ "zeros", "yes or no", "entities that used nothing in a window, too" }
/* clang-format on */

/* The kinds whose sum is the energy of the domains. */
uint32_t watt_sink_kinds_in_sum(void);
bool watt_sink_has_kind(const struct watt_sink *sink, enum watt_entity_kind kind);
/* Seconds from the beginning of the measurement, in ns; negative before it. */
int64_t watt_sink_since_ns(const struct watt_sink *sink, uint64_t t_ns);
/* CLOCK_REALTIME of an instant of CLOCK_MONOTONIC. */
uint64_t watt_sink_realtime_ns(const struct watt_sink *sink, uint64_t t_ns);

#endif
