/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The registers that a script names. Added, changed and removed with the simulator's mutex held;
 * read in any context but NMI.
 */
#ifndef WATTSIM_MSR_REGISTER_H
#define WATTSIM_MSR_REGISTER_H

#include "counter.h"
#include "sim.h"

#define SIM_ANY_PACKAGE (-1)

struct sim_register {
	struct list_head node;
	u32 number;
	int package_id; /* or SIM_ANY_PACKAGE */
	bool is_counter;
	u64 value; /* of one that does not count */
	int error;
	struct sim_counter counter;
};

/* As a CPU sees it. -EIO: not one of ours, or removed just now; then *ret is 0. */
int sim_register_read(u32 number, unsigned int cpu, u64 *ret);
bool sim_register_is_ours(u32 number, unsigned int cpu);

/* By the number as a script has it; what fails says why by sim_fail(). */
int sim_register_get(const char *target, int package_id, struct sim_register **ret);
/* One that nobody sees before it is added; it is freed by kfree() until then. */
int sim_register_new(const char *target, int package_id, struct sim_register **ret);
void sim_register_add(struct sim_register *added);
void sim_register_free(struct sim_register *removed);
void sim_registers_free(void);
/* The one after found, or the first one; NULL: no more. */
struct sim_register *sim_register_next(const struct sim_register *found);

#endif
