/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each CPU did since the start, from the kernel's cumulative counts, and whether it adds up
 * to the time that passed. Counts that step back (the kernel's idle time does) add nothing.
 */
#ifndef WATT_ATTRIB_CPUS_H
#define WATT_ATTRIB_CPUS_H

#include <wattribute/snapshot.h>

#include "base/usage.h"

struct watt_cpus {
	struct watt_cpu_time *newest; /* by CPU number, of the last batch */
	struct watt_cpu_state *states;
	size_t n;
};

/* Adds the step from the last batch, dt_ns ago. The first one only sets the zero. 0, -ENOMEM. */
int watt_cpus_push(struct watt_cpus *cpus, const struct watt_usage_batch *batch, uint64_t dt_ns);
void watt_cpus_done(struct watt_cpus *cpus);
/* Sums over all CPUs, and how much of the time tasks and kernel account for. */
void watt_cpus_fill_quality(const struct watt_cpus *cpus, struct watt_quality *quality);

#endif
