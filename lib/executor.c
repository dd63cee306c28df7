/* SPDX-License-Identifier: Apache-2.0 */
/* Hands ops to the stages they are for, and to the recorder. */
#include "executor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "timeline/timeline.h"

struct watt_executor {
	struct watt_timeline *timeline;
	struct watt_attrib *attrib;
	const char *delays;             /* of the setup */
	struct watt_recorder *recorder; /* NULL: none */
	struct watt_mark *marks;        /* those that later windows may begin in */
	size_t n_marks, cap_marks;
};

int watt_executor_new(const struct watt_setup *setup, const struct watt_log *log,
		      struct watt_executor **ret)
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
	struct watt_executor *executor = calloc(1, sizeof(*executor));
	int r;

	if (!executor)
		return -ENOMEM;
	executor->delays = setup->delays;
	r = watt_timeline_new(setup->channels, setup->n_channels, &executor->timeline);
	if (r == 0)
		r = watt_timeline_set_delays(executor->timeline, setup->delays, log);
	if (r == 0)
		r = watt_attrib_new(&opts, &executor->attrib);
	if (r < 0) {
		watt_executor_free(executor);
		return r;
	}
	*ret = executor;
	return 0;
}

struct watt_executor *watt_executor_free(struct watt_executor *executor)
{
	if (!executor)
		return NULL;
	watt_attrib_free(executor->attrib);
	watt_timeline_free(executor->timeline);
	free(executor->marks);
	free(executor);
	return NULL;
}

void watt_executor_record(struct watt_executor *executor, struct watt_recorder *recorder)
{
	executor->recorder = recorder;
}

static int push_samples(struct watt_executor *executor, const struct watt_op *op)
{
	size_t i;
	int r = 0;

	for (i = 0; i < op->samples.n && r == 0; i++)
		r = watt_timeline_push(executor->timeline, &op->samples.list[i]);
	return r;
}

/* Without snapshots, marks pile up: the first one says what the window began in. */
#define MAX_MARKS 4096

static void forget_mark(struct watt_executor *executor)
{
	executor->n_marks--;
	memmove(&executor->marks[1], &executor->marks[2],
		(executor->n_marks - 1) * sizeof(executor->marks[0]));
}

/* Marks come as they are told: the times of two programs may cross. */
static int add_mark(struct watt_executor *executor, const struct watt_mark *mark)
{
	size_t at = executor->n_marks;
	int r;

	r = watt_grow((void **)&executor->marks, &executor->cap_marks, executor->n_marks,
		      sizeof(*mark));
	if (r < 0)
		return r;
	while (at > 0 && executor->marks[at - 1].t_ns > mark->t_ns)
		at--;
	memmove(&executor->marks[at + 1], &executor->marks[at],
		(executor->n_marks - at) * sizeof(executor->marks[0]));
	executor->marks[at] = *mark;
	executor->n_marks++;
	if (executor->n_marks > MAX_MARKS)
		forget_mark(executor);
	return 0;
}

/* Forgets the marks that lie before the one in which the window began. */
static const char *phase_of_window(struct watt_executor *executor)
{
	uint64_t t_ns = watt_attrib_window_start_ns(executor->attrib);
	size_t past = 0;

	while (past < executor->n_marks && executor->marks[past].t_ns <= t_ns)
		past++;
	if (!past)
		return NULL;
	executor->n_marks -= past - 1;
	memmove(executor->marks, &executor->marks[past - 1],
		executor->n_marks * sizeof(executor->marks[0]));
	return executor->marks[0].label;
}

static int take_snapshot(struct watt_executor *executor, const struct watt_op *op,
			 struct watt_snapshot **ret)
{
	struct watt_quality quality = {
		.missed_reads = op->snapshot.missed_reads,
		.lost_samples = op->snapshot.lost_samples,
	};
	int r;

	r = watt_attrib_snapshot(executor->attrib, executor->timeline, op->snapshot.t_ns,
				 op->snapshot.realtime_ns, phase_of_window(executor), &quality,
				 ret);
	if (r == 0 && executor->recorder)
		watt_recorder_put_snapshot(executor->recorder, *ret);
	return r;
}

/* What came before is there already: a file may begin in the middle. */
static int add_channels(struct watt_executor *executor, const struct watt_op *op)
{
	int r = watt_timeline_grow(executor->timeline, op->channels.list, op->channels.n);

	if (r == 0)
		r = watt_timeline_set_delays(executor->timeline, executor->delays, NULL);
	return r < 0 ? r : watt_attrib_grow(executor->attrib, op->channels.list, op->channels.n);
}

static int or_gone(int r)
{
	return r == -ESRCH ? 0 : r;
}

static int apply(struct watt_executor *executor, const struct watt_op *op,
		 union watt_executor_result *ret)
{
	switch (op->kind) {
	case WATT_OP_SAMPLES:
		return push_samples(executor, op);
	case WATT_OP_USAGE:
		return watt_attrib_push_usage(executor->attrib, &op->usage);
	case WATT_OP_ACTIVITY:
		return watt_attrib_push_activity(executor->attrib, &op->activity);
	case WATT_OP_IDENTITY:
		return or_gone(watt_attrib_set_identity(executor->attrib, op->identity));
	case WATT_OP_CGROUP:
		return or_gone(watt_attrib_set_cgroup(executor->attrib, op->cgroup));
	case WATT_OP_CONTAINER:
		return or_gone(watt_attrib_set_container(executor->attrib, op->container));
	case WATT_OP_USER:
		return or_gone(watt_attrib_set_user(executor->attrib, op->user.uid, op->user.name));
	case WATT_OP_TRACK:
		return watt_attrib_track(executor->attrib, op->track_pid, &ret->entity_id);
	case WATT_OP_MARK:
		return add_mark(executor, &op->mark);
	case WATT_OP_ADVANCE:
		return WATT_MIN(watt_attrib_advance(executor->attrib, executor->timeline,
						    op->advance_ns),
				0);
	case WATT_OP_HOLD:
		watt_attrib_hold(executor->attrib, op->hold_ns);
		return 0;
	case WATT_OP_THREADS:
		return watt_attrib_show_threads(executor->attrib);
	case WATT_OP_CHANNELS:
		return add_channels(executor, op);
	case WATT_OP_SNAPSHOT:
		return take_snapshot(executor, op, &ret->snapshot);
	}
	return -EINVAL;
}

int watt_executor_apply(struct watt_executor *executor, const struct watt_op *op,
			union watt_executor_result *ret)
{
	union watt_executor_result unused;
	int r;

	/* what fails for the asker alone has changed nothing, and has not happened */
	if (op->kind == WATT_OP_TRACK) {
		r = apply(executor, op, ret ? ret : &unused);
		if (r < 0)
			return r;
	}
	if (executor->recorder)
		watt_recorder_put(executor->recorder, op);
	return op->kind == WATT_OP_TRACK ? 0 : apply(executor, op, ret ? ret : &unused);
}

struct watt_attrib *watt_executor_attrib(const struct watt_executor *executor)
{
	return executor->attrib;
}

uint64_t watt_executor_ready_ns(const struct watt_executor *executor, uint64_t t_ns)
{
	if (!watt_attrib_is_held(executor->attrib, executor->timeline))
		return 0;
	return watt_attrib_cut_ns(executor->attrib, t_ns);
}
