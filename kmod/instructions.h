/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Instructions that processes execute: a hardware counter on each CPU, read where a thread leaves
 * it. What was executed goes to the process at once, into its parts.
 */
#ifndef WATTRIBUTE_INSTRUCTIONS_H
#define WATTRIBUTE_INSTRUCTIONS_H

#include <linux/types.h>

struct task_struct;
struct watt_process;

/* Sets a counter on each CPU. That there is none to be had is no error, and said in a message. */
int watt_instructions_init(void);
bool watt_instructions_has_counters(void);
/* When nothing here is called any more. */
void watt_instructions_done(void);
/* From now on watt_instructions_switch() is called. */
void watt_instructions_start(void);

/* Whether they are counted, on all CPUs. Any thread. */
bool watt_instructions_has(void);

/* A thread leaves this CPU for another one, with interrupts off. */
void watt_instructions_switch(struct task_struct *from, const struct task_struct *to);
/* Before a sample; with_running: adds what threads that run just now have executed so far. */
void watt_instructions_update(bool with_running);
/* Moves what is new into parts[].n_instructions; returns the sum. For the sampler. */
u64 watt_instructions_take(struct watt_process *process);

/* How often a number could not be, and was left out. */
u64 watt_instructions_n_disbelieved(void);

#endif
