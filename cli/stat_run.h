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
#include <wattribute/session.h>

#include "events.h"
#include "stat_phase.h"
#include "stat_thread.h"

/* What happened in one interval of -I. */
struct stat_interval {
	uint64_t end_ns; /* since the beginning of the run */
	uint64_t elapsed_ns;
	int64_t energy_nj; /* of the command */
	int64_t machine_nj;
	uint64_t cpu_ns;
};

/* What is missing in a domain's energy. */
struct stat_loss {
	uint64_t errors; /* readings without a value */
	uint64_t resets; /* of its counter */
	uint64_t gap_ns; /* time for which no energy is known */
	uint64_t ambiguous;
};

struct stat_run {
	bool is_known;      /* the energy is; without it only times are */
	int64_t energy_nj;  /* of the command and its descendants */
	int64_t machine_nj; /* of the machine in that time */
	int64_t idle_nj;
	int64_t unattributed_nj;
	int64_t shared_idle_nj; /* idle energy that was shared by all who ran */
	double machine_w;
	uint64_t cpu_ns; /* of the command and its descendants, as accounted */
	double rusage_s; /* as the kernel tells the parent; NAN: not a child */
	uint64_t elapsed_ns;
	int exit_status; /* as the shell has it: 128 + n for signal n */
	size_t n_domains;
	bool *domain_known; /* whether the domain has any energy */
	int64_t *domain_nj; /* of the command */
	int64_t *domain_machine_nj;
	struct stat_loss *domain_loss;
	struct stat_interval *intervals;
	size_t n_intervals;
	struct stat_phases phases;   /* none, if no mark was made */
	struct stat_threads threads; /* none, if nobody asked for them */
};

/* What the runs of one call have in common. */
struct stat_setup {
	struct watt_session *ses;
	struct events events;
	char *const *argv; /* the command; NULL: attached to pid */
	uint32_t pid;
	uint64_t interval_ns; /* 0: none */
	uint64_t limit_ns;    /* attached: end after this time; 0: no limit */
	/* Called at the end of each interval. */
	void (*show_interval)(void *data, const struct stat_interval *interval);
	void *data;
	struct watt_balance balance; /* of the newest snapshot */
	struct watt_quality quality;
	bool is_interrupted; /* the user wants no further run */
};

/*
 * Measures one run. 0; a positive exit status if the command could not be run (a line has been
 * printed); a negative errno if measuring failed (likewise).
 */
int stat_run_measure(struct stat_setup *setup, struct stat_run *ret);
void stat_run_done(struct stat_run *run);

#endif
