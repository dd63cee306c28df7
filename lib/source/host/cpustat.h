/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every CPU did since boot, from the text of /proc/stat.
 *
 * Its counts are clock ticks (USER_HZ), so they move in steps of 10 ms. Idle and iowait of a CPU
 * can step back by a little from one reading to the next; that is the kernel's, and stays.
 */
#ifndef WATT_SOURCE_HOST_CPUSTAT_H
#define WATT_SOURCE_HOST_CPUSTAT_H

#include <stddef.h>

#include "base/usage.h"

/*
 * Fills cpus[0 .. n_cpus); a CPU without a line is offline and all zero. CPUs of n_cpus or more
 * are checked and left out: *ret_n, the highest CPU number + 1, tells that there were some.
 * hz: ticks per second, sysconf(_SC_CLK_TCK). Columns that an old kernel lacks (iowait and all
 * after it) count as 0, columns of a newer one are ignored. The text may end anywhere after the
 * last CPU's line. Thread-safe.
 *
 * 0; -EBADMSG: no CPU in it, a line with less than four numbers or with something else than
 * numbers, CPU numbers that do not ascend; -ERANGE: a number too large; -EINVAL: hz. On failure
 * nothing was written.
 */
int watt_cpustat_parse(const char *text, long hz, struct watt_cpu_time *cpus, size_t n_cpus,
		       size_t *ret_n);

#endif
