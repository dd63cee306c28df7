/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An amount of energy, exact to the femtojoule (1 uW for 1 ns), beyond what 64 bits of
 * femtojoules hold. Every operation but the division by a unit is without a remainder.
 */
#ifndef WATTSIM_ENERGY_H
#define WATTSIM_ENERGY_H

#include <linux/bits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define SIM_FJ_PER_NJ 1000000u
/* The most power that anything here may have: a product with SIM_STEP_NS fits in 64 bits. */
#define SIM_POWER_MAX_UW 2000000000u
#define SIM_STEP_NS BIT_ULL(32)

struct sim_energy {
	u64 nj;
	u32 fj; /* less than SIM_FJ_PER_NJ */
};

static inline void sim_energy_add(struct sim_energy *energy, const struct sim_energy *more)
{
	energy->nj += more->nj;
	energy->fj += more->fj;
	if (energy->fj >= SIM_FJ_PER_NJ) {
		energy->fj -= SIM_FJ_PER_NJ;
		energy->nj++;
	}
}

/* energy must be at least less. */
static inline void sim_energy_sub(struct sim_energy *energy, const struct sim_energy *less)
{
	energy->nj -= less->nj;
	if (energy->fj < less->fj) {
		energy->fj += SIM_FJ_PER_NJ;
		energy->nj--;
	}
	energy->fj -= less->fj;
}

/* What a power of at most SIM_POWER_MAX_UW uses in a time. */
static inline void sim_energy_add_power(struct sim_energy *energy, u32 power_uw, u64 time_ns)
{
	while (time_ns) {
		u64 step_ns = min_t(u64, time_ns, SIM_STEP_NS);
		struct sim_energy part;

		part.nj = div_u64_rem(step_ns * power_uw, SIM_FJ_PER_NJ, &part.fj);
		sim_energy_add(energy, &part);
		time_ns -= step_ns;
	}
}

#endif
