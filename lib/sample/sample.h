/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of the second stage: when and how the channels are read.
 *
 * One epoch, one quantum. Every group of channels is read at epoch + k * period by an absolute
 * deadline; a deadline that has passed is skipped and counted. Samples reach the consumer through
 * single-producer rings; the reading path allocates nothing, locks nothing and formats nothing.
 *
 * Sources that can block have a thread each, for all that they do: opening, looking for what has
 * come, reading, closing. Of those that are tiered, what is read more than 100 times a second, more
 * than 10 times, and more seldom has a thread each. Of the quick ones, one thread reads, and
 * another looks for what has come. Nothing waits for any of them. Channels only ever join, behind
 * all others; one that is back has the number that it had.
 *
 * One thread per engine (the consumer's). After fork() the child has the engine without its
 * threads: it may exec or _exit(), and must not call the engine.
 */
#ifndef WATT_SAMPLE_SAMPLE_H
#define WATT_SAMPLE_SAMPLE_H

#include <wattribute/session.h>

#include "source/source.h"

/* At the end, a source that can block, and takes no leave, has no more time than this to come back. */
#define WATT_SLOW_STOP_NS (100 * WATT_NSEC_PER_MSEC)

struct watt_engine;

struct watt_engine_opts {
	uint64_t epoch_ns;   /* CLOCK_MONOTONIC; 0: now */
	uint64_t quantum_ns; /* 0: 1 ms; periods are rounded up to it */
	uint64_t period_ns;  /* of groups that have no slower period of their own; 0: the quantum */
	uint64_t stop_timeout_ns; /* how long stop waits for a read that hangs; 0: 2 s */
	uint32_t ring_size;       /* samples per thread, a power of two; 0: room for 2 s */
	bool is_never_realtime;   /* don't even try SCHED_FIFO */
	bool is_captured;         /* a counter that stands still tells nothing, instead of 0 W */
	struct watt_log log;
};

/*
 * Takes the open sources (owned by the engine from here, also on failure). Channels are numbered
 * in the order of the sources: that number is watt_sample.channel. Without any, the engine waits
 * for watt_engine_add(), and until then what it opens can be taken.
 */
int watt_engine_new(const struct watt_engine_opts *opts, struct watt_power *const *sources,
		    size_t n_sources, struct watt_engine **ret);
/* The same for one that was made without sources; those that it opened itself may be among them. */
int watt_engine_add(struct watt_engine *engine, struct watt_power *const *sources,
		    size_t n_sources);
/*
 * Stops the threads and closes the sources, except for those that hang. Accepts NULL; returns
 * NULL.
 */
struct watt_engine *watt_engine_free(struct watt_engine *engine);
/*
 * Starts the threads. Each reads all its groups once, then at their deadlines. Signals are
 * blocked in them. -EBUSY: a thread of an earlier start still hangs; -EAGAIN, -ENOMEM.
 */
int watt_engine_start(struct watt_engine *engine);
/*
 * From now on, looks for what has come in the source; what that opens is read as often as asked
 * (0: as the others). It is opened now, on a thread that may wait, unless the caller has tried
 * that. env is copied, but for what it points to. 0; -ENOMEM, -EAGAIN: no thread can be had.
 */
int watt_engine_watch(struct watt_engine *engine, const struct watt_env *env,
		      const struct watt_power_ops *ops, uint64_t asked_period_ns, bool was_tried);
/* Waits until every source that is being opened has answered. 0; -ETIMEDOUT: not all have. */
int watt_engine_wait_open(struct watt_engine *engine, uint64_t deadline_ns);
/*
 * Before watt_engine_add(): a source that its thread has opened; it is the caller's until it is
 * added. -EAGAIN: it is still being opened; any other negative errno: what open() said.
 */
int watt_engine_take_open(struct watt_engine *engine, const struct watt_power_ops *ops,
			  struct watt_power **ret);
/* What the source has or will open is read so often. */
void watt_engine_ask_period(struct watt_engine *engine, const struct watt_power_ops *ops,
			    uint64_t period_ns);
/*
 * OK: it is open; PENDING: it is being opened; STALE: it hangs; ABSENT, FORBIDDEN, BROKEN: why it
 * is not open.
 */
enum watt_status watt_engine_source_status(const struct watt_engine *engine,
					   const struct watt_power_ops *ops);
/*
 * Takes what the threads have found, and asks them for more when it is time. Channels that have
 * come are behind the others after it; samples of theirs are fetched after that.
 */
void watt_engine_poll(struct watt_engine *engine, uint64_t now_ns);

/* Looks for what has come in the sources of that kind of device, at once: watt_search_hear(). */
void watt_engine_hear(struct watt_engine *engine, const char *subsystem);

/*
 * Stops the threads; samples that are in the rings can still be fetched. Returns how many
 * threads hang, normally 0: each has been told to the log, and ends when it comes back. Then
 * what the watt_env of the sources points to must never be freed, nor the library be unloaded.
 */
int watt_engine_stop(struct watt_engine *engine);

/*
 * How many of them need the watt_env for ever: those that hang and read what others have opened.
 * The others keep it themselves, if it has a keeper.
 */
int watt_engine_count_stranded(const struct watt_engine *engine);

/*
 * While no threads run: reads every group whose deadline is at or before now_ns. Returns the next
 * deadline. For tests, simulation and tools that want no threads.
 */
uint64_t watt_engine_run_due(struct watt_engine *engine, uint64_t now_ns);
/*
 * Asks the fast thread to read every group of its own once, now (without threads the caller
 * reads). Blocking sources are not asked.
 */
void watt_engine_ask_now(struct watt_engine *engine);
/*
 * Waits until that is done, or the reading that a thread begins with; any thread. 0; -ETIMEDOUT after
 * timeout_ns.
 */
int watt_engine_wait_now(struct watt_engine *engine, uint64_t timeout_ns);
/* Both. */
int watt_engine_read_now(struct watt_engine *engine, uint64_t timeout_ns);
/* For how long the rings have room when nobody fetches; UINT64_MAX: for ever. */
uint64_t watt_engine_room_ns(const struct watt_engine *engine);

/* Takes up to n samples that have arrived, oldest first per thread. Consumer's thread only. */
size_t watt_engine_fetch(struct watt_engine *engine, struct watt_sample *ret, size_t n);

size_t watt_engine_channel_count(const struct watt_engine *engine);
const struct watt_channel *watt_engine_channel(const struct watt_engine *engine, size_t index);
bool watt_engine_channel_is_blocking(const struct watt_engine *engine, size_t index);
/* Of its newest sample; STALE: its source hangs. */
enum watt_status watt_engine_channel_status(const struct watt_engine *engine, size_t index);
/* How the group of a channel does. */
void watt_engine_stats(const struct watt_engine *engine, size_t channel,
		       struct watt_reader_stats *ret);
/* How all groups of a tier do. */
void watt_engine_tier_stats(const struct watt_engine *engine, enum watt_tier tier,
			    struct watt_tier_stats *ret);
/*
 * Of all readers since they were made: deadlines missed, each group counted once, and samples
 * lost. Cheaper than the statistics.
 */
void watt_engine_losses(const struct watt_engine *engine, uint64_t *ret_missed, uint64_t *ret_lost);

#endif
