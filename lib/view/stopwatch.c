/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures one run: from a snapshot before its first instruction to one after its last
 * descendant's accounts are in. Both are of one time in all domains, so a sensor that tells late
 * is waited for: while the run goes on, and at its end.
 */
#include <wattribute/stopwatch.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/sized.h"
#include "base/util.h"
#include "view/runs.h"

#define FLUSH_MS 3000
/* How long sensors that have not begun to measure are waited for before the run. */
#define BEGIN_NS (500 * WATT_NSEC_PER_MSEC)
#define BEGIN_RETRY_MS 10
/* While a slow sensor keeps a mark or an interval waiting, the session is asked again so often. */
#define RETRY_NS (10 * WATT_NSEC_PER_MSEC)
#define NEVER UINT64_MAX

struct watt_stopwatch {
	struct watt_session *ses;
	struct watt_cursor *cursor; /* nobody else's windows are cut with it */
	struct watt_stopwatch_opts opts;
	struct watt_run_draft draft;
	struct watt_totals before, last, after; /* last: at the end of the newest interval */
	uint64_t before_ns;                     /* the instant that `before` is of */
	uint64_t begin_ns, end_ns;              /* 0: not yet */
	struct watt_totals phase_begin;         /* none was taken: the phase is the first */
	struct watt_mark phase;                 /* that began it */
	struct watt_mark *marks;                /* whose snapshots are to come, in their order */
	size_t n_marks, marks_cap;
	struct watt_balance balance;
	uint64_t n_intervals; /* that are over, of the grid */
	size_t n_taken;       /* of the run's intervals */
	bool has_phases, has_balance, is_finished;
};

int watt_stopwatch_open(struct watt_session *ses, const struct watt_stopwatch_opts *opts,
			struct watt_stopwatch **ret)
{
	struct watt_stopwatch *watch;
	struct watt_stopwatch_opts taken;
	int r;

	if (!ses || !ret || watt_sized_take(opts, &taken, sizeof(taken)) < 0 || !taken.tracked_id)
		return -EINVAL;
	watch = calloc(1, sizeof(*watch));
	if (!watch)
		return -ENOMEM;
	watch->ses = ses;
	watch->opts = taken;
	r = watt_run_draft_init(&watch->draft);
	if (r == 0)
		r = watt_cursor_open(ses, &watch->cursor);
	if (r < 0) {
		watt_stopwatch_close(watch);
		return r;
	}
	*ret = watch;
	return 0;
}

struct watt_stopwatch *watt_stopwatch_close(struct watt_stopwatch *watch)
{
	if (!watch)
		return NULL;
	watt_totals_done(&watch->before);
	watt_totals_done(&watch->last);
	watt_totals_done(&watch->after);
	watt_totals_done(&watch->phase_begin);
	watt_run_draft_done(&watch->draft);
	watt_cursor_close(watch->cursor);
	free(watch->marks);
	free(watch);
	return NULL;
}

static void take_balance(struct watt_stopwatch *watch, const struct watt_totals *totals)
{
	watch->balance = totals->balance;
	watch->has_balance = true;
}

/* ---- the beginning ---- */

/*
 * Whether a sensor that is read soon again has not begun to measure. One that tells seldom, or
 * nothing but errors, is not waited for.
 */
static bool is_any_pending(const struct watt_stopwatch *watch, const struct watt_view *view)
{
	size_t i;

	for (i = 0; i < view->n_domains; i++) {
		int32_t channel = view->domains[i]->channel;

		if (channel >= 0 && view->states[i]->samples < 2 && !view->states[i]->errors &&
		    watt_session_get_channel(watch->ses, (size_t)channel)->period_ns <=
			    BEGIN_NS / 2)
			return true;
	}
	return false;
}

/* What is not measured when the run begins is not in its energy. */
static int wait_for_sensors(const struct watt_stopwatch *watch)
{
	uint64_t deadline_ns = watt_now_ns() + BEGIN_NS;
	struct watt_totals now = { 0 };
	int r;

	do {
		r = watt_totals_take(watch->cursor, 0, &now);
		if (r < 0 || !is_any_pending(watch, now.view))
			break;
		r = watt_session_wait(watch->ses, BEGIN_RETRY_MS);
	} while (r == 0 && watt_now_ns() < deadline_ns);
	watt_totals_done(&now);
	return r;
}

/* What was used before the run. What the set used while it waited to be let go is the run's. */
static int take_before(struct watt_stopwatch *watch)
{
	watt_totals_start(&watch->before);
	return watt_run_note_threads(&watch->draft, watch->before.view, watch->opts.tracked_id);
}

/* -ETIMEDOUT: not all sensors have told what there was before the run. */
static int cut_before(struct watt_stopwatch *watch, uint32_t timeout_ms)
{
	int r = watt_totals_take_at(watch->cursor, watch->opts.tracked_id, watch->before_ns,
				    timeout_ms, &watch->before);

	return r < 0 ? r : take_before(watch);
}

int watt_stopwatch_prepare(struct watt_stopwatch *watch)
{
	int r;

	if (!watch || watch->before_ns)
		return -EINVAL;
	r = wait_for_sensors(watch);
	if (r < 0)
		return r;
	watch->before_ns = watt_now_ns();
	r = watt_session_flush(watch->ses, FLUSH_MS);
	if (r >= 0 || r == -ETIMEDOUT)
		r = cut_before(watch, 0);
	return r == -ETIMEDOUT ? 0 : r;
}

int watt_stopwatch_begin(struct watt_stopwatch *watch)
{
	struct watt_mark mark;

	if (!watch || !watch->before_ns || watch->begin_ns)
		return -EINVAL;
	while (watt_session_next_mark(watch->ses, &mark) == 0)
		continue;
	watch->begin_ns = watt_now_ns();
	return 0;
}

/* ---- intervals ---- */

static int add_interval(struct watt_stopwatch *watch, const struct watt_totals *now)
{
	const struct watt_totals *last = &watch->last;
	uint64_t from_ns = last->snap ? last->t_ns : watch->begin_ns;
	struct watt_run_interval interval = {
		.end_ns = now->t_ns - watch->begin_ns,
		.elapsed_ns = now->t_ns > from_ns ? now->t_ns - from_ns : 0,
		.energy_nj = watt_totals_between_nj(watt_totals_get_energy(last),
						    watt_totals_get_energy(now)),
		.machine_nj = watt_totals_between_nj(last->snap ? last->balance.energy :
								  watch->before.balance.energy,
						     now->balance.energy),
		.cpu_ns = watt_totals_get_cpu_ns(now) - watt_totals_get_cpu_ns(last),
	};

	/* Where the last slice ended with the newest interval, nothing is behind it. */
	if (last->snap && !interval.elapsed_ns && !interval.energy_nj && !interval.machine_nj &&
	    !interval.cpu_ns)
		return 0;
	return watt_run_add_interval(&watch->draft, &interval);
}

int watt_stopwatch_next_interval(struct watt_stopwatch *watch, struct watt_run_interval *ret)
{
	struct watt_run *run;

	if (!watch || !ret)
		return -EINVAL;
	run = watch->draft.run;
	if (!run || watch->n_taken >= run->n_intervals)
		return -EAGAIN;
	*ret = run->intervals[watch->n_taken++];
	if (watch->n_taken == run->n_intervals)
		watch->n_taken = run->n_intervals = 0;
	return 0;
}

/* When the interval that goes on is to end. */
static uint64_t get_interval_end_ns(const struct watt_stopwatch *watch)
{
	return watch->opts.interval_ns ?
		       watch->begin_ns + (watch->n_intervals + 1) * watch->opts.interval_ns :
		       NEVER;
}

/*
 * Ends it by a snapshot of that time, not of what is known by then: sensors tell late, and energy
 * of one time must not be divided by the length of another. -ETIMEDOUT: not all have told.
 */
static int end_interval(struct watt_stopwatch *watch, uint32_t timeout_ms)
{
	struct watt_totals now = { 0 };
	int r;

	r = watt_totals_take_at(watch->cursor, watch->opts.tracked_id, get_interval_end_ns(watch),
				timeout_ms, &now);
	if (r < 0)
		return r;
	take_balance(watch, &now);
	r = watt_run_note(&watch->draft, now.view, watch->opts.tracked_id);
	if (r == 0)
		r = add_interval(watch, &now);
	watt_totals_done(&watch->last);
	watch->last = now;
	/* Where slices are longer, those that end in this one are over with it: nobody knows more. */
	while (get_interval_end_ns(watch) <= now.t_ns)
		watch->n_intervals++;
	return r;
}

/* ---- phases ---- */

int watt_stopwatch_mark(struct watt_stopwatch *watch, const struct watt_mark *mark)
{
	if (!watch || !mark || !watch->begin_ns || watch->is_finished)
		return -EINVAL;
	if (watt_grow((void **)&watch->marks, &watch->marks_cap, watch->n_marks,
		      sizeof(*watch->marks)) < 0)
		return -ENOMEM;
	watch->marks[watch->n_marks++] = *mark;
	watch->has_phases = true;
	return 0;
}

/* The phase that goes on ends at `to`. */
static int end_phase(struct watt_stopwatch *watch, const struct watt_totals *to)
{
	const struct watt_totals *from = watch->phase_begin.snap ? &watch->phase_begin :
								   &watch->before;
	uint64_t begin_ns = watch->phase_begin.snap ? watch->phase_begin.t_ns : watch->begin_ns;
	uint64_t end_ns = watch->end_ns && watch->end_ns < to->t_ns ? watch->end_ns : to->t_ns;

	return watt_run_add_phase(&watch->draft, watch->phase.label,
				  end_ns > begin_ns ? end_ns - begin_ns : 0, from, to);
}

/* Ends it where the oldest mark is. -ETIMEDOUT: not all sensors have told. */
static int end_phase_at(struct watt_stopwatch *watch, uint64_t t_ns, uint32_t timeout_ms)
{
	struct watt_totals now = { 0 };
	int r;

	r = watt_totals_take_at(watch->cursor, watch->opts.tracked_id, t_ns, timeout_ms, &now);
	if (r < 0)
		return r;
	r = watt_run_note(&watch->draft, now.view, watch->opts.tracked_id);
	if (r == 0)
		r = end_phase(watch, &now);
	watt_totals_done(&watch->phase_begin);
	watch->phase_begin = now;
	return r;
}

static int cut_phase(struct watt_stopwatch *watch, uint32_t timeout_ms)
{
	uint64_t t_ns = watch->marks[0].t_ns;
	int r;

	/* Marks of one slice are cut by one snapshot. */
	if (watch->phase_begin.snap && t_ns <= watch->phase_begin.t_ns)
		r = end_phase(watch, &watch->phase_begin);
	else
		r = end_phase_at(watch, t_ns, timeout_ms);
	if (r < 0)
		return r;
	watch->phase = watch->marks[0];
	memmove(&watch->marks[0], &watch->marks[1], --watch->n_marks * sizeof(*watch->marks));
	return 0;
}

/* ---- cuts ---- */

/* Whether something is to be cut, and has not been because a sensor has not told. */
static bool has_cuts(const struct watt_stopwatch *watch, uint64_t now_ns)
{
	return !watch->before.snap || watch->n_marks > 0 || get_interval_end_ns(watch) <= now_ns;
}

/*
 * Ends phases at the marks that came and intervals that are over by now_ns, in the order of time.
 * -ETIMEDOUT: not all sensors have told.
 */
static int cut(struct watt_stopwatch *watch, uint64_t now_ns, uint32_t timeout_ms)
{
	int r = watch->before.snap ? 0 : cut_before(watch, timeout_ms);

	while (r == 0 && has_cuts(watch, now_ns)) {
		uint64_t interval_end_ns = get_interval_end_ns(watch);
		bool is_phase = watch->n_marks > 0 && watch->marks[0].t_ns <= interval_end_ns;

		/* Nothing later may be attributed while a mark waits. */
		if (is_phase || interval_end_ns > now_ns)
			r = cut_phase(watch, timeout_ms);
		else
			r = end_interval(watch, timeout_ms);
	}
	return r;
}

int watt_stopwatch_cut(struct watt_stopwatch *watch)
{
	int r;

	if (!watch || !watch->begin_ns || watch->is_finished)
		return -EINVAL;
	r = cut(watch, watt_now_ns(), 0);
	return r == -ETIMEDOUT ? 0 : r;
}

uint64_t watt_stopwatch_get_next_ns(const struct watt_stopwatch *watch)
{
	uint64_t now_ns = watt_now_ns();

	if (!watch || !watch->begin_ns || watch->is_finished)
		return NEVER;
	return has_cuts(watch, now_ns) ? now_ns + RETRY_NS : get_interval_end_ns(watch);
}

/* ---- the end ---- */

/* What the command told with its last breath. */
static int take_last_marks(struct watt_stopwatch *watch)
{
	struct watt_mark mark;
	size_t n_before;
	int r;

	do {
		n_before = watch->n_marks;
		r = watt_session_dispatch(watch->ses);
		while (r >= 0 && watt_session_next_mark(watch->ses, &mark) == 0)
			r = watt_stopwatch_mark(watch, &mark);
	} while (r >= 0 && watch->n_marks > n_before);
	return r < 0 ? r : 0;
}

static int take_after(struct watt_stopwatch *watch, uint32_t timeout_ms)
{
	return watt_totals_take_at(watch->cursor, watch->opts.tracked_id, watch->end_ns, timeout_ms,
				   &watch->after);
}

int watt_stopwatch_end(struct watt_stopwatch *watch)
{
	int r;

	if (!watch || !watch->begin_ns || watch->end_ns)
		return -EINVAL;
	watch->end_ns = watt_now_ns();
	watch->draft.run->elapsed_ns = watch->end_ns - watch->begin_ns;
	r = take_last_marks(watch);
	if (r == 0)
		r = cut(watch, watch->end_ns, 0);
	/* The first snapshot that is asked for and not given holds back what is later. */
	if (r == 0)
		r = take_after(watch, 0);
	return r == -ETIMEDOUT ? 0 : r;
}

/* How long slow sensors may still be waited for. */
static uint32_t get_left_ms(const struct watt_stopwatch *watch, uint32_t timeout_ms)
{
	uint64_t end_ns = watch->end_ns + timeout_ms * WATT_NSEC_PER_MSEC;
	uint64_t now_ns = watt_now_ns();

	return now_ns < end_ns ? (uint32_t)((end_ns - now_ns) / WATT_NSEC_PER_MSEC) : 0;
}

/* What there was before the run, as far as it is known. */
static int give_up_before(struct watt_stopwatch *watch)
{
	int r = watt_totals_take(watch->cursor, watch->opts.tracked_id, &watch->before);

	if (r == 0)
		r = take_before(watch);
	return r < 0 ? r : WATT_STOPWATCH_LACKS_BEGIN;
}

/* Cuts all that is still to be cut; says what it could not. */
static int finish_cuts(struct watt_stopwatch *watch, uint32_t timeout_ms)
{
	int r = cut(watch, watch->end_ns, get_left_ms(watch, timeout_ms));

	if (r < 0 && r != -ETIMEDOUT)
		return r;
	if (!watch->before.snap)
		return give_up_before(watch);
	return has_cuts(watch, watch->end_ns) ? WATT_STOPWATCH_LACKS_CUTS : 0;
}

/* A snapshot of the end; of what each domain has told, where one does not tell in time. */
static int finish_after(struct watt_stopwatch *watch, uint32_t timeout_ms)
{
	int r;

	if (watch->after.snap)
		return 0;
	r = take_after(watch, get_left_ms(watch, timeout_ms));
	return r == -ETIMEDOUT ?
		       watt_totals_take(watch->cursor, watch->opts.tracked_id, &watch->after) :
		       r;
}

/* The last phase and the last interval, and what all of it was. */
static int fill(struct watt_stopwatch *watch)
{
	struct watt_totals *after = &watch->after;
	int r;

	r = watt_run_note(&watch->draft, after->view, watch->opts.tracked_id);
	if (r == 0 && watch->has_phases)
		r = end_phase(watch, after);
	if (r == 0 && watch->opts.interval_ns) {
		after->t_ns = watt_totals_get_known_ns(after);
		r = add_interval(watch, after);
	}
	take_balance(watch, after);
	if (r == 0)
		r = watt_run_fill(&watch->draft, &watch->before, after, &watch->balance);
	return r == 0 ? watt_run_end_threads(&watch->draft) : r;
}

/* What somebody took is not in the run. */
static void drop_taken(struct watt_stopwatch *watch)
{
	struct watt_run *run = watch->draft.run;

	run->n_intervals -= watch->n_taken;
	if (run->n_intervals)
		memmove(&run->intervals[0], &run->intervals[watch->n_taken],
			run->n_intervals * sizeof(*run->intervals));
	watch->n_taken = 0;
}

int watt_stopwatch_finish(struct watt_stopwatch *watch, uint32_t timeout_ms, struct watt_run **ret)
{
	int r, lacks;

	if (!watch || !ret || !watch->end_ns || watch->is_finished)
		return -EINVAL;
	lacks = finish_cuts(watch, timeout_ms);
	r = lacks < 0 ? lacks : finish_after(watch, timeout_ms);
	if (r < 0)
		return r;
	/* Whatever comes of it: what has been added once must not be added again. */
	watch->is_finished = true;
	r = fill(watch);
	if (r < 0)
		return r;
	drop_taken(watch);
	*ret = watch->draft.run;
	watch->draft.run = NULL;
	return lacks;
}

int watt_stopwatch_get_balance(const struct watt_stopwatch *watch, struct watt_balance *ret)
{
	if (!watch || !watt_sized_is_valid(ret))
		return -EINVAL;
	if (!watch->has_balance)
		return -ENODATA;
	watt_sized_give(&watch->balance, sizeof(watch->balance), ret);
	return 0;
}

const struct watt_quality *watt_stopwatch_get_quality(const struct watt_stopwatch *watch)
{
	return watch && watch->is_finished ? watch->after.view->quality : NULL;
}
