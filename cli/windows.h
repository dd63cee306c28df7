/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session cut into windows, one after the other: of a given length, and at every mark, so that
 * a window is of one phase only and sums of windows are results of phases. What the windows have
 * adds up to what the session has, exactly.
 */
#ifndef WATT_CLI_WINDOWS_H
#define WATT_CLI_WINDOWS_H

#include <stddef.h>
#include <stdint.h>

#include <wattribute/session.h>

#define WINDOWS_NO_MARK SIZE_MAX

struct windows_plan {
	uint64_t start_ns; /* of what is to be cut, CLOCK_MONOTONIC */
	uint64_t end_ns;
	uint64_t window_ns;            /* not below a slice; 0: windows_choose_ns() */
	const struct watt_mark *marks; /* in the order of time; borrowed */
	size_t n_marks;
	uint32_t timeout_ms; /* for the sensors of a live session to answer */
};

/* One window. Its numbers are the window_* ones of the snapshot. */
struct window {
	struct watt_snapshot *snap; /* of its end; the caller's */
	uint64_t t0_ns;
	uint64_t t1_ns;
	size_t mark; /* that began its phase; WINDOWS_NO_MARK: there is none */
};

/* A length that people count in, so that duration_ns has at most 1,200 of them. */
uint64_t windows_choose_ns(uint64_t duration_ns, uint64_t slice_ns);

struct windows;

/* The session has been started. It and the plan's marks must outlive what is returned. */
struct windows *windows_new(struct watt_session *ses, const struct windows_plan *plan);
struct windows *windows_free(struct windows *windows);
/* The next window. 0; 1: there is none any more; or a negative errno. */
int windows_next(struct windows *windows, struct window *ret);

#endif
