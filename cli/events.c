/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for the session, signals, keys and processes. It reads nothing but signals. */
#include "events.h"

#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "xalloc.h"

uint64_t events_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

/* What ends a command. */
static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

static bool is_end(int signal)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ends); i++)
		if (ends[i] == signal)
			return true;
	return false;
}

static void add_signals(sigset_t *set, const int *signals, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		sigaddset(set, signals[i]);
}

int events_open(struct events *ev)
{
	static const int others[] = { SIGCHLD, SIGWINCH, SIGCONT, SIGUSR1, SIGUSR2 };
	sigset_t end_set, set;

	sigemptyset(&end_set);
	add_signals(&end_set, ends, ARRAY_SIZE(ends));
	set = end_set;
	add_signals(&set, others, ARRAY_SIZE(others));
	if (sigprocmask(SIG_BLOCK, &set, &ev->old_mask) < 0)
		return -errno;
	ev->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (ev->signal_fd < 0)
		return -errno;
	ev->end_fd = signalfd(-1, &end_set, SFD_CLOEXEC | SFD_NONBLOCK);
	return ev->end_fd < 0 ? -errno : 0;
}

void events_close(struct events *ev)
{
	if (ev->signal_fd < 0)
		return;
	close(ev->signal_fd);
	if (ev->end_fd >= 0)
		close(ev->end_fd);
	ev->signal_fd = ev->end_fd = -1;
	sigprocmask(SIG_SETMASK, &ev->old_mask, NULL);
}

static bool take_signal(struct events *ev)
{
	struct signalfd_siginfo info;

	if (read(ev->signal_fd, &info, sizeof(info)) != sizeof(info))
		return false;
	ev->signal = (int)info.ssi_signo;
	ev->is_from_terminal = info.ssi_code == SI_KERNEL;
	ev->is_ending = ev->is_ending || is_end(ev->signal);
	return true;
}

/* One that came while something else was done needs no waiting. */
static bool take_mark(struct events *ev, struct watt_session *ses)
{
	return ev->wants_marks && watt_session_next_mark(ses, &ev->mark) == 0;
}

static int poll_until(struct pollfd *fds, size_t n, uint64_t deadline_ns)
{
	uint64_t now_ns = events_now_ns(),
		 left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
	struct timespec timeout = { .tv_sec = (time_t)(left_ns / 1000000000ULL),
				    .tv_nsec = (long)(left_ns % 1000000000ULL) };

	return ppoll(fds, n, deadline_ns == EVENTS_NEVER ? NULL : &timeout, NULL);
}

int events_wait(struct events *ev, struct watt_session *ses, uint64_t deadline_ns)
{
	enum {
		SESSION,
		SIGNAL,
		INPUT,
		PROCESS,
		N
	};
	struct pollfd fds[N] = {
		[SESSION] = { .fd = watt_session_get_fd(ses), .events = POLLIN },
		[SIGNAL] = { .fd = ev->signal_fd, .events = POLLIN },
		[INPUT] = { .fd = ev->input_fd, .events = POLLIN },
		[PROCESS] = { .fd = ev->process_fd, .events = POLLIN },
	};

	for (;;) {
		int happened = take_mark(ev, ses) ? EVENTS_MARK : 0, r;

		r = poll_until(fds, N, happened ? 0 : deadline_ns);
		if (r < 0 && errno != EINTR)
			return -errno;
		if (r > 0 && fds[SESSION].revents) {
			r = watt_session_dispatch(ses);
			if (r < 0)
				return r;
		}
		if (!happened && take_mark(ev, ses))
			happened |= EVENTS_MARK;
		if (r >= 0 && fds[SIGNAL].revents && take_signal(ev))
			happened |= EVENTS_SIGNAL;
		if (r >= 0 && fds[INPUT].revents)
			happened |= EVENTS_INPUT;
		if (r >= 0 && fds[PROCESS].revents)
			happened |= EVENTS_PROCESS;
		if (events_now_ns() >= deadline_ns)
			happened |= EVENTS_DEADLINE;
		if (happened)
			return happened;
	}
}
