/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file session.h
 * @brief A session: one measurement, from the sensors to snapshots.
 *
 *     struct watt_session_opts opts = { sizeof(opts) };
 *     struct watt_session *ses;
 *     struct watt_snapshot *snap;
 *
 *     r = watt_session_open(&opts, &ses);
 *     r = watt_session_start(ses);
 *     r = watt_session_wait(ses, 1000);
 *     r = watt_session_snapshot(ses, &snap);
 *
 * One thread per session at a time; different sessions are independent. A session reads sensors
 * in threads of its own; everything else happens in the caller's thread, in dispatch().
 */
#ifndef WATTRIBUTE_SESSION_H
#define WATTRIBUTE_SESSION_H

#include <wattribute/channel.h>
#include <wattribute/diag.h>
#include <wattribute/mark.h>
#include <wattribute/sample.h>
#include <wattribute/snapshot.h>

WATT_BEGIN_DECLS

struct watt_session;

/** How much a log line matters. */
enum watt_log_level {
	WATT_LOG_ERROR = 0,
	WATT_LOG_WARNING = 1,
	WATT_LOG_INFO = 2,
	WATT_LOG_DEBUG = 3,
};

/** Receives what the library has to say; may be called from any of the session's threads. */
typedef void (*watt_log_fn)(void *data, enum watt_log_level level, const char *text);

/** How to measure. Zero everywhere is a good choice. Strings are copied. */
struct watt_session_opts {
	size_t sz;               /**< sizeof(struct watt_session_opts) */
	const char *sysfs_root;  /**< instead of /sys */
	const char *procfs_root; /**< instead of /proc */
	const char *nvml_lib;    /**< instead of libnvidia-ml.so.1 */
	const char *redfish_url; /**< BMC to ask; NULL: none */
	const char *kubelet_url; /**< kubelet to ask; NULL: none */
	const char *config_path; /**< file with rules for sensors and models; NULL: none */
	/** Comma list of power sources to use; "-name" leaves one out of the automatic choice.
	 *  NULL: the automatic choice. */
	const char *sources;
	const char *usage;  /**< "bpf", "procfs"; NULL or "auto": the best that works */
	uint32_t slice_us;  /**< length of a slice; 0: 50,000 */
	uint32_t period_us; /**< reading period of fast sensors; 0: as slice_us */
	watt_log_fn log;    /**< NULL: nothing is logged */
	void *log_data;
	/** What becomes of idle energy: "separate" (an entity of its own), "proportional" (shared
	 *  as the dynamic energy of the same slice is). NULL: "separate". */
	const char *idle_policy;
	/** Share keys to use instead of the automatic choice: "KEY" for every domain, or a comma
	 *  list of "DOMAIN=KEY", DOMAIN a path or the name of a kind; KEY as watt_share_key_name()
	 *  or "auto". NULL: the automatic choice. */
	const char *share_keys;
	/** Delays of sensors to assume: comma list of "CHANNEL=MS" (a channel's name or a pattern
	 *  with *), in milliseconds. NULL: as the sources say. */
	const char *delays;
	/** How often sources are read, instead of period_us: comma list of "SOURCE=RATE", RATE in
	 *  Hz, with or without the unit, or in kHz. NULL: all as period_us says. */
	const char *rates;
};

/** How a reader of sensors is doing, cumulative. */
struct watt_reader_stats {
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

/**
 * Opens the sources and builds the domain tree. Nothing is read periodically yet.
 *
 * @return 0; -ENODEV: no power source works (watt_doctor() says why); -EINVAL: an option is not
 * valid; -EACCES; -ENOMEM. The log callback has the sentence.
 */
WATT_API int watt_session_open(const struct watt_session_opts *opts, struct watt_session **ret);
/** Stops and frees; NULL is allowed. Always returns NULL. */
WATT_API struct watt_session *watt_session_close(struct watt_session *ses);
/** Starts reading and takes the first sweep. */
WATT_API int watt_session_start(struct watt_session *ses);

/**
 * A descriptor to poll for POLLIN: when it is readable, call watt_session_dispatch(). That of a
 * recording always is.
 */
WATT_API int watt_session_get_fd(const struct watt_session *ses);
/**
 * Does what is due: sweep, fetch samples, attribute; on a recording, what was done next.
 * @return the number of slices taken; -ENODATA: a recording is at its end.
 */
WATT_API int watt_session_dispatch(struct watt_session *ses);
/**
 * Dispatches for @p timeout_ms, of the recorded time on a recording, then returns 0; -ENODATA: a
 * recording ends before.
 */
WATT_API int watt_session_wait(struct watt_session *ses, uint32_t timeout_ms);
/**
 * Takes a sweep and a reading of every fast channel now, and waits until all tasks that began
 * to die before are accounted and the fast domains are attributed up to now.
 *
 * @return 0; -ETIMEDOUT: @p timeout_ms was not enough (what is missing stays unattributed);
 * -ENODATA: a recording ends before.
 */
WATT_API int watt_session_flush(struct watt_session *ses, uint32_t timeout_ms);

/** A snapshot of the newest attributed state; the window begins at the one before. */
WATT_API int watt_session_snapshot(struct watt_session *ses, struct watt_snapshot **ret);

/**
 * A snapshot of everything up to the first slice that ends at or after @p t_ns, complete in every
 * domain whose sensor answers: dispatches until all of it is attributed, and attributes nothing
 * that is later before it is taken. A sensor that fails, or is silent for longer than its period,
 * delay and window can explain, is not waited for: its domain's status says so, and its t_ns lies
 * before the snapshot's. Times must not go back from call to call.
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
 * From now on, sums process @p pid, its descendants and theirs (whoever their parent becomes)
 * into one entity of kind WATT_ENTITY_TRACKED. Call it before the process can fork.
 *
 * @return 0; -ESRCH: no such process; -EBUSY: the process is tracked already.
 */
WATT_API int watt_session_track(struct watt_session *ses, uint32_t pid, uint64_t *ret_entity_id);

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
/** The newest sample of a channel; -ENODATA: none yet. */
WATT_API int watt_session_get_sample(const struct watt_session *ses, size_t index,
				     struct watt_sample *ret);
/** How the reader of a channel is doing; -ENODATA: a recording does not know. */
WATT_API int watt_session_get_reader_stats(const struct watt_session *ses, size_t index,
					   struct watt_reader_stats *ret);
WATT_API size_t watt_session_get_domain_count(const struct watt_session *ses);
/** NULL if @p index is out of range. */
WATT_API const struct watt_domain *watt_session_get_domain(const struct watt_session *ses,
							   size_t index);
/** "bpf" or "procfs". */
WATT_API const char *watt_session_get_usage_name(const struct watt_session *ses);

/**
 * Asks every source what it can do here, and measures the cost of a read.
 *
 * @param ret    caller's array.
 * @param ret_n  in: its length; out: how many sources there are (may be more than fit).
 * @return 0, or -EINVAL.
 */
WATT_API int watt_doctor(const struct watt_session_opts *opts, struct watt_diag *ret,
			 size_t *ret_n);

WATT_END_DECLS

#endif
