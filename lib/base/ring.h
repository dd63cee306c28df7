/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that two threads may share: a ring of one producer and one consumer, counters with one
 * writer, and a signal to sleep on. Nothing else in the library uses atomics. None of it locks,
 * and none of it allocates once set up.
 */
#ifndef WATT_BASE_RING_H
#define WATT_BASE_RING_H

#include <errno.h>
#include <linux/futex.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

/* ---- a number that one thread writes and any thread reads ---- */

struct watt_counter {
	_Atomic uint64_t value;
};

static inline uint64_t watt_counter_get(const struct watt_counter *counter)
{
	return atomic_load_explicit(&counter->value, memory_order_relaxed);
}

/* Whoever gets a value that was published sees all that its writer did before. */
static inline uint64_t watt_counter_get_published(const struct watt_counter *counter)
{
	return atomic_load_explicit(&counter->value, memory_order_acquire);
}

/* The rest is for the one writer. */
static inline void watt_counter_publish(struct watt_counter *counter, uint64_t value)
{
	atomic_store_explicit(&counter->value, value, memory_order_release);
}

static inline void watt_counter_set(struct watt_counter *counter, uint64_t value)
{
	atomic_store_explicit(&counter->value, value, memory_order_relaxed);
}

static inline void watt_counter_add(struct watt_counter *counter, uint64_t n)
{
	watt_counter_set(counter, watt_counter_get(counter) + n);
}

static inline void watt_counter_raise(struct watt_counter *counter, uint64_t value)
{
	if (value > watt_counter_get(counter))
		watt_counter_set(counter, value);
}

/* ---- a signal: what was written before it is sent is seen after it is received ---- */

struct watt_signal {
	_Atomic uint32_t word;
};

/* What to hand to watt_signal_wait(); look at the shared state after this. */
static inline uint32_t watt_signal_get(const struct watt_signal *signal)
{
	return atomic_load_explicit(&signal->word, memory_order_acquire);
}

/* Wakes every thread that waits. Any thread. */
static inline void watt_signal_send(struct watt_signal *signal)
{
	atomic_fetch_add_explicit(&signal->word, 1, memory_order_acq_rel);
	syscall(SYS_futex, &signal->word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT_MAX, NULL, NULL, 0);
}

/*
 * Sleeps until the signal was sent after `seen` was got, or until deadline_ns of CLOCK_MONOTONIC.
 * The timer is absolute and as precise as that of clock_nanosleep(). 0; -ETIMEDOUT; another
 * errno only if the kernel refuses the call.
 */
static inline int watt_signal_wait(const struct watt_signal *signal, uint32_t seen,
				   uint64_t deadline_ns)
{
	/* the kernel's own layout: `long` twice, whatever size time_t has */
	struct {
		long sec;
		long nsec;
	} ts = { (long)(deadline_ns / WATT_NSEC_PER_SEC), (long)(deadline_ns % WATT_NSEC_PER_SEC) };

	while (watt_signal_get(signal) == seen) {
		if (syscall(SYS_futex, &signal->word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, seen,
			    &ts, NULL, FUTEX_BITSET_MATCH_ANY) == 0)
			continue;
		if (errno != EINTR && errno != EAGAIN)
			return -errno;
	}
	return 0;
}

/* ---- the ring ---- */

#define WATT_RING_LINE 64

/* The two ends are kept on cache lines of their own. */
struct watt_ring {
	unsigned char *slots;
	size_t slot_size;
	uint32_t mask;
	unsigned char gap0[WATT_RING_LINE];
	_Atomic uint32_t head; /* written by the producer */
	uint32_t tail_seen;    /* producer's: what it last knew of tail */
	unsigned char gap1[WATT_RING_LINE];
	_Atomic uint32_t tail; /* written by the consumer */
};

/* n_slots: a power of two. 0, -EINVAL, -ENOMEM. */
static inline int watt_ring_init(struct watt_ring *ring, uint32_t n_slots, size_t slot_size)
{
	memset(ring, 0, sizeof(*ring));
	if (n_slots == 0 || (n_slots & (n_slots - 1)) || slot_size == 0)
		return -EINVAL;
	ring->slots = reallocarray(NULL, n_slots, slot_size);
	if (!ring->slots)
		return -ENOMEM;
	/* so that the producer meets no page fault later; not 0, which would stay a calloc() */
	memset(ring->slots, 0xff, n_slots * slot_size);
	ring->slot_size = slot_size;
	ring->mask = n_slots - 1;
	return 0;
}

/* Accepts one that is all zero. */
static inline void watt_ring_done(struct watt_ring *ring)
{
	free(ring->slots);
	ring->slots = NULL;
}

/* How many of n slots lie before the end of the memory, where slot `at` is the first. */
static inline size_t watt_ring_straight(const struct watt_ring *ring, uint32_t at, size_t n)
{
	size_t room = (size_t)ring->mask + 1 - (at & ring->mask);

	return n < room ? n : room;
}

/* Producer: adds up to n items, the first ones if not all fit. Returns how many it added. */
static inline size_t watt_ring_push(struct watt_ring *ring, const void *items, size_t n)
{
	uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	size_t room = ring->mask + 1 - (size_t)(head - ring->tail_seen);
	size_t straight;

	if (room < n) {
		ring->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
		room = ring->mask + 1 - (size_t)(head - ring->tail_seen);
	}
	n = n < room ? n : room;
	straight = watt_ring_straight(ring, head, n);
	memcpy(ring->slots + (head & ring->mask) * ring->slot_size, items,
	       straight * ring->slot_size);
	memcpy(ring->slots, (const unsigned char *)items + straight * ring->slot_size,
	       (n - straight) * ring->slot_size);
	atomic_store_explicit(&ring->head, head + (uint32_t)n, memory_order_release);
	return n;
}

/* Producer: how many items are in it at most. */
static inline size_t watt_ring_count(const struct watt_ring *ring)
{
	return atomic_load_explicit(&ring->head, memory_order_relaxed) -
	       atomic_load_explicit(&ring->tail, memory_order_acquire);
}

/* Consumer: takes up to n items, oldest first. Returns how many it took. */
static inline size_t watt_ring_pop(struct watt_ring *ring, void *ret, size_t n)
{
	uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	size_t count = atomic_load_explicit(&ring->head, memory_order_acquire) - tail;
	size_t straight;

	n = n < count ? n : count;
	straight = watt_ring_straight(ring, tail, n);
	memcpy(ret, ring->slots + (tail & ring->mask) * ring->slot_size,
	       straight * ring->slot_size);
	memcpy((unsigned char *)ret + straight * ring->slot_size, ring->slots,
	       (n - straight) * ring->slot_size);
	atomic_store_explicit(&ring->tail, tail + (uint32_t)n, memory_order_release);
	return n;
}

#endif
