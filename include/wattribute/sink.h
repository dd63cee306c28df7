/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file sink.h
 * @brief A sink: a format that windows of a recording or of a live session are written in.
 *
 *     struct watt_sink_opts opts = { sizeof(opts), write_to_file, file };
 *     struct watt_sink *sink;
 *
 *     r = watt_sink_open("csv", &opts, &sink);
 *     r = watt_sink_set(sink, "what", "domains");
 *     r = watt_sink_put_recording(sink, "run.watt", NULL);
 *     r = watt_sink_finish(sink);
 *     watt_sink_close(sink);
 *
 * A sink is told windows one after the other and keeps as little of them as it can: a recording
 * may be larger than memory. It sees snapshots only, never a sensor; any number of sinks may be
 * told of one session. One thread per object at a time.
 */
#ifndef WATTRIBUTE_SINK_H
#define WATTRIBUTE_SINK_H

#include <wattribute/session.h>
#include <wattribute/snapshot.h>

WATT_BEGIN_DECLS

struct watt_sink;

/** Something that can be chosen of a sink. It never grows. */
struct watt_sink_option {
	const char *name;
	const char *values;  /**< what it takes, for people: "energy, domains, samples or marks" */
	const char *summary; /**< one line for people */
};

/** What there is to know of a kind of sink. Immutable. */
struct watt_sink_info {
	size_t sz;            /**< sizeof(struct watt_sink_info), the library's */
	const char *name;     /**< "csv" */
	const char *summary;  /**< one line for people */
	const char *suffixes; /**< of names of its files, the usual one first: ".csv" */
	const char *mime;     /**< media type */
	const struct watt_sink_option *options; /**< ends with one without a name */
};

/** By position, from 0; NULL: there are no more. Thread-safe. */
WATT_API const struct watt_sink_info *watt_sink_get_info(size_t index);
/** By name; NULL: there is none of it. Thread-safe. */
WATT_API const struct watt_sink_info *watt_sink_find_info(const char *name);

/** Takes what a sink has written. 0 or a negative errno, which ends the writing. */
typedef int (*watt_write_fn)(void *data, const void *bytes, size_t n);

/** Where to write. */
struct watt_sink_opts {
	size_t sz;           /**< sizeof(struct watt_sink_opts) */
	watt_write_fn write; /**< not NULL */
	void *write_data;
	watt_log_fn log; /**< receives a sentence if something fails; NULL: nobody does */
	void *log_data;
};

/** A part of a recording, and how it is cut into windows. Zero everywhere: all of it. */
struct watt_excerpt {
	size_t sz;          /**< sizeof(struct watt_excerpt) */
	uint64_t from_ns;   /**< CLOCK_MONOTONIC of the recording; 0: its beginning */
	uint64_t to_ns;     /**< 0: its end */
	uint64_t window_ns; /**< length of a window, not below a slice; 0: some hundred windows */
	/** How energy is attributed; NULL: as in the live run. */
	const struct watt_options *options;
};

/** 0; -ENOENT: there is no such sink; -EINVAL: no function to write; -ENOMEM. */
WATT_API int watt_sink_open(const char *name, const struct watt_sink_opts *opts,
			    struct watt_sink **ret);
/**
 * Chooses an option, before anything is put.
 * @return 0; -ENOENT: the sink has no such option; -EINVAL: it can't have this value; -EALREADY:
 * something has been put.
 */
WATT_API int watt_sink_set(struct watt_sink *sink, const char *option, const char *value);
/**
 * Puts a recording, or a part of it: what it is, and its windows, samples or marks, as the sink
 * needs them. Marks cut windows.
 *
 * @return 0; as watt_recording_open() and watt_session_open_recording(); -ENODATA: there is
 * nothing in this part that the sink could write; -EALREADY: something has been put, and the sink
 * takes one recording; what the function to write returned.
 */
WATT_API int watt_sink_put_recording(struct watt_sink *sink, const char *path,
				     const struct watt_excerpt *part);
/**
 * Puts the window of a snapshot. Snapshots are put in their order, with nothing between them.
 * @return 0; -EOPNOTSUPP: the sink does not take windows, as it was asked for something else;
 * -EALREADY: a recording has been put; what the function to write returned; -ENOMEM.
 */
WATT_API int watt_sink_put_snapshot(struct watt_sink *sink, struct watt_snapshot *snap);
/** Writes what is left and ends the document. 0, or what the function to write returned. */
WATT_API int watt_sink_finish(struct watt_sink *sink);
/** NULL is allowed. Always returns NULL. */
WATT_API struct watt_sink *watt_sink_close(struct watt_sink *sink);

WATT_END_DECLS

#endif
