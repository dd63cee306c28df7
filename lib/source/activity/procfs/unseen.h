/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run time that no sweep saw, because its task was born and died between two: what the CPUs were
 * busy, less what the tasks that were seen used. The CPUs' count is by clock ticks, so that the
 * difference is noisy; only what stands out of the noise is told.
 */
#ifndef WATT_SOURCE_ACTIVITY_UNSEEN_H
#define WATT_SOURCE_ACTIVITY_UNSEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/usage.h"

/* What one CPU counted when it was seen last. */
struct watt_unseen_cpu {
	uint64_t busy_ns;
	uint64_t idle_ns;
	bool is_known;
};

/* One thread per object. All zero is a valid start. */
struct watt_unseen {
	struct watt_unseen_cpu *cpus;
	size_t n_cpus;
	size_t n_online;
	uint64_t busy_ns; /* since the first update */
	uint64_t idle_ns;
	uint64_t seen_ns;
	uint64_t unseen_ns; /* the answer: never falls */
	uint64_t n_coarse;  /* tasks that used time and tell it in ticks: the caller counts them */
	bool is_irq_separate;
};

void watt_unseen_done(struct watt_unseen *unseen);
/* Run time of tasks that were seen, since the first update. */
void watt_unseen_add(struct watt_unseen *unseen, uint64_t seen_ns);
/* The CPUs now; CPUs come and go. tick_ns: step of their count. 0 or -ENOMEM. */
int watt_unseen_update(struct watt_unseen *unseen, const struct watt_cpu_time *cpus, size_t n_cpus,
		       uint64_t tick_ns);

#endif
