/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tasks of a simulated machine do with their lives: they are forked, become another
 * program, move to another cgroup, die and are reaped. All by chance, all told as events.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/util.h"
#include "source/synth/machine_state.h"

#define REAP_MAX_US 5000
#define FIRST_UID 1000
#define N_UIDS 3

static bool pid_is_free(const struct watt_synth_machine *m, uint32_t pid)
{
	size_t i;

	for (i = 0; i < m->n_live; i++)
		if (m->live[i]->truth.tid == pid)
			return false;
	return true;
}

/* The next number that nobody has, round and round as the kernel does. 0: all are taken. */
static uint32_t draw_pid(struct watt_synth_machine *m)
{
	uint32_t n = m->opts.pid_max - WATT_SYNTH_FIRST_PID, i;

	for (i = 0; i < n; i++) {
		m->last_pid = (m->last_pid + 1) % n;
		if (pid_is_free(m, WATT_SYNTH_FIRST_PID + m->last_pid))
			return WATT_SYNTH_FIRST_PID + m->last_pid;
	}
	return 0;
}

static uint32_t draw_mw(struct watt_synth_machine *m, uint32_t min_mw, uint32_t max_mw)
{
	return min_mw + (uint32_t)watt_synth_rng_below(&m->rng, max_mw - min_mw + 1);
}

static void draw_power(struct watt_synth_machine *m, struct watt_synth_actor *task)
{
	task->truth.power_mw = draw_mw(m, m->opts.task_min_mw, m->opts.task_max_mw);
	if (m->opts.dram_task_mw)
		task->truth.dram_mw = draw_mw(m, 0, m->opts.dram_task_mw);
}

/* What it has from its parent, its process, or from nobody. */
static void inherit(struct watt_synth_machine *m, struct watt_synth_actor *task,
		    const struct watt_synth_actor *parent, struct watt_synth_actor *leader)
{
	const struct watt_synth_actor *from = leader ? leader : parent;

	task->leader = leader ? leader : task;
	task->leader->n_threads++;
	task->truth.tgid = task->leader->truth.tid;
	task->truth.leader_start_ns = task->leader->truth.start_ns;
	if (from) {
		task->uid = from->uid;
		task->cgroup = from->cgroup;
		task->program = from->program;
		task->cpu = parent->cpu;
		task->parent_tgid = leader ? leader->parent_tgid : parent->truth.tgid;
		return;
	}
	task->cpu = (uint32_t)watt_synth_rng_below(&m->rng, m->opts.n_cpus);
	task->program = m->n_programs++;
	if (task->truth.is_kthread) {
		task->parent_tgid = 2;
		return;
	}
	task->parent_tgid = 1;
	task->uid = FIRST_UID + (uint32_t)watt_synth_rng_below(&m->rng, N_UIDS);
	task->cgroup = 1 + (uint32_t)watt_synth_rng_below(&m->rng, m->opts.n_cgroups);
}

int watt_synth_task_new(struct watt_synth_machine *m, const struct watt_synth_actor *parent,
			struct watt_synth_actor *leader, bool is_kthread,
			struct watt_synth_actor **ret)
{
	struct watt_synth_actor *task;
	uint32_t pid = draw_pid(m);
	int r;

	if (!pid)
		return -EAGAIN;
	r = watt_grow((void **)&m->live, &m->cap_live, m->n_live, sizeof(*m->live));
	if (r < 0)
		return r;
	task = calloc(1, sizeof(*task) + m->n_domains * sizeof(task->energy_nj[0]));
	if (!task)
		return -ENOMEM;
	task->truth = (struct watt_synth_task){
		.tid = pid,
		.start_ns = watt_synth_machine_now_ns(m) + m->opts.boot_ahead_ns,
		.is_alive = 1,
		.is_kthread = is_kthread,
		.energy_nj = task->energy_nj,
	};
	task->state = WATT_SYNTH_READY;
	task->told_cpu_ns = UINT64_MAX;
	inherit(m, task, parent, leader);
	draw_power(m, task);
	m->live[m->n_live++] = task;
	*ret = task;
	return watt_synth_event(m, task, WATT_USAGE_FORK);
}

static int fork_child(struct watt_synth_machine *m, struct watt_synth_actor *task)
{
	bool is_thread = watt_synth_rng_chance(&m->rng, m->opts.thread_ppm);
	struct watt_synth_actor *child;
	int r;

	if (m->n_live >= 2 * (size_t)m->opts.n_processes + m->opts.n_kthreads)
		return 0;
	/* A process whose leader is dead gets no new threads. */
	if (is_thread && (task->leader->is_dying || task->is_dying))
		return 0;
	r = watt_synth_task_new(m, task, is_thread ? task->leader : NULL, false, &child);
	return r == -EAGAIN ? 0 : r;
}

/* Another program in the same process: only where it is the only thread, for simplicity. */
static int exec_program(struct watt_synth_machine *m, struct watt_synth_actor *task)
{
	if (task->leader != task || task->n_threads > 1)
		return 0;
	task->program = m->n_programs++;
	return watt_synth_event(m, task, WATT_USAGE_EXEC);
}

static int move_cgroup(struct watt_synth_machine *m, struct watt_synth_actor *task)
{
	if (task->leader != task || task->n_threads > 1)
		return 0;
	task->cgroup = 1 + (uint32_t)watt_synth_rng_below(&m->rng, m->opts.n_cgroups);
	return watt_synth_event(m, task, WATT_USAGE_CGROUP);
}

/* A leader goes last, and the machine is never left empty. */
static bool may_exit(const struct watt_synth_machine *m, const struct watt_synth_actor *task)
{
	return (task->leader != task || task->n_threads == 1) &&
	       m->n_live > m->opts.n_kthreads + m->opts.n_processes / 2 + 1;
}

int watt_synth_task_decide(struct watt_synth_machine *m, struct watt_synth_actor *task)
{
	const struct watt_synth_machine_opts *opts = &m->opts;
	int r = 0;

	if (task->is_dying) {
		task->state = WATT_SYNTH_ZOMBIE;
		task->until_us = m->now_us + 1 + watt_synth_rng_below(&m->rng, REAP_MAX_US);
		return 0;
	}
	task->state = WATT_SYNTH_READY;
	if (!task->truth.is_kthread) {
		if (watt_synth_rng_chance(&m->rng, opts->fork_ppm))
			r = fork_child(m, task);
		if (r == 0 && watt_synth_rng_chance(&m->rng, opts->exec_ppm))
			r = exec_program(m, task);
		if (r == 0 && watt_synth_rng_chance(&m->rng, opts->cgroup_ppm))
			r = move_cgroup(m, task);
		if (r == 0 && watt_synth_rng_chance(&m->rng, opts->exit_ppm) && may_exit(m, task)) {
			task->is_dying = true;
			return watt_synth_event(m, task, WATT_USAGE_EXIT);
		}
	}
	if (r == 0 && watt_synth_rng_chance(&m->rng, opts->sleep_ppm))
		task->state = WATT_SYNTH_SLEEPING;
	return r;
}

static int bury(struct watt_synth_machine *m, struct watt_synth_actor *task)
{
	size_t i;
	int r;

	if (m->opts.is_forgetful) {
		for (i = 0; i < m->n_domains; i++)
			m->gone_nj[i] += task->energy_nj[i];
		free(task);
		return 0;
	}
	r = watt_grow((void **)&m->dead, &m->cap_dead, m->n_dead, sizeof(*m->dead));
	if (r < 0)
		return r;
	m->dead[m->n_dead++] = task;
	return 0;
}

int watt_synth_task_reap(struct watt_synth_machine *m, struct watt_synth_actor *task)
{
	size_t i;
	int r;

	r = watt_synth_event(m, task, WATT_USAGE_FREE);
	if (r < 0)
		return r;
	for (i = 0; m->live[i] != task; i++)
		;
	memmove(m->live + i, m->live + i + 1, (m->n_live - i - 1) * sizeof(*m->live));
	m->n_live--;
	task->truth.is_alive = 0;
	task->state = WATT_SYNTH_GONE;
	task->leader->n_threads--;
	return bury(m, task);
}
