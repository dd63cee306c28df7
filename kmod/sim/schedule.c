// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands for later. They run in the order of their times, at their times or as soon after as the
 * kernel gets to it; one that fails leaves its message in `error` and the others go on.
 */
#include <linux/ktime.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "core.h"

#define SCHEDULED_MAX 512

struct scheduled {
	struct list_head node;
	u64 due_ns;
	struct sim_command command;
};

static LIST_HEAD(queue); /* the next one first */
static int n_scheduled;

static void run_due(struct work_struct *work);
static DECLARE_DELAYED_WORK(due_work, run_due);

static void arm(void)
{
	struct scheduled *first = list_first_entry_or_null(&queue, struct scheduled, node);
	u64 now_ns = ktime_get_ns();
	unsigned long delay = 0;

	if (!first)
		return;
	if (first->due_ns > now_ns)
		delay = nsecs_to_jiffies(first->due_ns - now_ns) + 1;
	mod_delayed_work(system_wq, &due_work, delay);
}

static void drop(struct scheduled *scheduled)
{
	list_del(&scheduled->node);
	n_scheduled--;
	kfree(scheduled);
}

static void run_due(struct work_struct *work)
{
	struct scheduled *first;

	sim_lock();
	while ((first = list_first_entry_or_null(&queue, struct scheduled, node)) &&
	       first->due_ns <= ktime_get_ns()) {
		sim_command_run(&first->command);
		drop(first);
	}
	arm();
	sim_unlock();
}

int sim_schedule_add(const struct sim_command *command)
{
	struct scheduled *scheduled, *before;

	if (n_scheduled == SCHEDULED_MAX)
		return sim_fail(-ENOSPC, "%d commands are scheduled already", SCHEDULED_MAX);
	scheduled = kmalloc(sizeof(*scheduled), GFP_KERNEL);
	if (!scheduled)
		return sim_fail(-ENOMEM, "out of memory");
	scheduled->command = *command;
	scheduled->due_ns = ktime_get_ns() + command->delay_ms * NSEC_PER_MSEC;
	list_for_each_entry_reverse(before, &queue, node)
		if (before->due_ns <= scheduled->due_ns)
			break;
	list_add(&scheduled->node, &before->node);
	n_scheduled++;
	arm();
	return 0;
}

void sim_schedule_drop(const struct sim_noun *noun)
{
	struct scheduled *scheduled, *next;

	list_for_each_entry_safe(scheduled, next, &queue, node)
		if (!noun || scheduled->command.noun == noun)
			drop(scheduled);
}

int sim_schedule_count(void)
{
	return n_scheduled;
}

void sim_schedule_exit(void)
{
	sim_lock();
	sim_schedule_drop(NULL);
	sim_unlock();
	cancel_delayed_work_sync(&due_work);
}
