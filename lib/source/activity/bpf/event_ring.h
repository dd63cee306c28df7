/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reading end of a BPF ring buffer of usage records. Only the piece that is being read is
 * mapped: a ring that was mapped whole would count as resident memory, twice. One thread per
 * object.
 */
#ifndef WATT_SOURCE_ACTIVITY_EVENT_RING_H
#define WATT_SOURCE_ACTIVITY_EVENT_RING_H

#include <stddef.h>
#include <stdint.h>

#include "base/usage.h"

struct watt_event_ring {
	int map_fd; /* borrowed */
	size_t size;
	size_t page_size;
	volatile unsigned long *consumer; /* NULL: not open */
	const volatile unsigned long *producer;
	const char *piece; /* NULL: none mapped */
	size_t piece_start;
};

int watt_event_ring_open(struct watt_event_ring *ring, int map_fd, size_t size);
/* Accepts a zeroed ring. */
void watt_event_ring_close(struct watt_event_ring *ring);
/* Where the writers are now; positions only grow. */
unsigned long watt_event_ring_position(const struct watt_event_ring *ring);
/* Up to where they were taken out. */
unsigned long watt_event_ring_consumed(const struct watt_event_ring *ring);
/*
 * The oldest record, and where it began. 0; 1: there is none, or it is still being written;
 * -EBADMSG: not a record (it is skipped); a negative errno of mmap.
 */
int watt_event_ring_next(struct watt_event_ring *ring, struct watt_usage *ret,
			 unsigned long *ret_position);

#endif
