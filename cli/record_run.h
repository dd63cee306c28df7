/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording while it is made: a snapshot each second and at each mark, until the command ends,
 * the time is over or the user has enough.
 */
#ifndef WATT_CLI_RECORD_RUN_H
#define WATT_CLI_RECORD_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include <wattribute/recording.h>

#include "events.h"
#include "totals.h"

struct record_setup {
	struct watt_session *ses; /* recorded, not yet started */
	struct events events;
	char *const *argv; /* the command; NULL: none */
	uint64_t limit_ns; /* 0: none */
	/* Called for each snapshot; a negative errno ends the recording. NULL: nobody cares. */
	int (*take)(void *data, struct watt_snapshot *snap);
	/* Called when the command runs. NULL: nobody cares. */
	void (*begun)(void *data);
	/* Called about once a second, and for each mark. NULL: nobody cares. */
	void (*show)(void *data);
	void *data;
};

/* What is known of it, now and at its end. */
struct record_run {
	uint64_t begin_ns;
	uint64_t entity_id;    /* of the command; 0: none */
	struct totals totals;  /* of the newest snapshot */
	struct watt_mark mark; /* the newest; its label is the phase */
	uint64_t n_marks;
	int exit_status; /* of the command */
};

/*
 * 0; a positive exit status if the command could not be run (a line has been printed); a negative
 * errno if measuring failed (likewise).
 */
int record_run(struct record_setup *setup, struct record_run *run);
void record_run_done(struct record_run *run);

#endif
