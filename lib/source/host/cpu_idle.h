/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long CPUs were idle, to the microsecond, without BPF: out of cpuidle's times and the ticks of
 * /proc/stat.
 *
 * cpuidle adds the time of an idle period to the `time` of its state when the period ends. The idle
 * column of /proc/stat includes a period that has not ended, but shows whole ticks. Both measure by
 * the clock. So a period that has ended counts as cpuidle says, and one that has not as the ticks
 * that were seen in it, which the end corrects.
 *
 * One thread per object.
 */
#ifndef WATT_SOURCE_HOST_CPU_IDLE_H
#define WATT_SOURCE_HOST_CPU_IDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fs.h"
#include "base/usage.h"

/* ---- of one CPU: pure arithmetic ---- */

struct watt_idle_gauge {
	bool is_begun;
	bool has_ended;    /* an idle period, since it was begun */
	uint64_t look_ns;  /* the newest look */
	uint64_t ended_ns; /* cpuidle's word in it */
	uint64_t stat_ns;  /* idle time of /proc/stat when a period was last seen to have ended */
	uint64_t since_ns; /* a period that has not ended did not begin before this look */
	uint64_t idle_now_ns, work_now_ns; /* /proc/stat's word in the newest look */
	uint64_t steal_ns;
	uint64_t told_ns;  /* the newest look that told something */
	uint64_t owed_ns;  /* away time that is known and was not told */
	uint64_t owing_ns; /* that was told, and turned out not to be */
	uint64_t open_ns;  /* of the period that has not ended, what is in the above */
};

/* One look: when it was, the sum of cpuidle's times, and what /proc/stat has of the CPU. */
struct watt_idle_look {
	uint64_t t_ns;
	uint64_t ended_ns;
	const struct watt_cpu_time *time;
};

/*
 * True: *ret_busy_ppm is the share of the time since the look that told last in which the CPU was
 * neither idle, nor waiting for I/O, nor taken by a hypervisor. False: nothing is known yet, for 30 ms
 * at most; the first look begins. A zeroed gauge is a new one.
 */
bool watt_idle_gauge_look(struct watt_idle_gauge *gauge, const struct watt_idle_look *look,
			  int64_t *ret_busy_ppm);

/* ---- the files ---- */

struct watt_cpu_idle {
	struct idle_cpu *cpus; /* NULL: not open */
	size_t n_cpus, n_files;
};

/*
 * Of these CPUs: all `time` of /sys/devices/system/cpu/cpuN/cpuidle. -ENODATA: no CPU has any, or there
 * are more than 256 files, which take too long; -ENOMEM.
 */
int watt_cpu_idle_open(struct watt_cpu_idle *idle, const struct watt_root *sysfs,
		       const uint32_t *cpus, size_t n);
/* Accepts a zeroed one. */
void watt_cpu_idle_close(struct watt_cpu_idle *idle);
/* Whether the i-th CPU has any. */
bool watt_cpu_idle_has(const struct watt_cpu_idle *idle, size_t i);
/* The i-th CPU's sum over its states. 0, or as watt_file_read_u64(). */
int watt_cpu_idle_read(struct watt_cpu_idle *idle, size_t i, uint64_t *ret_ns);

#endif
