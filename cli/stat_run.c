/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a command, or follows a process, while the library measures: signals are passed on, marks
 * and intervals are cut in time, and what did not come in time is said.
 */
#include "stat_run.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <wattribute/stopwatch.h>

#include "child.h"
#include "message.h"
#include "status.h"

#define FLUSH_MS 3000
/* How long slow sensors are waited for at the end, and not one of them for longer. */
#define FINISH_MS 3000

/* What is known while a run goes on. */
struct measurement {
	struct stat_setup *setup;
	struct watt_stopwatch *watch;
	struct child child;
	uint64_t entity_id;
	uint64_t limit_ns; /* when to end, at the latest */
	int exit_status;
	double rusage_s; /* NAN: not a child */
};

static void take_balance(struct measurement *m)
{
	m->setup->balance.sz = sizeof(m->setup->balance);
	watt_stopwatch_get_balance(m->watch, &m->setup->balance);
}

static void show(struct measurement *m, const struct watt_run_interval *interval)
{
	take_balance(m);
	m->setup->show_interval(m->setup->data, interval);
}

/* Cuts what is to be cut by now, and shows what is over. */
static int cut(struct measurement *m)
{
	struct watt_run_interval interval;
	int r = watt_stopwatch_cut(m->watch);

	while (m->setup->show_interval && watt_stopwatch_next_interval(m->watch, &interval) == 0)
		show(m, &interval);
	return r;
}

/* A signal for us is one for the command, unless the terminal has sent it to both. */
static bool pass_signal(struct measurement *m)
{
	const struct events *ev = &m->setup->events;

	if (ev->signal == SIGCHLD || ev->signal == SIGWINCH || ev->signal == SIGCONT)
		return false;
	if (ev->signal != SIGUSR1 && ev->signal != SIGUSR2)
		m->setup->is_interrupted = true;
	if (!m->setup->argv)
		return m->setup->is_interrupted;
	if (!ev->is_from_terminal && m->child.pid > 0)
		kill(m->child.pid, ev->signal);
	return false;
}

static void take_exit(struct measurement *m, int status, const struct rusage *usage)
{
	m->exit_status = WIFSIGNALED(status) ? STATUS_SIGNAL + WTERMSIG(status) :
					       WEXITSTATUS(status);
	m->rusage_s = (double)usage->ru_utime.tv_sec + (double)usage->ru_utime.tv_usec / 1e6 +
		      (double)usage->ru_stime.tv_sec + (double)usage->ru_stime.tv_usec / 1e6;
}

/* Whether the process has ended. */
static bool has_ended(struct measurement *m, int happened)
{
	struct rusage usage;
	int status;

	if (!m->setup->argv)
		return happened & EVENTS_PROCESS;
	if (child_reap(&m->child, &status, &usage) <= 0)
		return false;
	take_exit(m, status, &usage);
	return true;
}

static uint64_t next_deadline(const struct measurement *m)
{
	uint64_t cut_ns = watt_stopwatch_get_next_ns(m->watch);

	return m->limit_ns < cut_ns ? m->limit_ns : cut_ns;
}

static int wait_for_end(struct measurement *m)
{
	for (;;) {
		int happened = events_wait(&m->setup->events, m->setup->ses, next_deadline(m));
		int r = 0;

		if (happened < 0)
			return happened;
		if (happened & EVENTS_MARK)
			r = watt_stopwatch_mark(m->watch, &m->setup->events.mark);
		if (r < 0)
			return r;
		if ((happened & EVENTS_SIGNAL) && pass_signal(m))
			return 0;
		if ((happened & (EVENTS_PROCESS | EVENTS_SIGNAL)) && has_ended(m, happened))
			return 0;
		r = cut(m);
		if (r < 0 || events_now_ns() >= m->limit_ns)
			return r;
	}
}

static int begin_child(struct measurement *m)
{
	struct stat_setup *setup = m->setup;
	int r;

	r = child_start(&m->child, setup->argv, watt_session_get_marks_address(setup->ses));
	if (r < 0) {
		message_error("cannot start a process: %s", strerror(-r));
		return r;
	}
	setup->events.process_fd = m->child.pidfd;
	r = watt_session_track(setup->ses, (uint32_t)m->child.pid, &m->entity_id);
	if (r < 0)
		message_error("cannot follow the command: %s", strerror(-r));
	return r;
}

static int begin_attached(struct measurement *m)
{
	struct stat_setup *setup = m->setup;
	int r;

	m->child.pidfd = (int)syscall(SYS_pidfd_open, (pid_t)setup->pid, 0);
	r = m->child.pidfd < 0 ? -errno : 0;
	if (r == 0)
		r = watt_session_track(setup->ses, setup->pid, &m->entity_id);
	if (r == -ESRCH || r == -EINVAL)
		message_error("no process %u", setup->pid);
	else if (r < 0)
		message_error("cannot follow process %u: %s", setup->pid, strerror(-r));
	setup->events.process_fd = m->child.pidfd;
	return r;
}

/* 0; a positive exit status: the command can't be run; negative. */
static int release(struct measurement *m)
{
	int r = watt_stopwatch_begin(m->watch);

	m->limit_ns = m->setup->limit_ns ? events_now_ns() + m->setup->limit_ns : EVENTS_NEVER;
	if (r < 0 || !m->setup->argv)
		return r;
	r = child_release(&m->child);
	if (r == 0)
		return 0;
	message_error("cannot run '%s': %s", m->setup->argv[0], strerror(-r));
	return r == -ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
}

static int flush(struct measurement *m)
{
	int r = watt_session_flush(m->setup->ses, FLUSH_MS);

	if (r == -ETIMEDOUT)
		message_note("not all accounts came in time: the rest is in 'unattributed'");
	return r == -ETIMEDOUT || r > 0 ? 0 : r;
}

static void say_what_lacks(int lacks)
{
	if (lacks & WATT_STOPWATCH_LACKS_BEGIN)
		message_note("a sensor did not answer in time: its energy is not that of the run "
			     "alone");
	if (lacks & WATT_STOPWATCH_LACKS_CUTS)
		message_note("a sensor did not answer in time: the last phases or intervals are "
			     "in one");
}

/* The intervals that were over with the run are shown too, where they are. */
static void show_last(struct measurement *m, struct watt_run *run)
{
	size_t i;

	for (i = 0; i < run->n_intervals; i++)
		show(m, &run->intervals[i]);
	run->n_intervals = 0;
}

static int finish(struct measurement *m, struct watt_run **ret)
{
	struct stat_setup *setup = m->setup;
	struct watt_run *run;
	int r;

	r = watt_stopwatch_end(m->watch);
	if (r >= 0)
		r = flush(m);
	if (r >= 0)
		r = watt_stopwatch_finish(m->watch, FINISH_MS, &run);
	if (r < 0)
		return r;
	say_what_lacks(r);
	if (setup->show_interval)
		show_last(m, run);
	take_balance(m);
	setup->quality = *watt_stopwatch_get_quality(m->watch);
	run->exit_status = m->exit_status;
	run->rusage_s = m->rusage_s;
	*ret = run;
	return 0;
}

/* The command is there and waits: what was before is known from here on, or a little later. */
static int prepare(struct measurement *m)
{
	struct watt_stopwatch_opts opts = { .sz = sizeof(opts),
					    .tracked_id = m->entity_id,
					    .interval_ns = m->setup->interval_ns };
	int r = watt_stopwatch_open(m->setup->ses, &opts, &m->watch);

	return r < 0 ? r : watt_stopwatch_prepare(m->watch);
}

static int measure(struct measurement *m, struct watt_run **ret)
{
	int r = prepare(m);

	if (r == 0)
		r = release(m);
	if (r == 0)
		r = wait_for_end(m);
	if (r == 0)
		r = finish(m, ret);
	if (r < 0)
		message_error("cannot measure: %s", strerror(-r));
	return r;
}

int stat_run_measure(struct stat_setup *setup, struct watt_run **ret)
{
	struct measurement m = { .setup = setup, .child = CHILD_INIT, .rusage_s = NAN };
	int r;

	r = setup->argv ? begin_child(&m) : begin_attached(&m);
	if (r == 0)
		r = measure(&m, ret);
	setup->events.process_fd = -1;
	child_close(&m.child);
	watt_stopwatch_close(m.watch);
	return r;
}
