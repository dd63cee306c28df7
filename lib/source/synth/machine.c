/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated machine: what it is made of, and the truth about its energy. Its scheduler is in
 * synth_machine_run.c, what tasks do with their lives in synth_machine_task.c, what is told of it
 * in synth_machine_sweep.c. None of it may read clocks or files.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "source/synth/machine_state.h"

#define CPUS_MAX 4096
#define TASKS_MAX 65536
#define POWER_MAX_MW 1000000

/* ---- making it ---- */

static void set_default(uint32_t *value, uint32_t standard)
{
	if (*value == 0)
		*value = standard;
}

static int check_opts(struct watt_synth_machine_opts *opts)
{
	uint32_t i;

	if (opts->epoch_ns == 0)
		opts->epoch_ns = WATT_NSEC_PER_SEC;
	set_default(&opts->n_cpus, 4);
	set_default(&opts->n_packages, 1);
	set_default(&opts->n_processes, 8);
	set_default(&opts->n_cgroups, 3);
	set_default(&opts->pid_max, 32768);
	set_default(&opts->idle_mw, 10000);
	set_default(&opts->task_min_mw, 3000);
	set_default(&opts->task_max_mw, opts->task_min_mw);
	set_default(&opts->run_us, 2000);
	set_default(&opts->sleep_us, 6000);
	set_default(&opts->sleep_ppm, 700000);
	set_default(&opts->migrate_ppm, 50000);
	if (opts->epoch_ns % WATT_NSEC_PER_USEC || opts->n_cpus > CPUS_MAX ||
	    opts->n_packages > opts->n_cpus || opts->n_processes > TASKS_MAX ||
	    opts->n_kthreads > TASKS_MAX || opts->task_max_mw < opts->task_min_mw ||
	    opts->task_max_mw > POWER_MAX_MW || opts->idle_mw > POWER_MAX_MW ||
	    opts->dram_idle_mw > POWER_MAX_MW || opts->dram_task_mw > POWER_MAX_MW)
		return -EINVAL;
	for (i = 0; opts->cpu_packages && i < opts->n_cpus; i++)
		if (opts->cpu_packages[i] >= opts->n_packages)
			return -EINVAL;
	if (opts->pid_max < WATT_SYNTH_FIRST_PID + (uint64_t)opts->n_processes + opts->n_kthreads)
		return -EINVAL;
	return 0;
}

static size_t domains_of(const struct watt_synth_machine_opts *opts)
{
	return opts->n_packages * (opts->dram_task_mw ? 2 : 1) +
	       (opts->has_cores ? opts->n_cpus : 0);
}

static void name_domains(struct watt_synth_machine *m)
{
	struct watt_synth_domain *domain = m->domains;
	uint32_t i;

	for (i = 0; i < m->opts.n_packages; i++, domain++) {
		*domain = (struct watt_synth_domain){ .kind = WATT_DOMAIN_PACKAGE,
						      .package_id = (int32_t)i,
						      .core_id = -1 };
		snprintf(domain->path, sizeof(domain->path), "package-%u", i);
	}
	for (i = 0; m->opts.dram_task_mw && i < m->opts.n_packages; i++, domain++) {
		*domain = (struct watt_synth_domain){ .kind = WATT_DOMAIN_DRAM,
						      .package_id = (int32_t)i,
						      .core_id = -1 };
		snprintf(domain->path, sizeof(domain->path), "dram-%u", i);
	}
	for (i = 0; m->opts.has_cores && i < m->opts.n_cpus; i++, domain++) {
		*domain = (struct watt_synth_domain){ .kind = WATT_DOMAIN_CORE,
						      .package_id = (int32_t)m->cpus[i].package,
						      .core_id = (int32_t)i };
		snprintf(domain->path, sizeof(domain->path), "package-%d/core-%u",
			 domain->package_id, i);
	}
}

/* Power of a domain in which nothing runs. */
static uint64_t idle_mw_of(const struct watt_synth_machine *m, size_t domain)
{
	switch (m->domains[domain].kind) {
	case WATT_DOMAIN_PACKAGE:
		return m->opts.idle_mw;
	case WATT_DOMAIN_DRAM:
		return m->opts.dram_idle_mw;
	default:
		return 0;
	}
}

int watt_synth_domain_step(struct watt_synth_machine *m, size_t domain)
{
	return watt_synth_curve_step(&m->curves[domain], m->now_us,
				     idle_mw_of(m, domain) + m->active_mw[domain]);
}

static void place_cpus(struct watt_synth_machine *m)
{
	const struct watt_synth_machine_opts *opts = &m->opts;
	uint32_t i;

	for (i = 0; i < opts->n_cpus; i++) {
		m->cpus[i].package =
			opts->cpu_packages ?
				opts->cpu_packages[i] :
				(uint32_t)((uint64_t)i * opts->n_packages / opts->n_cpus);
		m->slots[i] = (uint16_t)(opts->has_cores ? i : m->cpus[i].package);
	}
	m->opts.cpu_packages = NULL;
}

static int allocate(struct watt_synth_machine *m)
{
	size_t i;
	int r;

	m->n_domains = domains_of(&m->opts);
	m->cpus = calloc(m->opts.n_cpus, sizeof(*m->cpus));
	m->slots = calloc(m->opts.n_cpus, sizeof(*m->slots));
	m->times = calloc(m->opts.n_cpus, sizeof(*m->times));
	m->domains = calloc(m->n_domains, sizeof(*m->domains));
	m->curves = calloc(m->n_domains, sizeof(*m->curves));
	m->active_mw = calloc(m->n_domains, sizeof(*m->active_mw));
	m->gone_nj = calloc(m->n_domains, sizeof(*m->gone_nj));
	if (!m->cpus || !m->slots || !m->times || !m->domains || !m->curves || !m->active_mw ||
	    !m->gone_nj)
		return -ENOMEM;
	place_cpus(m);
	name_domains(m);
	for (i = 0; i < m->n_domains; i++) {
		r = watt_synth_domain_step(m, i);
		if (r < 0)
			return r;
	}
	return 0;
}

static int populate(struct watt_synth_machine *m)
{
	struct watt_synth_actor *task;
	uint32_t i;
	int r;

	for (i = 0; i < m->opts.n_kthreads + m->opts.n_processes; i++) {
		r = watt_synth_task_new(m, NULL, NULL, i < m->opts.n_kthreads, &task);
		if (r < 0)
			return r;
	}
	/* They were there before anyone looked. */
	m->n_records = 0;
	return watt_synth_fill_cpus(m);
}

int watt_synth_machine_new(const struct watt_synth_machine_opts *opts,
			   struct watt_synth_machine **ret)
{
	struct watt_synth_machine *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return -ENOMEM;
	m->opts = *opts;
	r = check_opts(&m->opts);
	if (r < 0)
		goto err_free;
	m->rng.state = m->opts.seed;
	m->epoch_us = m->opts.epoch_ns / WATT_NSEC_PER_USEC;
	m->now_us = m->epoch_us;
	r = allocate(m);
	if (r < 0)
		goto err_free;
	r = populate(m);
	if (r < 0)
		goto err_free;
	*ret = m;
	return 0;

err_free:
	watt_synth_machine_free(m);
	return r;
}

static void free_tasks(struct watt_synth_actor **tasks, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		free(tasks[i]);
	free(tasks);
}

struct watt_synth_machine *watt_synth_machine_free(struct watt_synth_machine *m)
{
	size_t i;

	if (!m)
		return NULL;
	free_tasks(m->live, m->n_live);
	free_tasks(m->dead, m->n_dead);
	for (i = 0; m->curves && i < m->n_domains; i++)
		watt_synth_curve_done(&m->curves[i]);
	free(m->cpus);
	free(m->slots);
	free(m->times);
	free(m->domains);
	free(m->curves);
	free(m->active_mw);
	free(m->gone_nj);
	free(m->records);
	free(m);
	return NULL;
}

uint64_t watt_synth_machine_now_ns(const struct watt_synth_machine *m)
{
	return m->now_us * WATT_NSEC_PER_USEC;
}

/* ---- the truth ---- */

uint32_t watt_synth_machine_cpu_count(const struct watt_synth_machine *m)
{
	return m->opts.n_cpus;
}

const uint16_t *watt_synth_machine_cpu_slots(const struct watt_synth_machine *m,
					     uint32_t *ret_n_slots)
{
	*ret_n_slots = m->opts.has_cores ? m->opts.n_cpus : m->opts.n_packages;
	return m->slots;
}

size_t watt_synth_machine_domain_count(const struct watt_synth_machine *m)
{
	return m->n_domains;
}

const struct watt_synth_domain *watt_synth_machine_domain(const struct watt_synth_machine *m,
							  size_t index)
{
	return &m->domains[index];
}

int64_t watt_synth_machine_energy_nj(const struct watt_synth_machine *m, size_t domain,
				     uint64_t t_ns)
{
	return watt_synth_curve_energy_nj(&m->curves[domain], t_ns / WATT_NSEC_PER_USEC);
}

int64_t watt_synth_machine_true_nj(const void *data, uint64_t t_ns)
{
	const struct watt_synth_view *view = data;

	return watt_synth_machine_energy_nj(view->machine, view->domain, t_ns);
}

int64_t watt_synth_machine_idle_nj(const struct watt_synth_machine *m, size_t domain)
{
	return (int64_t)(idle_mw_of(m, domain) * (m->now_us - m->epoch_us));
}

int64_t watt_synth_machine_gone_nj(const struct watt_synth_machine *m, size_t domain)
{
	return m->gone_nj[domain];
}

void watt_synth_machine_forget(struct watt_synth_machine *m, uint64_t t_ns)
{
	size_t i;

	for (i = 0; i < m->n_domains; i++)
		watt_synth_curve_forget(&m->curves[i], t_ns / WATT_NSEC_PER_USEC);
}

size_t watt_synth_machine_task_count(const struct watt_synth_machine *m)
{
	return m->n_live + m->n_dead;
}

const struct watt_synth_task *watt_synth_machine_task(const struct watt_synth_machine *m,
						      size_t index)
{
	return index < m->n_live ? &m->live[index]->truth : &m->dead[index - m->n_live]->truth;
}
