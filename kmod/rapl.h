/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RAPL: the energy counters of every unit, as curves that never wrap. One thread per object: the
 * sampler's. Sleeps.
 */
#ifndef WATTRIBUTE_RAPL_H
#define WATTRIBUTE_RAPL_H

#include <linux/bits.h>
#include <linux/types.h>

enum watt_rapl_domain {
	WATT_RAPL_PACKAGE,
	WATT_RAPL_CORE,
	WATT_RAPL_UNCORE,
	WATT_RAPL_DRAM,
	WATT_RAPL_PSYS,
	WATT_RAPL_N,
};

/* Beside an energy: nobody could read whether there is more; see watt_rapl_is_read(). */
#define WATT_RAPL_OLD BIT_ULL(63)

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
/* Whether the last read was one; not while none of the unit's CPUs is online. */
bool watt_rapl_is_read(unsigned int unit);
/* The time in which a unit took what the last read added; 0: that read was the first. */
u64 watt_rapl_span_ns(unsigned int unit);
/* What a unit took that is shared among processes: its package and its memory. */
u64 watt_rapl_shared_nj(unsigned int unit);
/* Reads that failed. */
u64 watt_rapl_n_errors(void);
/* Counters that were found to have begun again. */
u64 watt_rapl_n_resets(void);

#endif
