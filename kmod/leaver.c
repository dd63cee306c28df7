// SPDX-License-Identifier: GPL-2.0-only
#include "leaver.h"

#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/pid.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "compat.h"
#include "pause.h"
#include "process.h"
#include "unit.h"

/* How many are looked at with the lock held. */
#define AT_ONCE 128

/*
 * In the table from its exit until it is freed, with a reference of the task: whatever is not heard
 * of its end, the task is there to be read, and no other one has its address, nor its signals'. It
 * is in the list of its process until what it ran is final and in the process's sums, and then in
 * one of those that have only to be freed.
 */
struct leaver {
	struct hlist_node table_node;
	struct list_head node;
	struct task_struct *task;
	struct watt_process *process; /* that has it in its list; NULL: it is final */
	u64 read_ns;                  /* what is in leaving_ns of it */
	unsigned int unit;            /* of this one */
};

/* Of all processes, by task: tens of thousands may be on their way at once. */
static DEFINE_HASHTABLE(table, 14);
static LIST_HEAD(finals);  /* since others were looked at */
static LIST_HEAD(to_look); /* from before: they should have been freed */
static LIST_HEAD(looked);
/*
 * Of all that is here, and of what the processes have of it: whoever frees one need not know the
 * process that has it, which may be gone.
 */
static DEFINE_SPINLOCK(lock);

void watt_leavers_init(struct watt_process *process)
{
	INIT_LIST_HEAD(&process->leavers);
}

/* In no list and not in the table any more. Not with the lock: it may be the last of the task. */
static void drop(struct leaver *leaver)
{
	put_task_struct(leaver->task);
	kfree(leaver);
}

/* Out of where it is. With the lock. */
static void unlink(struct leaver *leaver)
{
	hash_del(&leaver->table_node);
	list_del(&leaver->node);
}

static struct leaver *take_any_of(struct watt_process *process)
{
	struct leaver *leaver;
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	leaver = list_first_entry_or_null(&process->leavers, struct leaver, node);
	if (leaver)
		unlink(leaver);
	spin_unlock_irqrestore(&lock, flags);
	return leaver;
}

void watt_leavers_done(struct watt_process *process)
{
	struct leaver *leaver;

	while ((leaver = take_any_of(process)))
		drop(leaver);
}

void watt_leavers_end(void)
{
	struct hlist_node *next;
	struct leaver *leaver;
	unsigned int i;

	for (i = 0; i < HASH_SIZE(table); i++) {
		hlist_for_each_entry_safe(leaver, next, &table[i], table_node) {
			unlink(leaver);
			drop(leaver);
		}
		cond_resched();
	}
}

void watt_leaver_add(struct watt_process *process, struct task_struct *task)
{
	struct leaver *leaver = kmalloc(sizeof(*leaver), GFP_NOWAIT | __GFP_NOWARN);
	unsigned long flags;

	if (!leaver)
		return;
	leaver->task = get_task_struct(task);
	leaver->process = process;
	leaver->read_ns = 0;
	leaver->unit = 0;
	spin_lock_irqsave(&lock, flags);
	list_add_tail(&leaver->node, &process->leavers);
	hash_add(table, &leaver->table_node, (unsigned long)task);
	spin_unlock_irqrestore(&lock, flags);
}

/* NULL: it was not noted. With the lock. */
static struct leaver *take(const struct task_struct *task)
{
	struct leaver *leaver;

	hash_for_each_possible(table, leaver, table_node, (unsigned long)task) {
		if (leaver->task != task)
			continue;
		unlink(leaver);
		return leaver;
	}
	return NULL;
}

/* Its time from now on, while it is on no list of threads. With the lock. */
static void set_read(struct leaver *leaver, u64 read_ns)
{
	struct watt_process *process = leaver->process;

	process->leaving_ns -= leaver->read_ns;
	process->parts[leaver->unit].leaving_ns -= leaver->read_ns;
	leaver->unit = watt_unit_of_cpu(task_cpu(leaver->task));
	leaver->read_ns = read_ns;
	process->leaving_ns += read_ns;
	process->parts[leaver->unit].leaving_ns += read_ns;
}

/* With the lock. */
static void add_final(struct watt_process *process, const struct task_struct *task)
{
	unsigned int unit = watt_unit_of_cpu(task_cpu(task));

	atomic64_add(task->se.sum_exec_runtime, &process->parts[unit].base_ns);
	process->freed_ns += task->se.sum_exec_runtime;
}

/* With the lock; it is in a list of its process's. */
static void make_final(struct leaver *leaver)
{
	set_read(leaver, 0);
	add_final(leaver->process, leaver->task);
	leaver->process = NULL;
}

void watt_leaver_free(struct watt_process *process, const struct task_struct *task)
{
	struct leaver *leaver;
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	leaver = take(task);
	if (leaver && leaver->process)
		make_final(leaver);
	else if (!leaver && process)
		add_final(process, task);
	spin_unlock_irqrestore(&lock, flags);
	if (leaver)
		drop(leaver);
}

/*
 * Reads some from the front of the list: of those whose time is final it goes into the sums, the
 * others go to `rest`. False: there are none left. With the lock.
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
			make_final(leaver);
			list_move_tail(&leaver->node, &finals);
			continue;
		}
		set_read(leaver, is_listed ? 0 : READ_ONCE(leaver->task->se.sum_exec_runtime));
		if (!is_listed) /* to be read once more, whoever hears of its end */
			WRITE_ONCE(process->seen_run_ns, WATT_RUN_UNSEEN);
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

	spin_lock_irqsave(&lock, flags);
	while (read_some(process, &rest)) {
		spin_unlock_irqrestore(&lock, flags);
		cpu_relax();
		spin_lock_irqsave(&lock, flags);
	}
	list_splice(&rest, &process->leavers);
	run_ns = process->freed_ns + process->leaving_ns;
	for (i = 0; i < n; i++)
		process->parts[i].delta_ns =
			atomic64_read(&process->parts[i].base_ns) + process->parts[i].leaving_ns;
	spin_unlock_irqrestore(&lock, flags);
	return run_ns;
}

/* Looks at some. False: at no more, or *ret is one that is found. With the lock. */
static bool look_at_some(struct task_struct **ret)
{
	struct leaver *leaver;
	unsigned int n;

	for (n = 0; n < AT_ONCE && !list_empty(&to_look); n++) {
		leaver = list_first_entry(&to_look, struct leaver, node);
		list_move_tail(&leaver->node, &looked);
		/* Where it is freed the kernel has one until all have heard of it. */
		if (refcount_read(&leaver->task->usage) != 1)
			continue;
		smp_acquire__after_ctrl_dep(); /* what others did to it before they let it go */
		*ret = get_task_struct(leaver->task);
		return false;
	}
	return !list_empty(&to_look);
}

struct task_struct *watt_leavers_find_missed(void)
{
	struct task_struct *ret = NULL;
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	while (look_at_some(&ret)) {
		spin_unlock_irqrestore(&lock, flags);
		watt_pause();
		spin_lock_irqsave(&lock, flags);
	}
	if (!ret) {
		list_splice_init(&looked, &to_look);
		list_splice_tail_init(&finals, &to_look);
	}
	spin_unlock_irqrestore(&lock, flags);
	return ret;
}
