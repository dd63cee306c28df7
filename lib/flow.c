/* SPDX-License-Identifier: Apache-2.0 */
/* Hands ops to the stages they are for, and to the recorder. */
#include "flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "timeline/timeline.h"

struct watt_flow {
	struct watt_timeline *timeline;
	struct watt_attrib *attrib;
	struct watt_recorder *recorder; /* NULL: none */
	struct watt_mark *marks;        /* those that later windows may begin in */
	size_t n_marks, cap_marks;
};

int watt_flow_new(const struct watt_setup *setup, const struct watt_log *log,
		  struct watt_flow **ret)
{
	struct watt_attrib_opts opts = {
		.channels = setup->channels,
		.n_channels = setup->n_channels,
		.cpu_slot = setup->cpu_slot,
		.n_cpus = setup->n_cpus,
		.n_slots = setup->n_slots,
		.places = setup->places,
		.self_pid = setup->self_pid,
		.idle_policy = setup->idle_policy,
		.share_keys = setup->share_keys,
		.log = log,
	};
	struct watt_flow *flow = calloc(1, sizeof(*flow));
	int r;

	if (!flow)
		return -ENOMEM;
	r = watt_timeline_new(setup->channels, setup->n_channels, &flow->timeline);
	if (r == 0)
		r = watt_timeline_set_delays(flow->timeline, setup->delays, log);
	if (r == 0)
		r = watt_attrib_new(&opts, &flow->attrib);
	if (r < 0) {
		watt_flow_free(flow);
		return r;
	}
	*ret = flow;
	return 0;
}

struct watt_flow *watt_flow_free(struct watt_flow *flow)
{
	if (!flow)
		return NULL;
	watt_attrib_free(flow->attrib);
	watt_timeline_free(flow->timeline);
	free(flow->marks);
	free(flow);
	return NULL;
}

void watt_flow_record(struct watt_flow *flow, struct watt_recorder *recorder)
{
	flow->recorder = recorder;
}

static int push_samples(struct watt_flow *flow, const struct watt_op *op)
{
	size_t i;
	int r = 0;

	for (i = 0; i < op->samples.n && r == 0; i++)
		r = watt_timeline_push(flow->timeline, &op->samples.list[i]);
	return r;
}

/* Without snapshots, marks pile up: the first one says what the window began in. */
#define MAX_MARKS 4096

static void forget_mark(struct watt_flow *flow)
{
	flow->n_marks--;
	memmove(&flow->marks[1], &flow->marks[2], (flow->n_marks - 1) * sizeof(flow->marks[0]));
}

/* Marks come as they are told: the times of two programs may cross. */
static int add_mark(struct watt_flow *flow, const struct watt_mark *mark)
{
	size_t at = flow->n_marks;
	int r;

	r = watt_grow((void **)&flow->marks, &flow->cap_marks, flow->n_marks, sizeof(*mark));
	if (r < 0)
		return r;
	while (at > 0 && flow->marks[at - 1].t_ns > mark->t_ns)
		at--;
	memmove(&flow->marks[at + 1], &flow->marks[at],
		(flow->n_marks - at) * sizeof(flow->marks[0]));
	flow->marks[at] = *mark;
	flow->n_marks++;
	if (flow->n_marks > MAX_MARKS)
		forget_mark(flow);
	return 0;
}

/* Forgets the marks that lie before the one in which the window began. */
static const char *phase_of_window(struct watt_flow *flow)
{
	uint64_t t_ns = watt_attrib_window_start_ns(flow->attrib);
	size_t past = 0;

	while (past < flow->n_marks && flow->marks[past].t_ns <= t_ns)
		past++;
	if (!past)
		return NULL;
	flow->n_marks -= past - 1;
	memmove(flow->marks, &flow->marks[past - 1], flow->n_marks * sizeof(flow->marks[0]));
	return flow->marks[0].label;
}

static int take_snapshot(struct watt_flow *flow, const struct watt_op *op,
			 struct watt_snapshot **ret)
{
	struct watt_quality quality = {
		.missed_reads = op->snapshot.missed_reads,
		.lost_samples = op->snapshot.lost_samples,
	};
	int r;

	r = watt_attrib_snapshot(flow->attrib, flow->timeline, op->snapshot.t_ns,
				 op->snapshot.realtime_ns, phase_of_window(flow), &quality, ret);
	if (r == 0 && flow->recorder)
		watt_recorder_put_snapshot(flow->recorder, *ret);
	return r;
}

static int or_gone(int r)
{
	return r == -ESRCH ? 0 : r;
}

static int apply(struct watt_flow *flow, const struct watt_op *op, union watt_flow_result *ret)
{
	switch (op->kind) {
	case WATT_OP_SAMPLES:
		return push_samples(flow, op);
	case WATT_OP_USAGE:
		return watt_attrib_push_usage(flow->attrib, &op->usage);
	case WATT_OP_IDENTITY:
		return or_gone(watt_attrib_set_identity(flow->attrib, op->identity));
	case WATT_OP_CGROUP:
		return or_gone(watt_attrib_set_cgroup(flow->attrib, op->cgroup));
	case WATT_OP_USER:
		return or_gone(watt_attrib_set_user(flow->attrib, op->user.uid, op->user.name));
	case WATT_OP_TRACK:
		return watt_attrib_track(flow->attrib, op->track_pid, &ret->entity_id);
	case WATT_OP_MARK:
		return add_mark(flow, &op->mark);
	case WATT_OP_ADVANCE:
		return WATT_MIN(watt_attrib_advance(flow->attrib, flow->timeline, op->advance_ns),
				0);
	case WATT_OP_HOLD:
		watt_attrib_hold(flow->attrib, op->hold_ns);
		return 0;
	case WATT_OP_SNAPSHOT:
		return take_snapshot(flow, op, &ret->snapshot);
	}
	return -EINVAL;
}

int watt_flow_apply(struct watt_flow *flow, const struct watt_op *op, union watt_flow_result *ret)
{
	union watt_flow_result unused;

	if (flow->recorder)
		watt_recorder_put(flow->recorder, op);
	return apply(flow, op, ret ? ret : &unused);
}

struct watt_attrib *watt_flow_attrib(const struct watt_flow *flow)
{
	return flow->attrib;
}

uint64_t watt_flow_ready_ns(const struct watt_flow *flow, uint64_t t_ns)
{
	if (!watt_attrib_is_held(flow->attrib, flow->timeline))
		return 0;
	return watt_attrib_cut_ns(flow->attrib, t_ns);
}
