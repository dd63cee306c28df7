/* SPDX-License-Identifier: Apache-2.0 */
/* The reading end of the migrations that each CPU writes down for itself. One thread per object. */
#ifndef WATT_SOURCE_ACTIVITY_MOVE_LOG_H
#define WATT_SOURCE_ACTIVITY_MOVE_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "source/activity/merge.h"

struct watt_move_log {
	struct watt_bpf_move_log *logs; /* per CPU; NULL: not open */
	const struct watt_usage *moves; /* per CPU, a ring */
	uint32_t n_cpus;
	uint32_t n_moves; /* that each has room for */
	size_t logs_size;
	size_t moves_size;
};

/* Maps what the descriptors are of; they can be closed after it. n_moves: a power of two. */
int watt_move_log_open(struct watt_move_log *log, int logs_fd, int moves_fd, uint32_t n_cpus,
		       uint32_t n_moves);
/* Accepts a zeroed one. */
void watt_move_log_close(struct watt_move_log *log);
/*
 * Adds what is new, up to t_ns, to the list, CPU by CPU. -ENOMEM: what was not added comes the next
 * time.
 */
int watt_move_log_drain(struct watt_move_log *log, uint64_t t_ns, struct watt_usage_list *list);
/* Migrations that found no room. */
uint64_t watt_move_log_lost(const struct watt_move_log *log);

#endif
