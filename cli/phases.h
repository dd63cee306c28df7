/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The phases of a series: from one mark to the next. What came before the first mark, and after
 * one without a label, is in no phase; it is one too here, so that all of them are the whole.
 */
#ifndef WATT_CLI_PHASES_H
#define WATT_CLI_PHASES_H

#include <stddef.h>

#include "series.h"

/* Energy of the partition in some time. */
struct phase_sum {
	uint64_t elapsed_ns;
	int64_t energy_nj;
	int64_t idle_nj;
	int64_t unattributed_nj;
	double power_w;     /* mean, each domain by its own time; NAN: not known */
	bool has_command;   /* a command was followed with all its descendants, */
	int64_t command_nj; /* who used this of energy_nj */
	uint64_t command_cpu_ns;
	struct series_energy *domains;
};

struct phase {
	const char *label; /* "": no phase; borrowed from the mark */
	size_t mark;       /* WATT_NO_MARK: before the first one */
	size_t first;      /* window */
	size_t last;       /* and the one behind the last; first: too short for a window */
	uint64_t t0_ns;
	uint64_t t1_ns;
	size_t count; /* in by_label: how many phases are in it; else 1 */
	struct phase_sum sum;
};

struct phases {
	struct phase *list; /* in the order of time */
	size_t n;
	struct phase *by_label; /* those of one label summed, in the order of their first ones */
	size_t n_labels;
	size_t n_domains;
	struct phase_sum whole;
	bool has_marks;
};

void phases_find(struct phases *phases, const struct series *series, const struct watt_mark *marks,
		 size_t n_marks);
void phases_done(struct phases *phases);

#endif
