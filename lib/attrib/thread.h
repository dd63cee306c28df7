/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads as accounts, on request. A thread counts for the sums of its process, and for the
 * process itself, which then is the sum of its threads: of those that live, of those that have
 * ended, and of what is told of the process alone. Kernel threads have none below them.
 */
#ifndef WATT_ATTRIB_THREAD_H
#define WATT_ATTRIB_THREAD_H

#include "attrib/task.h"

struct watt_attrib;

/* What a task has while threads are accounts. */
struct watt_thread {
	struct watt_account *account; /* its user is the task */
	struct watt_member *actor;    /* of the newest sums */
	struct watt_last_use last_use;
};

/* Whether this process, which has an account, is divided among threads. */
bool watt_process_has_threads(const struct watt_attrib *at, const struct watt_process *process);
/* The task in the sums of its process, which has an account. NULL: no memory. */
struct watt_member *watt_thread_get_actor(struct watt_attrib *at, struct watt_task *task,
					  const char comm[16]);
/* What no thread of the process did by itself. NULL: no memory. */
struct watt_member *watt_thread_get_rest(struct watt_attrib *at, struct watt_process *process,
					 enum watt_thread_rest which);
/* Where its threads go when they are over; of a process that is over too. NULL: no memory. */
struct watt_account *watt_thread_get_ended(struct watt_attrib *at, struct watt_account *process);
/* Called otherwise since now. 0 or -ENOMEM. */
int watt_thread_rename(struct watt_task *task, const char comm[16]);
/* The cgroup or the owner of the process is known at last: all its threads were in it. */
void watt_threads_join(struct watt_attrib *at, const struct watt_process *process);
/* The task is over: its account waits to be retired. */
void watt_thread_close(struct watt_task *task);
/* The process is over. */
void watt_threads_close(struct watt_process *process);
/*
 * Retires a thread that is over: into the ended threads of its process, or, as the last one of a
 * process that is over and about to be retired, into its sums alone. 0 or -ENOMEM.
 */
int watt_thread_retire(struct watt_attrib *at, struct watt_account *thread);

#endif
