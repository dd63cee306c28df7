/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a measured command: what each used, whether or not it still lives. */
#ifndef WATT_CLI_STAT_THREAD_H
#define WATT_CLI_STAT_THREAD_H

#include <stddef.h>
#include <stdint.h>

#include <wattribute/view.h>

struct stat_thread {
	uint64_t id; /* of the entity */
	char *name;  /* as the library has it */
	uint32_t pid;
	uint32_t tid;   /* 0: threads that have ended, together */
	uint32_t count; /* threads in it */
	int64_t energy_nj;
	uint64_t cpu_ns;
};

/* All zero: none. */
struct stat_threads {
	struct stat_thread *list;
	size_t n;
};

/* Adds what the threads of a tracked set used in the window of a snapshot. */
void stat_threads_add(struct stat_threads *threads, const struct watt_view *view,
		      uint64_t tracked_id);
/* By energy, the greatest first. */
void stat_threads_sort(struct stat_threads *threads);
void stat_threads_done(struct stat_threads *threads);

#endif
