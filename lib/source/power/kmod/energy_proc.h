/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of /proc/energy, as energy_proc(5) has them. Pure; thread-safe. */
#ifndef WATT_SOURCE_POWER_KMOD_ENERGY_PROC_H
#define WATT_SOURCE_POWER_KMOD_ENERGY_PROC_H

#include <stdint.h>

#include "source/power/powercap/rapl_zone.h"

/* What a line of a process in a window says, as far as energy goes. */
struct watt_energy_record {
	uint64_t energy_nj;
	uint64_t window_end_ns; /* CLOCK_MONOTONIC */
};

/*
 * "rapl_package-0_dram_uj=N": a counter of a zone. -ENOENT: a line that says something else;
 * -EBADMSG, -ERANGE: one of these, and wrong.
 */
int watt_energy_rapl_parse(const char *line, struct watt_rapl_zone *ret, uint64_t *ret_uj);
/* "pid=7 energy=12.457 ... window_time=N comm=sh". -EBADMSG: not such a line; -ERANGE. */
int watt_energy_record_parse(const char *line, struct watt_energy_record *ret);

#endif
