/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file session.h
 * @brief A session: one measurement, from the sensors to snapshots.
 *
 *     struct watt_session *ses;
 *     struct watt_snapshot *snap;
 *
 *     r = watt_session_open(NULL, &ses);
 *     r = watt_session_start(ses);
 *     sleep(1);
 *     r = watt_session_snapshot(ses, &snap);
 *
 * A session runs itself: from start() to close(), threads of the library read the sensors, and one
 * of them attributes what they read. A caller with an event loop may have it do that work instead
 * (watt_options_set_driven()); while it does not come, the library's thread does it in its
 * place, so that nothing is lost.
 *
 * Thread-safe: every call but close() may be made by any thread at any time. A session has one
 * lock, handed on in the order of asking; nobody has it for longer than the work of one slice
 * takes, and calls that wait do so without it. The log callback is called with the lock held: it
 * must not call the session, and a lock of its own comes after the session's. Nothing is called
 * in a signal handler, and no signal is delivered to a thread of the library.
 *
 * After fork() the child may exec or _exit(); it has none of the threads, and must not call the
 * session. All descriptors are closed by exec. To measure a child from its first instruction, let
 * it wait before its exec until track() has returned.
 */
#ifndef WATTRIBUTE_SESSION_H
#define WATTRIBUTE_SESSION_H

#include <wattribute/channel.h>
#include <wattribute/diag.h>
#include <wattribute/mark.h>
#include <wattribute/options.h>
#include <wattribute/sample.h>
#include <wattribute/snapshot.h>

WATT_BEGIN_DECLS

struct watt_session;

/** Bits of what watt_session_flush() returns: what was lost since the flush before. */
enum watt_flush_loss {
	WATT_FLUSH_LOST_SAMPLES = 1 << 0,  /**< sensors were read and nobody took the samples */
	WATT_FLUSH_LOST_USAGE = 1 << 1,    /**< tasks ran or died and were not told */
	WATT_FLUSH_SILENT_SENSOR = 1 << 2, /**< a sensor that had values has none now */
};

/** How a reader of sensors is doing, cumulative. */
struct watt_reader_stats {
	size_t sz; /**< sizeof(struct watt_reader_stats), the caller's */
	uint64_t reads;
	uint64_t errors;          /**< reads that gave no value */
	uint64_t missed;          /**< deadlines skipped because their time had passed */
	uint64_t lost;            /**< samples dropped because nobody fetched them */
	uint64_t cost_ns;         /**< time inside reads */
	uint64_t lateness_p50_ns; /**< read begin against its deadline */
	uint64_t lateness_p99_ns;
	uint64_t lateness_max_ns;
	uint64_t period_ns;   /**< of its deadlines */
	uint32_t is_realtime; /**< 1: runs with SCHED_FIFO */
	uint32_t reserved;
};

/** How often a sensor is read. Tiers of a source that can be divided have threads of their own. */
enum watt_tier {
	WATT_TIER_FAST = 0,   /**< more than 100 times a second */
	WATT_TIER_MEDIUM = 1, /**< more than 10 times, up to 100 */
	WATT_TIER_SLOW = 2,   /**< up to 10 times */
};

/** "fast", "medium", "slow"; never NULL. Thread-safe. */
WATT_API const char *watt_tier_name(enum watt_tier tier);

/** How all readers of a tier are doing, cumulative. Channels that are read by one call count once. */
struct watt_tier_stats {
	size_t sz;                /**< sizeof(struct watt_tier_stats), the caller's */
	uint64_t reads;           /**< the first one of each reader has no deadline */
	uint64_t missed;          /**< deadlines skipped because their time had passed */
	uint64_t cost_ns;         /**< time inside reads */
	uint64_t lateness_max_ns; /**< read begin against its deadline */
};

/**
 * Opens the sources and builds the domain tree. Nothing is read periodically yet. Sensors that may
 * be slow (hwmon, iio, power_supply) are opened on threads of their own, and waited for no longer
 * than watt_options_set_open_wait_ms() says, but up to 5 s if one of them was asked for by name, or if
 * nothing can be measured without them.
 *
 * @param options  NULL: as they are new.
 * @return 0; -ENODEV: no power source works (watt_doctor() says why); -ENOENT: an option names
 * something that this machine has not, a folder, a file, a source, a domain or a channel; -EINVAL:
 * the configuration file is not valid; -EACCES; -ENOMEM. The log callback has the sentence.
 */
WATT_API int watt_session_open(const struct watt_options *options, struct watt_session **ret);
/**
 * Stops, waits for the session's threads, and frees; NULL is allowed. No other call may be under
 * way. Always returns NULL.
 */
WATT_API struct watt_session *watt_session_close(struct watt_session *ses);
/** Starts reading and takes the first sweep. */
WATT_API int watt_session_start(struct watt_session *ses);

/**
 * A descriptor to poll for POLLIN: when it is readable, call watt_session_dispatch(). It is when
 * work is due, of a session that runs itself when slices or marks have come. That of a recording
 * always is.
 */
WATT_API int watt_session_get_fd(const struct watt_session *ses);
/**
 * Does what is due, if the caller drives: sweep, fetch samples, attribute; on a recording, what was
 * done next.
 * @return the number of slices taken since the last call, whoever took them; an error that the
 * library's thread had meanwhile; -ENODATA: a recording is at its end.
 */
WATT_API int watt_session_dispatch(struct watt_session *ses);
/**
 * Waits for @p timeout_ms, of the recorded time on a recording, and does what is due meanwhile.
 * Signals do not end it. 0; an error as of dispatch(); -ENODATA: a recording ends before.
 */
WATT_API int watt_session_wait(struct watt_session *ses, uint32_t timeout_ms);
/**
 * Takes a sweep and a reading of every fast channel now, and waits until all tasks that began
 * to die before are accounted and the fast domains are attributed up to now.
 *
 * @return 0; more than 0: enum watt_flush_loss: all that will ever come is there, and something
 * was lost since the flush before; -ETIMEDOUT: @p timeout_ms was not enough (what is missing stays
 * unattributed; the log says at level INFO what it is); -ENODATA: a recording ends before.
 */
WATT_API int watt_session_flush(struct watt_session *ses, uint32_t timeout_ms);

/**
 * A snapshot of the newest attributed state; the window begins at the session's one before. Other
 * readers have windows of their own (cursor.h), which this does not move.
 * @return 0; -EOVERFLOW: the window has more energy than int64 nJ hold, 9.2e9 J; another one has
 * begun, so ask again. The totals are not touched; -ENOMEM.
 */
WATT_API int watt_session_snapshot(struct watt_session *ses, struct watt_snapshot **ret);

/**
 * A snapshot of everything up to the first slice that ends at or after @p t_ns, complete in every
 * domain whose sensor answers: dispatches until all of it is attributed, and attributes nothing
 * that is later before it is taken. A sensor that fails, or is silent for longer than its period,
 * delay and window can explain, is not waited for: its domain's status says so, and its t_ns lies
 * before the snapshot's. Times must not go back from call to call; one thread at a time is served.
 *
 * @param t_ns  CLOCK_MONOTONIC; of a recording, in the recorded time.
 * @return 0; -ETIMEDOUT: @p timeout_ms was not enough, ask again with the same time (what a
 * recording holds never times out); -ENODATA: a recording ends before.
 */
WATT_API int watt_session_snapshot_at(struct watt_session *ses, uint64_t t_ns, uint32_t timeout_ms,
				      struct watt_snapshot **ret);

/** The time: CLOCK_MONOTONIC in ns; of a recording, that of what was read last. */
WATT_API uint64_t watt_session_get_time_ns(const struct watt_session *ses);

/**
 * The next mark that a program made (mark.h), each told once, in the order in which they came. A
 * slice ends with each, so that a snapshot at its time cuts there.
 * @return 0; 1: there is none.
 */
WATT_API int watt_session_next_mark(struct watt_session *ses, struct watt_mark *ret);
/** Where this session listens for marks, for WATTRIBUTE_MARKS and mark.h; NULL: nowhere. */
WATT_API const char *watt_session_get_marks_address(const struct watt_session *ses);
/**
 * Name of the machine that is measured: its node name when the session was opened, or what the
 * recording says. NULL: not known, as of a captured machine, which tells none.
 */
WATT_API const char *watt_session_get_host(const struct watt_session *ses);

/**
 * From now on, sums process @p pid, its descendants and theirs (whoever their parent becomes)
 * into one entity of kind WATT_ENTITY_TRACKED. Call it before the process can fork. Where usage is
 * "procfs", a descendant whose parent died before anybody saw it is found only if orphans come to
 * the caller (PR_SET_CHILD_SUBREAPER, set before the session is opened).
 *
 * @return 0; -ESRCH: no such process; -EBUSY: the process is tracked already.
 */
WATT_API int watt_session_track(struct watt_session *ses, uint32_t pid, uint64_t *ret_entity_id);
/**
 * From now on, sums nothing more into what track() has begun, nor into what was adopted by it: its
 * processes go on as those of no set, and may be tracked again. What they had used up to now is in
 * the set, as soon as all sensors have told of it. Each reader sees it once more when it has all of
 * that, not alive; then it is gone, and takes no memory any more. The energy stays where it was,
 * with the processes. A set whose processes are all dead has no end of its own: it is there until
 * it is untracked, however long.
 *
 * @return 0; -ENOENT: nothing is tracked by this id.
 */
WATT_API int watt_session_untrack(struct watt_session *ses, uint64_t entity_id);

WATT_API size_t watt_session_get_channel_count(const struct watt_session *ses);
/** NULL if @p index is out of range. */
WATT_API const struct watt_channel *watt_session_get_channel(const struct watt_session *ses,
							     size_t index);
/** The domain that a channel belongs to, or -1. */
WATT_API int watt_session_get_channel_domain(const struct watt_session *ses, size_t index);
/** 1 if another channel measures the same domain and this one is not used; else 0. */
WATT_API int watt_session_channel_is_duplicate(const struct watt_session *ses, size_t index);
/**
 * Whether a duplicate agrees with the channel that is used, by their mean powers in the first
 * seconds: (used - duplicate) / mean.
 *
 * @return 0: they agree within what timing and resolution leave open; 1: they do not; -EAGAIN: too
 * early; -ENODATA: a reading is missing or nothing moved; -EINVAL: the channel is no duplicate,
 * or one of the two does not count energy; -EOPNOTSUPP: the session is a recording.
 */
WATT_API int watt_session_get_crosscheck(const struct watt_session *ses, size_t index,
					 int64_t *ret_difference_ppm);
/**
 * The newest sample of a channel; -ENODATA: none yet. While its source hangs the status is
 * WATT_STATUS_STALE, whatever was read before; times are 0 then if nothing ever was.
 */
WATT_API int watt_session_get_sample(const struct watt_session *ses, size_t index,
				     struct watt_sample *ret);
/**
 * What comes out of a power supply, of what goes into it, in 1e-6: from the newest samples of the
 * channel that measures its input, and of those that measure its outputs.
 *
 * @return 0; -ENOENT: the channel is no supply's input, or nothing measures what comes out of it;
 * -ENODATA: not all of it has a value now, or more comes out than goes in; -EINVAL.
 */
WATT_API int watt_session_get_efficiency(const struct watt_session *ses, size_t index,
					 uint32_t *ret_ppm);
/** How the reader of a channel is doing; -ENODATA: a recording does not know. */
WATT_API int watt_session_get_reader_stats(const struct watt_session *ses, size_t index,
					   struct watt_reader_stats *ret);
/** How a tier is doing; -ENODATA: a recording does not know; -EINVAL: there is no such tier. */
WATT_API int watt_session_get_tier_stats(const struct watt_session *ses, enum watt_tier tier,
					 struct watt_tier_stats *ret);
/**
 * The power sources that are used here, or would be, one after the other: the name of the one at
 * @p index, and how it does: WATT_STATUS_OK: it is open; PENDING: it is being opened; STALE: it
 * hangs; ABSENT, FORBIDDEN, BROKEN: it is not open, and why (what comes later is OK then). NULL: there
 * are not so many. A recording tells of none.
 */
WATT_API const char *watt_session_get_source(const struct watt_session *ses, size_t index,
					     enum watt_status *ret_status);
WATT_API size_t watt_session_get_domain_count(const struct watt_session *ses);
/** NULL if @p index is out of range. */
WATT_API const struct watt_domain *watt_session_get_domain(const struct watt_session *ses,
							   size_t index);
/**
 * Whether it is told who used the domain at @p index, by now: the status that
 * struct watt_domain_state calls users_status, which a snapshot has of the end of its window.
 *
 * @return 0; -EINVAL: there is no such domain.
 */
WATT_API int watt_session_get_users_status(const struct watt_session *ses, size_t index,
					   enum watt_status *ret);
/** "bpf" or "procfs". */
WATT_API const char *watt_session_get_usage_name(const struct watt_session *ses);
/**
 * Why CPU time is not counted in a better way, in one sentence: what the kernel said of the
 * source that stands before this one. "": it is the best, or it was chosen. Never NULL.
 */
WATT_API const char *watt_session_get_usage_why(const struct watt_session *ses);

/**
 * Asks every source what it can do here, and measures the cost of a read.
 *
 * @param ret    caller's array, whose first struct has its size.
 * @param ret_n  in: its length; out: how many sources there are (may be more than fit).
 * @return 0, or -EINVAL.
 */
WATT_API int watt_doctor(const struct watt_options *options, struct watt_diag *ret, size_t *ret_n);

WATT_END_DECLS

#endif
