// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two hash tables over pools that are allocated once. A thread is known by its task_struct, which
 * is its own from its first run until sched_process_free; a process by pid and start.
 */
#include "truth_table.h"

#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/sched/signal.h>
#include <linux/string.h>

#define HASH_BITS 12

static unsigned int max_processes = 16384;
module_param(max_processes, uint, 0444);
MODULE_PARM_DESC(max_processes, "processes that the truth can tell apart, dead ones included");
static unsigned int max_threads = 32768;
module_param(max_threads, uint, 0444);
MODULE_PARM_DESC(max_threads, "living threads that the truth can tell apart");

struct sim_table sim_table;

static struct sim_process *processes;
static struct sim_thread *threads;
static struct hlist_head free_processes, free_threads;
static struct hlist_head process_hash[1 << HASH_BITS], thread_hash[1 << HASH_BITS];

static void init_special(struct sim_process *process, const char *name)
{
	memset(process, 0, sizeof(*process));
	strscpy(process->comm, name, sizeof(process->comm));
	process->power_uw = SIM_POWER_UNSET;
}

int sim_table_alloc(void)
{
	unsigned int i;

	if (!max_processes || !max_threads)
		return -EINVAL;
	processes = kvcalloc(max_processes, sizeof(*processes), GFP_KERNEL);
	threads = kvcalloc(max_threads, sizeof(*threads), GFP_KERNEL);
	if (!processes || !threads) {
		sim_table_free();
		return -ENOMEM;
	}
	memset(process_hash, 0, sizeof(process_hash));
	memset(thread_hash, 0, sizeof(thread_hash));
	INIT_HLIST_HEAD(&free_processes);
	INIT_HLIST_HEAD(&free_threads);
	for (i = max_processes; i-- > 0;)
		hlist_add_head(&processes[i].node, &free_processes);
	for (i = max_threads; i-- > 0;)
		hlist_add_head(&threads[i].node, &free_threads);
	sim_table.n_threads = 0;
	sim_table.n_processes = 0;
	sim_table.n_overflows = 0;
	init_special(&sim_table.overflow, "overflow");
	init_special(&sim_table.forgotten, "forgotten");
	return 0;
}

void sim_table_free(void)
{
	kvfree(processes);
	kvfree(threads);
	processes = NULL;
	threads = NULL;
}

/* ---- power ---- */

static u32 power_by_name(const char *comm, bool is_kernel)
{
	const struct sim_rules *rules = &sim_table.rules;
	unsigned int i;

	for (i = 0; i < rules->n_comms; i++)
		if (!strncmp(rules->comms[i].comm, comm, TASK_COMM_LEN))
			return rules->comms[i].power_uw;
	return is_kernel ? rules->kernel_uw : rules->user_uw;
}

static void apply_rule(struct sim_thread *thread, const char *comm)
{
	if (thread->own_uw != SIM_POWER_UNSET)
		thread->power_uw = thread->own_uw;
	else if (thread->process->power_uw != SIM_POWER_UNSET)
		thread->power_uw = thread->process->power_uw;
	else
		thread->power_uw = power_by_name(comm, thread->process->is_kernel);
}

u32 sim_table_power_uw(const struct task_struct *task)
{
	return power_by_name(task->comm, task->flags & PF_KTHREAD);
}

void sim_table_rename(struct sim_thread *thread, const char *comm)
{
	if (thread_group_leader((struct task_struct *)thread->task))
		strscpy(thread->process->comm, comm, TASK_COMM_LEN);
	apply_rule(thread, comm);
}

void sim_table_apply_rules(void)
{
	struct sim_thread *thread;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(thread_hash); i++)
		hlist_for_each_entry(thread, &thread_hash[i], node)
			apply_rule(thread, thread->task->comm);
}

/* ---- records ---- */

static struct hlist_head *process_bucket(pid_t pid)
{
	return &process_hash[hash_32((u32)pid, HASH_BITS)];
}

static struct hlist_head *thread_bucket(const struct task_struct *task)
{
	return &thread_hash[hash_ptr(task, HASH_BITS)];
}

static struct sim_process *find_process(pid_t pid, u64 start_ns)
{
	struct sim_process *process;

	hlist_for_each_entry(process, process_bucket(pid), node)
		if (process->pid == pid && process->start_ns == start_ns)
			return process;
	return NULL;
}

static struct sim_process *get_process(const struct task_struct *leader)
{
	struct sim_process *process = find_process(leader->pid, leader->start_boottime);

	if (process || hlist_empty(&free_processes))
		return process;
	process = hlist_entry(free_processes.first, struct sim_process, node);
	hlist_del(&process->node);
	memset(process, 0, sizeof(*process));
	process->pid = leader->pid;
	process->start_ns = leader->start_boottime;
	process->is_kernel = leader->flags & PF_KTHREAD;
	process->power_uw = SIM_POWER_UNSET;
	strscpy(process->comm, leader->comm, TASK_COMM_LEN);
	hlist_add_head(&process->node, process_bucket(process->pid));
	sim_table.n_processes++;
	return process;
}

struct sim_thread *sim_table_find(const struct task_struct *task)
{
	struct sim_thread *thread;

	hlist_for_each_entry(thread, thread_bucket(task), node)
		if (thread->task == task)
			return thread;
	return NULL;
}

struct sim_thread *sim_table_get(struct task_struct *task)
{
	struct sim_thread *thread = sim_table_find(task);
	struct sim_process *process;

	if (thread)
		return thread;
	/* the leader of a task that has exited may be gone */
	process = task->exit_state || hlist_empty(&free_threads) ? NULL :
								   get_process(task->group_leader);
	if (!process) {
		sim_table.n_overflows++;
		return NULL;
	}
	thread = hlist_entry(free_threads.first, struct sim_thread, node);
	hlist_del(&thread->node);
	thread->task = task;
	thread->process = process;
	thread->own_uw = SIM_POWER_UNSET;
	apply_rule(thread, task->comm);
	process->n_threads++;
	hlist_add_head(&thread->node, thread_bucket(task));
	sim_table.n_threads++;
	return thread;
}

void sim_table_remove(const struct task_struct *task)
{
	struct sim_thread *thread = sim_table_find(task);

	if (!thread)
		return;
	thread->process->n_threads--;
	hlist_del(&thread->node);
	hlist_add_head(&thread->node, &free_threads);
	sim_table.n_threads--;
}

static void forget(struct sim_process *process)
{
	unsigned int i;

	for (i = 0; i < SIM_PACKAGES_MAX; i++)
		sim_energy_add(&sim_table.forgotten.energy[i], &process->energy[i]);
	sim_table.forgotten.run_ns += process->run_ns;
	hlist_del(&process->node);
	hlist_add_head(&process->node, &free_processes);
	sim_table.n_processes--;
}

void sim_table_clear_dead(void)
{
	struct sim_process *process;
	struct hlist_node *next;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(process_hash); i++)
		hlist_for_each_entry_safe(process, next, &process_hash[i], node)
			if (!process->n_threads)
				forget(process);
}

static struct sim_process *first_from(unsigned int bucket)
{
	for (; bucket < ARRAY_SIZE(process_hash); bucket++)
		if (!hlist_empty(&process_hash[bucket]))
			return hlist_entry(process_hash[bucket].first, struct sim_process, node);
	return NULL;
}

struct sim_process *sim_table_next(struct sim_process *process)
{
	if (!process)
		return first_from(0);
	if (process->node.next)
		return hlist_entry(process->node.next, struct sim_process, node);
	return first_from(hash_32((u32)process->pid, HASH_BITS) + 1);
}
