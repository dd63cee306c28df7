// SPDX-License-Identifier: GPL-2.0-only
#include "leaver.h"

#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "compat.h"
#include "process.h"
#include "unit.h"

/* How many are looked at with a lock held. */
#define AT_ONCE 128

/*
 * In the table from its exit until it is freed. It is in the list of its process until what it ran
 * is final and in the process's sums, or it is freed.
 */
struct leaver {
	struct hlist_node table_node;
	struct list_head node;          /* its own if it is in no list */
	const struct task_struct *task; /* there until watt_leaver_free() has returned */
	u64 read_ns;                    /* what is in leaving_ns of it */
	unsigned int unit;              /* of this one */
};

/* Of all processes, by task: tens of thousands may be on their way at once. */
static DEFINE_HASHTABLE(table, 14);
static DEFINE_SPINLOCK(table_lock);

void watt_leavers_init(struct watt_process *process)
{
	spin_lock_init(&process->leavers_lock);
	INIT_LIST_HEAD(&process->leavers);
}

static void forget(struct leaver *leaver)
{
	unsigned long flags;

	spin_lock_irqsave(&table_lock, flags);
	hash_del(&leaver->table_node);
	spin_unlock_irqrestore(&table_lock, flags);
	kfree(leaver);
}

void watt_leavers_done(struct watt_process *process)
{
	struct leaver *leaver, *next;

	list_for_each_entry_safe(leaver, next, &process->leavers, node)
		forget(leaver);
}

void watt_leavers_end(void)
{
	struct hlist_node *next;
	struct leaver *leaver;
	unsigned int i;

	for (i = 0; i < HASH_SIZE(table); i++) {
		hlist_for_each_entry_safe(leaver, next, &table[i], table_node)
			forget(leaver);
		cond_resched();
	}
}

void watt_leaver_add(struct watt_process *process, const struct task_struct *task)
{
	struct leaver *leaver = kmalloc(sizeof(*leaver), GFP_NOWAIT | __GFP_NOWARN);
	unsigned long flags;

	if (!leaver)
		return;
	leaver->task = task;
	leaver->read_ns = 0;
	leaver->unit = 0;
	spin_lock_irqsave(&process->leavers_lock, flags);
	list_add_tail(&leaver->node, &process->leavers);
	spin_unlock_irqrestore(&process->leavers_lock, flags);
	spin_lock_irqsave(&table_lock, flags);
	hash_add(table, &leaver->table_node, (unsigned long)task);
	spin_unlock_irqrestore(&table_lock, flags);
}

/* NULL: it was not noted. */
static struct leaver *take(const struct task_struct *task)
{
	struct leaver *leaver;
	unsigned long flags;

	spin_lock_irqsave(&table_lock, flags);
	hash_for_each_possible(table, leaver, table_node, (unsigned long)task)
		if (leaver->task == task)
			break;
	if (leaver)
		hash_del(&leaver->table_node);
	spin_unlock_irqrestore(&table_lock, flags);
	return leaver;
}

/* Its time from now on, while it is on no list of threads. With leavers_lock. */
static void set_read(struct watt_process *process, struct leaver *leaver, u64 read_ns)
{
	process->leaving_ns -= leaver->read_ns;
	process->parts[leaver->unit].leaving_ns -= leaver->read_ns;
	leaver->unit = watt_unit_of_cpu(task_cpu(leaver->task));
	leaver->read_ns = read_ns;
	process->leaving_ns += read_ns;
	process->parts[leaver->unit].leaving_ns += read_ns;
}

/* With leavers_lock. */
static void add_final(struct watt_process *process, const struct task_struct *task)
{
	unsigned int unit = watt_unit_of_cpu(task_cpu(task));

	atomic64_add(task->se.sum_exec_runtime, &process->parts[unit].base_ns);
	process->freed_ns += task->se.sum_exec_runtime;
}

void watt_leaver_free(struct watt_process *process, const struct task_struct *task)
{
	struct leaver *leaver = take(task);
	unsigned long flags;

	spin_lock_irqsave(&process->leavers_lock, flags);
	if (!leaver || !list_empty(&leaver->node))
		add_final(process, task);
	if (leaver) {
		set_read(process, leaver, 0);
		list_del_init(&leaver->node);
	}
	spin_unlock_irqrestore(&process->leavers_lock, flags);
	kfree(leaver);
}

/*
 * Reads some from the front of the list: of those whose time is final it goes into the sums, the
 * others go to `rest`. False: there are none left.
 */
static bool read_some(struct watt_process *process, struct list_head *rest)
{
	struct leaver *leaver;
	bool is_listed;
	unsigned int n;

	for (n = 0; n < AT_ONCE && !list_empty(&process->leavers); n++) {
		leaver = list_first_entry(&process->leavers, struct leaver, node);
		is_listed = pid_alive(leaver->task); /* not reaped: the list of threads has it */
		if (!is_listed && watt_task_is_gone(leaver->task)) {
			set_read(process, leaver, 0);
			add_final(process, leaver->task);
			list_del_init(&leaver->node);
			continue;
		}
		set_read(process, leaver,
			 is_listed ? 0 : READ_ONCE(leaver->task->se.sum_exec_runtime));
		list_move_tail(&leaver->node, rest);
	}
	return !list_empty(&process->leavers);
}

u64 watt_leavers_read(struct watt_process *process)
{
	unsigned int i, n = watt_units_count();
	unsigned long flags;
	LIST_HEAD(rest);
	u64 run_ns;

	spin_lock_irqsave(&process->leavers_lock, flags);
	while (read_some(process, &rest)) {
		spin_unlock_irqrestore(&process->leavers_lock, flags);
		cpu_relax();
		spin_lock_irqsave(&process->leavers_lock, flags);
	}
	list_splice(&rest, &process->leavers);
	run_ns = process->freed_ns + process->leaving_ns;
	for (i = 0; i < n; i++)
		process->parts[i].delta_ns =
			atomic64_read(&process->parts[i].base_ns) + process->parts[i].leaving_ns;
	spin_unlock_irqrestore(&process->leavers_lock, flags);
	return run_ns;
}
