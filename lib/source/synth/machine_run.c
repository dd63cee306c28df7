/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock and the scheduler of a simulated machine: who runs where, from when to when, and what
 * that takes. All events are in whole us. It must not read clocks.
 */
#include <errno.h>

#include "base/clock.h"
#include "source/synth/machine_state.h"

static size_t dram_index(const struct watt_synth_machine *m, uint32_t package)
{
	return m->opts.n_packages + package;
}

static size_t core_index(const struct watt_synth_machine *m, uint32_t cpu)
{
	return m->opts.n_packages * (m->opts.dram_task_mw ? 2 : 1) + cpu;
}

void watt_synth_task_charge(struct watt_synth_machine *m, struct watt_synth_actor *task)
{
	uint64_t ran_us = m->now_us - task->since_us;
	uint32_t package = m->cpus[task->cpu].package;
	int64_t energy_nj = (int64_t)(task->truth.power_mw * ran_us);

	task->since_us = m->now_us;
	task->truth.cpu_ns += ran_us * WATT_NSEC_PER_USEC;
	m->cpus[task->cpu].busy_us += ran_us;
	task->energy_nj[package] += energy_nj;
	if (m->opts.dram_task_mw)
		task->energy_nj[dram_index(m, package)] += (int64_t)(task->truth.dram_mw * ran_us);
	if (m->opts.has_cores)
		task->energy_nj[core_index(m, task->cpu)] += energy_nj;
}

static int add_power(struct watt_synth_machine *m, size_t domain, uint32_t mw, bool is_on)
{
	m->active_mw[domain] += is_on ? mw : -(uint64_t)mw;
	return watt_synth_domain_step(m, domain);
}

/* The power of the task is drawn, or no more drawn, on its CPU. */
static int switch_power(struct watt_synth_machine *m, const struct watt_synth_actor *task,
			bool is_on)
{
	uint32_t package = m->cpus[task->cpu].package;
	int r;

	r = add_power(m, package, task->truth.power_mw, is_on);
	if (r == 0 && m->opts.dram_task_mw)
		r = add_power(m, dram_index(m, package), task->truth.dram_mw, is_on);
	if (r == 0 && m->opts.has_cores)
		r = add_power(m, core_index(m, task->cpu), task->truth.power_mw, is_on);
	return r;
}

/* Length of a run or a sleep: 1 us to about twice the mean, and now and then much longer. */
static uint64_t draw_us(struct watt_synth_machine *m, uint32_t mean_us)
{
	uint64_t us = 1 + watt_synth_rng_below(&m->rng, 2 * (uint64_t)mean_us);

	return watt_synth_rng_chance(&m->rng, 20000) ? us * 10 : us;
}

static int start_run(struct watt_synth_machine *m, struct watt_synth_actor *task, uint32_t cpu)
{
	int r;

	if (task->truth.cpu_ns && m->slots[task->cpu] != m->slots[cpu]) {
		r = watt_synth_event(m, task, WATT_USAGE_MIGRATE);
		if (r < 0)
			return r;
	}
	task->cpu = cpu;
	task->state = WATT_SYNTH_RUNNING;
	task->since_us = m->now_us;
	/* What a dying task still does takes some us: its last word is later than its exit. */
	task->until_us = m->now_us + (task->is_dying ? 1 + watt_synth_rng_below(&m->rng, 50) :
						       draw_us(m, m->opts.run_us));
	m->cpus[cpu].running = task;
	return switch_power(m, task, true);
}

static int end_run(struct watt_synth_machine *m, struct watt_synth_actor *task)
{
	int r;

	watt_synth_task_charge(m, task);
	m->cpus[task->cpu].running = NULL;
	r = switch_power(m, task, false);
	if (r < 0)
		return r;
	r = watt_synth_task_decide(m, task);
	if (r == 0 && task->state == WATT_SYNTH_SLEEPING)
		task->until_us = m->now_us + draw_us(m, m->opts.sleep_us);
	return r;
}

/* A ready task that was here before, or any if it may move or has been nowhere yet. */
static struct watt_synth_actor *choose(struct watt_synth_machine *m, uint32_t cpu)
{
	size_t start = watt_synth_rng_below(&m->rng, m->n_live), i;

	for (i = 0; i < m->n_live; i++) {
		struct watt_synth_actor *task = m->live[(start + i) % m->n_live];

		if (task->state != WATT_SYNTH_READY)
			continue;
		if (task->cpu == cpu || task->truth.cpu_ns == 0 || m->cpus[task->cpu].running ||
		    watt_synth_rng_chance(&m->rng, m->opts.migrate_ppm))
			return task;
	}
	return NULL;
}

int watt_synth_fill_cpus(struct watt_synth_machine *m)
{
	uint32_t cpu;
	int r;

	for (cpu = 0; cpu < m->opts.n_cpus; cpu++) {
		struct watt_synth_actor *task;

		if (m->cpus[cpu].running)
			continue;
		task = choose(m, cpu);
		if (!task)
			continue;
		r = start_run(m, task, cpu);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The task whose present state ends first; NULL: none ever will. */
static struct watt_synth_actor *find_next(const struct watt_synth_machine *m)
{
	struct watt_synth_actor *next = NULL;
	size_t i;

	for (i = 0; i < m->n_live; i++) {
		struct watt_synth_actor *task = m->live[i];

		if (task->state != WATT_SYNTH_READY && (!next || task->until_us < next->until_us))
			next = task;
	}
	return next;
}

static int end_state(struct watt_synth_machine *m, struct watt_synth_actor *task)
{
	switch (task->state) {
	case WATT_SYNTH_RUNNING:
		return end_run(m, task);
	case WATT_SYNTH_ZOMBIE:
		return watt_synth_task_reap(m, task);
	default:
		task->state = WATT_SYNTH_READY;
		return 0;
	}
}

int watt_synth_machine_run(struct watt_synth_machine *m, uint64_t t_ns)
{
	uint64_t t_us = t_ns / WATT_NSEC_PER_USEC;
	struct watt_synth_actor *task;
	uint32_t cpu;
	int r = 0;

	if (t_us < m->now_us)
		return -EINVAL;
	while (r == 0 && (task = find_next(m)) && task->until_us <= t_us) {
		m->now_us = task->until_us;
		r = end_state(m, task);
		if (r == 0)
			r = watt_synth_fill_cpus(m);
	}
	if (r < 0)
		return r;
	m->now_us = t_us;
	for (cpu = 0; cpu < m->opts.n_cpus; cpu++)
		if (m->cpus[cpu].running)
			watt_synth_task_charge(m, m->cpus[cpu].running);
	return 0;
}
