/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long a task has been running that the kernel has not counted yet. Its run time is as old as
 * the last tick or switch, and the time since then is on the task clock of its CPU, which runs
 * behind CLOCK_MONOTONIC by what interrupts and hypervisors took. The smallest distance that was
 * seen of late is the best guess at how far. Pure. One thread per object.
 */
#ifndef WATTRIBUTE_LAG_H
#define WATTRIBUTE_LAG_H

#include <linux/types.h>

/* Of one CPU. */
struct watt_lag {
	s64 least_ns;    /* since since_ns */
	s64 previous_ns; /* in the time before */
	u64 since_ns;    /* 0: never seen */
};

/*
 * The time for which a task has run on that CPU since counted_ns, by its task clock; never more
 * than most_ns, which is how far its ticks are apart.
 */
u64 watt_lag_running_ns(struct watt_lag *lag, u64 now_ns, u64 counted_ns, u64 most_ns);

#endif
