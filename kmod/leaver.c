// SPDX-License-Identifier: GPL-2.0-only
#include "leaver.h"

#include <linux/list.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "process.h"
#include "unit.h"

struct leaver {
	struct list_head node;
	const struct task_struct *task; /* there until watt_leaver_free() has returned */
};

void watt_leavers_init(struct watt_process *process)
{
	spin_lock_init(&process->leavers_lock);
	INIT_LIST_HEAD(&process->leavers);
}

void watt_leavers_done(struct watt_process *process)
{
	struct leaver *leaver, *next;

	list_for_each_entry_safe(leaver, next, &process->leavers, node)
		kfree(leaver);
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
}

/* Those who left first are freed first, or nearly so. */
static struct leaver *take(struct watt_process *process, const struct task_struct *task)
{
	struct leaver *leaver;

	list_for_each_entry(leaver, &process->leavers, node) {
		if (leaver->task != task)
			continue;
		list_del(&leaver->node);
		return leaver;
	}
	return NULL;
}

void watt_leaver_free(struct watt_process *process, const struct task_struct *task)
{
	unsigned int unit = watt_unit_of_cpu(task_cpu(task));
	struct leaver *leaver;
	unsigned long flags;

	spin_lock_irqsave(&process->leavers_lock, flags);
	leaver = take(process, task);
	atomic64_add(task->se.sum_exec_runtime, &process->parts[unit].base_ns);
	process->freed_ns += task->se.sum_exec_runtime;
	spin_unlock_irqrestore(&process->leavers_lock, flags);
	kfree(leaver);
}

u64 watt_leavers_read(struct watt_process *process)
{
	unsigned int i, n = watt_units_count();
	const struct leaver *leaver;
	unsigned long flags;
	u64 run_ns;

	spin_lock_irqsave(&process->leavers_lock, flags);
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
