/* SPDX-License-Identifier: GPL-2.0-only */
/* What a process has used, as the kernel counts it for its threads. */
#ifndef WATTRIBUTE_USAGE_H
#define WATTRIBUTE_USAGE_H

#include <linux/types.h>

struct task_struct;
struct watt_process;

/*
 * Reads the counters of a live process into ->now, and the CPU time of the sample into its parts.
 * time_ns is what a CPU can have run since the last sample. Under RCU.
 */
void watt_usage_read(struct watt_process *process, struct task_struct *leader, u64 time_ns,
		     bool with_memory);
/* The same for one whose threads are all reaped. Sets ->is_final when they are freed too. */
void watt_usage_read_dead(struct watt_process *process, u64 time_ns);
/* For the one that stands for all without a record. */
void watt_usage_read_unlisted(struct watt_process *process);

/* The run time of all its threads that are there. Under RCU. */
u64 watt_usage_run_ns(struct task_struct *leader);
/* What it holds now. Under RCU. */
u64 watt_usage_mem_bytes(struct task_struct *leader);

/* How often a time of CPUs was not believed. */
u64 watt_usage_n_rebased(void);

#endif
