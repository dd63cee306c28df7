/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The account of the ground truth: what its tracepoints put in, what its file and its verbs take
 * out. One raw spinlock for all of it, which is taken below the scheduler's locks: nothing under it
 * may wake, print or allocate.
 */
#ifndef WATTSIM_TRUTH_ACCOUNT_H
#define WATTSIM_TRUTH_ACCOUNT_H

#include "truth_table.h"

struct sim_package {
	int id;       /* physical_package_id */
	u32 idle_uw;  /* always used, whoever runs */
	u64 since_ns; /* idle power is accounted until then, CLOCK_MONOTONIC */
	struct sim_energy idle;
	struct sim_energy total; /* idle and all tasks */
};

struct sim_account {
	bool is_on;
	u64 start_ns;
	u64 settled_ns; /* all was accounted then */
	unsigned int n_packages;
	struct sim_package packages[SIM_PACKAGES_MAX];
	u64 n_switches;
	u64 n_strangers; /* switches from somebody else than who was switched to */
};

extern struct sim_account sim_account;

void sim_truth_lock(unsigned long *flags);
void sim_truth_unlock(unsigned long flags);

/* From the tracepoints. */
void sim_truth_switch(struct task_struct *prev, struct task_struct *next);
void sim_truth_begin_cpu(struct task_struct *current_task);
/* A CPU that is dead: of its last switch nobody heard, and the next one is from anybody. */
void sim_truth_end_cpu(unsigned int cpu);
void sim_truth_rename(struct task_struct *task, const char *comm);
void sim_truth_free(struct task_struct *task);

/*
 * Accounts everything up to now: each CPU does so itself, and answers outside of a switch. Without
 * the lock, where it can be waited for.
 */
void sim_truth_settle(void);
/* With the lock held. */
int sim_truth_find_package(int package_id); /* its index, or -ENODEV */

/* Of the noun: with the simulator's mutex held, without the lock. */
int sim_account_start(void);
int sim_account_stop(void);

/* truth_show.c */
int sim_truth_show_init(struct dentry *dir);
/* truth_noun.c */
void sim_truth_noun_init(void);
void sim_truth_noun_exit(void);

#endif
