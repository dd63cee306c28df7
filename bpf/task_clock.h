/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * How long a task has been running that the kernel has not counted yet. Pure; the includer brings
 * __u64 and __s64, as in usage_layout.h.
 */
#ifndef WATT_BPF_TASK_CLOCK_H
#define WATT_BPF_TASK_CLOCK_H

/* How long the smallest distance between the clocks is believed. */
#define WATT_BPF_CLOCK_WINDOW_NS 1000000000ULL

/* How far a task clock is behind CLOCK_MONOTONIC; below 0 where it is ahead. */
struct watt_bpf_clock {
	__u64 since_ns;    /* start of the window */
	__s64 least_ns;    /* smallest difference seen in the window */
	__s64 previous_ns; /* and in the one before */
};

/*
 * The counter of a running task is as old as the last tick or switch. The time since then is on
 * the task clock of its CPU, which runs behind CLOCK_MONOTONIC by what irqs and steal took; the
 * smallest distance seen of late is the best guess at how far. Where that makes more than a tick,
 * the clock has fallen behind since.
 */
static inline __attribute__((always_inline)) __u64
watt_bpf_running_ns(struct watt_bpf_clock *clock, __u64 now_ns, __u64 counted_ns, __u64 tick_ns)
{
	__s64 distance_ns = (__s64)(now_ns - counted_ns), most_ns = (__s64)tick_ns, least_ns;

	if (now_ns - clock->since_ns > WATT_BPF_CLOCK_WINDOW_NS) {
		clock->previous_ns = clock->least_ns;
		if (now_ns - clock->since_ns > 2 * WATT_BPF_CLOCK_WINDOW_NS)
			clock->previous_ns = distance_ns;
		clock->least_ns = distance_ns;
		clock->since_ns = now_ns;
	}
	if (distance_ns < clock->least_ns)
		clock->least_ns = distance_ns;
	least_ns = clock->least_ns;
	if (clock->previous_ns < least_ns)
		least_ns = clock->previous_ns;
	if (distance_ns - least_ns > most_ns) {
		least_ns = distance_ns - most_ns;
		clock->least_ns = least_ns;
		clock->previous_ns = least_ns;
	}
	return (__u64)(distance_ns - least_ns);
}

#endif
