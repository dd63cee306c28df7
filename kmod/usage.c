// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads what a process has used: the sums that the kernel keeps of its threads, dead and alive.
 * CPU time goes to the unit that it was used on. It must not sleep.
 */
#include "usage.h"

#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/time64.h>

#include "instructions.h"
#include "leaver.h"
#include "process.h"
#include "unit.h"

/* The time of a thread that could not be noted when it exited is away until RCU has freed it. */
#define LOW_SAMPLES_MAX 200

static u64 n_rebased;

/* The run time of all threads, by where they are, in delta_ns. */
static void read_threads(struct watt_process *process, struct task_struct *leader,
			 struct watt_counts *ret)
{
	const struct signal_struct *signal = leader->signal;
	struct task_struct *thread;
	unsigned int i;

	watt_leavers_read(process);
	ret->wakeups = signal->nvcsw;
	ret->disk_read_bytes = signal->ioac.read_bytes;
	ret->disk_write_bytes = signal->ioac.write_bytes;
	for_each_thread(leader, thread) {
		i = watt_unit_of_cpu(task_cpu(thread));
		process->parts[i].delta_ns += READ_ONCE(thread->se.sum_exec_runtime);
		ret->wakeups += thread->nvcsw;
		ret->disk_read_bytes += thread->ioac.read_bytes;
		ret->disk_write_bytes += thread->ioac.write_bytes;
	}
}

/* A thread that exits goes from the list to the sums: not to be seen in both, or in none. */
static void read_group(struct watt_process *process, struct task_struct *leader,
		       struct watt_counts *ret)
{
	struct signal_struct *signal = leader->signal;
	unsigned int seq = read_seqbegin(&signal->stats_lock);
	unsigned long flags;

	read_threads(process, leader, ret);
	if (!read_seqretry(&signal->stats_lock, seq))
		return;
	read_seqlock_excl_irqsave(&signal->stats_lock, flags);
	read_threads(process, leader, ret);
	read_sequnlock_excl_irqrestore(&signal->stats_lock, flags);
}

/*
 * A part's time so far is in delta_ns, which becomes what is new. A thread that moves while it is
 * read can seem to be in two places, with all that it ever ran: more than the CPUs can have run is
 * not believed, and less than before is held for a while.
 */
static void settle_part(struct watt_part *part, u64 time_ns)
{
	s64 cpu_ns = (s64)part->delta_ns;
	s64 delta_ns = cpu_ns - (s64)part->cpu_ns;
	/* ticks come late, and threads that exited come all at once */
	s64 most_ns = 4 * (time_ns + 100 * NSEC_PER_MSEC) * num_online_cpus();

	part->delta_ns = 0;
	if (delta_ns < 0 && ++part->n_low < LOW_SAMPLES_MAX)
		return;
	part->n_low = 0;
	if (delta_ns < 0 || delta_ns > most_ns)
		n_rebased++;
	else
		part->delta_ns = delta_ns;
	part->cpu_ns = cpu_ns;
}

static void settle(struct watt_process *process, u64 time_ns)
{
	unsigned int i, n = watt_units_count();
	u64 instructions = watt_instructions_take(process);

	if (process->is_known || process->is_newborn)
		process->now.instructions += instructions;
	for (i = 0; i < n; i++) {
		struct watt_part *part = &process->parts[i];

		if (process->is_known || process->is_newborn) {
			settle_part(part, time_ns);
			/* is read again, also if it does not run */
			if (part->n_low)
				WRITE_ONCE(process->seen_run_ns, WATT_RUN_UNSEEN);
		} else {
			part->cpu_ns = part->delta_ns;
			part->delta_ns = 0;
		}
		process->now.cpu_ns += part->delta_ns;
	}
}

u64 watt_usage_run_ns(struct task_struct *leader)
{
	struct task_struct *thread;
	u64 run_ns = 0;

	for_each_thread(leader, thread)
		run_ns += READ_ONCE(thread->se.sum_exec_runtime);
	return run_ns;
}

u64 watt_usage_mem_bytes(struct task_struct *leader)
{
	struct task_struct *thread;
	u64 bytes = 0;

	for_each_thread(leader, thread) {
		struct mm_struct *mm;

		if (thread->flags & PF_KTHREAD)
			return 0;
		task_lock(thread);
		mm = thread->mm;
		if (mm)
			bytes = (u64)get_mm_rss(mm) << PAGE_SHIFT;
		task_unlock(thread);
		if (mm)
			break;
	}
	return bytes;
}

static void add_net(struct watt_process *process)
{
	process->now.rx_packets = atomic64_read(&process->rx_packets);
	process->now.tx_packets = atomic64_read(&process->tx_packets);
}

static void set_counts(struct watt_process *process, const struct watt_counts *counts)
{
	process->now.wakeups = max(process->now.wakeups, counts->wakeups);
	process->now.disk_read_bytes = max(process->now.disk_read_bytes, counts->disk_read_bytes);
	process->now.disk_write_bytes =
		max(process->now.disk_write_bytes, counts->disk_write_bytes);
	add_net(process);
}

void watt_usage_read(struct watt_process *process, struct task_struct *leader, u64 time_ns,
		     bool with_memory)
{
	struct watt_counts counts;

	read_group(process, leader, &counts);
	set_counts(process, &counts);
	settle(process, time_ns);
	if (!process->is_known && !process->is_newborn)
		/* the kernel's own sum: it ran before the module came */
		process->now.cpu_ns = leader->signal->sum_sched_runtime + watt_usage_run_ns(leader);
	if (with_memory)
		process->now.mem_bytes = watt_usage_mem_bytes(leader);
}

void watt_usage_read_dead(struct watt_process *process, u64 time_ns)
{
	/* before last_words: take_last_words() */
	bool is_freed = smp_load_acquire(&process->is_freed);

	watt_leavers_read(process);
	process->is_final = is_freed && list_empty(&process->leavers);
	if (is_freed)
		set_counts(process, &process->last_words);
	process->now.mem_bytes = 0;
	settle(process, time_ns);
}

void watt_usage_read_unlisted(struct watt_process *process)
{
	unsigned int i, n = watt_units_count();

	process->now.instructions += watt_instructions_take(process);
	for (i = 0; i < n; i++) {
		struct watt_part *part = &process->parts[i];
		u64 cpu_ns = atomic64_read(&part->base_ns);

		part->delta_ns = cpu_ns - part->cpu_ns;
		part->cpu_ns = cpu_ns;
		process->now.cpu_ns += part->delta_ns;
	}
}

u64 watt_usage_n_rebased(void)
{
	return READ_ONCE(n_rebased);
}
