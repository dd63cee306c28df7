/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every CPU did since boot, in ns, read by a BPF program of its own. Only where the kernel
 * lets its data be named (CONFIG_KALLSYMS_ALL). One thread per object.
 */
#ifndef WATT_SOURCE_HOST_CPU_TIME_H
#define WATT_SOURCE_HOST_CPU_TIME_H

#include <stddef.h>

#include "base/usage.h"
#include "source/source.h"

struct watt_cpu_time_bpf; /* the skeleton */

struct watt_cpu_clock {
	struct watt_cpu_time_bpf *skel;    /* NULL: not open */
	const struct watt_cpu_time *times; /* borrowed from the kernel; indexed by CPU */
	size_t mapped_size;
	size_t n_cpus;
};

/*
 * -EOPNOTSUPP: this kernel counts to a tick only, or in a way that is not read here; other negative
 * errnos as libbpf says them. Why is in the log at debug level.
 */
int watt_cpu_clock_open(struct watt_cpu_clock *clock, const struct watt_env *env, size_t n_cpus);
/* Accepts a zeroed one. */
void watt_cpu_clock_close(struct watt_cpu_clock *clock);
/*
 * Fills cpus[0 .. n_cpus); one that is offline, or that there is none of, is all zero. As in
 * /proc/stat, idle time can step back by a little. On failure nothing was written.
 */
int watt_cpu_clock_read(struct watt_cpu_clock *clock, struct watt_cpu_time *cpus, size_t n_cpus);

/* ---- for tests ---- */

/* What _read does with what the kernel wrote. */
void watt_cpu_clock_copy(const struct watt_cpu_clock *clock, struct watt_cpu_time *cpus,
			 size_t n_cpus);

#endif
