/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of perf events on one CPU: opened together, read by one call. */
#ifndef WATT_SOURCE_POWER_PERF_RAPL_PERF_EVENT_H
#define WATT_SOURCE_POWER_PERF_RAPL_PERF_EVENT_H

#include <stdint.h>

#define WATT_PERF_GROUP_MAX 16

/*
 * Opens an event that counts for all tasks on a CPU from now on. group_fd: leader of the group
 * that it joins, -1: it leads one. A descriptor, or: -EACCES, -EPERM forbidden, -ENOENT the PMU
 * has no such event, -EINVAL it does not go with its group, -ENODEV no such CPU.
 */
int watt_perf_event_open(uint32_t type, uint64_t config, uint32_t cpu, int group_fd);
/*
 * Reads a group of n events, in the order in which they were opened. *ret_enabled_ns: how long
 * the leader has counted. -ENODEV: the group is no more, for its CPU went offline; it stays so
 * when the CPU is back.
 */
int watt_perf_group_read(int leader_fd, uint32_t n, uint64_t *ret_counts, uint64_t *ret_enabled_ns);

#endif
