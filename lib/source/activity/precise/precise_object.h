/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The BPF object that counts at each context switch, and the counters it reads. Loaded as far as
 * this machine allows, by trying. One thread per object.
 */
#ifndef WATT_SOURCE_ACTIVITY_PRECISE_OBJECT_H
#define WATT_SOURCE_ACTIVITY_PRECISE_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include <precise_layout.h>

#include "source/source.h"

struct watt_precise_bpf; /* the skeleton */

/* A counter of a CPU, as perf_event_open() has it. */
struct watt_precise_event {
	uint32_t type;
	uint64_t config;
};

/* How it is to be where that is not found out; for tests, and for those who measure. */
struct watt_precise_opts {
	const struct watt_precise_event *cycles; /* NULL: those of this machine */
	const struct watt_precise_event *instructions;
	/* CPUs 2 n and 2 n + 1 count as threads of one core, and the other way round. */
	bool is_paired;
	bool is_bare;    /* none of all this: what the program costs that counts nothing */
	uint32_t n_sets; /* of tasks, a power of two; 0: enough */
};

/* Where cycles come from. */
enum watt_precise_cycles {
	WATT_PRECISE_NO_CYCLES = 0,
	WATT_PRECISE_BY_PMU = 1,
	WATT_PRECISE_BY_APERF = 2,
	WATT_PRECISE_BY_FREQUENCY = 3,
};

/* What can be counted here. */
struct watt_precise_abilities {
	enum watt_precise_cycles cycles;
	bool has_instructions;
	bool has_siblings;
	bool has_irq;     /* the kernel doesn't keep it apart, and it is counted */
	int cycles_error; /* why there are none: of the PMU; 0: it was not asked */
	int instructions_error;
};

struct watt_precise_object {
	struct watt_precise_bpf *skel;
	struct watt_precise_abilities abilities;
	uint32_t n_cpus, n_sets, n_words;
	int *fds[2];                    /* of counters, per CPU; -1: none */
	struct watt_precise_set *tasks; /* shared with the kernel */
	struct watt_precise_cpu *cpus;
	uint64_t *changed;
	size_t tasks_size, cpus_size, changed_size;
};

/* Looks for counters without loading anything. */
void watt_precise_find_abilities(const struct watt_env *env, struct watt_precise_abilities *ret);
/*
 * 0; -EOPNOTSUPP: nothing is to be counted here; -EACCES or -EPERM: not permitted; other negative
 * errnos as libbpf says them. opts may be NULL.
 */
int watt_precise_object_open(struct watt_precise_object *object, const struct watt_env *env,
			     const struct watt_cpu_map *map, const struct watt_precise_opts *opts);
/* Accepts a zeroed object. */
void watt_precise_object_close(struct watt_precise_object *object);
/* Has every CPU tell what runs there now. Frequencies and slots are brought up to date before. */
void watt_precise_object_look(struct watt_precise_object *object, const struct watt_env *env,
			      const struct watt_cpu_map *map);
/* Looks at which no task could be given what it had done. */
uint64_t watt_precise_object_lost(const struct watt_precise_object *object);

#endif
