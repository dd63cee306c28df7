/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream whose bytes a second thread writes, while the first waits for it or for a signal.
 * It never takes a signal: who waits for events finds it where it was.
 */
#include "outlet.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "xalloc.h"

/* A reader that is merely slow gets the rest of what was begun. */
#define GRACE_MS 1000
#define BUFFER_SIZE 65536

struct outlet {
	FILE *file;
	FILE *to;
	const struct events *events;
	pthread_t thread;
	bool has_thread;
	int asked_fd; /* eventfd: there are bytes to write, or this is the end */
	int done_fd;  /* eventfd: they are written, or can't be */
	const char *bytes;
	size_t n;
	int error;
	bool is_over;  /* the thread has nothing to do any more */
	bool is_stuck; /* it is in a write that does not end, with what it writes */
};

static void tell(int fd)
{
	const uint64_t one = 1;

	/* It can't fail: the count is 0 before. */
	if (write(fd, &one, sizeof(one)) != sizeof(one))
		abort();
}

static bool hear(int fd)
{
	uint64_t count;

	return read(fd, &count, sizeof(count)) == sizeof(count);
}

static void *write_all(void *data)
{
	struct outlet *outlet = data;

	while (hear(outlet->asked_fd) && !outlet->is_over) {
		outlet->error = 0;
		while (outlet->n > 0 && outlet->error == 0) {
			ssize_t n = write(fileno(outlet->to), outlet->bytes, outlet->n);

			if (n < 0 && errno != EINTR)
				outlet->error = errno;
			if (n > 0) {
				outlet->bytes += n;
				outlet->n -= (size_t)n;
			}
		}
		tell(outlet->done_fd);
	}
	return NULL;
}

/* Whether the bytes have gone the way of all bytes before a signal says that nobody waits. */
static bool wait_done(const struct outlet *outlet)
{
	struct pollfd fds[] = {
		{ .fd = outlet->done_fd, .events = POLLIN },
		{ .fd = outlet->events->end_fd, .events = POLLIN },
	};

	while (!outlet->events->is_ending && !fds[0].revents && !fds[1].revents)
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return false;
	return poll(fds, 1, GRACE_MS) > 0;
}

static void end_thread(struct outlet *outlet)
{
	if (!outlet->has_thread)
		return;
	outlet->is_over = true;
	tell(outlet->asked_fd);
	pthread_join(outlet->thread, NULL);
	outlet->has_thread = false;
}

/* It is in a write that does not end: the end of the process ends it, and nobody frees what it has. */
static void leave_thread(struct outlet *outlet)
{
	pthread_detach(outlet->thread);
	outlet->has_thread = false;
	outlet->is_stuck = true;
}

static ssize_t put(void *cookie, const char *bytes, size_t n)
{
	struct outlet *outlet = cookie;

	errno = EINTR;
	if (!outlet->has_thread)
		return 0;
	outlet->bytes = bytes;
	outlet->n = n;
	tell(outlet->asked_fd);
	if (!wait_done(outlet)) {
		leave_thread(outlet);
		errno = EINTR;
		return 0;
	}
	hear(outlet->done_fd);
	errno = outlet->error;
	return outlet->error ? 0 : (ssize_t)n;
}

static int begin_thread(struct outlet *outlet)
{
	int r;

	outlet->asked_fd = eventfd(0, EFD_CLOEXEC);
	outlet->done_fd = eventfd(0, EFD_CLOEXEC);
	if (outlet->asked_fd < 0 || outlet->done_fd < 0)
		return -errno;
	outlet->file = fopencookie(outlet, "w", (cookie_io_functions_t){ .write = put });
	if (!outlet->file)
		return -ENOMEM;
	setvbuf(outlet->file, NULL, _IOFBF, BUFFER_SIZE);
	r = pthread_create(&outlet->thread, NULL, write_all, outlet);
	outlet->has_thread = r == 0;
	return -r;
}

int outlet_open(const struct events *ev, FILE *to, struct outlet **ret)
{
	struct outlet *outlet = xcalloc(1, sizeof(*outlet));
	struct stat st;
	int r = 0;

	outlet->to = to;
	outlet->events = ev;
	outlet->asked_fd = outlet->done_fd = -1;
	/* A file takes everything at once. */
	if (fstat(fileno(to), &st) == 0 && S_ISREG(st.st_mode))
		outlet->file = to;
	else
		r = begin_thread(outlet);
	if (r < 0)
		outlet = outlet_close(outlet);
	*ret = outlet;
	return r;
}

FILE *outlet_get_file(const struct outlet *outlet)
{
	return outlet->file;
}

struct outlet *outlet_close(struct outlet *outlet)
{
	if (!outlet || outlet->is_stuck)
		return NULL;
	if (outlet->file && outlet->file != outlet->to)
		fclose(outlet->file);
	end_thread(outlet);
	if (outlet->asked_fd >= 0)
		close(outlet->asked_fd);
	if (outlet->done_fd >= 0)
		close(outlet->done_fd);
	free(outlet);
	return NULL;
}
