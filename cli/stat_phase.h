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

#include <wattribute/run.h>

#include "labels.h"
#include "totals.h"

/*
 * Adds a stretch; index: of the run's phases by their labels, kept by this. from and to are the totals at its ends; elapsed_ns is told apart, as a run
 * begins and ends between its totals.
 */
void stat_phases_add(struct watt_run *run, struct labels *index, const char *label,
		     uint64_t elapsed_ns, const struct totals *from, const struct totals *to);
/* NULL: the run has none. */
const struct watt_run_phase *stat_phases_find(const struct watt_run *run, struct labels *index,
					      const char *label);
void stat_phases_done(struct watt_run *run);

#endif
