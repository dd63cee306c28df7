/* SPDX-License-Identifier: Apache-2.0 */
/* What a person sees of a recording: a line that changes while it is made, and a summary. */
#ifndef WATT_CLI_RECORD_REPORT_H
#define WATT_CLI_RECORD_REPORT_H

#include <stdio.h>

#include "record_files.h"
#include "record_run.h"

/* "1m 05s  12,345 samples  1.2 MB  3 marks  nothing lost  12.3 W  in 'solve'"; returns buf. */
char *record_report_progress(const struct watt_session *ses, const struct record_run *run,
			     char *buf, size_t size);
#define RECORD_N_TIERS 3

/* What is left of a recording when its session is closed. */
struct record_end {
	const char *path;
	struct watt_record_stats stats;
	struct record_files files; /* what is in them */
	size_t n_channels;
	struct watt_tier_stats tiers[RECORD_N_TIERS];
};

/* While the session is open. */
void record_report_look_at_tiers(struct record_end *end, const struct watt_session *ses);

/* The same words for the end, and what to do next. */
void record_report_summary(const struct record_end *end, const struct record_run *run, FILE *out);

#endif
