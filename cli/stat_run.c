/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures one run: from a snapshot before the command's first instruction to one after its last
 * descendant's accounts are in. Both are of one time in all domains, so a sensor that tells late
 * is waited for: while the command runs, and at its end. All energies are differences of totals,
 * so intervals add up.
 */
#include "stat_run.h"

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
#include "totals.h"
#include "xalloc.h"

#define FLUSH_MS 3000
/* How long slow sensors are waited for at the end, and not one of them for longer. */
#define FINISH_NS 3000000000ULL
/* And those that have not begun to measure, at its beginning. */
#define BEGIN_NS 500000000ULL
#define BEGIN_RETRY_MS 10

/* What is known while a run goes on. */
struct measurement {
	struct stat_setup *setup;
	struct watt_run *run;
	struct child child;
	uint64_t entity_id;
	struct totals before, last; /* last: at the end of the newest interval */
	uint64_t before_ns;         /* the instant that `before` is of */
	uint64_t begin_ns, end_ns;  /* end: 0 while it runs */
	uint64_t *windows_ns;       /* per domain: for how long its energy is known */
	size_t n_windows;
	struct totals phase_begin; /* none was taken: the phase is the first */
	struct watt_mark phase;    /* that began it */
	struct watt_mark *marks;   /* whose snapshots are still to come, in their order */
	size_t n_marks;
	struct labels phase_index;
	uint64_t n_intervals; /* that are over, of the grid */
	bool has_phases;
};

/* While a slow sensor keeps a mark or an interval waiting, the session is asked again so often. */
#define CUT_RETRY_NS 10000000ULL

static void note_windows(struct measurement *m, const struct totals *now)
{
	size_t n = now->view->n_domains;

	if (n > m->n_windows) {
		m->windows_ns = xrealloc(m->windows_ns, n, sizeof(*m->windows_ns));
		memset(&m->windows_ns[m->n_windows], 0,
		       (n - m->n_windows) * sizeof(*m->windows_ns));
		m->n_windows = n;
	}
	for (n = 0; n < now->view->n_domains; n++)
		m->windows_ns[n] += now->view->states[n]->window_ns;
}

/* What was used before the run. What the command used while it waited to be let go is the run's. */
static void take_before(struct measurement *m)
{
	totals_start(&m->before);
	stat_threads_note(m->run, m->before.view, m->entity_id);
}

/* -ETIMEDOUT: not all sensors have told what there was before the run. */
static int cut_before(struct measurement *m, uint32_t timeout_ms)
{
	int r = totals_take_at(m->setup->ses, m->entity_id, m->before_ns, timeout_ms, &m->before);

	if (r == 0)
		take_before(m);
	return r;
}

static void add_interval(struct measurement *m, const struct totals *now)
{
	struct watt_run *run = m->run;
	uint64_t from_ns = m->last.snap ? m->last.t_ns : m->begin_ns;
	struct watt_run_interval interval = {
		.end_ns = now->t_ns - m->begin_ns,
		.elapsed_ns = now->t_ns > from_ns ? now->t_ns - from_ns : 0,
		.energy_nj =
			totals_difference_nj(totals_get_energy(&m->last), totals_get_energy(now)),
		.machine_nj = totals_difference_nj(m->last.snap ? m->last.balance.energy :
								  m->before.balance.energy,
						   now->balance.energy),
		.cpu_ns = totals_get_cpu_ns(now) - totals_get_cpu_ns(&m->last),
	};

	if (m->setup->show_interval) {
		m->setup->show_interval(m->setup->data, &interval);
		return;
	}
	run->intervals = xrealloc(run->intervals, run->n_intervals + 1, sizeof(*run->intervals));
	run->intervals[run->n_intervals++] = interval;
}

/* When the interval that goes on is to end. */
static uint64_t get_interval_end_ns(const struct measurement *m)
{
	return m->setup->interval_ns ? m->begin_ns + (m->n_intervals + 1) * m->setup->interval_ns :
				       EVENTS_NEVER;
}

/*
 * Ends it by a snapshot of that time, not of what is known by then: sensors tell late, and energy
 * of one time must not be divided by the length of another. -ETIMEDOUT: not all have told.
 */
static int end_interval(struct measurement *m, uint32_t timeout_ms)
{
	struct totals now = { 0 };
	int r;

	r = totals_take_at(m->setup->ses, m->entity_id, get_interval_end_ns(m), timeout_ms, &now);
	if (r < 0)
		return r;
	m->setup->balance = now.balance;
	stat_threads_note(m->run, now.view, m->entity_id);
	note_windows(m, &now);
	add_interval(m, &now);
	totals_done(&m->last);
	m->last = now;
	/* Where slices are longer, those that end in this one are over with it: nobody knows more. */
	while (get_interval_end_ns(m) <= now.t_ns)
		m->n_intervals++;
	return 0;
}

/* ---- phases ---- */

/* The phase ends at `to`; mark begins the next. */
static void end_phase(struct measurement *m, const struct totals *to)
{
	const struct totals *from = m->phase_begin.snap ? &m->phase_begin : &m->before;
	uint64_t begin_ns = m->phase_begin.snap ? m->phase_begin.t_ns : m->begin_ns;
	uint64_t end_ns = m->end_ns && m->end_ns < to->t_ns ? m->end_ns : to->t_ns;

	stat_phases_add(m->run, &m->phase_index, m->phase.label,
			end_ns > begin_ns ? end_ns - begin_ns : 0, from, to);
}

static void begin_phase(struct measurement *m, const struct watt_mark *mark)
{
	m->marks = xrealloc(m->marks, m->n_marks + 1, sizeof(*m->marks));
	m->marks[m->n_marks++] = *mark;
	m->has_phases = true;
}

/* Ends the phase at the oldest mark. -ETIMEDOUT: not all sensors have told. */
static int cut_phase(struct measurement *m, uint32_t timeout_ms)
{
	struct totals now = { 0 };
	int r;

	/* Marks of one slice are cut by one snapshot. */
	if (m->phase_begin.snap && m->marks[0].t_ns <= m->phase_begin.t_ns) {
		end_phase(m, &m->phase_begin);
	} else {
		r = totals_take_at(m->setup->ses, m->entity_id, m->marks[0].t_ns, timeout_ms, &now);
		if (r < 0)
			return r;
		stat_threads_note(m->run, now.view, m->entity_id);
		note_windows(m, &now);
		end_phase(m, &now);
		totals_done(&m->phase_begin);
		m->phase_begin = now;
	}
	m->phase = m->marks[0];
	memmove(&m->marks[0], &m->marks[1], --m->n_marks * sizeof(*m->marks));
	return 0;
}

/* Whether something is to be cut, and has not been because a sensor has not told. */
static bool has_cuts(const struct measurement *m, uint64_t now_ns)
{
	return !m->before.snap || m->n_marks > 0 || get_interval_end_ns(m) <= now_ns;
}

/*
 * Ends phases at the marks that came and intervals that are over by now_ns, in the order of time,
 * as far as the sensors have answered.
 */
static int cut(struct measurement *m, uint64_t now_ns, uint32_t timeout_ms)
{
	int r = m->before.snap ? 0 : cut_before(m, timeout_ms);

	while (r == 0 && has_cuts(m, now_ns)) {
		bool is_phase = m->n_marks > 0 && m->marks[0].t_ns <= get_interval_end_ns(m);

		/* Nothing later may be attributed while a mark waits. */
		if (is_phase || get_interval_end_ns(m) > now_ns)
			r = cut_phase(m, timeout_ms);
		else
			r = end_interval(m, timeout_ms);
	}
	return r == -ETIMEDOUT && timeout_ms == 0 ? 0 : r;
}

/* Marks from before the run are of no phase in it. */
static void forget_marks(struct measurement *m)
{
	struct watt_mark mark;

	while (watt_session_next_mark(m->setup->ses, &mark) == 0)
		continue;
}

/*
 * Up to when the newest snapshot knows what was used. What was waited for at the end is in it, and
 * in the last interval, whose energy must not be divided by the time of the command alone.
 */
static uint64_t get_known_ns(const struct totals *totals)
{
	const struct watt_view *view = totals->view;
	uint64_t t_ns = 0;
	size_t i;

	for (i = 0; i < view->n_domains; i++)
		if (view->domains[i]->is_partition && view->states[i]->t_ns > t_ns)
			t_ns = view->states[i]->t_ns;
	return t_ns ? t_ns : totals->t_ns;
}

/* How long slow sensors may still be waited for. */
static uint32_t left_ms(const struct measurement *m)
{
	uint64_t end_ns = m->end_ns + FINISH_NS, now_ns = events_now_ns();

	return now_ns < end_ns ? (uint32_t)((end_ns - now_ns) / 1000000) : 0;
}

/* What the command told with its last breath. */
static int take_last_marks(struct measurement *m)
{
	struct watt_mark mark;
	size_t before;
	int r;

	do {
		before = m->n_marks;
		r = watt_session_dispatch(m->setup->ses);
		if (r < 0)
			return r;
		while (watt_session_next_mark(m->setup->ses, &mark) == 0)
			begin_phase(m, &mark);
	} while (m->n_marks > before);
	return 0;
}

/* What there was before the run, as far as it is known. */
static int give_up_before(struct measurement *m)
{
	int r;

	message_note("a sensor did not answer in time: its energy is not that of the run alone");
	r = totals_take(m->setup->ses, m->entity_id, &m->before);
	if (r == 0)
		take_before(m);
	return r;
}

/* Cuts all that is still to be cut. */
static int finish_cuts(struct measurement *m)
{
	int r = cut(m, m->end_ns, left_ms(m));

	if (r < 0 && r != -ETIMEDOUT)
		return r;
	if (!m->before.snap)
		return give_up_before(m);
	if (has_cuts(m, m->end_ns))
		message_note("a sensor did not answer in time: the last phases or intervals are "
			     "in one");
	return 0;
}

/* ---- the run ---- */

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

static void take_exit(struct watt_run *run, int status, const struct rusage *usage)
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

static uint64_t next_deadline(const struct measurement *m)
{
	uint64_t limit_ns = m->setup->limit_ns ? m->begin_ns + m->setup->limit_ns : EVENTS_NEVER;
	uint64_t now_ns = events_now_ns();
	uint64_t cut_ns = has_cuts(m, now_ns) ? now_ns + CUT_RETRY_NS : get_interval_end_ns(m);

	return limit_ns < cut_ns ? limit_ns : cut_ns;
}

static bool is_over(const struct measurement *m)
{
	return m->setup->limit_ns && events_now_ns() >= m->begin_ns + m->setup->limit_ns;
}

static int wait_for_end(struct measurement *m)
{
	for (;;) {
		int happened = events_wait(&m->setup->events, m->setup->ses, next_deadline(m));
		int r;

		if (happened < 0)
			return happened;
		if (happened & EVENTS_MARK)
			begin_phase(m, &m->setup->events.mark);
		if ((happened & EVENTS_SIGNAL) && pass_signal(m))
			return 0;
		if ((happened & (EVENTS_PROCESS | EVENTS_SIGNAL)) && has_ended(m, happened))
			return 0;
		r = cut(m, events_now_ns(), 0);
		if (r < 0)
			return r;
		if (is_over(m))
			return 0;
	}
}

static struct watt_run_loss loss_between(const struct watt_domain_state *before,
					 const struct watt_domain_state *after)
{
	return (struct watt_run_loss){
		.errors = after->errors - before->errors,
		.resets = after->resets - before->resets,
		.gap_ns = after->gap_ns - before->gap_ns,
		.ambiguous = after->ambiguous - before->ambiguous,
	};
}

/* How much of the run a domain's energy is not known for, beside the gaps that it tells of. */
static uint64_t get_unknown_ns(const struct measurement *m, size_t domain)
{
	uint64_t known_ns = m->windows_ns[domain];

	return known_ns < m->run->elapsed_ns ? m->run->elapsed_ns - known_ns : 0;
}

static void fill_domains(const struct measurement *m, const struct totals *after)
{
	static const struct watt_domain_state none;
	const struct totals *before = &m->before;
	struct watt_run *run = m->run;
	size_t i, n = after->view->n_domains, n_before = before->view->n_domains;

	run->n_domains = n;
	run->domain_known = xcalloc(n, sizeof(*run->domain_known));
	run->domain_nj = xcalloc(n, sizeof(*run->domain_nj));
	run->domain_machine_nj = xcalloc(n, sizeof(*run->domain_machine_nj));
	run->domain_loss = xcalloc(n, sizeof(*run->domain_loss));
	for (i = 0; i < n; i++) {
		const struct watt_domain_state *b = i < n_before ? before->view->states[i] : &none;
		const struct watt_domain_state *a = after->view->states[i];

		run->domain_known[i] = after->row && watt_view_has_energy(a);
		run->domain_nj[i] = watt_energy_to_nj(totals_get_domain_energy(after, i));
		run->domain_machine_nj[i] =
			totals_difference_nj(totals_get_machine_energy(before, i), a->energy);
		run->domain_loss[i] = loss_between(b, a);
		/* of what can't be read the machine's balance speaks */
		if (run->domain_known[i] || a->status == WATT_STATUS_PENDING ||
		    a->status == WATT_STATUS_STALE)
			run->domain_loss[i].gap_ns += get_unknown_ns(m, i);
	}
	run->machine_w = totals_get_machine_w(before, after);
}

static void fill_run(struct measurement *m, const struct totals *after)
{
	const struct watt_balance *before = &m->before.balance;
	struct watt_run *run = m->run;

	run->is_known = after->balance.is_known && after->row;
	run->energy_nj = watt_energy_to_nj(totals_get_energy(after));
	run->uncertainty_j = after->row ? after->row->total_uncertainty_j : NAN;
	run->cpu_ns = totals_get_cpu_ns(after);
	run->machine_nj = totals_difference_nj(before->energy, after->balance.energy);
	run->idle_nj = totals_difference_nj(before->idle, after->balance.idle);
	run->unattributed_nj =
		totals_difference_nj(before->unattributed, after->balance.unattributed);
	run->shared_idle_nj = totals_difference_nj(before->shared_idle, after->balance.shared_idle);
	fill_domains(m, after);
	m->setup->balance = after->balance;
	totals_look_outside(&m->before, after, run->machine_w, &m->setup->balance);
	run->outside_w = m->setup->balance.has_outside ? m->setup->balance.outside_w : NAN;
	m->setup->quality = *after->view->quality;
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

static int flush(struct measurement *m)
{
	int r = watt_session_flush(m->setup->ses, FLUSH_MS);

	if (r == -ETIMEDOUT)
		message_note("not all accounts came in time: the rest is in 'unattributed'");
	return r == -ETIMEDOUT || r > 0 ? 0 : r;
}

/* From here on nothing behind what is still to be cut is attributed: energy waits for its time. */
static int hold(struct measurement *m, struct totals *after)
{
	int r = cut(m, m->end_ns, 0);

	if (r == 0 && !has_cuts(m, m->end_ns))
		r = totals_take_at(m->setup->ses, m->entity_id, m->end_ns, 0, after);
	return r == -ETIMEDOUT ? 0 : r;
}

/* A snapshot of the end; of what each domain has told, where one does not tell in time. */
static int take_after(struct measurement *m, struct totals *after)
{
	int r = totals_take_at(m->setup->ses, m->entity_id, m->end_ns, left_ms(m), after);

	return r == -ETIMEDOUT ? totals_take(m->setup->ses, m->entity_id, after) : r;
}

static int finish(struct measurement *m)
{
	struct totals after = { 0 };
	int r;

	m->end_ns = events_now_ns();
	m->run->elapsed_ns = m->end_ns - m->begin_ns;
	r = take_last_marks(m);
	if (r == 0)
		r = hold(m, &after);
	if (r == 0)
		r = flush(m);
	if (r == 0)
		r = finish_cuts(m);
	if (r == 0 && !after.snap)
		r = take_after(m, &after);
	if (r)
		return r;
	note_windows(m, &after);
	if (m->has_phases)
		end_phase(m, &after);
	if (m->setup->interval_ns) {
		after.t_ns = get_known_ns(&after);
		add_interval(m, &after);
	}
	fill_run(m, &after);
	stat_threads_note(m->run, after.view, m->entity_id);
	stat_threads_end(m->run);
	totals_done(&after);
	return 0;
}

/*
 * Whether a sensor that is read soon again has not begun to measure. One that tells seldom, or
 * nothing but errors, is not waited for.
 */
static bool is_any_pending(const struct measurement *m, const struct watt_view *view)
{
	size_t i;

	for (i = 0; i < view->n_domains; i++) {
		int32_t channel = view->domains[i]->channel;

		if (channel >= 0 && view->states[i]->samples < 2 && !view->states[i]->errors &&
		    watt_session_get_channel(m->setup->ses, (size_t)channel)->period_ns <=
			    BEGIN_NS / 2)
			return true;
	}
	return false;
}

/* What is not measured when the command begins is not in its energy. */
static int wait_for_sensors(const struct measurement *m)
{
	uint64_t deadline_ns = events_now_ns() + BEGIN_NS;
	struct totals now = { 0 };
	int r;

	do {
		r = totals_take(m->setup->ses, 0, &now);
		if (r < 0 || !is_any_pending(m, now.view))
			break;
		r = watt_session_wait(m->setup->ses, BEGIN_RETRY_MS);
	} while (r == 0 && events_now_ns() < deadline_ns);
	totals_done(&now);
	return r;
}

/* The command is there and waits: what was before is known from here on, or a little later. */
static int prepare(struct measurement *m)
{
	int r = wait_for_sensors(m);

	if (r < 0)
		return r;
	m->before_ns = events_now_ns();
	r = watt_session_flush(m->setup->ses, FLUSH_MS);
	if (r >= 0 || r == -ETIMEDOUT)
		r = cut_before(m, 0);
	return r == -ETIMEDOUT ? 0 : r;
}

int stat_run_measure(struct stat_setup *setup, struct watt_run *ret)
{
	struct watt_run run = {
		.sz = sizeof(run), .rusage_s = NAN, .outside_w = NAN, .uncertainty_j = NAN
	};
	struct measurement m = { .setup = setup, .run = &run, .child = CHILD_INIT };
	int r;

	r = setup->argv ? begin_child(&m) : begin_attached(&m);
	if (r == 0) {
		r = prepare(&m);
		forget_marks(&m);
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
	totals_done(&m.phase_begin);
	free(m.marks);
	free(m.windows_ns);
	labels_done(&m.phase_index);
	if (r == 0)
		*ret = run;
	else
		stat_run_done(&run);
	return r;
}

void stat_run_done(struct watt_run *run)
{
	free(run->domain_known);
	free(run->domain_nj);
	free(run->domain_machine_nj);
	free(run->domain_loss);
	free(run->intervals);
	stat_phases_done(run);
	stat_threads_done(run);
	*run = (struct watt_run){ 0 };
}
