/* SPDX-License-Identifier: Apache-2.0 */
/* Hands ops to the stages they are for, and to the recorder. */
#include "executor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/profile.h>

#include "base/util.h"
#include "base/words.h"
#include "timeline/timeline.h"

struct watt_executor {
	struct watt_profile *prior; /* NULL: none */
	struct watt_timeline *timeline;
	struct watt_attrib *attrib;
	const struct watt_rules *delays; /* of the setup */
	const struct watt_log *log;
	struct watt_recorder *recorder; /* NULL: none */
	struct watt_mark *marks;        /* those that later windows may begin in */
	size_t n_marks, cap_marks;
	uint32_t *cursors; /* that are open; the first one is the session's own */
	size_t n_cursors, cap_cursors;
	bool begins_in_middle; /* what came before was told to somebody else */
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
		.memory_bytes = setup->memory_bytes,
		.share_keys = setup->share_keys,
		.log = log,
	};
	struct watt_executor *executor = calloc(1, sizeof(*executor));
	int r;

	if (!executor)
		return -ENOMEM;
	executor->delays = setup->delays;
	executor->log = log;
	r = setup->prior ?
		    watt_profile_parse(setup->prior, strlen(setup->prior), log ? log->fn : NULL,
				       log ? log->data : NULL, &executor->prior) :
		    0;
	opts.prior = executor->prior;
	if (r == 0)
		r = watt_timeline_new(setup->channels, setup->n_channels, &executor->timeline);
	if (r == 0)
		r = watt_timeline_set_delays(executor->timeline, setup->delays, log);
	if (r == 0)
		r = watt_attrib_new(&opts, &executor->attrib);
	if (r == 0)
		r = watt_grow((void **)&executor->cursors, &executor->cap_cursors, 0,
			      sizeof(*executor->cursors));
	if (r < 0) {
		watt_executor_free(executor);
		return r;
	}
	executor->cursors[executor->n_cursors++] = 0;
	*ret = executor;
	return 0;
}

struct watt_executor *watt_executor_free(struct watt_executor *executor)
{
	if (!executor)
		return NULL;
	watt_attrib_free(executor->attrib);
	watt_timeline_free(executor->timeline);
	watt_profile_free(executor->prior);
	free(executor->marks);
	free(executor->cursors);
	free(executor);
	return NULL;
}

/* Cursors that are there before it began are told to the recording as if they were new. */
void watt_executor_record(struct watt_executor *executor, struct watt_recorder *recorder)
{
	struct watt_op op = { .kind = WATT_OP_CURSOR, .cursor.is_open = true };
	size_t i;

	executor->recorder = recorder;
	for (i = 1; recorder && i < executor->n_cursors; i++) {
		op.cursor.id = executor->cursors[i];
		watt_recorder_put(recorder, &op);
	}
}

/* Once, and again when it is another one, or none any more. */
static void tell_age(const struct watt_executor *executor, size_t channel)
{
	struct watt_age_found age;

	if (watt_timeline_get_age(executor->timeline, channel, &age) == 0)
		watt_log(executor->log, WATT_LOG_INFO,
			 "%s: its values are %.2f s old, +-%.2f s, as %zu of them say",
			 age.channel->name, (double)age.delay_ns / 1e9,
			 (double)age.uncertainty_ns / 1e9, age.n);
	else
		watt_log(executor->log, WATT_LOG_INFO,
			 "%s: how old its values are is not known any more: they don't go as the "
			 "parts of the machine do",
			 age.channel->name);
}

static int push_samples(struct watt_executor *executor, const struct watt_op *op)
{
	size_t i;
	int r = 0;

	for (i = 0; i < op->samples.n && r >= 0; i++) {
		r = watt_timeline_push(executor->timeline, &op->samples.list[i]);
		if (r > 0)
			tell_age(executor, op->samples.list[i].channel);
	}
	return r < 0 ? r : 0;
}

/* Without snapshots, marks pile up: the first one says what the window began in. */
#define MAX_MARKS 4096

static void drop_marks(struct watt_executor *executor, size_t first, size_t n)
{
	executor->n_marks -= n;
	memmove(&executor->marks[first], &executor->marks[first + n],
		(executor->n_marks - first) * sizeof(executor->marks[0]));
}

/* Marks at or before a time. */
static size_t count_marks_until(const struct watt_executor *executor, uint64_t t_ns)
{
	size_t n = 0;

	while (n < executor->n_marks && executor->marks[n].t_ns <= t_ns)
		n++;
	return n;
}

/* Whether a window that is open began in the phase of this mark. */
static bool is_phase_of_window(const struct watt_executor *executor, size_t mark)
{
	uint64_t t_ns;
	size_t i;

	for (i = 0; i < executor->n_cursors; i++)
		if (watt_attrib_window_start_ns(executor->attrib, executor->cursors[i], &t_ns) ==
			    0 &&
		    count_marks_until(executor, t_ns) == mark + 1)
			return true;
	return false;
}

/* The oldest one in which no window began. There are more marks than windows. */
static void forget_mark(struct watt_executor *executor)
{
	size_t mark = 0;

	while (is_phase_of_window(executor, mark))
		mark++;
	drop_marks(executor, mark, 1);
}

/* Those before the one in which the oldest window began. */
static void forget_marks(struct watt_executor *executor)
{
	uint64_t oldest_ns = UINT64_MAX, t_ns;
	size_t i, past;

	for (i = 0; i < executor->n_cursors; i++)
		if (watt_attrib_window_start_ns(executor->attrib, executor->cursors[i], &t_ns) == 0)
			oldest_ns = WATT_MIN(oldest_ns, t_ns);
	past = count_marks_until(executor, oldest_ns);
	if (past > 1)
		drop_marks(executor, 0, past - 1);
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
	if (executor->n_marks > MAX_MARKS + executor->n_cursors)
		forget_mark(executor);
	return 0;
}

static const char *phase_of_window(const struct watt_executor *executor, uint32_t cursor)
{
	uint64_t t_ns;
	size_t past;

	if (watt_attrib_window_start_ns(executor->attrib, cursor, &t_ns) < 0)
		return NULL;
	past = count_marks_until(executor, t_ns);
	return past ? executor->marks[past - 1].label : NULL;
}

static int take_snapshot(struct watt_executor *executor, const struct watt_op *op,
			 struct watt_snapshot **ret)
{
	struct watt_look_opts opts = {
		.cursor = op->snapshot.cursor,
		.t_ns = op->snapshot.t_ns,
		.realtime_ns = op->snapshot.realtime_ns,
		.phase = phase_of_window(executor, op->snapshot.cursor),
		.losses = { .missed_reads = op->snapshot.missed_reads,
			    .lost_samples = op->snapshot.lost_samples },
	};
	int r;

	r = watt_attrib_snapshot(executor->attrib, executor->timeline, &opts, ret);
	forget_marks(executor);
	if (r == 0 && executor->recorder && op->kind == WATT_OP_SNAPSHOT)
		watt_recorder_put_snapshot(executor->recorder, *ret);
	return r;
}

/* ---- cursors ---- */

static int open_cursor(struct watt_executor *executor, uint32_t id, uint64_t t_ns)
{
	int r = watt_grow((void **)&executor->cursors, &executor->cap_cursors, executor->n_cursors,
			  sizeof(*executor->cursors));

	if (r == 0)
		r = watt_attrib_open_cursor(executor->attrib, id, t_ns);
	if (r == 0)
		executor->cursors[executor->n_cursors++] = id;
	return r;
}

static int close_cursor(struct watt_executor *executor, uint32_t id)
{
	size_t i = 0;
	int r = watt_attrib_close_cursor(executor->attrib, id);

	if (r < 0)
		return r;
	while (executor->cursors[i] != id)
		i++;
	executor->cursors[i] = executor->cursors[--executor->n_cursors];
	forget_marks(executor);
	return 0;
}

/* A file that begins in the middle does not say that a cursor was opened. */
static int look(struct watt_executor *executor, const struct watt_op *op,
		struct watt_snapshot **ret)
{
	uint64_t t_ns;
	int r = watt_attrib_window_start_ns(executor->attrib, op->snapshot.cursor, &t_ns);

	if (r == -ESRCH)
		r = open_cursor(executor, op->snapshot.cursor, op->snapshot.t_ns);
	return r < 0 ? r : take_snapshot(executor, op, ret);
}

/* What came before is there already: a file may begin in the middle. */
static int add_channels(struct watt_executor *executor, const struct watt_op *op)
{
	int r = watt_timeline_grow(executor->timeline, op->channels.list, op->channels.n);

	if (r == 0)
		r = watt_timeline_set_delays(executor->timeline, executor->delays, NULL);
	return r < 0 ? r : watt_attrib_grow(executor->attrib, op->channels.list, op->channels.n);
}

/*
 * Who has not seen what came before takes what was learned of it. What can't be is passed by: no
 * energy hangs on it.
 */
static int load_learned(struct watt_executor *executor, const struct watt_op *op)
{
	struct watt_words words = { .is_loading = true,
				    .list = (uint64_t *)op->learned.words,
				    .n = op->learned.n_words,
				    .texts = (char **)op->learned.texts,
				    .n_texts = op->learned.n_texts };
	int r = watt_attrib_load_learned(executor->attrib, op->learned.domain, &words);

	if (r == -EBADMSG)
		watt_log(executor->log, WATT_LOG_WARNING,
			 "what was learned of %s before is damaged, and is learned anew",
			 op->learned.domain);
	return r == -ENOMEM ? r : 0;
}

void watt_executor_begin_in_middle(struct watt_executor *executor)
{
	executor->begins_in_middle = true;
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
	case WATT_OP_UNTRACK:
		return watt_attrib_untrack(executor->attrib, op->untrack.pid, op->untrack.start_ns);
	case WATT_OP_MARK:
		return add_mark(executor, &op->mark);
	case WATT_OP_ADVANCE:
		return WATT_MIN(watt_attrib_advance(executor->attrib, executor->timeline,
						    op->advance_ns),
				0);
	case WATT_OP_BARRIER:
		watt_attrib_set_barrier(executor->attrib, op->barrier_ns);
		return 0;
	case WATT_OP_THREADS:
		return watt_attrib_show_threads(executor->attrib);
	case WATT_OP_CLOCK:
		if (op->clock.slept_ns)
			watt_timeline_sleep(executor->timeline, op->clock.from_ns, op->clock.to_ns);
		return 0;
	case WATT_OP_PLACE:
		return watt_attrib_place_cpu(executor->attrib, op->place.cpu, op->place.slot,
					     &op->place.at);
	case WATT_OP_LEARNED:
		return executor->begins_in_middle ? load_learned(executor, op) : 0;
	case WATT_OP_CHANNELS:
		return add_channels(executor, op);
	case WATT_OP_SNAPSHOT:
		return take_snapshot(executor, op, &ret->snapshot);
	case WATT_OP_LOOK:
		return look(executor, op, &ret->snapshot);
	case WATT_OP_CURSOR:
		return op->cursor.is_open ? open_cursor(executor, op->cursor.id, op->cursor.t_ns) :
					    or_gone(close_cursor(executor, op->cursor.id));
	}
	return -EINVAL;
}

static bool is_question(enum watt_op_kind kind)
{
	return kind == WATT_OP_TRACK || kind == WATT_OP_UNTRACK || kind == WATT_OP_CURSOR;
}

int watt_executor_apply(struct watt_executor *executor, const struct watt_op *op,
			union watt_executor_result *ret)
{
	union watt_executor_result unused;
	int r;

	/* what fails for the asker alone has changed nothing, and has not happened */
	if (is_question(op->kind)) {
		r = apply(executor, op, ret ? ret : &unused);
		if (r < 0)
			return r;
	}
	if (executor->recorder)
		watt_recorder_put(executor->recorder, op);
	return is_question(op->kind) ? 0 : apply(executor, op, ret ? ret : &unused);
}

struct watt_attrib *watt_executor_attrib(const struct watt_executor *executor)
{
	return executor->attrib;
}

uint64_t watt_executor_ready_ns(const struct watt_executor *executor, uint64_t t_ns)
{
	if (!watt_attrib_is_at_barrier(executor->attrib, executor->timeline))
		return 0;
	return watt_attrib_cut_ns(executor->attrib, t_ns);
}
