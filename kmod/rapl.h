/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RAPL: the energy counters of every unit, as curves that never wrap. One thread per object: the
 * sampler's. Sleeps.
 */
#ifndef WATTRIBUTE_RAPL_H
#define WATTRIBUTE_RAPL_H

#include <linux/types.h>

enum watt_rapl_domain {
	WATT_RAPL_PACKAGE,
	WATT_RAPL_CORE,
	WATT_RAPL_UNCORE,
	WATT_RAPL_DRAM,
	WATT_RAPL_PSYS,
	WATT_RAPL_N,
};

/* Finds the units and their counters. False in *ret: there is no RAPL here; one unit for all. */
int watt_rapl_init(bool *ret);
void watt_rapl_done(void);

/* Reads what is shared among processes; with_all: also what is only shown, which takes longer. */
void watt_rapl_read(bool with_all);

bool watt_rapl_has(unsigned int unit, enum watt_rapl_domain domain);
/* Whether any unit has it. */
bool watt_rapl_has_any(enum watt_rapl_domain domain);
/* Since the module was loaded. */
u64 watt_rapl_energy_nj(unsigned int unit, enum watt_rapl_domain domain);
/* "package", ... */
const char *watt_rapl_name(enum watt_rapl_domain domain);
/* What a unit took that is shared among processes: its package and its memory. */
u64 watt_rapl_shared_nj(unsigned int unit);
/* When it was read last. */
u64 watt_rapl_read_ns(unsigned int unit);
/* Reads that failed. */
u64 watt_rapl_n_errors(void);

#endif
