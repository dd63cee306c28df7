/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long every CPU was busy, from what /proc/stat says and the clock of whoever read it.
 *
 * busy = elapsed - idle - iowait - steal. The kernel knows idle time to the ns, while it samples
 * user and system time by ticks and misses what runs between them. A pure function of its input.
 * One thread per object.
 */
#ifndef WATT_SOURCE_POWER_ESTIMATE_CPU_ACTIVITY_H
#define WATT_SOURCE_POWER_ESTIMATE_CPU_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/usage.h"

/* One CPU; all zero at the start. */
struct watt_cpu_activity {
	uint64_t online_ns; /* time between readings that both showed it; never goes down */
	uint64_t busy_ns;   /* of that, neither idle nor taken by the hypervisor; never goes down */
	/* Private: where its present stay online began, and what was read last. */
	uint64_t base_t_ns;
	uint64_t base_online_ns;
	uint64_t base_busy_ns;
	uint64_t base_away_ns;
	uint64_t away_ns;  /* idle, iowait and steal: the most that was seen in this stay */
	uint64_t total_ns; /* all columns */
	bool is_online;
};

/* Takes what was read at now_ns of each of the n CPUs. */
void watt_cpu_activity_update(struct watt_cpu_activity *cpus, const struct watt_cpu_time *times,
			      size_t n, uint64_t now_ns);

/* Whether none of them has moved since the last reading. */
bool watt_cpu_activity_is_same(const struct watt_cpu_activity *cpus,
			       const struct watt_cpu_time *times, size_t n);

#endif
