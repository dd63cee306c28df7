// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads what a process has used: the sums that the kernel keeps of its threads, dead and alive.
 * CPU time goes to the unit that it was used on. It must not sleep.
 */
#include "usage.h"

#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/tick.h>
#include <linux/time64.h>
#include <linux/timekeeping.h>

#include "instructions.h"
#include "lag.h"
#include "leaver.h"
#include "process.h"
#include "settle.h"
#include "unit.h"

/* How often it is read again because a thread moved meanwhile. */
#define TRIES_MAX 3

/* Less than this, who was thought to have run a bit longer than it did has not caught up yet. */
#define HELD_MIN_NS (50 * NSEC_PER_MSEC)

/* So long after its leader was reaped nobody will hear any more that it is freed. */
#define REAPED_MAX_NS (30 * NSEC_PER_SEC)

static u64 n_held, n_halfway;
static DEFINE_PER_CPU(struct watt_lag, lags); /* the sampler's, whatever CPU it is on */

static bool is_running(const struct task_struct *thread)
{
#ifdef CONFIG_SMP
	return READ_ONCE(thread->on_cpu);
#else
	return false; /* but the sampler */
#endif
}

/* How far ticks are apart, which count what runs. */
static u64 tick_ns(unsigned int cpu)
{
	return tick_nohz_full_cpu(cpu) ? NSEC_PER_SEC + TICK_NSEC : TICK_NSEC;
}

static u64 ran_ns(struct task_struct *thread)
{
	u64 counted_ns, ran_ns = READ_ONCE(thread->se.sum_exec_runtime);
	unsigned int cpu = task_cpu(thread);

	if (!is_running(thread))
		return ran_ns;
	counted_ns = READ_ONCE(thread->se.exec_start);
	/* it was counted just now */
	if (READ_ONCE(thread->se.sum_exec_runtime) != ran_ns)
		return READ_ONCE(thread->se.sum_exec_runtime);
	return ran_ns +
	       watt_lag_running_ns(&per_cpu(lags, cpu), ktime_get_ns(), counted_ns, tick_ns(cpu));
}

/* The run time of all threads, and in delta_ns by where they are. */
static u64 read_threads(struct watt_process *process, struct task_struct *leader,
			struct watt_counts *ret)
{
	const struct signal_struct *signal = leader->signal;
	struct task_struct *thread;
	u64 run_ns, thread_ns;
	unsigned int i;

	run_ns = watt_leavers_read(process);
	ret->wakeups = signal->nvcsw;
	ret->disk_read_bytes = signal->ioac.read_bytes;
	ret->disk_write_bytes = signal->ioac.write_bytes;
	for_each_thread(leader, thread) {
		i = watt_unit_of_cpu(task_cpu(thread));
		thread_ns = ran_ns(thread);
		process->parts[i].delta_ns += thread_ns;
		run_ns += thread_ns;
		ret->wakeups += thread->nvcsw;
		ret->disk_read_bytes += thread->ioac.read_bytes;
		ret->disk_write_bytes += thread->ioac.write_bytes;
	}
	return run_ns;
}

/* A thread that exits goes from the list to the sums: not to be seen in both, or in none. */
static u64 read_group(struct watt_process *process, struct task_struct *leader,
		      struct watt_counts *ret)
{
	struct signal_struct *signal = leader->signal;
	unsigned int seq = read_seqbegin(&signal->stats_lock);
	unsigned long flags;
	u64 run_ns;

	run_ns = read_threads(process, leader, ret);
	if (!read_seqretry(&signal->stats_lock, seq))
		return run_ns;
	read_seqlock_excl_irqsave(&signal->stats_lock, flags);
	run_ns = read_threads(process, leader, ret);
	read_sequnlock_excl_irqrestore(&signal->stats_lock, flags);
	return run_ns;
}

/* *ret_is_quiet: no thread moved since the last sample. */
static u64 read_still(struct watt_process *process, struct task_struct *leader,
		      struct watt_counts *ret, bool *ret_is_quiet)
{
	int n_moves, n_before = process->seen_moves;
	unsigned int i;
	u64 run_ns;

	for (i = 0; i < TRIES_MAX; i++) {
		n_moves = atomic_read(&process->n_moves);
		smp_rmb(); /* on_migrate() */
		run_ns = read_group(process, leader, ret);
		smp_rmb(); /* on_migrate() */
		process->seen_moves = atomic_read(&process->n_moves);
		if (process->seen_moves == n_moves)
			break;
	}
	*ret_is_quiet = process->seen_moves == n_before;
	return run_ns;
}

static void settle(struct watt_process *process, u64 run_ns, bool is_quiet)
{
	unsigned int i, n = watt_units_count();
	u64 instructions = watt_instructions_take(process);
	enum watt_settled settled;

	if (!process->is_known && !process->is_newborn) {
		watt_settle_begin(process, n, run_ns);
		return;
	}
	process->now.instructions += instructions;
	settled = watt_settle(process, n, run_ns, is_quiet);
	n_held += settled == WATT_SETTLED_HELD && process->run_ns > run_ns + HELD_MIN_NS;
	n_halfway += settled == WATT_SETTLED_HALFWAY;
	for (i = 0; i < n; i++)
		process->now.cpu_ns += process->parts[i].delta_ns;
}

static u64 counted_ns(struct task_struct *leader)
{
	struct task_struct *thread;
	u64 run_ns = 0;

	for_each_thread(leader, thread)
		run_ns += READ_ONCE(thread->se.sum_exec_runtime);
	return run_ns;
}

u64 watt_usage_run_ns(struct task_struct *leader)
{
	struct task_struct *thread;
	u64 run_ns = 0;

	for_each_thread(leader, thread) {
		if (is_running(thread))
			return WATT_RUN_UNSEEN;
		run_ns += READ_ONCE(thread->se.sum_exec_runtime);
	}
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
	/* pieces are rounded down, which is never as much as half a packet */
	process->now.rx_packets = (atomic64_read(&process->rx_parts) + BIT(WATT_RX_SHIFT - 1)) >>
				  WATT_RX_SHIFT;
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

void watt_usage_read(struct watt_process *process, struct task_struct *leader, bool with_memory)
{
	struct watt_counts counts;
	bool is_quiet;
	u64 run_ns;

	run_ns = read_still(process, leader, &counts, &is_quiet);
	set_counts(process, &counts);
	settle(process, run_ns, is_quiet);
	if (!process->is_known && !process->is_newborn)
		/* the kernel's own sum: it ran before the module came */
		process->now.cpu_ns = leader->signal->sum_sched_runtime + counted_ns(leader);
	if (with_memory)
		process->now.mem_bytes = watt_usage_mem_bytes(leader);
}

/* Its leader was freed, or it was so long ago that it must have been, heard or not. */
static bool is_over(struct watt_process *process, bool is_freed)
{
	u64 now_ns;

	if (is_freed)
		return true;
	now_ns = ktime_get_ns();
	if (!process->reaped_ns)
		process->reaped_ns = now_ns;
	return now_ns - process->reaped_ns >= REAPED_MAX_NS;
}

void watt_usage_read_dead(struct watt_process *process)
{
	/* before last_words: take_last_words() */
	bool is_freed = smp_load_acquire(&process->is_freed);
	u64 run_ns;

	run_ns = watt_leavers_read(process);
	process->is_final = is_over(process, is_freed) && list_empty(&process->leavers);
	if (is_freed)
		set_counts(process, &process->last_words);
	process->now.mem_bytes = 0;
	settle(process, run_ns, true);
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

u64 watt_usage_n_held(void)
{
	return READ_ONCE(n_held);
}

u64 watt_usage_n_halfway(void)
{
	return READ_ONCE(n_halfway);
}
