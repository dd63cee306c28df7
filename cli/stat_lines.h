/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of `stat -I`: what is shown of the intervals adds up to what is shown of the run. */
#ifndef WATT_CLI_STAT_LINES_H
#define WATT_CLI_STAT_LINES_H

#include <stdbool.h>
#include <stdio.h>

#include <wattribute/balance.h>
#include <wattribute/run.h>

/* Of one run after the other. All zero: no line yet. */
struct stat_lines {
	bool is_begun;
	int decimals;    /* of all energies of the run */
	uint64_t end_ns; /* of the newest interval */
	/* of the run so far, as it is and as it is shown */
	int64_t energy_nj, machine_nj;
	double shown_j, shown_machine_j;
};

void stat_lines_print(struct stat_lines *lines, FILE *out, const struct watt_run_interval *interval,
		      const struct watt_balance *balance);

#endif
