/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calculating stages, timeline and attrib, as one thing that is told ops and nothing else.
 * Whatever it gives follows from the ops alone: a live session and its replay are the same calls.
 * One thread per object.
 */
#ifndef WATT_FLOW_H
#define WATT_FLOW_H

#include <stdbool.h>

#include "attrib/attrib.h"
#include "record/record.h"

struct watt_flow;

/* What an op gives back. */
union watt_flow_result {
	uint64_t entity_id;             /* of TRACK */
	struct watt_snapshot *snapshot; /* of SNAPSHOT: the caller's */
};

/*
 * What setup points to must outlive the flow. 0, -ENOMEM, or -EINVAL: a choice about attribution
 * is not valid, and the log has the sentence.
 */
int watt_flow_new(const struct watt_setup *setup, const struct watt_log *log,
		  struct watt_flow **ret);
struct watt_flow *watt_flow_free(struct watt_flow *flow);
/* From now on, recorder gets every op, and every snapshot. NULL: nobody does. */
void watt_flow_record(struct watt_flow *flow, struct watt_recorder *recorder);
/*
 * Tells it an op. 0, or as the call of its stage: names of those who are gone are no error.
 * ret may be NULL where the op gives nothing back.
 */
int watt_flow_apply(struct watt_flow *flow, const struct watt_op *op, union watt_flow_result *ret);

/* For questions: who has no name yet, what domains there are. What changes a result is an op. */
struct watt_attrib *watt_flow_attrib(const struct watt_flow *flow);
/*
 * Where a snapshot at t_ns will cut, CLOCK_MONOTONIC, once everything up to there is attributed,
 * with a hold at t_ns; 0: not yet.
 */
uint64_t watt_flow_ready_ns(const struct watt_flow *flow, uint64_t t_ns);

#endif
