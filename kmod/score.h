/* SPDX-License-Identifier: GPL-2.0-only */
/* The score: what a process has used since the last sample, weighed. */
#ifndef WATTRIBUTE_SCORE_H
#define WATTRIBUTE_SCORE_H

#include <linux/types.h>

#include "params.h"

struct watt_counts;
struct watt_process;

/*
 * Weighs what a process has used since `before` and since its parts' last times: into
 * parts[].weight, in thousandths of a point, by where it ran. False: nothing.
 */
bool watt_score_weigh(struct watt_process *process, const struct watt_counts *before,
		      const struct watt_weights *weights, u64 time_ns);

#endif
