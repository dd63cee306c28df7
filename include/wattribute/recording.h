/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file recording.h
 * @brief A recording: everything that a session was told, in one file, to be asked again later.
 *
 * Writing: watt_session_record() on a session that is open and not yet started. Reading: as a
 * session, with watt_session_open_recording(), which gives the very snapshots of the live run (or
 * others, from the same data: see watt_session_open_recording()), or as plain values, with watt_recording_*.
 *
 * The file is an SQLite database; wattribute-recording(5) describes it. One thread per object at
 * a time.
 */
#ifndef WATTRIBUTE_RECORDING_H
#define WATTRIBUTE_RECORDING_H

#include <wattribute/channel.h>
#include <wattribute/mark.h>
#include <wattribute/sample.h>
#include <wattribute/session.h>

WATT_BEGIN_DECLS

/* ---- writing ---- */

/** What is written. */
enum watt_record_format {
	WATT_RECORD_ALL = 0, /**< a recording: everything, and whatever it may be asked later */
	/** A trace of fastnvmetrics (NVMT 1): what rails and context were, and nothing of who used it.
	 *  One file: max_bytes, max_seconds and keep are refused. */
	WATT_RECORD_NVMT = 1,
};

/** How to record. Zero everywhere is a good choice. Strings are copied. */
struct watt_record_opts {
	size_t sz;            /**< sizeof(struct watt_record_opts) */
	const char *command;  /**< what is measured, for people; NULL: the whole machine */
	uint64_t max_bytes;   /**< begin another file beyond this size; 0: no limit */
	uint32_t max_seconds; /**< begin another file after this time; 0: no limit */
	/** Files to keep, the current one included; the oldest is deleted. 0: all. */
	uint32_t keep;
	uint32_t overwrite; /**< 1: replace a file that is there; 0: -EEXIST */
	uint32_t uid;       /**< whom the files belong to, where root records; 0: who records */
	uint32_t gid;       /**< and their group */
	uint32_t format;    /**< enum watt_record_format */
};

/** How a recording is going, cumulative over its files. */
struct watt_record_stats {
	size_t sz;              /**< sizeof(struct watt_record_stats), the caller's */
	uint64_t samples;       /**< sensor samples written */
	uint64_t usage_records; /**< usage records written */
	uint64_t marks;
	uint64_t chunks;     /**< commits */
	uint64_t bytes;      /**< on disk */
	uint64_t lost_ns;    /**< time of which nothing is in the file: the disk was full or slow */
	uint64_t cost_ns;    /**< CPU time spent on encoding, compressing and writing */
	uint64_t elapsed_ns; /**< since the recording began */
	uint32_t files;      /**< begun so far */
	int32_t error;       /**< negative errno of the last failed commit; 0: the last went well */
};

/**
 * Records everything that the session is told, from its start on.
 *
 * With limits, "run.watt" is followed by "run-2.watt", "run-3.watt" and so on; each can be read
 * alone. The file is complete up to the last second at any moment, whatever happens to the
 * process; what could not be written is counted and said in the file. Closing the session
 * finishes it.
 *
 * @return 0; -EEXIST; -EACCES, -ENOENT, -ENOSPC: the file can't be made; -EALREADY: the session
 * has started or is recorded already; -EOPNOTSUPP: built without SQLite or zstd. The log has the
 * sentence.
 */
WATT_API int watt_session_record(struct watt_session *ses, const char *path,
				 const struct watt_record_opts *opts);
/**
 * Ends the recording at @p t_ns, usually the time that the last snapshot was asked for: nothing more
 * is recorded, and who reads it goes no further. What is in it of a later time is there for sensors
 * that tell late. Without this it ends with what was told last before the session is closed, when
 * slow sensors lack their last seconds and fast ones don't.
 *
 * @return 0; -ENODATA: the session is not recorded; -EALREADY: it was ended before; -EINVAL: before
 * it began.
 */
WATT_API int watt_session_end_recording(struct watt_session *ses, uint64_t t_ns);
/** -ENODATA: the session is not recorded. */
WATT_API int watt_session_get_record_stats(const struct watt_session *ses,
					   struct watt_record_stats *ret);

/* ---- reading as a session ---- */

/**
 * Opens a recording as a session: start, dispatch, wait, snapshot work as on the live one, but
 * time is the recording's own, and passes as fast as it can be read. Of options, what chooses how
 * to attribute counts (idle policy, share keys, delays) and the log; NULL: as the live run did.
 *
 * @return 0, or as watt_recording_open(); -ENOENT: an option names a domain or a channel that the
 * recording has not.
 */
WATT_API int watt_session_open_recording(const char *path, const struct watt_options *options,
					 struct watt_session **ret);
/**
 * Goes on to the next snapshot that the live run took: with the same options, the same bytes. A
 * session in which the caller has dispatched or taken snapshots of its own has no others any more.
 * @return 0; 1: there is none any more, *ret is NULL; -EINVAL: the session is a live one, or goes
 * its own way.
 */
WATT_API int watt_session_next_snapshot(struct watt_session *ses, struct watt_snapshot **ret);

/* ---- reading as values ---- */

struct watt_recording;

/** What a recording says of itself. Strings are owned by it, never NULL, "" if unknown. */
struct watt_recording_info {
	size_t sz;          /**< sizeof(struct watt_recording_info), the library's */
	const char *writer; /**< program and version that wrote it: "wattribute 0.1.0" */
	const char *host;   /**< node name */
	const char *os;     /**< "Debian GNU/Linux 12 (bookworm)" */
	const char *kernel; /**< release */
	const char *arch;   /**< "x86_64" */
	const char *cpu;    /**< model name */
	const char *command;
	const char *usage;          /**< how CPU time was counted: "bpf", "procfs" */
	const char *usage_why;      /**< why not in a better way; "": it was the best, or chosen */
	uint64_t memory_bytes;      /**< of the machine; 0: unknown */
	uint64_t start_ns;          /**< CLOCK_MONOTONIC of the first data */
	uint64_t end_ns;            /**< and of the last, or when it was ended */
	uint64_t start_realtime_ns; /**< CLOCK_REALTIME at start_ns */
	uint64_t slice_ns;          /**< asked length of a slice */
	uint64_t samples;           /**< sensor samples in the file */
	uint64_t usage_records;     /**< usage records in the file */
	uint64_t chunks;            /**< commits */
	uint64_t bytes;             /**< of the file */
	uint64_t missed_reads;      /**< sensor reads skipped, as the newest data says */
	uint64_t lost_samples;      /**< samples lost before they could be recorded */
	uint64_t lost_usage;        /**< usage records lost before they could be recorded */
	uint64_t lost_ns;           /**< time of which nothing is in the file */
	uint32_t format;            /**< version of the file format, from 1 */
	uint32_t n_cpus;            /**< possible CPUs */
	uint32_t n_packages;        /**< CPU packages; 0: unknown */
	uint32_t part;              /**< number of this file of a rotated recording, from 1 */
	uint32_t is_complete;       /**< 0: the writer did not finish it: up to 1 s is missing */
	uint32_t is_snapshot_aligned; /**< 1: its snapshots are complete in every domain */
	uint64_t lost_marks;          /**< marks that came too fast to be taken */
	uint64_t slept_ns;            /**< time that the machine slept: CLOCK_MONOTONIC stood */
};

/** A time of which something is missing in the file. */
struct watt_recording_loss {
	size_t sz;      /**< sizeof(struct watt_recording_loss), the library's */
	uint64_t t0_ns; /**< CLOCK_MONOTONIC */
	uint64_t t1_ns;
	uint64_t samples;       /**< dropped */
	uint64_t usage_records; /**< dropped */
	const char *why;        /**< "disk full", "disk too slow", ...; owned by the recording */
};

/**
 * Opens a recording to read it; never writes to it. One that is still being written can be read.
 *
 * @param log  receives one sentence if it fails; NULL: nobody does.
 * @return 0; -ENOENT, -EACCES; -EMEDIUMTYPE: it is no recording; -EPROTONOSUPPORT: a newer
 * format; -EBADMSG: damaged (and where); -EOPNOTSUPP: built without SQLite or zstd; -ENOMEM.
 */
WATT_API int watt_recording_open(const char *path, watt_log_fn log, void *log_data,
				 struct watt_recording **ret);
/** NULL is allowed. Always returns NULL. */
WATT_API struct watt_recording *watt_recording_close(struct watt_recording *rec);
/** Valid as long as the recording. */
WATT_API const struct watt_recording_info *
watt_recording_get_info(const struct watt_recording *rec);
WATT_API size_t watt_recording_get_channel_count(const struct watt_recording *rec);
/** NULL if @p index is out of range. */
WATT_API const struct watt_channel *watt_recording_get_channel(const struct watt_recording *rec,
							       size_t index);
/**
 * Where the file of this number, from 1, of a recording is that began at @p path and was rotated:
 * "run.watt", "run-2.watt", ... The caller frees it; NULL: out of memory, or
 * this build has no recordings. From any thread.
 */
WATT_API char *watt_recording_part_path(const char *path, uint32_t part);
WATT_API size_t watt_recording_get_mark_count(const struct watt_recording *rec);
/** In the order of time; NULL if @p index is out of range. */
WATT_API const struct watt_mark *watt_recording_get_mark(const struct watt_recording *rec,
							 size_t index);
WATT_API size_t watt_recording_get_loss_count(const struct watt_recording *rec);
/** In the order of time; NULL if @p index is out of range. */
WATT_API const struct watt_recording_loss *watt_recording_get_loss(const struct watt_recording *rec,
								   size_t index);
/**
 * What the clock on the wall said, CLOCK_REALTIME, at an instant of CLOCK_MONOTONIC: also behind a
 * time at which it was set, or the machine slept.
 */
WATT_API uint64_t watt_recording_get_realtime_ns(const struct watt_recording *rec, uint64_t t_ns);
/**
 * When the clock on the wall said that: an instant of CLOCK_MONOTONIC, the first one in the
 * recording if there are two. One that is not in it is told as if the clock had never been set.
 */
WATT_API uint64_t watt_recording_find_ns(const struct watt_recording *rec, uint64_t realtime_ns);
/**
 * Reads samples as they were recorded, from where the last call ended.
 *
 * @return how many were stored, at most @p n; 0: no more; -EBADMSG: the file is damaged here (the
 * next call goes on after the damage); -ENOMEM.
 */
WATT_API int watt_recording_read_samples(struct watt_recording *rec, struct watt_sample *ret,
					 size_t n);
/** The next read begins with the first sample at or after @p t_ns (CLOCK_MONOTONIC). */
WATT_API int watt_recording_seek(struct watt_recording *rec, uint64_t t_ns);
/**
 * Writes a trace of fastnvmetrics (NVMT 1) as it was read, sample by sample, so that it is whole: one
 * whose recorder was killed, or that was cut short, ends with the last sample that there is.
 *
 * @return 0; -ENODATA: the recording is no such trace; another negative errno of writing or reading.
 */
WATT_API int watt_recording_write_trace(const struct watt_recording *rec, int fd);

WATT_END_DECLS

#endif
