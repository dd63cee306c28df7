/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `wattribute report` knows of a recording: read once, then shown as text. The library shows the same
 * numbers as a document and as a page.
 */
#ifndef WATT_CLI_REPORT_H
#define WATT_CLI_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <wattribute/balance.h>
#include <wattribute/comparison.h>
#include <wattribute/ranking.h>
#include <wattribute/recording.h>
#include <wattribute/series.h>

#include "excerpt.h"
#include "recording.h"

struct report_loss {
	uint64_t t0_ns; /* CLOCK_MONOTONIC */
	uint64_t t1_ns;
	uint64_t samples;
	uint64_t usage_records;
	const char *why;
};

/* A recording with all that was in it. */
struct report_run {
	const char *path; /* as it was given; borrowed */
	struct recording recording;
	const struct watt_recording_info *info; /* of recording, as are the marks */
	const struct watt_mark *marks;
	size_t n_marks;
	struct report_loss *losses;
	size_t n_losses;
	struct watt_series *series;
	struct watt_balance
		balance; /* origin, uncertainty, keys; its energies are those of `whole` */
	struct watt_phases *phases;
};

struct report {
	struct report_run *run;
	struct report_run *other;     /* to compare with; NULL: none */
	struct watt_ranking *ranking; /* of run */
	enum watt_ranking_group group;
	struct watt_comparison *comparison; /* NULL: none */
	size_t n_shown;                     /* rows of a table of text; 0: all */
};

/* What of a recording is asked for. */
struct report_request {
	struct excerpt excerpt;
	const struct watt_options *options;
};

/*
 * Reads a recording. 0 or a negative errno, and a line has been printed; a part of what could be
 * read is no error. report_run_done() in any case.
 */
int report_load(struct report_run *run, const char *path, const struct report_request *request);
/* Once series, marks and losses are there. 0 or -ENOMEM. */
int report_run_finish(struct report_run *run);
void report_run_done(struct report_run *run);

/* For people. */
void report_text_print(const struct report *report, FILE *out, size_t width);
/* Whether to believe it: the end of that. */
void report_trust_print(const struct report_run *run, FILE *out, size_t width);
void report_text_compare(const struct report *report, FILE *out, size_t width);

/* A time of the recording: s since its first window. */
double report_time_s(const struct report_run *run, uint64_t t_ns);

#endif
