/* SPDX-License-Identifier: Apache-2.0 */
/* Who a CPU is, from the text of /proc/cpuinfo, which is not to be trusted. Thread-safe. */
#ifndef WATT_SOURCE_POWER_CPUINFO_H
#define WATT_SOURCE_POWER_CPUINFO_H

#include <stdint.h>

/* What one block of /proc/cpuinfo says. */
struct watt_cpuinfo {
	uint32_t cpu;         /* number of the logical CPU */
	char vendor[16];      /* "GenuineIntel"; empty where there is none (Arm) */
	uint32_t family;      /* x86 only, else 0 */
	uint32_t model;       /* x86 only, else 0 */
	uint32_t stepping;    /* x86 only, else 0 */
	uint32_t implementer; /* Arm only, else 0 */
	uint32_t part;        /* Arm only, else 0 */
	char name[128];       /* model name; empty where there is none (most Arm) */
};

/*
 * The next block at *cursor (a NUL-terminated text) that names a CPU. 0; 1: there is none. A line
 * that makes no sense is skipped: it only makes the CPU less known.
 */
int watt_cpuinfo_next(const char **cursor, struct watt_cpuinfo *ret);

#endif
