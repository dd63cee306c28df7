/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The module's engine (score, share, baseline, ledger) in a program, without the kernel and without
 * a type of the module's: the library's have the same names. One at a time.
 */
#ifndef KMOD_MODULE_ENGINE_H
#define KMOD_MODULE_ENGINE_H

#include <stdint.h>

#define ENGINE_UNITS 2
#define ENGINE_CPUS 2 /* of each unit */

/* What one process did in a slice: it stays on one unit. */
struct engine_use {
	uint64_t cpu_ns;
	unsigned int unit;
};

void module_engine_open(unsigned int n_processes);
void module_engine_close(void);
/* Divides what each unit took in time_ns among those that used something. */
void module_engine_divide(const struct engine_use *uses, uint64_t time_ns,
			  const uint64_t energy_nj[ENGINE_UNITS]);

/* Since it was opened. */
uint64_t module_engine_process_nj(unsigned int process);
uint64_t module_engine_total_nj(void);
uint64_t module_engine_idle_nj(void);
uint64_t module_engine_idle_uw(void);
uint64_t module_engine_n_failures(void);

#endif
