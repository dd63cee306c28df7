/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tasks and processes that are alive, kept by what usage records say. A task is (tid, start),
 * a process (tgid, leader's start): a pid that comes again is another one.
 */
#ifndef WATT_ATTRIB_TASK_H
#define WATT_ATTRIB_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attrib/account.h"
#include "base/htab.h"
#include "base/usage.h"

/* Where the uses of somebody begin in the newest slice that has any. */
struct watt_last_use {
	uint64_t slice_seq;
	uint32_t index; /* plus 1 */
};

struct watt_process {
	struct watt_hnode node;
	uint32_t pid;
	uint32_t parent_pid;
	uint64_t start_ns;
	uint64_t cgroup_id;
	uint32_t uid;
	uint16_t flags;        /* enum watt_usage_flag of its newest record */
	bool is_adopted;       /* tracked because its parent died and it came to us */
	bool is_asked;         /* its name was asked for and has not changed since */
	bool had_threads;      /* more than one task at a time */
	bool is_ended_counted; /* ended_ns is where counting began, or later */
	uint64_t ended_ns; /* of threads that were not told of by themselves: accounted so far */
	uint32_t n_tasks;
	char comm[16];
	struct watt_account *account; /* made when it first uses CPU time; NULL: it never did */
	struct watt_account *cgroup;
	struct watt_account *owner;
	struct watt_account *tracked;
	struct watt_last_use last_use;
};

struct watt_thread;

struct watt_task {
	struct watt_hnode node;
	uint32_t tid;
	uint32_t sweep; /* newest sweep that knew it */
	uint64_t start_ns;
	uint64_t cpu_ns; /* accounted so far: never goes down */
	struct watt_process *process;
	uint64_t exit_ns;           /* 0: alive */
	uint32_t n_unseen;          /* full sweeps in a row that did not see it */
	uint64_t pending_slice;     /* number of the slice that waits for its last word; 0: none */
	struct watt_thread *thread; /* owned; NULL: it has no account of its own */
};

struct watt_tasks {
	struct watt_htab tasks;
	struct watt_htab processes;
	uint32_t sweep;
	uint64_t newest_start_ns; /* of the tasks that the first sweep saw */
	size_t n_dying;
};

int watt_tasks_init(struct watt_tasks *tasks);
void watt_tasks_done(struct watt_tasks *tasks);

struct watt_task *watt_tasks_find(const struct watt_tasks *tasks, uint32_t tid, uint64_t start_ns);
struct watt_process *watt_tasks_find_process(const struct watt_tasks *tasks, uint32_t pid,
					     uint64_t start_ns);
/* The newest process with this pid; NULL: none. */
struct watt_process *watt_tasks_find_pid(const struct watt_tasks *tasks, uint32_t pid);

/*
 * The task that a record speaks of, made when it is new; *ret_process_is_new tells whether its
 * process is too. NULL: no memory. comm, uid, cgroup and parent are taken from the record.
 */
struct watt_task *watt_tasks_touch(struct watt_tasks *tasks, const struct watt_usage *u,
				   bool *ret_task_is_new, bool *ret_process_is_new);
/* Removes a task; the process stays until watt_tasks_remove_process(). */
void watt_tasks_remove(struct watt_tasks *tasks, struct watt_task *task);
/* Removes a process without tasks. */
void watt_tasks_remove_process(struct watt_tasks *tasks, struct watt_process *process);
/* The thread that calls exec takes its leader's place: gives the two their new names. */
void watt_tasks_exec_swap(struct watt_tasks *tasks, const struct watt_usage *u);

#endif
