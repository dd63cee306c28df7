/* SPDX-License-Identifier: GPL-2.0-only */
/* What a process has used, as the kernel counts it for its threads. */
#ifndef WATTRIBUTE_USAGE_H
#define WATTRIBUTE_USAGE_H

#include <linux/types.h>

struct task_struct;
struct watt_process;

/*
 * Reads the counters of a live process into ->now, and the CPU time of the sample into its parts.
 * Under RCU.
 */
void watt_usage_read(struct watt_process *process, struct task_struct *leader, bool with_memory);
/* The same for one whose threads are all reaped. Sets ->is_final when they are freed too. */
void watt_usage_read_dead(struct watt_process *process);
/* For the one that stands for all without a record. */
void watt_usage_read_unlisted(struct watt_process *process);

/* What the kernel has counted of all its threads; WATT_RUN_UNSEEN: one is running. Under RCU. */
u64 watt_usage_run_ns(struct task_struct *leader);
/* What it holds now. Under RCU. */
u64 watt_usage_mem_bytes(struct task_struct *leader);

/* How often there was less than before, and a thread was seen on its way: see settle.h. */
u64 watt_usage_n_held(void);
u64 watt_usage_n_halfway(void);

#endif
