// SPDX-License-Identifier: GPL-2.0-only
/*
 * What scripts can say about the truth: on, off, and how much power who draws.
 */
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/string.h>

#include "core.h"
#include "truth_account.h"

static int run_start(const char *target, const struct sim_value *values)
{
	return sim_account_start();
}

static int run_stop(const char *target, const struct sim_value *values)
{
	return sim_account_stop();
}

static int need_truth(void)
{
	return sim_account.is_on ? 0 : sim_fail(-ENODEV, "the truth is not started");
}

static int run_clear(const char *target, const struct sim_value *values)
{
	unsigned long flags;
	int r = need_truth();

	if (r)
		return r;
	sim_truth_lock(&flags);
	sim_table_clear_dead();
	sim_truth_unlock(flags);
	return 0;
}

static int run_idle(const char *target, const struct sim_value *values)
{
	unsigned long flags;
	int index, r = need_truth();

	if (r)
		return r;
	sim_truth_settle();
	sim_truth_lock(&flags);
	index = sim_truth_find_package((int)values[0].number);
	if (index >= 0)
		sim_account.packages[index].idle_uw = (u32)values[1].number;
	sim_truth_unlock(flags);
	return index < 0 ? sim_fail(index, "there is no package %llu", values[0].number) : 0;
}

/* Changes the rules; what has run was by the old ones. */
static void change_default(u32 *power_uw, u32 now_uw)
{
	unsigned long flags;

	if (sim_account.is_on)
		sim_truth_settle();
	sim_truth_lock(&flags);
	*power_uw = now_uw;
	if (sim_account.is_on)
		sim_table_apply_rules();
	sim_truth_unlock(flags);
}

static int run_user(const char *target, const struct sim_value *values)
{
	change_default(&sim_table.rules.user_uw, (u32)values[0].number);
	return 0;
}

static int run_kernel(const char *target, const struct sim_value *values)
{
	change_default(&sim_table.rules.kernel_uw, (u32)values[0].number);
	return 0;
}

static int run_comm(const char *target, const struct sim_value *values)
{
	struct sim_rules *rules = &sim_table.rules;
	unsigned long flags;
	unsigned int i;

	if (strlen(target) >= TASK_COMM_LEN)
		return sim_fail(-EINVAL, "'%s': the name of a task has at most %d characters",
				target, TASK_COMM_LEN - 1);
	for (i = 0; i < rules->n_comms; i++)
		if (!strcmp(rules->comms[i].comm, target))
			break;
	if (i == SIM_COMM_RULES_MAX)
		return sim_fail(-ENOSPC, "there are %d names already", SIM_COMM_RULES_MAX);
	if (i == rules->n_comms) {
		sim_truth_lock(&flags);
		strscpy(rules->comms[i].comm, target, TASK_COMM_LEN);
		rules->comms[i].power_uw = 0;
		rules->n_comms++;
		sim_truth_unlock(flags);
	}
	change_default(&rules->comms[i].power_uw, (u32)values[0].number);
	return 0;
}

static int get_task(u64 pid, struct task_struct **ret)
{
	struct pid *found = find_get_pid((pid_t)pid);

	*ret = get_pid_task(found, PIDTYPE_PID);
	put_pid(found);
	return *ret ? 0 : sim_fail(-ESRCH, "there is no task %llu", pid);
}

/* Of a thread, or of the whole process that it is in. */
static int set_task(u64 pid, u32 power_uw, bool is_process)
{
	struct task_struct *task;
	struct sim_thread *thread;
	unsigned long flags;
	int r = need_truth();

	if (!r)
		r = get_task(pid, &task);
	if (r)
		return r;
	sim_truth_settle();
	sim_truth_lock(&flags);
	thread = sim_table_get(task);
	if (thread && is_process)
		thread->process->power_uw = power_uw;
	else if (thread)
		thread->own_uw = power_uw;
	if (thread)
		sim_table_apply_rules();
	sim_truth_unlock(flags);
	put_task_struct(task);
	return thread ? 0 : sim_fail(-ESRCH, "task %llu has exited, or the tables are full", pid);
}

static int run_task(const char *target, const struct sim_value *values)
{
	return set_task(values[0].number, (u32)values[1].number, false);
}

static int run_process(const char *target, const struct sim_value *values)
{
	return set_task(values[0].number, (u32)values[1].number, true);
}

static void show_truth(struct seq_file *file)
{
	unsigned int i;

	seq_printf(file, "truth %s user_uw=%u kernel_uw=%u\n", sim_account.is_on ? "on" : "off",
		   sim_table.rules.user_uw, sim_table.rules.kernel_uw);
	for (i = 0; i < sim_table.rules.n_comms; i++)
		seq_printf(file, "truth comm %s power_uw=%u\n", sim_table.rules.comms[i].comm,
			   sim_table.rules.comms[i].power_uw);
	for (i = 0; sim_account.is_on && i < sim_account.n_packages; i++)
		seq_printf(file, "truth idle package=%d power_uw=%u\n", sim_account.packages[i].id,
			   sim_account.packages[i].idle_uw);
}

#define PACKAGE \
	{ \
		"package", SIM_NUMBER, true, 0, INT_MAX \
	}
#define PID \
	{ \
		"pid", SIM_NUMBER, true, 1, INT_MAX \
	}
#define POWER \
	{ \
		"power_uw", SIM_NUMBER, true, 0, SIM_POWER_MAX_UW \
	}

static const struct sim_verb truth_verbs[] = {
	{ "start", false, {}, run_start },
	{ "stop", false, {}, run_stop },
	{ "clear", false, {}, run_clear },
	{ "idle", false, { PACKAGE, POWER }, run_idle },
	{ "user", false, { POWER }, run_user },
	{ "kernel", false, { POWER }, run_kernel },
	{ "comm", true, { POWER }, run_comm },
	{ "task", false, { PID, POWER }, run_task },
	{ "process", false, { PID, POWER }, run_process },
};

static struct sim_noun truth_noun = {
	.name = "truth",
	.owner = THIS_MODULE,
	.verbs = truth_verbs,
	.n_verbs = ARRAY_SIZE(truth_verbs),
	.show = show_truth,
};

void sim_truth_noun_init(void)
{
	sim_noun_register(&truth_noun);
}

void sim_truth_noun_exit(void)
{
	sim_noun_unregister(&truth_noun);
}
