/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of tasks and processes. What to account is decided in sweep.c. */
#include "attrib/task.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attrib/thread.h"
#include "base/util.h"

int watt_tasks_init(struct watt_tasks *tasks)
{
	int r;

	*tasks = (struct watt_tasks){ 0 };
	r = watt_htab_init(&tasks->tasks);
	if (r < 0)
		return r;
	r = watt_htab_init(&tasks->processes);
	if (r < 0)
		watt_htab_done(&tasks->tasks);
	return r;
}

static void task_free(struct watt_task *task)
{
	free(task->thread);
	free(task);
}

void watt_tasks_done(struct watt_tasks *tasks)
{
	struct watt_htab_iter it = { 0 }, it2 = { 0 };
	struct watt_hnode *node;

	while ((node = watt_htab_iterate(&tasks->tasks, &it)))
		task_free(watt_container_of(node, struct watt_task, node));
	while ((node = watt_htab_iterate(&tasks->processes, &it2)))
		free(watt_container_of(node, struct watt_process, node));
	watt_htab_done(&tasks->tasks);
	watt_htab_done(&tasks->processes);
}

static uint64_t task_hash(uint32_t tid, uint64_t start_ns)
{
	return watt_hash_u64(start_ns ^ (uint64_t)tid << 40);
}

struct watt_task *watt_tasks_find(const struct watt_tasks *tasks, uint32_t tid, uint64_t start_ns)
{
	struct watt_hnode *node = watt_htab_first(&tasks->tasks, task_hash(tid, start_ns));

	for (; node; node = watt_htab_next(node)) {
		struct watt_task *task = watt_container_of(node, struct watt_task, node);

		if (task->tid == tid && task->start_ns == start_ns)
			return task;
	}
	return NULL;
}

/* By pid alone, so that the newest of a pid can be found. */
struct watt_process *watt_tasks_find_process(const struct watt_tasks *tasks, uint32_t pid,
					     uint64_t start_ns)
{
	struct watt_hnode *node = watt_htab_first(&tasks->processes, watt_hash_u64(pid));

	for (; node; node = watt_htab_next(node)) {
		struct watt_process *process = watt_container_of(node, struct watt_process, node);

		if (process->pid == pid && process->start_ns == start_ns)
			return process;
	}
	return NULL;
}

struct watt_process *watt_tasks_find_pid(const struct watt_tasks *tasks, uint32_t pid)
{
	struct watt_hnode *node = watt_htab_first(&tasks->processes, watt_hash_u64(pid));
	struct watt_process *newest = NULL;

	for (; node; node = watt_htab_next(node)) {
		struct watt_process *process = watt_container_of(node, struct watt_process, node);

		if (process->pid == pid && (!newest || process->start_ns > newest->start_ns))
			newest = process;
	}
	return newest;
}

static struct watt_process *process_new(struct watt_tasks *tasks, const struct watt_usage *u)
{
	struct watt_process *process = calloc(1, sizeof(*process));

	if (!process)
		return NULL;
	process->pid = u->tgid;
	process->start_ns = u->leader_start_ns;
	process->flags = WATT_USAGE_NO_UID | WATT_USAGE_NO_CGROUP;
	watt_htab_insert(&tasks->processes, &process->node, watt_hash_u64(u->tgid));
	return process;
}

static struct watt_task *task_new(struct watt_tasks *tasks, struct watt_process *process,
				  const struct watt_usage *u)
{
	struct watt_task *task = calloc(1, sizeof(*task));

	if (!task)
		return NULL;
	task->tid = u->tid;
	task->start_ns = u->start_ns;
	task->process = process;
	process->n_tasks++;
	process->had_threads |= process->n_tasks > 1;
	watt_htab_insert(&tasks->tasks, &task->node, task_hash(u->tid, u->start_ns));
	return task;
}

/* Only the leader names its process; a thread may be called otherwise. */
static void take_facts(struct watt_process *process, const struct watt_usage *u)
{
	if (u->parent_tgid && u->parent_tgid != u->tgid)
		process->parent_pid = u->parent_tgid;
	if (!(u->flags & WATT_USAGE_NO_UID))
		process->uid = u->uid;
	process->flags = u->flags;
	if ((u->tid != u->tgid && process->comm[0]) || !u->comm[0] ||
	    !memcmp(process->comm, u->comm, sizeof(u->comm)))
		return;
	memcpy(process->comm, u->comm, sizeof(process->comm));
	process->comm[sizeof(process->comm) - 1] = '\0';
	process->is_asked = false;
}

/* A thread's last word may come when nothing tells any more when its leader started. */
static struct watt_process *find_group(const struct watt_tasks *tasks, const struct watt_usage *u)
{
	if (u->leader_start_ns)
		return watt_tasks_find_process(tasks, u->tgid, u->leader_start_ns);
	return watt_tasks_find_pid(tasks, u->tgid);
}

struct watt_task *watt_tasks_touch(struct watt_tasks *tasks, const struct watt_usage *u,
				   bool *ret_task_is_new, bool *ret_process_is_new)
{
	struct watt_task *task = watt_tasks_find(tasks, u->tid, u->start_ns);
	struct watt_process *process;

	*ret_task_is_new = !task;
	*ret_process_is_new = false;
	if (!task) {
		process = find_group(tasks, u);
		if (!process) {
			process = process_new(tasks, u);
			if (!process)
				return NULL;
			*ret_process_is_new = true;
		}
		task = task_new(tasks, process, u);
		if (!task) {
			if (!process->n_tasks)
				watt_tasks_remove_process(tasks, process);
			return NULL;
		}
	}
	take_facts(task->process, u);
	task->sweep = tasks->sweep;
	task->n_unseen = 0;
	return task;
}

void watt_tasks_remove(struct watt_tasks *tasks, struct watt_task *task)
{
	tasks->n_dying -= task->exit_ns != 0;
	task->process->n_tasks--;
	watt_htab_remove(&tasks->tasks, &task->node);
	task_free(task);
}

void watt_tasks_remove_process(struct watt_tasks *tasks, struct watt_process *process)
{
	watt_htab_remove(&tasks->processes, &process->node);
	free(process);
}

static void rename_task(struct watt_tasks *tasks, struct watt_task *task, uint32_t tid,
			uint64_t start_ns)
{
	watt_htab_remove(&tasks->tasks, &task->node);
	task->tid = tid;
	task->start_ns = start_ns;
	watt_htab_insert(&tasks->tasks, &task->node, task_hash(tid, start_ns));
}

/* A thread of a process by its tid alone: its start is not known any more when it calls exec. */
static struct watt_task *find_thread(const struct watt_tasks *tasks, uint32_t tid, uint32_t tgid,
				     uint64_t leader_start_ns)
{
	struct watt_htab_iter it = { 0 };
	struct watt_hnode *node;

	while ((node = watt_htab_iterate(&tasks->tasks, &it))) {
		struct watt_task *task = watt_container_of(node, struct watt_task, node);

		if (task->tid == tid && task->process->pid == tgid &&
		    task->process->start_ns == leader_start_ns)
			return task;
	}
	return NULL;
}

void watt_tasks_exec_swap(struct watt_tasks *tasks, const struct watt_usage *u)
{
	struct watt_task *thread, *leader;

	if (u->tid == u->tgid)
		return;
	thread = find_thread(tasks, u->tid, u->tgid, u->leader_start_ns);
	leader = watt_tasks_find(tasks, u->tgid, u->leader_start_ns);
	if (!thread || thread == leader)
		return;
	if (leader)
		rename_task(tasks, leader, u->tid, u->leader_start_ns);
	rename_task(tasks, thread, u->tgid, u->leader_start_ns);
}
