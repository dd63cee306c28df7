/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calculating stages, timeline and attrib, as one thing that is told ops and nothing else.
 * Whatever it gives follows from the ops alone: a live session and its replay are the same calls.
 * One thread per object.
 */
#ifndef WATT_EXECUTOR_H
#define WATT_EXECUTOR_H

#include <stdbool.h>

#include "attrib/attrib.h"
#include "record/record.h"

struct watt_executor;

/* What an op gives back. */
union watt_executor_result {
	uint64_t entity_id;             /* of TRACK */
	struct watt_snapshot *snapshot; /* of SNAPSHOT and LOOK: the caller's */
};

/*
 * What setup points to must outlive the executor. 0, -ENOMEM, or -EINVAL: a choice about attribution
 * is not valid, and the log has the sentence.
 */
int watt_executor_new(const struct watt_setup *setup, const struct watt_log *log,
		      struct watt_executor **ret);
struct watt_executor *watt_executor_free(struct watt_executor *executor);
/* From now on, recorder gets every op, and every snapshot. NULL: nobody does. */
void watt_executor_record(struct watt_executor *executor, struct watt_recorder *recorder);
/* What it is told does not begin with the session's beginning: it takes what was learned before. */
void watt_executor_begin_in_middle(struct watt_executor *executor);
/*
 * Tells it an op. 0, or as the call of its stage: names of those who are gone are no error.
 * ret may be NULL where the op gives nothing back.
 */
int watt_executor_apply(struct watt_executor *executor, const struct watt_op *op,
			union watt_executor_result *ret);

/* For questions: who has no name yet, what domains there are. What changes a result is an op. */
struct watt_attrib *watt_executor_attrib(const struct watt_executor *executor);
/*
 * Where a snapshot at t_ns will cut, CLOCK_MONOTONIC, once everything up to there is attributed,
 * with a barrier at t_ns; 0: not yet.
 */
uint64_t watt_executor_ready_ns(const struct watt_executor *executor, uint64_t t_ns);

#endif
