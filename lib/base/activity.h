/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activity: what somebody did, as a cumulative count. What sources tell, recordings keep and
 * attribution divides by. Plain values.
 */
#ifndef WATT_BASE_ACTIVITY_H
#define WATT_BASE_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers are those of the file format: never change one. */
enum watt_activity_kind {
	WATT_ACTIVITY_CPU_TIME = 0, /* ns on CPUs; its places are the slots of CPUs */
	WATT_ACTIVITY_GPU_TIME = 1, /* ns of the engines of a GPU; its places are GPUs */
	/* Bytes of a GPU's memory times ns that they are held, over all bytes that it has: ns of the
	 * whole memory. */
	WATT_ACTIVITY_GPU_MEMORY = 2,
	/* Of CPUs, by who looks at each context switch; their places are "cpus-SLOT". */
	WATT_ACTIVITY_CYCLES = 3,
	WATT_ACTIVITY_INSTRUCTIONS = 4,
	WATT_ACTIVITY_SHARED_TIME = 5, /* ns on a CPU while the next one of its core was busy */
	WATT_ACTIVITY_IRQ_TIME = 6,    /* ns of handlers of interrupts, in the task's own time */
	WATT_N_ACTIVITIES
};

/* The most of a kind that one unit can do in a ns: what says more is damaged. */
static inline uint32_t watt_activity_most_per_ns(uint32_t kind)
{
	if (kind == WATT_ACTIVITY_CYCLES)
		return 10;
	return kind == WATT_ACTIVITY_INSTRUCTIONS ? 100 : 1;
}

static inline bool watt_activity_is_of_cpus(uint32_t kind)
{
	return kind >= WATT_ACTIVITY_CYCLES && kind <= WATT_ACTIVITY_IRQ_TIME;
}

/* Room for the path of a place of CPUs. */
#define WATT_CPUS_PATH 24

/*
 * The place of what CPUs of a slot do; the slot behind all is of CPUs that are in none.
 */
void watt_activity_cpus_path(uint32_t slot, char *ret);
/* 0, or -EINVAL: it is not the path of CPUs. */
int watt_activity_cpus_slot(const char *path, uint32_t *ret);

/* Where something of one kind is done, and up to when that is known. */
struct watt_activity_place {
	/* In the tree of domains: "gpu-0"; what lies in a domain is of it. Where it lies in a GPU
	 * and is no domain, as "gpu-0/mig-1-0", it is an instance, and becomes one. Of CPUs:
	 * "cpus-0". */
	const char *path;
	uint64_t complete_ns; /* CLOCK_MONOTONIC: all that was done there before is told */
	uint32_t kind;        /* enum watt_activity_kind, not that of the CPUs */
	uint32_t n_units; /* what can be active there at once: engines; 0: it is not there now */
};

/* How much a process has done at a place. */
struct watt_activity {
	uint64_t t_ns;     /* CLOCK_MONOTONIC; not after complete_ns of the place */
	uint64_t amount;   /* since it began there, in the unit of the kind; only ever grows */
	uint64_t start_ns; /* when the process started, CLOCK_BOOTTIME; 0: not known */
	uint32_t pid;      /* thread group id in the initial pid namespace */
	uint32_t place;    /* index into the places of the batch */
};

/*
 * All that a source has to tell at a time. Every batch tells of every process that is at one of
 * its places: who was not there before has done what it did since the batch before.
 */
struct watt_activity_batch {
	const struct watt_activity_place *places; /* borrowed */
	size_t n_places;
	const struct watt_activity *readings; /* borrowed; of one process in the order of time */
	size_t n_readings;
};

#endif
