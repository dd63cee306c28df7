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

	hash_for_each_safe(table, i, next, leaver, table_node)
		forget(leaver);
}

void watt_leaver_add(struct watt_process *process, const struct task_struct *task)
{
	struct leaver *leaver = kmalloc(sizeof(*leaver), GFP_NOWAIT | __GFP_NOWARN);
	unsigned long flags;

	if (!leaver)
		return;
	leaver->task = task;
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
	if (leaver)
		list_del_init(&leaver->node);
	spin_unlock_irqrestore(&process->leavers_lock, flags);
	kfree(leaver);
}

/*
 * Takes those whose time is final into the sums, from the front of the list; those that are not so
 * far go to `rest`. False: there are none left.
 */
static bool settle_some(struct watt_process *process, struct list_head *rest)
{
	struct leaver *leaver;
	unsigned int n;

	for (n = 0; n < AT_ONCE && !list_empty(&process->leavers); n++) {
		leaver = list_first_entry(&process->leavers, struct leaver, node);
		if (pid_alive(leaver->task) || !watt_task_is_gone(leaver->task)) {
			list_move_tail(&leaver->node, rest);
			continue;
		}
		add_final(process, leaver->task);
		list_del_init(&leaver->node);
	}
	return !list_empty(&process->leavers);
}

u64 watt_leavers_read(struct watt_process *process)
{
	unsigned int i, n = watt_units_count();
	const struct leaver *leaver;
	unsigned long flags;
	LIST_HEAD(rest);
	bool is_more;
	u64 run_ns;

	do {
		spin_lock_irqsave(&process->leavers_lock, flags);
		is_more = settle_some(process, &rest);
		if (!is_more)
			break;
		spin_unlock_irqrestore(&process->leavers_lock, flags);
	} while (true);
	list_splice(&rest, &process->leavers);
	run_ns = process->freed_ns;
	for (i = 0; i < n; i++)
		process->parts[i].delta_ns = atomic64_read(&process->parts[i].base_ns);
	list_for_each_entry(leaver, &process->leavers, node) {
		u64 ran_ns = READ_ONCE(leaver->task->se.sum_exec_runtime);

		if (pid_alive(leaver->task))
			continue; /* not reaped: the list of threads has it */
		i = watt_unit_of_cpu(task_cpu(leaver->task));
		process->parts[i].delta_ns += ran_ns;
		run_ns += ran_ns;
	}
	spin_unlock_irqrestore(&process->leavers_lock, flags);
	return run_ns;
}
