/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The power that a unit takes when nothing runs: the lower envelope of its power against the
 * activity of its CPUs, as the library learns it, to the last uW. Until it is known no energy is
 * idle.
 */
#ifndef WATTRIBUTE_BASELINE_H
#define WATTRIBUTE_BASELINE_H

#include <linux/types.h>

/* Of activity, 3.1 % each. */
#define WATT_BASELINE_BINS 32
#define WATT_BASELINE_DEPTH 64 /* newest points kept in a bin */

struct watt_baseline_bin {
	u32 power_mw[WATT_BASELINE_DEPTH]; /* ring */
	u32 n;                             /* points in it */
	u32 next;                          /* where the next one goes */
	u32 low_mw;                        /* first decile of the points */
};

struct watt_baseline {
	u64 power_uw;
	u64 n_points;
	u64 block_nj, block_ns, block_busy_ns;
	bool is_known;
	struct watt_baseline_bin bins[WATT_BASELINE_BINS];
};

/* What of a sample's energy is idle. */
u64 watt_baseline_idle_nj(const struct watt_baseline *baseline, u64 time_ns, u64 energy_nj);
/* Learns from a sample; busy_ns is the CPU time used by all of n_cpus. */
void watt_baseline_add(struct watt_baseline *baseline, u64 time_ns, u64 energy_nj, u64 busy_ns,
		       unsigned int n_cpus);

#endif
