/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One measured run of a command, or one stretch of the life of a process: what it used, and what
 * the machine used meanwhile.
 */
#ifndef WATT_CLI_STAT_RUN_H
#define WATT_CLI_STAT_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include <wattribute/balance.h>
#include <wattribute/run.h>
#include <wattribute/session.h>

#include "events.h"

/* What the runs of one call have in common. */
struct stat_setup {
	struct watt_session *ses;
	struct events events;
	char *const *argv; /* the command; NULL: attached to pid */
	uint32_t pid;
	uint64_t interval_ns; /* 0: none */
	uint64_t limit_ns;    /* attached: end after this time; 0: no limit */
	/* Called at the end of each interval, which is not kept then; NULL: they are in the run. */
	void (*show_interval)(void *data, const struct watt_run_interval *interval);
	void *data;
	struct watt_balance balance; /* of the newest snapshot */
	struct watt_quality quality;
	bool is_interrupted; /* the user wants no further run */
};

/*
 * Measures one run. 0; a positive exit status if the command could not be run (a line has been
 * printed); a negative errno if measuring failed (likewise). Who gets it frees it: watt_run_free().
 */
int stat_run_measure(struct stat_setup *setup, struct watt_run **ret);

#endif
