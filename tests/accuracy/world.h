/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A world: programs of different power on a machine whose sensor tells only the sum. Who ran for
 * how long is told as sweeps, the energy as a counter that is up to 1 ms late and counts 61 uJ;
 * what each process really took is known. A pure function of its seed.
 */
#ifndef WATT_ACCURACY_WORLD_H
#define WATT_ACCURACY_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wattribute/channel.h>

#include "base/activity.h"
#include "base/usage.h"

#define WORLD_SLICE_S 0.05
#define WORLD_SLICE_NS 50000000ULL
#define WORLD_STEPS 50     /* in a slice, of 1 ms */
#define WORLD_LSB_NJ 61035 /* 2^-14 J, the usual unit of RAPL */
#define WORLD_IDLE_W 10.0
#define WORLD_START_NS 1000000000000ULL
#define WORLD_MAX_CPUS 16
#define WORLD_FIRST_PID 100

/* The counter of its one package. */
extern const struct watt_channel world_channel;

struct world_opts {
	uint32_t n_tasks; /* that live from the beginning to the end */
	uint32_t n_cpus;
	uint32_t seconds;
	uint32_t n_programs; /* of them; 0: each task runs its own */
	uint64_t seed;
	bool is_equal;    /* all take 6 W; else 2 to 12 W */
	bool has_turbo;   /* with all CPUs busy, a task takes 35 % less */
	bool has_base;    /* the package wakes for 8 W */
	bool has_smt;     /* two CPUs are a core: a task beside another takes 40 % less */
	bool has_drift;   /* 2 W of leakage come and go in 40 s */
	bool has_phases;  /* each task's watts change by up to 40 % every 10 s */
	bool never_stops; /* nobody ever sleeps */
	bool is_rare;     /* who sleeps does so for 1 s */
	bool is_slow;     /* who runs does so for 1 to 3 s, and sleeps for 2 */
	/* Beside them, of this many programs: processes that are born, run for 2 to 200 ms, and
	 * die. */
	uint32_t n_short_programs;
};

/* Who is compared: a process that lives to the end, or all short-lived ones of a program. */
struct world_group {
	char comm[16];
	uint32_t pid; /* 0: short lives */
	double true_j;
};

struct world;

struct world *world_new(const struct world_opts *opts);
void world_free(struct world *world);
/* Runs to the end of the next slice, and tells of it. The batch lives until the next call. */
const struct watt_usage_batch *world_run(struct world *world);
uint64_t world_now_ns(const struct world *world);
/* What the counter shows now, in units of WORLD_LSB_NJ. */
int64_t world_read(const struct world *world);
size_t world_group_count(const struct world *world);
const struct world_group *world_group(const struct world *world, size_t i);
/* Tasks that live now: whose, and what they have used of the CPUs. */
size_t world_task_count(const struct world *world);
void world_task(const struct world *world, size_t i, uint32_t *ret_pid, uint32_t *ret_group,
		uint64_t *ret_cpu_ns);
/*
 * What counters at each switch would have told in the middle of the newest slice: cycles,
 * instructions, time beside a busy sibling. How many instructions a program has for each cycle goes
 * with its watts, but not alone: they tell five sixths of how watts differ. Lives as the batch.
 */
const struct watt_activity_batch *world_counts(const struct world *world);
/* Joules so far, those of the idle machine included. */
double world_energy_j(const struct world *world);
/* The same as it was at the end of a step of the newest slice, 0 to WORLD_STEPS - 1. */
double world_step_j(const struct world *world, uint32_t step);

#endif
