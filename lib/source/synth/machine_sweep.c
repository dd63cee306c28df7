/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a usage source would tell of a simulated machine: events as they happen, tasks at a
 * sweep. It sees all that is there and knows nothing of energy.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/util.h"
#include "source/synth/machine_state.h"

#define FIRST_CGROUP 1000

static void describe(const struct watt_synth_machine *m, const struct watt_synth_actor *task,
		     struct watt_usage *ret)
{
	*ret = (struct watt_usage){
		.t_ns = watt_synth_machine_now_ns(m),
		.cpu_ns = task->truth.cpu_ns,
		.start_ns = task->truth.start_ns,
		.leader_start_ns = task->truth.leader_start_ns,
		.cgroup_id = FIRST_CGROUP + task->cgroup,
		.tid = task->truth.tid,
		.tgid = task->truth.tgid,
		.parent_tgid = task->parent_tgid,
		.uid = task->uid,
		.cpu = task->cpu,
		.flags = task->truth.is_kthread ? WATT_USAGE_KTHREAD : 0,
	};
	snprintf(ret->comm, sizeof(ret->comm), "%s-%u",
		 task->truth.is_kthread ? "kworker" : "program", task->program % 1000000);
}

static int add_record(struct watt_synth_machine *m, const struct watt_usage *record)
{
	int r;

	r = watt_grow((void **)&m->records, &m->cap_records, m->n_records, sizeof(*m->records));
	if (r == 0)
		m->records[m->n_records++] = *record;
	return r;
}

int watt_synth_event(struct watt_synth_machine *m, const struct watt_synth_actor *task,
		     enum watt_usage_kind kind)
{
	struct watt_usage record;

	if (watt_synth_rng_chance(&m->rng, m->opts.lose_ppm)) {
		m->lost++;
		return 0;
	}
	if (m->opts.is_mute)
		return 0;
	describe(m, task, &record);
	record.kind = (uint16_t)kind;
	return add_record(m, &record);
}

static int sweep_task(struct watt_synth_machine *m, struct watt_synth_actor *task, bool full)
{
	struct watt_usage record;

	if (!full && task->told_cpu_ns == task->truth.cpu_ns)
		return 0;
	task->told_cpu_ns = task->truth.cpu_ns;
	describe(m, task, &record);
	record.kind = WATT_USAGE_TASK;
	if (task->state == WATT_SYNTH_RUNNING)
		record.flags |= WATT_USAGE_RUNNING;
	else if (task->state == WATT_SYNTH_ZOMBIE)
		record.flags |= WATT_USAGE_ZOMBIE;
	return add_record(m, &record);
}

static void sweep_cpus(struct watt_synth_machine *m)
{
	uint64_t elapsed_us = m->now_us - m->epoch_us;
	uint32_t i;

	for (i = 0; i < m->opts.n_cpus; i++)
		m->times[i] = (struct watt_cpu_time){
			.user_ns = m->cpus[i].busy_us * WATT_NSEC_PER_USEC,
			.idle_ns = (elapsed_us - m->cpus[i].busy_us) * WATT_NSEC_PER_USEC,
			.online = 1,
		};
}

int watt_synth_machine_sweep(struct watt_synth_machine *m, bool full, struct watt_usage_batch *ret)
{
	size_t n_events = m->n_records, i;
	int r;

	for (i = 0; i < m->n_live; i++) {
		r = sweep_task(m, m->live[i], full);
		if (r < 0) {
			m->n_records = n_events;
			return r;
		}
	}
	sweep_cpus(m);
	*ret = (struct watt_usage_batch){
		.t_before_ns = watt_synth_machine_now_ns(m),
		.t_after_ns = watt_synth_machine_now_ns(m),
		.records = m->records,
		.n_records = m->n_records,
		.cpus = m->times,
		.n_cpus = m->opts.n_cpus,
		.lost = m->lost,
		.flags = WATT_BATCH_DEATHS | WATT_BATCH_CPU_NS | (full ? WATT_BATCH_FULL : 0),
		.n_tasks = (uint32_t)m->n_live,
	};
	m->n_records = 0;
	return 0;
}
