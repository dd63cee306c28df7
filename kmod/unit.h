/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Units: the sets of CPUs that have energy counters of their own, which are packages, or dies where
 * a package has several. Without RAPL there is one with all CPUs. Their number never changes: those
 * whose CPUs have never been online have a place, and become what they are when the first one is.
 */
#ifndef WATTRIBUTE_UNIT_H
#define WATTRIBUTE_UNIT_H

#include <linux/types.h>

#define WATT_UNIT_NAME_MAX 32

/* Finds the units; is_split false: one for all CPUs, is_per_die: dies of a package are apart. */
int watt_units_init(bool is_split, bool is_per_die);
void watt_units_done(void);

unsigned int watt_units_count(void);
/* "0", or "0-die-1" where its package has several; "" of a place. With CPUs locked, or later. */
const char *watt_unit_name(unsigned int unit);
/* In any context. */
unsigned int watt_unit_of_cpu(unsigned int cpu);
/* Any of its CPUs that is online, nr_cpu_ids if none is; with CPUs locked by cpus_read_lock(). */
unsigned int watt_unit_online_cpu(unsigned int unit);
unsigned int watt_unit_n_online(unsigned int unit);

#endif
