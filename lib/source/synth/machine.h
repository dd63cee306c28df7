/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated machine with known truth: CPUs in packages, and tasks that run, sleep, migrate,
 * fork, exec and exit at random, each of which takes a given power while it runs.
 *
 * It goes by a clock of its own, in whole us, and its powers are in whole mW, so every energy at
 * every such instant is an integer of nJ and nothing is ever rounded: for each domain,
 * sum over tasks + idle + gone = the domain's energy, exactly. The same options give the same
 * machine, to the last bit. One thread per object.
 */
#ifndef WATT_SOURCE_SYNTH_MACHINE_H
#define WATT_SOURCE_SYNTH_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wattribute/channel.h>

#include "base/usage.h"

struct watt_synth_machine;

/* Zero everywhere is a good choice: what it stands for is said behind each. */
struct watt_synth_machine_opts {
	uint64_t seed;
	uint64_t epoch_ns;      /* when its clock begins, in whole us; 0: 1 s */
	uint64_t boot_ahead_ns; /* CLOCK_BOOTTIME is so much ahead of its clock */
	uint32_t n_cpus;        /* 4 */
	uint32_t n_packages;    /* 1; at most n_cpus */
	uint32_t n_processes;   /* 8; about so many are alive at a time */
	uint32_t n_kthreads;    /* 0 */
	uint32_t n_cgroups;     /* 3 */
	uint32_t pid_max;       /* 32,768; a small one brings pids back soon */
	uint32_t idle_mw;       /* 10,000; of a package */
	uint32_t task_min_mw;   /* 3,000; every task draws its own power between these */
	uint32_t task_max_mw;   /* task_min_mw */
	uint32_t dram_idle_mw;  /* 0; of a package's memory */
	uint32_t dram_task_mw;  /* 0: there is no dram domain; a task draws up to this there */
	uint32_t run_us;        /* 2,000; mean length of a run */
	uint32_t sleep_us;      /* 6,000; mean length of a sleep */
	/* Chances at the end of a run. */
	uint32_t sleep_ppm;   /* 700,000; else it wants to run on */
	uint32_t migrate_ppm; /* 50,000; to go to any CPU that is free */
	uint32_t fork_ppm;    /* 0 */
	uint32_t exit_ppm;    /* 0 */
	uint32_t exec_ppm;    /* 0 */
	uint32_t cgroup_ppm;  /* 0; to move to another cgroup */
	uint32_t thread_ppm;  /* 0; that what is forked is a thread and not a process */
	uint32_t lose_ppm;    /* 0; that a record of an event gets lost, and is counted */
	/* Package of each CPU, below n_packages; copied. NULL: dealt out in blocks. */
	const uint16_t *cpu_packages;
	bool has_cores;    /* each CPU is a core with a domain of its own */
	bool is_forgetful; /* tasks that are gone are summed up, not kept */
	bool is_mute;      /* nobody will sweep it: events are not kept */
};

/* Packages first, then dram, then cores. */
struct watt_synth_domain {
	char path[32]; /* "package-0", "dram-0", "package-0/core-3" */
	enum watt_domain_kind kind;
	int32_t package_id;
	int32_t core_id; /* -1: none */
};

/* The truth about a task. */
struct watt_synth_task {
	uint32_t tid;
	uint32_t tgid;
	uint64_t start_ns;        /* CLOCK_BOOTTIME */
	uint64_t leader_start_ns; /* CLOCK_BOOTTIME */
	uint64_t cpu_ns;
	uint32_t power_mw;
	uint32_t dram_mw;
	uint32_t is_alive; /* 0: the last record about it was FREE */
	uint32_t is_kthread;
	const int64_t *energy_nj; /* that it took so far, per domain, above idle */
};

/* -EINVAL: options that contradict each other; -ENOMEM. */
int watt_synth_machine_new(const struct watt_synth_machine_opts *opts,
			   struct watt_synth_machine **ret);
/* Accepts NULL; returns NULL. */
struct watt_synth_machine *watt_synth_machine_free(struct watt_synth_machine *machine);

/* Lets it go on until t_ns (rounded down to us). -EINVAL: that is past; -ENOMEM. */
int watt_synth_machine_run(struct watt_synth_machine *machine, uint64_t t_ns);
uint64_t watt_synth_machine_now_ns(const struct watt_synth_machine *machine);

/*
 * What a usage source would tell now: as watt_activity_ops.sweep. All events since the sweep before
 * in their order, then the tasks. The batch is borrowed until the machine goes on, or is swept
 * again. 0 or -ENOMEM.
 */
int watt_synth_machine_sweep(struct watt_synth_machine *machine, bool full,
			     struct watt_usage_batch *ret);
uint32_t watt_synth_machine_cpu_count(const struct watt_synth_machine *machine);
/* Slot of each CPU: its core where cores have domains, else its package. Borrowed. */
const uint16_t *watt_synth_machine_cpu_slots(const struct watt_synth_machine *machine,
					     uint32_t *ret_n_slots);

size_t watt_synth_machine_domain_count(const struct watt_synth_machine *machine);
const struct watt_synth_domain *watt_synth_machine_domain(const struct watt_synth_machine *machine,
							  size_t index);
/* True energy of a domain since the epoch, at any instant up to now that was not forgotten. */
int64_t watt_synth_machine_energy_nj(const struct watt_synth_machine *machine, size_t domain,
				     uint64_t t_ns);
/* Of that, up to now: what it took for being there, and what forgotten tasks took. */
int64_t watt_synth_machine_idle_nj(const struct watt_synth_machine *machine, size_t domain);
int64_t watt_synth_machine_gone_nj(const struct watt_synth_machine *machine, size_t domain);
/* Energies of domains before t_ns will not be asked any more. */
void watt_synth_machine_forget(struct watt_synth_machine *machine, uint64_t t_ns);

/* All tasks, the dead ones too (unless it is forgetful). Valid until it goes on. */
size_t watt_synth_machine_task_count(const struct watt_synth_machine *machine);
const struct watt_synth_task *watt_synth_machine_task(const struct watt_synth_machine *machine,
						      size_t index);

/* A domain of a machine as a sensor sees it: data of watt_synth_machine_true_nj. */
struct watt_synth_view {
	const struct watt_synth_machine *machine;
	size_t domain;
};

/* A watt_synth_energy_fn: data is a struct watt_synth_view. */
int64_t watt_synth_machine_true_nj(const void *data, uint64_t t_ns);

#endif
