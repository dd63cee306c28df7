/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who there is: records of threads and processes in two pools of fixed size, so that a tracepoint
 * never allocates. All of it under the truth's lock. Must not know of time or tracepoints.
 */
#ifndef WATTSIM_TRUTH_TABLE_H
#define WATTSIM_TRUTH_TABLE_H

#include <linux/list.h>
#include <linux/sched.h>

#include "truth.h"

#define SIM_COMM_RULES_MAX 32
#define SIM_POWER_UNSET U32_MAX

struct sim_process {
	struct hlist_node node; /* in the table; free: in the pool */
	pid_t pid;
	u64 start_ns; /* CLOCK_BOOTTIME */
	char comm[TASK_COMM_LEN];
	unsigned int n_threads; /* records of threads; 0: it has exited */
	bool is_kernel;
	u32 power_uw; /* of all its threads; or SIM_POWER_UNSET */
	u64 run_ns;
	struct sim_energy energy[SIM_PACKAGES_MAX]; /* in the order of the packages */
};

struct sim_thread {
	struct hlist_node node;
	const struct task_struct *task;
	struct sim_process *process;
	u32 own_uw;   /* of this thread; or SIM_POWER_UNSET */
	u32 power_uw; /* by the rule that holds for it now */
};

/* What a task uses while it runs, by the first of: its own, its process's, its name's, default. */
struct sim_rules {
	u32 user_uw, kernel_uw;
	unsigned int n_comms;
	struct {
		char comm[TASK_COMM_LEN];
		u32 power_uw;
	} comms[SIM_COMM_RULES_MAX];
};

struct sim_table {
	struct sim_rules rules;
	struct sim_process overflow;  /* of those for whom there was no room */
	struct sim_process forgotten; /* of those dropped by `truth clear` */
	unsigned int n_threads, n_processes;
	u64 n_overflows;
};

extern struct sim_table sim_table;

/* Outside of the lock, while nobody uses it. */
int sim_table_alloc(void);
void sim_table_free(void);

/* NULL: no room, or the task is past the point where its process can be told. */
struct sim_thread *sim_table_get(struct task_struct *task);
struct sim_thread *sim_table_find(const struct task_struct *task);
void sim_table_remove(const struct task_struct *task);
/* Moves what the dead used to `forgotten`. */
void sim_table_clear_dead(void);
/* Its name has changed, or a rule has. */
void sim_table_rename(struct sim_thread *thread, const char *comm);
void sim_table_apply_rules(void);
struct sim_process *sim_table_next(struct sim_process *process); /* NULL: the first */
u32 sim_table_power_uw(const struct task_struct *task);          /* of one without a record */

#endif
