/* SPDX-License-Identifier: Apache-2.0 */
/* A second thread closes the session, while the first can hear signals. */
#include "closing.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "message.h"

/* A disk that is merely slow. */
#define PATIENCE_MS 3000

struct closing {
	struct watt_session *ses;
	int done_fd; /* eventfd */
};

static void *close_session(void *data)
{
	const uint64_t one = 1;
	struct closing *closing = data;

	watt_session_close(closing->ses);
	/* It can't fail: the count is 0 before. */
	if (write(closing->done_fd, &one, sizeof(one)) != sizeof(one))
		abort();
	return NULL;
}

/* Whether it is closed, before the time is over or a signal comes, which is taken then. */
static bool wait_done(const struct closing *closing, int signal_fd, int timeout_ms)
{
	struct pollfd fds[] = {
		{ .fd = closing->done_fd, .events = POLLIN },
		{ .fd = signal_fd, .events = POLLIN },
	};

	struct signalfd_siginfo info;

	while (poll(fds, 2, timeout_ms) < 0 && errno == EINTR)
		continue;
	if (fds[1].revents && !fds[0].revents && read(signal_fd, &info, sizeof(info)) < 0)
		return false;
	return fds[0].revents;
}

bool closing_close(struct watt_session *ses, const struct events *ev, const char *path)
{
	static struct closing closing; /* a thread that hangs may come back when nobody waits */
	pthread_t thread;
	bool is_closed;

	closing.ses = ses;
	closing.done_fd = eventfd(0, EFD_CLOEXEC);
	if (closing.done_fd < 0 || pthread_create(&thread, NULL, close_session, &closing)) {
		watt_session_close(ses);
		return true;
	}
	is_closed = wait_done(&closing, -1, PATIENCE_MS);
	if (!is_closed) {
		message_note("the disk of %s does not answer; Ctrl-C gives up its last seconds",
			     path);
		is_closed = wait_done(&closing, ev->end_fd, -1);
	}
	if (is_closed)
		pthread_join(thread, NULL);
	else
		message_error("%s: its end could not be written: the disk does not answer", path);
	if (is_closed)
		close(closing.done_fd);
	return is_closed;
}
