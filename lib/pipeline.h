/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stages, wired: sources -> sample -> timeline -> attrib. The only file that knows them all.
 * One thread per object; reading sensors happens in the engine's threads.
 */
#ifndef WATT_PIPELINE_H
#define WATT_PIPELINE_H

#include <wattribute/recording.h>
#include <wattribute/session.h>

#include "attrib/attrib.h"
#include "options.h"
#include "record/record.h"
#include "source/source.h"

struct watt_pipeline;

/*
 * env and options are borrowed and must outlive the pipeline; the lengths of a slice, a period and
 * of waiting are said. Errors as watt_session_open(); *ret is then what there is of it, to be
 * stopped and freed.
 */
int watt_pipeline_new(const struct watt_env *env, const struct watt_options *options,
		      struct watt_pipeline **ret);
/*
 * Ends the reading. Returns how many threads hang that don't keep env themselves, normally 0: else
 * it must stay for ever. Accepts NULL, and what could not be opened.
 */
int watt_pipeline_stop(struct watt_pipeline *pipeline);
struct watt_pipeline *watt_pipeline_free(struct watt_pipeline *pipeline);
/* As watt_session_record(), before the start. */
int watt_pipeline_record(struct watt_pipeline *pipeline, const char *path,
			 const struct watt_record_opts *opts);
/* -ENODATA: it is not recorded. */
/* As watt_session_end_recording(). */
int watt_pipeline_end_recording(struct watt_pipeline *pipeline, uint64_t t_ns);
int watt_pipeline_record_stats(const struct watt_pipeline *pipeline, struct watt_record_stats *ret);
/* Starts the readers and takes the first sweep. */
int watt_pipeline_start(struct watt_pipeline *pipeline);
/*
 * Ends a slice: sweep, fetch, attribute. due_ns: when it was to end; if that is past, sensors are asked
 * for a reading beside the sweep, which nobody waits for. 0: it ends when it ends.
 */
int watt_pipeline_tick(struct watt_pipeline *pipeline, uint64_t due_ns);
/* Takes what the readers have read, and attributes what waited for it; no slice ends. */
int watt_pipeline_drain(struct watt_pipeline *pipeline);
/* For how long nothing is lost when nobody drains. */
uint64_t watt_pipeline_room_ns(const struct watt_pipeline *pipeline);
/*
 * A flush of what happened up to t_ns is these three, again and again. The first sweeps, and has
 * the quick sensors read; the second waits for them, and any thread may do anything meanwhile;
 * the third attributes. It returns 0: all that will come is here, names included if they come soon
 * and within timeout_ns of t_ns; 1: not yet; or a negative errno.
 */
int watt_pipeline_flush_begin(struct watt_pipeline *pipeline);
int watt_pipeline_flush_wait(struct watt_pipeline *pipeline);
int watt_pipeline_flush_end(struct watt_pipeline *pipeline, uint64_t t_ns, uint64_t timeout_ns);
/* Says in the log what a flush up to t_ns lacks. */
void watt_pipeline_flush_explain(struct watt_pipeline *pipeline, uint64_t t_ns);
/* What was lost since the last call: enum watt_flush_loss, of a flush up to t_ns. */
int watt_pipeline_take_losses(struct watt_pipeline *pipeline, uint64_t t_ns);
/* Of a cursor; 0: of the session itself. */
int watt_pipeline_snapshot(struct watt_pipeline *pipeline, uint32_t cursor,
			   struct watt_snapshot **ret);
/* Somebody does nothing but wait for a snapshot: what tells seldom is asked before its time. */
void watt_pipeline_hurry(struct watt_pipeline *pipeline);
/* As watt_session_snapshot_at(), without waiting: -EAGAIN: not all has come yet. */
int watt_pipeline_snapshot_at(struct watt_pipeline *pipeline, uint32_t cursor, uint64_t t_ns,
			      struct watt_snapshot **ret);
/* As watt_cursor_open(), with the number that it has from now on. */
int watt_pipeline_open_cursor(struct watt_pipeline *pipeline, uint32_t *ret_cursor);
void watt_pipeline_close_cursor(struct watt_pipeline *pipeline, uint32_t cursor);
/* A phase begins; the caller ends the slice. */
int watt_pipeline_mark(struct watt_pipeline *pipeline, const struct watt_mark *mark);
/* So many marks so far are none: they came too fast. */
void watt_pipeline_set_lost_marks(struct watt_pipeline *pipeline, uint64_t n);
int watt_pipeline_track(struct watt_pipeline *pipeline, uint32_t pid, uint64_t *ret_entity_id);
/* What was used up to now is still in the set. 0; -ENOENT: there is none by this id. */
int watt_pipeline_untrack(struct watt_pipeline *pipeline, uint64_t entity_id);

/* What it was built from, and the stage that knows the domains. Valid as long as the pipeline. */
const struct watt_setup *watt_pipeline_setup(const struct watt_pipeline *pipeline);
const struct watt_attrib *watt_pipeline_attrib(const struct watt_pipeline *pipeline);
int watt_pipeline_crosscheck(const struct watt_pipeline *pipeline, size_t i,
			     int64_t *ret_difference_ppm);
int watt_pipeline_sample(const struct watt_pipeline *pipeline, size_t i, struct watt_sample *ret);
/* The name of power source i, and how it does; NULL: there are not so many. */
const char *watt_pipeline_source(const struct watt_pipeline *pipeline, size_t i,
				 enum watt_status *ret_status);
void watt_pipeline_reader_stats(const struct watt_pipeline *pipeline, size_t i,
				struct watt_reader_stats *ret);
void watt_pipeline_tier_stats(const struct watt_pipeline *pipeline, enum watt_tier tier,
			      struct watt_tier_stats *ret);

#endif
