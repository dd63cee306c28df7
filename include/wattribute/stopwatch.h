/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file stopwatch.h
 * @brief A stopwatch: measures one run of a tracked set, cut at marks and at intervals.
 *
 *     struct watt_stopwatch_opts opts = { sizeof(opts) };
 *
 *     r = watt_session_track(ses, pid, &opts.tracked_id);
 *     r = watt_stopwatch_open(ses, &opts, &watch);
 *     r = watt_stopwatch_prepare(watch);
 *     r = watt_stopwatch_begin(watch);
 *     ... let the command go; watt_stopwatch_cut() now and then, if marks or intervals matter
 *     r = watt_stopwatch_end(watch);
 *     r = watt_stopwatch_finish(watch, 3000, &run);
 *     watt_stopwatch_close(watch);
 *     ...
 *     watt_run_free(run);
 *
 * All energies are differences of what had been used by two instants, each of them one time in all
 * domains: sensors that tell late are waited for, while the command runs and at its end. So
 * intervals and phases add up to the run, to the nanojoule. What the set used between track() and
 * begin() is the run's, and the machine's energy has it too.
 *
 * Its windows are its own, as a cursor's: any number of stopwatches run beside each other and beside
 * other readers. The session's marks are taken by one: begin() and end() take all that have come.
 * One thread per object; another thread may do what it likes with the session meanwhile. Errors of
 * watt_cursor_snapshot_at() and -ENOMEM may come from all that can fail.
 */
#ifndef WATTRIBUTE_STOPWATCH_H
#define WATTRIBUTE_STOPWATCH_H

#include <wattribute/balance.h>
#include <wattribute/mark.h>
#include <wattribute/run.h>
#include <wattribute/session.h>

WATT_BEGIN_DECLS

struct watt_stopwatch;

/** What is to be measured. */
struct watt_stopwatch_opts {
	size_t sz;            /**< sizeof(struct watt_stopwatch_opts) */
	uint64_t tracked_id;  /**< of the set, by watt_session_track() */
	uint64_t interval_ns; /**< how long each interval is, not below a slice; 0: none */
};

/** What a finished run lacks, as bits: a sensor did not answer in time. */
enum watt_stopwatch_lack {
	WATT_STOPWATCH_LACKS_BEGIN = 1, /**< its energy is not that of the run alone */
	WATT_STOPWATCH_LACKS_CUTS = 2,  /**< the last phases or intervals are in one */
};

/** The session must have been started, and must outlive *ret. 0; -EINVAL; -ENOMEM; -EMFILE: as
 *  watt_cursor_open(). */
WATT_API int watt_stopwatch_open(struct watt_session *ses, const struct watt_stopwatch_opts *opts,
				 struct watt_stopwatch **ret);
/** NULL is allowed. Always returns NULL. */
WATT_API struct watt_stopwatch *watt_stopwatch_close(struct watt_stopwatch *watch);

/**
 * What was used until now is not the run's. Waits for sensors that have not begun to measure and
 * are read soon again, at most 0.5 s; sensors that tell late are waited for while the run goes on.
 * 0 or negative.
 */
WATT_API int watt_stopwatch_prepare(struct watt_stopwatch *watch);
/** The run begins now. Marks from before are of no phase in it. -EINVAL: not prepared. */
WATT_API int watt_stopwatch_begin(struct watt_stopwatch *watch);
/** A phase begins: a mark that watt_session_next_mark() gave. -EINVAL: not begun. */
WATT_API int watt_stopwatch_mark(struct watt_stopwatch *watch, const struct watt_mark *mark);
/**
 * Ends the intervals that are over by now and phases at the marks that came, as far as the sensors
 * have answered. 0 or negative. -EINVAL: not begun.
 */
WATT_API int watt_stopwatch_cut(struct watt_stopwatch *watch);
/** When to cut next, CLOCK_MONOTONIC; UINT64_MAX: there is nothing to be cut, as in a run that has
 *  not begun or is finished. */
WATT_API uint64_t watt_stopwatch_get_next_ns(const struct watt_stopwatch *watch);
/**
 * Takes the oldest interval that is over out of the run: whoever shows them need not keep them.
 * What nobody took, and the last one, are in the finished run.
 * 0; -EAGAIN: there is none; -EINVAL.
 */
WATT_API int watt_stopwatch_next_interval(struct watt_stopwatch *watch,
					  struct watt_run_interval *ret);
/**
 * The run ends now. What comes later is not attributed before it is finished, so that what is
 * waited for meanwhile (watt_session_flush()) is of its time. 0 or negative. -EINVAL: not begun.
 */
WATT_API int watt_stopwatch_end(struct watt_stopwatch *watch);
/**
 * The run, the caller's: watt_run_free(). exit_status and rusage_s are for the caller to fill in.
 * Sensors that tell late are waited for until @p timeout_ms after its end.
 * @return bits of enum watt_stopwatch_lack, 0: nothing is missing; -EINVAL: it has not ended, or
 * finish() has given or lost the run already.
 */
WATT_API int watt_stopwatch_finish(struct watt_stopwatch *watch, uint32_t timeout_ms,
				   struct watt_run **ret);

/** Of the newest cut, and behind finish() of the whole. 0; -ENODATA: none yet; -EINVAL. */
WATT_API int watt_stopwatch_get_balance(const struct watt_stopwatch *watch,
					struct watt_balance *ret);
/** Of the end; NULL: not finished. Borrowed until the stopwatch is closed. */
WATT_API const struct watt_quality *watt_stopwatch_get_quality(const struct watt_stopwatch *watch);

WATT_END_DECLS

#endif
