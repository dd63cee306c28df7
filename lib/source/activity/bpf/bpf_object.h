/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The BPF object in the kernel: loaded as far as this kernel allows, by trying, never by version.
 * One thread per object.
 */
#ifndef WATT_SOURCE_ACTIVITY_BPF_OBJECT_H
#define WATT_SOURCE_ACTIVITY_BPF_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include <usage_layout.h>

#include "source/source.h"

/* How tasks are walked over, and how the dead are counted. */
enum watt_bpf_mode {
	WATT_BPF_MODE_AUTO = 0,
	/* Syscalls that walk over thousands of tasks each; the dying are kept until counted. */
	WATT_BPF_MODE_CALL = 1,
	/* A task iterator driven by read(); the dying are kept until counted. */
	WATT_BPF_MODE_ITER = 2,
	/* The same, and the dead are counted by a hook where the kernel frees them. */
	WATT_BPF_MODE_HOOK = 3,
};

/* Bits of watt_bpf_object.hooks. */
enum watt_bpf_hook {
	WATT_BPF_HOOK_FORK = 1u << 0,
	WATT_BPF_HOOK_EXEC = 1u << 1,
	WATT_BPF_HOOK_EXIT = 1u << 2,
	WATT_BPF_HOOK_FREE = 1u << 3,
	WATT_BPF_HOOK_CGROUP = 1u << 4,
	WATT_BPF_HOOK_MIGRATE = 1u << 5,
	WATT_BPF_HOOKS_ALL = (1u << 6) - 1,
};

/* How much has room. Powers of two, but for the first and the last. 0: what is best here. */
struct watt_bpf_sizes {
	uint32_t n_records;  /* of tasks, before they have to be taken */
	uint32_t n_seen;     /* sets of four tasks whose last value is remembered */
	uint32_t n_moves;    /* migrations between two sweeps, per CPU */
	uint32_t n_dying;    /* tasks that are kept until they are dead and counted */
	uint32_t ring_bytes; /* of the other events, in pages */
	uint32_t pass_tasks; /* that one pass visits */
	uint32_t pass_ns;    /* after which a pass ends */
};

struct watt_usage_bpf; /* the skeleton */

struct watt_bpf_object {
	struct watt_usage_bpf *skel;
	enum watt_bpf_mode mode; /* never AUTO once loaded */
	uint32_t hooks;          /* those that are attached */
	uint32_t ready_hooks;    /* those that are loaded, and attached when they are needed */
	struct watt_bpf_sizes sizes;
	uint32_t n_cpus;     /* that the maps have room for */
	uint32_t pidns_inum; /* of whose numbers tasks are called by; 0: the kernel's own */
	int iter_fd;         /* of the sweep that is not over; -1: none */
};

/*
 * Loads and attaches. sizes NULL: as is best. -EPERM: not allowed; -EOPNOTSUPP: no way to
 * walk over the tasks; -EXDEV: none by which they are called by the numbers of procfs; other negative errnos as libbpf says them. Its messages go to the log at debug level.
 */
int watt_bpf_object_open(struct watt_bpf_object *object, const struct watt_env *env,
			 const struct watt_cpu_map *map, enum watt_bpf_mode mode,
			 const struct watt_bpf_sizes *sizes);
/* Accepts a zeroed object. */
void watt_bpf_object_close(struct watt_bpf_object *object);
/*
 * The CPU is in that slot: who goes to another one from there is told of. Where all CPUs were in the
 * first one, that begins with the first that is not.
 */
void watt_bpf_object_place_cpu(struct watt_bpf_object *object, const struct watt_env *env,
			       uint32_t cpu, uint32_t slot);
/* Tells of those of the dying that are dead. 1: there was no room for all, empty the ring. */
int watt_bpf_object_bury(struct watt_bpf_object *object);
int watt_bpf_object_begin(struct watt_bpf_object *object, bool is_full);
/*
 * Goes on with the sweep: writes into the records map, n_records in *watt_bpf_object_sweep of them.
 * 0: all tasks were visited; 1: the map is full, clear n_records and call again. -EAGAIN: the
 * tasks came and went too fast.
 */
int watt_bpf_object_walk(struct watt_bpf_object *object);
struct watt_bpf_sweep *watt_bpf_object_sweep(const struct watt_bpf_object *object);
/* Every task that dies is told of, with its final count. */
bool watt_bpf_object_sees_deaths(const struct watt_bpf_object *object);
/* Events that found no room, as far as the programs know. */
uint64_t watt_bpf_object_lost(const struct watt_bpf_object *object);
/* Events that nobody tells, because the kernel did not run a hook within another run of it. */
uint64_t watt_bpf_object_missed(const struct watt_bpf_object *object);
/* The same of one program. */
uint64_t watt_bpf_program_missed(int fd);
int watt_bpf_object_records_fd(const struct watt_bpf_object *object);
int watt_bpf_object_moves_fd(const struct watt_bpf_object *object);
int watt_bpf_object_move_logs_fd(const struct watt_bpf_object *object);
int watt_bpf_object_events_fd(const struct watt_bpf_object *object);

#endif
