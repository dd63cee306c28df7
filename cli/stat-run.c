/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures one run: from a snapshot before the command's first instruction to one after its last
 * descendant's accounts are in. All energies are differences of totals, so intervals add up.
 */
#include "stat-run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "message.h"
#include "status.h"
#include "xalloc.h"

#define FLUSH_MS 3000

/* Totals at one instant. */
struct totals {
	struct watt_snapshot *snap;
	struct view view;
	struct balance balance;
	const struct watt_row *row; /* of the command; NULL: it is not in the snapshot */
	uint64_t t_ns;
};

/* What is known while a run goes on. */
struct measurement {
	struct stat_setup *setup;
	struct stat_run *run;
	struct child child;
	uint64_t entity_id;
	struct totals before, last; /* last: at the end of the newest interval */
	uint64_t begin_ns;
};

static void totals_done(struct totals *totals)
{
	view_done(&totals->view);
	totals->snap = watt_snapshot_unref(totals->snap);
	*totals = (struct totals){ 0 };
}

static int totals_take(struct measurement *m, struct totals *ret)
{
	struct totals totals = { 0 };
	int r;

	r = watt_session_snapshot(m->setup->ses, &totals.snap);
	if (r < 0)
		return r;
	view_init(&totals.view, totals.snap);
	balance_draw(&totals.view, &totals.balance);
	totals.row = m->entity_id ? watt_snapshot_find_row(totals.snap, m->entity_id) : NULL;
	totals.t_ns = events_now_ns();
	totals_done(ret);
	*ret = totals;
	return 0;
}

static int64_t command_nj(const struct totals *totals)
{
	return totals->row ? totals->row->total_nj : 0;
}

static uint64_t command_cpu_ns(const struct totals *totals)
{
	return totals->row ? totals->row->cpu_ns : 0;
}

static void add_interval(struct measurement *m, const struct totals *now)
{
	struct stat_run *run = m->run;
	struct stat_interval interval = {
		.end_ns = now->t_ns - m->begin_ns,
		.elapsed_ns = now->t_ns - (m->last.snap ? m->last.t_ns : m->begin_ns),
		.energy_nj = command_nj(now) - command_nj(&m->last),
		.machine_nj = now->balance.energy_nj - (m->last.snap ? m->last.balance.energy_nj :
								       m->before.balance.energy_nj),
		.cpu_ns = command_cpu_ns(now) - command_cpu_ns(&m->last),
	};

	run->intervals = xrealloc(run->intervals, run->n_intervals + 1, sizeof(*run->intervals));
	run->intervals[run->n_intervals++] = interval;
	if (m->setup->show_interval)
		m->setup->show_interval(m->setup->data, &interval);
}

static int end_interval(struct measurement *m)
{
	struct totals now = { 0 };
	int r;

	r = totals_take(m, &now);
	if (r < 0)
		return r;
	m->setup->balance = now.balance;
	add_interval(m, &now);
	totals_done(&m->last);
	m->last = now;
	return 0;
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

static void take_exit(struct stat_run *run, int status, const struct rusage *usage)
{
	run->exit_status = WIFSIGNALED(status) ? STATUS_SIGNAL + WTERMSIG(status) :
						 WEXITSTATUS(status);
	run->rusage_s = (double)usage->ru_utime.tv_sec + (double)usage->ru_utime.tv_usec / 1e6 +
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
	take_exit(m->run, status, &usage);
	return true;
}

static uint64_t next_deadline(const struct measurement *m, uint64_t *interval_end_ns)
{
	uint64_t limit_ns = m->setup->limit_ns ? m->begin_ns + m->setup->limit_ns : EVENTS_NEVER;

	if (m->setup->interval_ns == 0)
		*interval_end_ns = EVENTS_NEVER;
	else
		*interval_end_ns = m->begin_ns + (m->run->n_intervals + 1) * m->setup->interval_ns;
	return limit_ns < *interval_end_ns ? limit_ns : *interval_end_ns;
}

static int wait_for_end(struct measurement *m)
{
	for (;;) {
		uint64_t interval_end_ns;
		uint64_t deadline_ns = next_deadline(m, &interval_end_ns);
		int happened = events_wait(&m->setup->events, m->setup->ses, deadline_ns);
		int r;

		if (happened < 0)
			return happened;
		if ((happened & EVENTS_SIGNAL) && pass_signal(m))
			return 0;
		if ((happened & (EVENTS_PROCESS | EVENTS_SIGNAL)) && has_ended(m, happened))
			return 0;
		if (!(happened & EVENTS_DEADLINE))
			continue;
		if (events_now_ns() < interval_end_ns)
			return 0;
		r = end_interval(m);
		if (r < 0)
			return r;
	}
}

static void fill_domains(struct stat_run *run, const struct totals *before,
			 const struct totals *after)
{
	size_t i, n = after->view.n_domains;

	run->n_domains = n;
	run->domain_known = xcalloc(n, sizeof(*run->domain_known));
	run->domain_nj = xcalloc(n, sizeof(*run->domain_nj));
	run->domain_machine_nj = xcalloc(n, sizeof(*run->domain_machine_nj));
	for (i = 0; i < n; i++) {
		const struct watt_domain_state *b = before->view.states[i];
		const struct watt_domain_state *a = after->view.states[i];

		run->domain_known[i] = after->row && view_has_energy(a);
		run->domain_nj[i] = after->row ? after->row->energy_nj[i] : 0;
		run->domain_machine_nj[i] = a->energy_nj - b->energy_nj;
		if (after->view.domains[i]->is_partition && a->t_ns > b->t_ns && b->t_ns > 0)
			run->machine_w +=
				(double)run->domain_machine_nj[i] / (double)(a->t_ns - b->t_ns);
	}
}

static void fill_run(struct measurement *m, const struct totals *after)
{
	struct stat_run *run = m->run;

	run->is_known = after->balance.is_known && after->row;
	run->energy_nj = command_nj(after);
	run->cpu_ns = command_cpu_ns(after);
	run->machine_nj = after->balance.energy_nj - m->before.balance.energy_nj;
	run->idle_nj = after->balance.idle_nj - m->before.balance.idle_nj;
	run->unattributed_nj = after->balance.unattributed_nj - m->before.balance.unattributed_nj;
	run->shared_idle_nj = after->balance.shared_idle_nj - m->before.balance.shared_idle_nj;
	fill_domains(run, &m->before, after);
	m->setup->balance = after->balance;
	m->setup->quality = *after->view.quality;
}

static int begin_child(struct measurement *m)
{
	struct stat_setup *setup = m->setup;
	int r;

	r = child_start(&m->child, setup->argv, &setup->events.old_mask);
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

static int release(struct measurement *m)
{
	int r;

	m->begin_ns = events_now_ns();
	if (!m->setup->argv)
		return 0;
	r = child_release(&m->child);
	if (r == 0)
		return 0;
	message_error("cannot run '%s': %s", m->setup->argv[0], strerror(-r));
	return r == -ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
}

static int finish(struct measurement *m)
{
	struct totals after = { 0 };
	int r;

	m->run->elapsed_ns = events_now_ns() - m->begin_ns;
	r = watt_session_flush(m->setup->ses, FLUSH_MS);
	if (r == -ETIMEDOUT)
		message_note("not all accounts came in time: the rest is in 'unattributed'");
	else if (r < 0)
		return r;
	r = totals_take(m, &after);
	if (r < 0)
		return r;
	if (m->setup->interval_ns)
		add_interval(m, &after);
	fill_run(m, &after);
	totals_done(&after);
	return 0;
}

int stat_run_measure(struct stat_setup *setup, struct stat_run *ret)
{
	struct stat_run run = { .rusage_s = NAN };
	struct measurement m = { .setup = setup, .run = &run, .child = CHILD_INIT };
	int r;

	r = setup->argv ? begin_child(&m) : begin_attached(&m);
	if (r == 0) {
		r = watt_session_flush(setup->ses, FLUSH_MS);
		if (r == 0 || r == -ETIMEDOUT)
			r = totals_take(&m, &m.before);
		if (r == 0)
			r = release(&m);
		if (r == 0)
			r = wait_for_end(&m);
		if (r == 0)
			r = finish(&m);
		if (r < 0)
			message_error("cannot measure: %s", strerror(-r));
	}
	setup->events.process_fd = -1;
	child_close(&m.child);
	totals_done(&m.before);
	totals_done(&m.last);
	if (r == 0)
		*ret = run;
	else
		stat_run_done(&run);
	return r;
}

void stat_run_done(struct stat_run *run)
{
	free(run->domain_known);
	free(run->domain_nj);
	free(run->domain_machine_nj);
	free(run->intervals);
	*run = (struct stat_run){ 0 };
}
