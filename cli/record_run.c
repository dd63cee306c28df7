/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts the session at each second and at each mark, in the order of time. A cut waits for the
 * sensors that are slow, and nothing else waits for the cut.
 */
#include "record_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "message.h"
#include "status.h"
#include "xalloc.h"

#define WINDOW_NS 1000000000ULL
/* A program may make marks as fast as it can; more windows a second are of no use to anybody. */
#define WINDOW_MIN_NS 5000000ULL
/* While a cut waits, the session is asked again so often. */
#define RETRY_NS 10000000ULL
#define FINISH_MS 3000
/* Cuts that wait; beyond, windows are longer. */
#define CUTS_MAX 600

struct recorder {
	struct record_setup *setup;
	struct record_run *run;
	struct child child;
	uint64_t *cuts; /* times whose snapshots are still to come */
	size_t n_cuts;
	uint64_t newest_cut_ns;
	uint64_t next_second_ns;
	bool is_done;
};

/* ---- snapshots ---- */

static void add_cut(struct recorder *rec, uint64_t t_ns)
{
	/* There is one already, at this time or a moment later. */
	if (t_ns <= rec->newest_cut_ns || rec->n_cuts >= CUTS_MAX)
		return;
	if (t_ns < rec->newest_cut_ns + WINDOW_MIN_NS)
		t_ns = rec->newest_cut_ns + WINDOW_MIN_NS;
	rec->newest_cut_ns = t_ns;
	rec->cuts = xrealloc(rec->cuts, rec->n_cuts + 1, sizeof(*rec->cuts));
	rec->cuts[rec->n_cuts++] = t_ns;
}

static int take(struct recorder *rec)
{
	const struct record_setup *setup = rec->setup;

	return setup->take ? setup->take(setup->data, rec->run->totals.snap) : 0;
}

/* Takes the snapshots whose sensors have answered. */
static int take_cuts(struct recorder *rec, uint32_t timeout_ms)
{
	int r;

	while (rec->n_cuts > 0) {
		/* Marks of one slice are cut by one snapshot. */
		if (rec->cuts[0] > rec->run->totals.t_ns) {
			r = totals_take_at(rec->setup->ses, rec->run->entity_id, rec->cuts[0],
					   timeout_ms, &rec->run->totals);
			if (r == -ETIMEDOUT && timeout_ms == 0)
				return 0;
			if (r == 0)
				r = take(rec);
			if (r < 0)
				return r;
		}
		memmove(&rec->cuts[0], &rec->cuts[1], --rec->n_cuts * sizeof(*rec->cuts));
	}
	return 0;
}

static void take_mark(struct recorder *rec, const struct watt_mark *mark)
{
	add_cut(rec, mark->t_ns);
	rec->run->mark = *mark;
	rec->run->n_marks++;
}

static void end_second(struct recorder *rec)
{
	uint64_t now_ns = events_now_ns();

	add_cut(rec, rec->next_second_ns);
	/* Seconds that nobody had time for are one window. */
	while (rec->next_second_ns <= now_ns)
		rec->next_second_ns += WINDOW_NS;
}

/* ---- the command ---- */

static int begin_child(struct recorder *rec)
{
	struct record_setup *setup = rec->setup;
	int r;

	if (!setup->argv)
		return 0;
	r = child_start(&rec->child, setup->argv, watt_session_get_marks_address(setup->ses));
	if (r < 0) {
		message_error("cannot start a process: %s", strerror(-r));
		return r;
	}
	setup->events.process_fd = rec->child.pidfd;
	r = watt_session_track(setup->ses, (uint32_t)rec->child.pid, &rec->run->entity_id);
	if (r < 0) {
		message_error("cannot follow the command: %s", strerror(-r));
		return r;
	}
	r = child_release(&rec->child);
	if (r == 0)
		return 0;
	message_error("cannot run '%s': %s", setup->argv[0], strerror(-r));
	return r == -ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
}

/* A signal for us is one for the command, unless the terminal has sent it to both. */
static void take_signal(struct recorder *rec)
{
	const struct events *ev = &rec->setup->events;

	if (ev->signal == SIGCHLD || ev->signal == SIGWINCH || ev->signal == SIGCONT)
		return;
	if (!rec->setup->argv)
		rec->is_done = rec->is_done || (ev->signal != SIGUSR1 && ev->signal != SIGUSR2);
	else if (!ev->is_from_terminal && rec->child.pid > 0)
		kill(rec->child.pid, ev->signal);
}

static void reap(struct recorder *rec)
{
	struct rusage usage;
	int status;

	if (!rec->setup->argv || child_reap(&rec->child, &status, &usage) <= 0)
		return;
	rec->run->exit_status = WIFSIGNALED(status) ? STATUS_SIGNAL + WTERMSIG(status) :
						      WEXITSTATUS(status);
	rec->is_done = true;
}

/* ---- the time between ---- */

static uint64_t next_deadline_ns(const struct recorder *rec, uint64_t end_ns)
{
	uint64_t deadline_ns = rec->next_second_ns < end_ns ? rec->next_second_ns : end_ns;
	uint64_t retry_ns = rec->n_cuts > 0 ? events_now_ns() + RETRY_NS : EVENTS_NEVER;

	return retry_ns < deadline_ns ? retry_ns : deadline_ns;
}

static int take_events(struct recorder *rec, int happened)
{
	bool is_worth_showing = happened & EVENTS_MARK;
	int r;

	if (happened & EVENTS_MARK)
		take_mark(rec, &rec->setup->events.mark);
	if (happened & EVENTS_SIGNAL)
		take_signal(rec);
	if (happened & (EVENTS_PROCESS | EVENTS_SIGNAL))
		reap(rec);
	if (events_now_ns() >= rec->next_second_ns) {
		end_second(rec);
		is_worth_showing = true;
	}
	r = take_cuts(rec, 0);
	if (r == 0 && is_worth_showing && rec->setup->show)
		rec->setup->show(rec->setup->data);
	return r;
}

static int run_until_end(struct recorder *rec)
{
	struct record_setup *setup = rec->setup;
	uint64_t end_ns = setup->limit_ns ? rec->run->begin_ns + setup->limit_ns : EVENTS_NEVER;
	int r;

	while (!rec->is_done) {
		r = events_wait(&setup->events, setup->ses, next_deadline_ns(rec, end_ns));
		if (r >= 0)
			r = take_events(rec, r);
		if (r < 0)
			return r;
		if (events_now_ns() >= end_ns)
			rec->is_done = true;
	}
	return 0;
}

/* Time is over for a command that is not: it gets what a terminal would send. */
static int end_child(struct recorder *rec)
{
	struct record_setup *setup = rec->setup;
	int r = 0;

	if (!setup->argv || rec->child.pid <= 0)
		return 0;
	kill(rec->child.pid, SIGTERM);
	rec->is_done = false;
	while (!rec->is_done && r >= 0) {
		r = events_wait(&setup->events, setup->ses, next_deadline_ns(rec, EVENTS_NEVER));
		if (r >= 0)
			r = take_events(rec, r);
	}
	/* That is no failure of the command's. */
	if (rec->run->exit_status == STATUS_SIGNAL + SIGTERM)
		rec->run->exit_status = STATUS_OK;
	return r;
}

/* What was told with the last breath. */
static int take_last_marks(struct recorder *rec)
{
	struct watt_session *ses = rec->setup->ses;
	struct watt_mark mark;
	size_t before;
	int r;

	do {
		before = rec->n_cuts;
		r = watt_session_dispatch(ses);
		if (r < 0)
			return r;
		while (watt_session_next_mark(ses, &mark) == 0)
			take_mark(rec, &mark);
	} while (rec->n_cuts > before);
	return 0;
}

static int flush(struct recorder *rec)
{
	int r = watt_session_flush(rec->setup->ses, FINISH_MS);

	return r == -ETIMEDOUT || r > 0 ? 0 : r;
}

/* What there is of the end where a sensor does not tell: of each domain what it has told. */
static int give_up_end(struct recorder *rec)
{
	struct totals *totals = &rec->run->totals;
	int r;

	message_note("a sensor did not answer in time: its last seconds are missing");
	/* nobody waits any more: the others go on to their newest */
	r = totals_take(rec->setup->ses, 0, totals);
	if (r == 0)
		r = flush(rec);
	rec->newest_cut_ns = events_now_ns();
	return r < 0 ? r : totals_take(rec->setup->ses, rec->run->entity_id, totals);
}

/* A snapshot of the very end, where the recording ends too. */
static int finish(struct recorder *rec)
{
	uint64_t end_ns = events_now_ns();
	int r = take_last_marks(rec);

	if (r < 0)
		return r;
	add_cut(rec, end_ns);
	r = take_cuts(rec, 0); /* nothing behind it is attributed from here on */
	if (r == 0)
		r = flush(rec);
	if (r == 0)
		r = take_cuts(rec, FINISH_MS);
	if (r == -ETIMEDOUT) {
		r = give_up_end(rec);
		if (r == 0)
			r = take(rec);
	}
	if (r == 0)
		watt_session_end_recording(rec->setup->ses, rec->newest_cut_ns);
	return r;
}

int record_run(struct record_setup *setup, struct record_run *run)
{
	struct recorder rec = { .setup = setup, .run = run, .child = CHILD_INIT };
	int r;

	r = watt_session_start(setup->ses);
	if (r == 0) {
		run->begin_ns = events_now_ns();
		rec.next_second_ns = run->begin_ns + WINDOW_NS;
		r = begin_child(&rec);
	}
	if (r == 0 && setup->begun)
		setup->begun(setup->data);
	if (r == 0)
		r = run_until_end(&rec);
	if (r == 0)
		r = end_child(&rec);
	if (r == 0)
		r = finish(&rec);
	if (r < 0 && r != -EPIPE && message_get_error_count() == 0)
		message_error("cannot measure: %s", strerror(-r));
	setup->events.process_fd = -1;
	child_close(&rec.child);
	free(rec.cuts);
	return r;
}

void record_run_done(struct record_run *run)
{
	totals_done(&run->totals);
}
