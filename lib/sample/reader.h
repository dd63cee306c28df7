/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader: one thread, the groups of channels that it reads, and the ring that it fills. Its
 * owner is the one consumer of the ring. Inside the stage only.
 */
#ifndef WATT_SAMPLE_READER_H
#define WATT_SAMPLE_READER_H

#include <wattribute/session.h>

#include "source/source.h"

struct watt_reader;

struct watt_reader_opts {
	const char *name;    /* of the thread, at most 15 characters */
	uint64_t epoch_ns;   /* CLOCK_MONOTONIC */
	uint64_t quantum_ns; /* never 0 */
	uint64_t period_ns;
	uint32_t ring_size; /* a power of two; 0: room for 2 s of readings */
	bool is_realtime;   /* try SCHED_FIFO */
};

/*
 * Borrows the sources; channels of sources[i] are numbered from first_channel[i]. -ENOMEM,
 * -EINVAL.
 */
int watt_reader_new(const struct watt_reader_opts *opts, struct watt_power *const *sources,
		    const uint32_t *first_channel, size_t n_sources, struct watt_reader **ret);
/* Only when no thread of it runs. Accepts NULL; returns NULL. */
struct watt_reader *watt_reader_free(struct watt_reader *reader);

/* 0, or a negative errno of pthread_create(). */
int watt_reader_start(struct watt_reader *reader);
/* Tells the thread to end, without waiting. */
void watt_reader_ask_stop(struct watt_reader *reader);
/*
 * Waits for the thread to end. -ETIMEDOUT: it hangs in a read; it is detached, and the reader
 * with its sources must stay for ever.
 */
int watt_reader_join(struct watt_reader *reader, uint64_t deadline_ns);

/* Without a thread: reads what is due. Returns the next deadline, UINT64_MAX if there is none. */
uint64_t watt_reader_run_due(struct watt_reader *reader, uint64_t now_ns);
/* Asks the thread to read all groups now; without one, reads them. */
void watt_reader_ask_now(struct watt_reader *reader);
/* Waits until the newest request is served. 0 or -ETIMEDOUT. */
int watt_reader_wait_now(struct watt_reader *reader, uint64_t deadline_ns);

/* Consumer only. */
size_t watt_reader_fetch(struct watt_reader *reader, struct watt_sample *ret, size_t n);
/* Any thread. channel is one of this reader's. */
void watt_reader_get_stats(const struct watt_reader *reader, uint32_t channel,
			   struct watt_reader_stats *ret);
/* Adds to what is in them. Any thread. */
void watt_reader_add_losses(const struct watt_reader *reader, uint64_t *missed, uint64_t *lost);

#endif
