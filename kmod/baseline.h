/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The power that a unit takes when nothing runs: learned while next to nothing does. Until there
 * was such a time no energy is idle.
 */
#ifndef WATTRIBUTE_BASELINE_H
#define WATTRIBUTE_BASELINE_H

#include <linux/types.h>

struct watt_baseline {
	u64 power_uw; /* 0: not known */
	u64 block_nj, block_ns, block_busy_ns;
};

/* What of a sample's energy is idle. */
u64 watt_baseline_idle_nj(const struct watt_baseline *baseline, u64 time_ns, u64 energy_nj);
/* Learns from a sample; busy_ns is the CPU time used by all of n_cpus. */
void watt_baseline_add(struct watt_baseline *baseline, u64 time_ns, u64 energy_nj, u64 busy_ns,
		       unsigned int n_cpus);

#endif
