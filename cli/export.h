/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of export formats. A format is told what the recording is, then its windows in the
 * order of time, then that this was all; it keeps as little as it can, since a recording may be
 * larger than memory. Everything it is told is plain values, so that it can be told made-up ones.
 */
#ifndef WATT_CLI_EXPORT_H
#define WATT_CLI_EXPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <wattribute/recording.h>

#include "view.h"

/* What a recording is, beside its windows. Borrowed. */
struct export_about {
	const char *file;
	const struct watt_recording_info *info;
	const struct watt_channel **channels;
	size_t n_channels;
	const struct watt_domain **domains;
	size_t n_domains;
	const struct watt_mark **marks;
	size_t n_marks;
	const struct watt_recording_loss **losses;
	size_t n_losses;
	uint64_t from_ns; /* of what is exported, CLOCK_MONOTONIC */
	uint64_t to_ns;
};

struct export_window {
	struct view view; /* its numbers are the window_* ones */
	uint64_t index;   /* from 0 */
	uint64_t t0_ns;   /* CLOCK_MONOTONIC */
	uint64_t t1_ns;
	uint64_t t1_realtime_ns; /* CLOCK_REALTIME at t1_ns */
	const char *phase;       /* NULL: none */
};

struct export_format;

struct export
{
	FILE *out;
	const struct export_format *format;
	const struct export_about *about;
	const char *what; /* one of the format's; NULL: the first one */
	uint32_t kinds;   /* bits of enum watt_entity_kind */
	bool with_zeros;  /* entities that used nothing have a place too */
	void *data;       /* the format's own */
};

/* What a format has to be told. */
enum export_need {
	EXPORT_WINDOWS, /* costs a replay */
	EXPORT_SAMPLES,
	EXPORT_ABOUT, /* what is told in begin() is all */
};

/* 0 or a negative errno, and a line has been printed. What is NULL is not needed. */
struct export_format {
	const char *name;
	const char *whats; /* what it can be asked for: "energy samples marks"; NULL: no choice */
	enum export_need (*need)(const struct export *ex); /* NULL: the windows */
	int (*begin)(struct export *ex);
	int (*window)(struct export *ex, const struct export_window *window);
	void (*sample)(struct export *ex, const struct watt_sample *sample);
	int (*end)(struct export *ex);
	/* Frees what begin() made; also after an error. */
	void (*done)(struct export *ex);
};

extern const struct export_format export_csv, export_json, export_jsonl, export_perfetto,
	export_emon;

/* The kinds whose sum is the energy of the domains. */
uint32_t export_kinds_in_sum(void);
bool export_has_kind(const struct export *ex, enum watt_entity_kind kind);
/* Seconds from the beginning of the recording, in ns; negative before it. */
int64_t export_since_ns(const struct export *ex, uint64_t t_ns);
/* CLOCK_REALTIME of an instant of the recording. */
uint64_t export_realtime_ns(const struct export *ex, uint64_t t_ns);
/* Whether a domain's energy in the window is known at all. */
bool export_is_known(const struct watt_domain_state *state);
/* Power of a row over the partition in the window; NAN: not known. */
double export_row_w(const struct view *view, const struct watt_row *row);
/* Whether a row used anything in the window. */
bool export_has_used(const struct view *view, const struct watt_row *row);
/* Container, pod and unit of an entity, or NULL. */
const char *export_container(const struct watt_entity *entity);
const char *export_pod(const struct watt_entity *entity);
const char *export_unit(const struct watt_entity *entity);

#endif
