/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Idle time of CPUs out of what cpuidle and /proc/stat tell. It must not take from either what the
 * other one knows better: the length of what has ended, and that something goes on.
 */
#include "source/host/cpu_idle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/util.h"

#define PPM 1000000
/* So long nothing need be seen of a CPU: a tick of /proc/stat is 10 ms, two columns are idle. */
#define QUIET_NS (30 * WATT_NSEC_PER_MSEC)
/* What is known too late is told later, but no more than this. */
#define OWED_MAX_NS (20 * WATT_NSEC_PER_MSEC)
#define FILES_MAX 256
#define CPU "devices/system/cpu/cpu%u/cpuidle"

/* ---- of one CPU ---- */

static uint64_t grown(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static uint64_t work_of(const struct watt_cpu_time *time)
{
	return time->user_ns + time->system_ns + time->irq_ns + time->softirq_ns;
}

static void owe(struct watt_idle_gauge *gauge, uint64_t more_ns, uint64_t less_ns)
{
	uint64_t owed_ns = gauge->owed_ns + more_ns, owing_ns = gauge->owing_ns + less_ns;
	uint64_t both_ns = WATT_MIN(owed_ns, owing_ns);

	gauge->owed_ns = owed_ns - both_ns;
	gauge->owing_ns = owing_ns - both_ns;
}

/* A period has ended: its length is known, and what ticks said of it counts no more. */
static void end_period(struct watt_idle_gauge *gauge, const struct watt_idle_look *look)
{
	uint64_t length_ns = look->ended_ns - gauge->ended_ns;

	/* the first one may have begun long before the first look */
	if (!gauge->has_ended)
		length_ns = WATT_MIN(length_ns, look->t_ns - gauge->since_ns);
	owe(gauge, length_ns, gauge->open_ns);
	gauge->open_ns = 0;
	gauge->has_ended = true;
	gauge->ended_ns = look->ended_ns;
	gauge->stat_ns = look->time->idle_ns;
	gauge->since_ns = gauge->look_ns;
}

/* It goes on, or there is none: ticks tell which. */
static void extend_period(struct watt_idle_gauge *gauge, const struct watt_idle_look *look)
{
	uint64_t open_ns =
		WATT_MIN(grown(look->time->idle_ns, gauge->stat_ns), look->t_ns - gauge->since_ns);

	if (open_ns <= gauge->open_ns)
		return;
	owe(gauge, open_ns - gauge->open_ns, 0);
	gauge->open_ns = open_ns;
}

static void begin(struct watt_idle_gauge *gauge, const struct watt_idle_look *look)
{
	*gauge = (struct watt_idle_gauge){
		.is_begun = true,
		.ended_ns = look->ended_ns,
		.stat_ns = look->time->idle_ns,
		.since_ns = look->t_ns,
		.told_ns = look->t_ns,
	};
}

static void keep(struct watt_idle_gauge *gauge, const struct watt_idle_look *look)
{
	gauge->look_ns = look->t_ns;
	gauge->idle_now_ns = look->time->idle_ns;
	gauge->work_now_ns = work_of(look->time);
	gauge->steal_ns = look->time->steal_ns;
}

static int64_t tell(struct watt_idle_gauge *gauge, uint64_t t_ns)
{
	uint64_t whole_ns = t_ns - gauge->told_ns;
	uint64_t away_ns = WATT_MIN(gauge->owed_ns, whole_ns);

	gauge->owed_ns = WATT_MIN(gauge->owed_ns - away_ns, (uint64_t)OWED_MAX_NS);
	gauge->told_ns = t_ns;
	return PPM - (int64_t)((watt_u128)away_ns * PPM / whole_ns);
}

bool watt_idle_gauge_look(struct watt_idle_gauge *gauge, const struct watt_idle_look *look,
			  int64_t *ret_busy_ppm)
{
	bool has_ended, is_news;

	/* a counter that steps back has begun anew, as after a CPU was away */
	if (!gauge->is_begun || look->ended_ns < gauge->ended_ns || look->t_ns <= gauge->look_ns) {
		begin(gauge, look);
		keep(gauge, look);
		return false;
	}
	has_ended = look->ended_ns > gauge->ended_ns;
	is_news = has_ended || look->time->idle_ns > gauge->idle_now_ns ||
		  work_of(look->time) > gauge->work_now_ns ||
		  look->t_ns - gauge->told_ns >= QUIET_NS;
	if (has_ended)
		end_period(gauge, look);
	else
		extend_period(gauge, look);
	owe(gauge, grown(look->time->steal_ns, gauge->steal_ns), 0);
	keep(gauge, look);
	if (is_news)
		*ret_busy_ppm = tell(gauge, look->t_ns);
	return is_news;
}

/* ---- the files ---- */

struct idle_cpu {
	uint32_t number;
	struct watt_file *states;
	size_t n, cap;
};

static int add_state(struct watt_cpu_idle *idle, struct idle_cpu *cpu,
		     const struct watt_root *sysfs, const char *name)
{
	char path[128];
	int r = watt_grow((void **)&cpu->states, &cpu->cap, cpu->n, sizeof(*cpu->states));

	if (r < 0)
		return r;
	if (idle->n_files == FILES_MAX)
		return -ENODATA;
	idle->n_files++;
	snprintf(path, sizeof(path), CPU "/%.32s/time", cpu->number, name);
	cpu->states[cpu->n] = (struct watt_file)WATT_FILE_INIT;
	return watt_file_open(&cpu->states[cpu->n++], sysfs, path);
}

static int open_cpu(struct watt_cpu_idle *idle, struct idle_cpu *cpu, const struct watt_root *sysfs)
{
	struct watt_names names = WATT_NAMES_INIT;
	char dir[64];
	size_t i;
	int r;

	snprintf(dir, sizeof(dir), CPU, cpu->number);
	/* one that was never online has no such directory */
	if (watt_root_list(sysfs, dir, "state", &names) < 0)
		return 0;
	for (i = 0, r = 0; r == 0 && i < names.n; i++)
		r = add_state(idle, cpu, sysfs, names.name[i]);
	watt_names_free(&names);
	return r == -ENOMEM ? r : r < 0 ? -ENODATA : 0;
}

int watt_cpu_idle_open(struct watt_cpu_idle *idle, const struct watt_root *sysfs,
		       const uint32_t *cpus, size_t n)
{
	size_t i;
	int r = 0;

	*idle = (struct watt_cpu_idle){ .cpus = calloc(n + 1, sizeof(*idle->cpus)) };
	if (!idle->cpus)
		return -ENOMEM;
	for (i = 0; i < n && r == 0; i++) {
		idle->cpus[idle->n_cpus++].number = cpus[i];
		r = open_cpu(idle, &idle->cpus[i], sysfs);
	}
	if (r == 0 && !idle->n_files)
		r = -ENODATA;
	if (r < 0)
		watt_cpu_idle_close(idle);
	return r;
}

void watt_cpu_idle_close(struct watt_cpu_idle *idle)
{
	size_t i, j;

	for (i = 0; i < idle->n_cpus; i++) {
		for (j = 0; j < idle->cpus[i].n; j++)
			watt_file_close(&idle->cpus[i].states[j]);
		free(idle->cpus[i].states);
	}
	free(idle->cpus);
	*idle = (struct watt_cpu_idle){ 0 };
}

bool watt_cpu_idle_has(const struct watt_cpu_idle *idle, size_t i)
{
	return i < idle->n_cpus && idle->cpus[i].n > 0;
}

int watt_cpu_idle_read(struct watt_cpu_idle *idle, size_t i, uint64_t *ret_ns)
{
	struct idle_cpu *cpu = &idle->cpus[i];
	uint64_t sum_us = 0, us;
	size_t j;
	int r;

	for (j = 0; j < cpu->n; j++) {
		r = watt_file_read_u64(&cpu->states[j], &us);
		if (r < 0)
			return r;
		if (__builtin_add_overflow(sum_us, us, &sum_us))
			return -ERANGE;
	}
	return __builtin_mul_overflow(sum_us, (uint64_t)WATT_NSEC_PER_USEC, ret_ns) ? -ERANGE : 0;
}
