/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One process as the procfs source knows it: who it is, and what it used when last looked at.
 * Identity is read from files, once and then seldom; CPU time from its CPU clock, exact to the
 * ns and without a file, where procfs is the kernel's own and of this pid namespace.
 */
#ifndef WATT_SOURCE_ACTIVITY_PROC_H
#define WATT_SOURCE_ACTIVITY_PROC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fs.h"
#include "base/usage.h"
#include "source/host/cgroupfs.h"

/* How processes are read here. Immutable. */
struct watt_proc_reader {
	const struct watt_root *procfs;
	struct watt_cgroupfs cgroupfs;
	long hz;
	bool has_clock; /* pids of procfs are ours: their CPU clocks can be asked */
};

struct watt_proc_threads;

struct watt_proc {
	struct watt_usage usage; /* the record to send: a TASK, with t_ns and cpu_ns as sent last */
	uint64_t inode;          /* of its directory */
	uint64_t refresh_ns; /* CLOCK_MONOTONIC from when its identity is due to be read again */
	bool is_new;         /* nothing was sent of it yet */
	bool is_coarse;      /* it used time since the source began, and tells it in ticks */
	struct watt_proc_threads *threads; /* owned; NULL: it is told of as a whole */
	bool is_hidden; /* its stat can't be read: start_ns is when it was seen first */
};

/* What changed between two readings of the identity. */
enum watt_proc_change {
	WATT_PROC_NAME = 1u << 0,
	WATT_PROC_CGROUP = 1u << 1,
};

void watt_proc_reader_init(struct watt_proc_reader *reader, const struct watt_root *procfs,
			   const struct watt_root *sysfs);
/*
 * Sees a process for the first time. *ret_cpu_ns: its time by clock ticks. 0; -ESRCH: it is gone;
 * -EBADMSG, -ERANGE: its stat is not one; -EACCES: hidden, and it has no clock either.
 */
int watt_proc_meet(const struct watt_proc_reader *reader, uint32_t pid, struct watt_proc *ret);
/*
 * Run time of the whole process so far, dead threads included. -ESRCH: gone, or another process
 * has its pid.
 */
int watt_proc_read_cpu(const struct watt_proc_reader *reader, struct watt_proc *proc,
		       uint64_t *ret_ns);
/* Finds out which CPU its first thread ran on last. -ESRCH: gone or another. */
int watt_proc_locate(const struct watt_proc_reader *reader, struct watt_proc *proc);
/* Reads the identity again: bits of enum watt_proc_change; -ESRCH: gone or another. */
int watt_proc_refresh(const struct watt_proc_reader *reader, struct watt_proc *proc);
/* Whether it still is the process that it was when its directory has another inode: 0, -ESRCH. */
int watt_proc_verify(const struct watt_proc_reader *reader, const struct watt_proc *proc);

#endif
