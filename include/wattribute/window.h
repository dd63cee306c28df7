/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file window.h
 * @brief Windows: a session cut into pieces of time, one after the other.
 *
 * They have a given length, and end at every mark, so that a window is of one phase only and sums
 * of windows are results of phases. What the windows have adds up to what the session has, exactly.
 * One thread per object at a time: that of its session.
 */
#ifndef WATTRIBUTE_WINDOW_H
#define WATTRIBUTE_WINDOW_H

#include <wattribute/cursor.h>
#include <wattribute/mark.h>
#include <wattribute/session.h>
#include <wattribute/snapshot.h>

WATT_BEGIN_DECLS

struct watt_windows;

/** In place of the position of a mark: there is none. */
#define WATT_NO_MARK SIZE_MAX

/** What to cut, and how. */
struct watt_windows_opts {
	size_t sz;          /**< sizeof(struct watt_windows_opts) */
	uint64_t start_ns;  /**< of what is to be cut, CLOCK_MONOTONIC */
	uint64_t end_ns;    /**< and its end */
	uint64_t window_ns; /**< length, not below a slice; 0: watt_windows_choose_ns() */
	const struct watt_mark *marks; /**< in the order of time; borrowed */
	size_t n_marks;
	uint32_t timeout_ms; /**< for the sensors of a live session to answer */
	uint32_t reserved;
	/** Whose windows they are, which must outlive them; NULL: the session's own. */
	struct watt_cursor *cursor;
};

/** One window. A plain value; it never grows. */
struct watt_window {
	struct watt_snapshot
		*snap;  /**< of its end, the caller's: its numbers are the window_* ones */
	uint64_t t0_ns; /**< CLOCK_MONOTONIC */
	uint64_t t1_ns;
	size_t mark_index; /**< of the mark that began its phase; WATT_NO_MARK: there is none */
};

/** A length that people count in, so that @p duration_ns has at most 1,200 of them. */
WATT_API uint64_t watt_windows_choose_ns(uint64_t duration_ns, uint64_t slice_ns);

/**
 * Begins to cut a session that has been started. The session and the marks must outlive it.
 * @return 0; -EINVAL; -ENOMEM.
 */
WATT_API int watt_windows_open(struct watt_session *ses, const struct watt_windows_opts *opts,
			       struct watt_windows **ret);
/** The next window. 0; 1: there is none any more; or as watt_session_snapshot_at(). */
WATT_API int watt_windows_next(struct watt_windows *windows, struct watt_window *ret);
/** NULL is allowed. Always returns NULL. */
WATT_API struct watt_windows *watt_windows_close(struct watt_windows *windows);

WATT_END_DECLS

#endif
