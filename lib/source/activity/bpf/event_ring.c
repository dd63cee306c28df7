/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes records out of the ring buffer that the hooks write into, by the layout the kernel
 * documents: two pages with the positions, then the data. It must not know what a record means.
 */
#include "source/activity/bpf/event_ring.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "base/util.h"

/* Mapped at a time; a power of two. */
#define PIECE_SIZE (64u << 10)

int watt_event_ring_open(struct watt_event_ring *ring, int map_fd, size_t size)
{
	void *page;
	int r;

	memset(ring, 0, sizeof(*ring));
	ring->map_fd = map_fd;
	ring->size = size;
	ring->page_size = (size_t)sysconf(_SC_PAGESIZE);
	page = mmap(NULL, ring->page_size, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	ring->consumer = page;
	page = mmap(NULL, ring->page_size, PROT_READ, MAP_SHARED, map_fd, (off_t)ring->page_size);
	if (page == MAP_FAILED) {
		r = -errno;
		watt_event_ring_close(ring);
		return r;
	}
	ring->producer = page;
	return 0;
}

/* A record that begins in the piece may end behind it. */
static size_t piece_len(const struct watt_event_ring *ring)
{
	return WATT_MIN(PIECE_SIZE, ring->size) + ring->page_size;
}

static void unmap_piece(struct watt_event_ring *ring)
{
	if (ring->piece)
		munmap((void *)ring->piece, piece_len(ring));
	ring->piece = NULL;
}

void watt_event_ring_close(struct watt_event_ring *ring)
{
	unmap_piece(ring);
	if (ring->consumer)
		munmap((void *)ring->consumer, ring->page_size);
	if (ring->producer)
		munmap((void *)ring->producer, ring->page_size);
	memset(ring, 0, sizeof(*ring));
}

unsigned long watt_event_ring_position(const struct watt_event_ring *ring)
{
	return __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
}

unsigned long watt_event_ring_consumed(const struct watt_event_ring *ring)
{
	return *ring->consumer;
}

/* The kernel maps the data twice in a row, so a piece at the end runs on into the beginning. */
static int map_piece(struct watt_event_ring *ring, size_t start)
{
	void *piece;

	if (ring->piece && ring->piece_start == start)
		return 0;
	unmap_piece(ring);
	piece = mmap(NULL, piece_len(ring), PROT_READ, MAP_SHARED, ring->map_fd,
		     (off_t)(2 * ring->page_size + start));
	if (piece == MAP_FAILED)
		return -errno;
	ring->piece = piece;
	ring->piece_start = start;
	return 0;
}

static size_t entry_size(uint32_t len)
{
	len &= ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
	return ((size_t)len + BPF_RINGBUF_HDR_SZ + 7) & ~(size_t)7;
}

int watt_event_ring_next(struct watt_event_ring *ring, struct watt_usage *ret,
			 unsigned long *ret_position)
{
	unsigned long position = *ring->consumer;
	size_t offset = position & (ring->size - 1);
	const char *entry;
	uint32_t len;
	int r;

	if (position == watt_event_ring_position(ring))
		return 1;
	r = map_piece(ring, offset & ~((size_t)PIECE_SIZE - 1));
	if (r < 0)
		return r;
	assert(ring->piece);
	entry = ring->piece + (offset - ring->piece_start);
	len = __atomic_load_n((const uint32_t *)entry, __ATOMIC_ACQUIRE);
	if (len & BPF_RINGBUF_BUSY_BIT)
		return 1;
	r = -EBADMSG;
	if (len == sizeof(*ret)) {
		memcpy(ret, entry + BPF_RINGBUF_HDR_SZ, sizeof(*ret));
		*ret_position = position;
		r = 0;
	}
	__atomic_store_n(ring->consumer, position + entry_size(len), __ATOMIC_RELEASE);
	return r;
}
