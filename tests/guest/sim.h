/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Talks to the simulator's modules (kmod/sim/README.md): scripts, and the ground truth. Any failure
 * ends the program with what the simulator says about it. Knows nothing of the library.
 */
#ifndef WATT_TESTS_SIM_H
#define WATT_TESTS_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_DIR "/sys/kernel/debug/wattsim"
#define SIM_PACKAGES_MAX 8

/* A process, as the kernel's own account of who ran has it. */
struct sim_process {
	uint32_t pid;      /* 0: what was forgotten or found no room */
	uint64_t start_ns; /* CLOCK_BOOTTIME */
	bool is_alive;
	uint64_t run_ns;
	int64_t energy_nj[SIM_PACKAGES_MAX]; /* rounded down */
	char name[64];
};

struct sim_truth {
	uint64_t t_ns; /* CLOCK_MONOTONIC */
	size_t n_packages;
	int package_id[SIM_PACKAGES_MAX];
	int64_t total_nj[SIM_PACKAGES_MAX];
	int64_t idle_nj[SIM_PACKAGES_MAX];
	uint64_t n_strangers, n_overflows;
	struct sim_process *processes;
	size_t n_processes;
};

/* One script; printf-like, lines end in \n. */
__attribute__((format(printf, 1, 2))) void sim_say(const char *format, ...);
/*
 * One instant of the truth; free it with sim_truth_done(). Checks that the sums over all processes
 * are the packages' totals, to the femtojoule.
 */
void sim_truth_read(struct sim_truth *ret);
void sim_truth_done(struct sim_truth *truth);
/* NULL: not there. start_ns 0: of any start. */
const struct sim_process *sim_truth_find(const struct sim_truth *truth, uint32_t pid,
					 uint64_t start_ns);
/* The true energy of a meter by now, in nJ. */
int64_t sim_meter_nj(const char *name);
/* When its power was last set (CLOCK_MONOTONIC), what it had used by then, and its power. */
void sim_meter_since(const char *name, uint64_t *ret_ns, int64_t *ret_nj, uint32_t *ret_uw);
/* The meter's energy when a counter ("zone package-0", "chip card energy1") was last set. */
int64_t sim_origin_nj(const char *counter);

#endif
