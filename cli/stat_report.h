/* SPDX-License-Identifier: Apache-2.0 */
/* What `wattribute stat` found, as text for people or as a JSON document. */
#ifndef WATT_CLI_STAT_REPORT_H
#define WATT_CLI_STAT_REPORT_H

#include <stdio.h>

#include <wattribute/tally.h>

#include "stat_lines.h"
#include "stat_run.h"

struct stat_report {
	const struct stat_setup *setup;
	const struct watt_run *const *runs;
	size_t n_runs;
	size_t n_failed;                /* runs that failed or were interrupted */
	size_t n_left_out;              /* of them: all, or none where there are no others */
	bool has_domains;               /* a line for each domain */
	bool has_threads;               /* and for each thread */
	const struct stat_lines *lines; /* of -I, what they said; NULL: there were none */
};

void stat_report_print(const struct stat_report *report, FILE *out);
/* The table of phases; nothing if no mark was made. The first part of the tally is the command. */
void stat_report_phases(const struct stat_report *report, const struct watt_tally *tally,
			FILE *out);
/* 0 or a negative errno. */
int stat_report_json(const struct stat_report *report, FILE *out);

#endif
