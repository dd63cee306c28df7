/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How busy each CPU was since it was asked last. In ns where the kernel tells what it knows of each
 * CPU to a BPF program; else in us by cpuidle; else from /proc/stat, whose ticks are 10 ms. One thread
 * per object.
 */
#ifndef WATT_SOURCE_POWER_CPU_BUSY_H
#define WATT_SOURCE_POWER_CPU_BUSY_H

#include "source/source.h"

struct watt_cpu_busy;

/* Of the CPUs that are present. env must outlive it. 0; -ENODATA: nothing tells of CPUs; -ENOMEM. */
int watt_cpu_busy_open(const struct watt_env *env, struct watt_cpu_busy **ret);
/* Accepts NULL; returns NULL. */
struct watt_cpu_busy *watt_cpu_busy_close(struct watt_cpu_busy *busy);

/* The i-th CPU's number; -1: there are not so many. */
int watt_cpu_busy_get_cpu(const struct watt_cpu_busy *busy, size_t i);
/* Whose word it is: "bpf", "cpuidle" or "ticks". */
const char *watt_cpu_busy_get_clock(const struct watt_cpu_busy *busy);
/* The shortest time between two questions that tells something. */
uint64_t watt_cpu_busy_get_period_ns(const struct watt_cpu_busy *busy);
/* Looks at all CPUs. What each was is until the next look. */
void watt_cpu_busy_look(struct watt_cpu_busy *busy);
/*
 * The i-th CPU between the last two looks at it, raw in 1e-6: neither idle, nor waiting for I/O, nor
 * taken by a hypervisor. No data: it is offline, or was looked at once.
 */
void watt_cpu_busy_get(const struct watt_cpu_busy *busy, size_t i, struct watt_sample *ret);

#endif
