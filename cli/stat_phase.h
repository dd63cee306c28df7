/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The phases of a run, as the marks cut it: what was used in each. Stretches with the same label
 * are one phase; time in no phase is one, too, without a label. Together they are the run.
 */
#ifndef WATT_CLI_STAT_PHASE_H
#define WATT_CLI_STAT_PHASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wattribute/mark.h>

#include "totals.h"

struct stat_phase {
	char label[WATT_MARK_SIZE]; /* "": in no phase */
	uint64_t count;             /* of stretches */
	bool is_known;              /* the energy is; without it only times are */
	uint64_t elapsed_ns;
	int64_t energy_nj;  /* of the command and its descendants */
	int64_t machine_nj; /* of the machine in that time */
	uint64_t cpu_ns;    /* of the command and its descendants */
	size_t n_domains;
	int64_t *domain_nj; /* of the command */
	int64_t *domain_machine_nj;
};

struct stat_phases {
	struct stat_phase *list; /* in the order in which they first began */
	size_t n;
};

/*
 * Adds a stretch. from and to are the totals at its ends; elapsed_ns is told apart, as a run
 * begins and ends between its totals.
 */
void stat_phases_add(struct stat_phases *phases, const char *label, uint64_t elapsed_ns,
		     const struct totals *from, const struct totals *to);
const struct stat_phase *stat_phases_find(const struct stat_phases *phases, const char *label);
void stat_phases_done(struct stat_phases *phases);

#endif
