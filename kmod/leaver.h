/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that have exited: from the moment when they are reaped until RCU frees them they are on
 * none of the kernel's lists, which takes tens of ms, and seconds where RCU is lazy. What they ran
 * must not be away for so long: it was used in the sample in which they ran.
 */
#ifndef WATTRIBUTE_LEAVER_H
#define WATTRIBUTE_LEAVER_H

#include <linux/types.h>

struct task_struct;
struct watt_process;

void watt_leavers_init(struct watt_process *process);
/* With the record; nobody looks any more. */
void watt_leavers_done(struct watt_process *process);

/* All that are left, when no process and no hook is there any more. */
void watt_leavers_end(void);

/* A thread exits. It is not noted where there is no memory: its time comes late then. */
void watt_leaver_add(struct watt_process *process, struct task_struct *task);
/*
 * It is freed, noted or not: its run time is final, and goes to the base of its unit: of the
 * process that has it noted, else of this one. NULL: its time is nobody's if it was not noted.
 */
void watt_leaver_free(struct watt_process *process, const struct task_struct *task);
/*
 * One that is freed, but for the reference by which it is noted, while nobody heard of it: it waits
 * for watt_leaver_free(). A reference of it is the caller's. NULL: there is no other one among
 * those that were final the last time when it was NULL. For the sampler; it pauses.
 */
struct task_struct *watt_leavers_find_missed(void);
/*
 * Sets delta_ns of each part to its base and the run time of those that are on no list. Returns
 * what they and those that are freed ran, which no move changes. For the sampler.
 */
u64 watt_leavers_read(struct watt_process *process);

#endif
