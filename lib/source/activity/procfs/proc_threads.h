/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads of one process, as the procfs source tells of them on request. What they are told to
 * have used is never more than what the process has: what is left over is of threads that have
 * ended. A thread that can't be read in part is used in part.
 */
#ifndef WATT_SOURCE_ACTIVITY_PROC_THREADS_H
#define WATT_SOURCE_ACTIVITY_PROC_THREADS_H

#include "source/activity/procfs/proc.h"

struct watt_proc_thread {
	uint32_t tid;
	uint32_t cpu; /* that it ran on last */
	uint64_t inode;
	uint64_t start_ns;
	uint64_t seen_ns; /* run time as it was read, as far as it was told */
	uint64_t told_ns;
	bool is_new;
	char comm[16];
};

/* One thread per object. All zero is a valid start. */
struct watt_proc_threads {
	struct watt_proc_thread *list; /* by tid, ascending */
	size_t n, cap;
	uint64_t ended_ns; /* of threads that ended and were not told of by themselves */
	uint64_t told_ns;  /* of all of them */
	bool is_whole;     /* they could not be read: all is told to be the leader's */
};

/* What a reading needs to know, and whom it tells. */
struct watt_proc_threads_opts {
	const struct watt_proc_reader *reader;
	struct watt_proc *proc; /* its usage has the time of the whole process */
	bool is_full;           /* tells also of those who did nothing */
	bool has_places;        /* the CPU that a record names matters */
	bool wants_names;       /* they may have changed */
	int (*send)(void *data, const struct watt_usage *usage);
	void *data;
};

/* 0; -ESRCH: the process is gone; what send() returned; -ENOMEM; another: they can't be read. */
int watt_proc_threads_read(struct watt_proc_threads *threads,
			   const struct watt_proc_threads_opts *opts);
/* The process is gone: tells that all its threads are. 0, or what send() returned. */
int watt_proc_threads_bury(struct watt_proc_threads *threads,
			   const struct watt_proc_threads_opts *opts);
void watt_proc_threads_done(struct watt_proc_threads *threads);

#endif
