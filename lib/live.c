/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session on this machine: the clock of the slices, the pipeline, and the thread that moves it.
 * What is due is done by one function, whoever calls it: the thread; the caller's dispatch(), if
 * the caller drives; and again the thread while that caller doesn't come.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/privacy.h"
#include "base/ring.h"
#include "base/util.h"
#include "env.h"
#include "machine.h"
#include "mark/socket.h"
#include "pipeline.h"
#include "session.h"

#define DEFAULT_SLICE_NS (50 * WATT_NSEC_PER_MSEC)
#define DEFAULT_OPEN_WAIT_MS 20u
/* Taken at once; the others make the descriptor readable again. */
#define MARKS_PER_LOOK 64
#define FLUSH_PAUSE_NS (5 * WATT_NSEC_PER_MSEC)
/* What a snapshot waits for may come in the middle of a slice. */
#define CUT_PAUSE_NS (20 * WATT_NSEC_PER_MSEC)
/* The rings are emptied when this share of them may be full. */
#define ROOM_SHARE 4
/* However much room there is: so often it is asked what has come. */
#define MAX_DRAIN_NS WATT_NSEC_PER_SEC
/* A caller that drives and is later than this is not waited for. */
#define MAX_GRACE_NS (500 * WATT_NSEC_PER_MSEC)

struct live {
	struct watt_session ses;
	struct watt_env_owner *world; /* those who hang in it keep it */
	struct watt_pipeline *pipeline;
	char host[WATT_HOST_SIZE];
	uint64_t slice_ns;
	bool is_driven; /* by the caller */
	int work_fd;    /* readable when a slice ends or a mark comes: of the clock and the marks */
	int timer_fd;
	int news_fd; /* readable when the thread did something that dispatch() has not told */
	int poll_fd; /* the caller's */
	int wake_fd; /* the thread's */
	struct watt_mark_socket *marks; /* NULL: nobody can tell any */

	pthread_t thread;
	struct watt_signal progress; /* sent when something was done */
	/* the lock's, as is the pipeline once there is a thread */
	bool is_started;
	bool is_closing;
	bool is_absent;    /* the caller, who should drive: the thread does it */
	uint32_t *cutting; /* cursors for which a thread waits for a snapshot */
	size_t n_cutting, cap_cutting;
	bool has_news;      /* news_fd is readable */
	uint64_t due_ns;    /* when the slice ends */
	uint64_t drain_ns;  /* longest time between two looks into the rings */
	uint64_t grace_ns;  /* how late a caller may be */
	uint64_t looked_ns; /* when the rings were empty last */
	uint64_t swept_ns;  /* when it was known who ran, the last time */
	int n_slices;       /* since the last dispatch() */
	int error;          /* since then, the first */
};

static struct live *live_of(const struct watt_session *ses)
{
	return watt_container_of(ses, struct live, ses);
}

/* Adds one to an eventfd; a full one is readable as well. */
static void ring(int fd)
{
	uint64_t one = 1;
	ssize_t n = write(fd, &one, sizeof(one));

	(void)n;
}

/* Makes an eventfd or a timer unreadable. */
static void quiet(int fd)
{
	uint64_t count;
	ssize_t n = read(fd, &count, sizeof(count));

	(void)n;
}

/* ---- what is due ---- */

/* Takes what programs told. Returns how many there were, or a negative errno. */
static int take_marks(struct live *live)
{
	struct watt_mark_socket_counts counts;
	struct watt_mark mark;
	int n = 0, r;

	while (live->marks && n < MARKS_PER_LOOK &&
	       watt_mark_socket_read(live->marks, &mark) == 0) {
		r = watt_pipeline_mark(live->pipeline, &mark);
		if (r < 0)
			return r;
		watt_mark_queue_push(&live->ses.told, &mark);
		n++;
	}
	if (live->marks) {
		watt_mark_socket_get_counts(live->marks, &counts);
		watt_pipeline_set_lost_marks(live->pipeline, counts.excess + counts.lost);
	}
	return n;
}

/* The next end of a slice, on the grid of the timer. */
static uint64_t next_due_ns(const struct live *live, uint64_t now_ns)
{
	return live->due_ns + ((now_ns - live->due_ns) / live->slice_ns + 1) * live->slice_ns;
}

/* How often somebody has to look, by what is read now: sources come and go. */
static void set_pace(struct live *live)
{
	uint64_t room_ns = watt_pipeline_room_ns(live->pipeline) / ROOM_SHARE;

	live->drain_ns = WATT_MIN(room_ns, MAX_DRAIN_NS);
	live->grace_ns = WATT_MIN(live->drain_ns, MAX_GRACE_NS);
}

/* What has come may have less room than what was there. */
static int drain(struct live *live, uint64_t now_ns)
{
	int r;

	live->looked_ns = now_ns;
	r = watt_pipeline_drain(live->pipeline);
	set_pace(live);
	return r;
}

/* Returns the number of slices taken, or a negative errno. */
static int do_due(struct live *live)
{
	uint64_t now_ns, due_ns;
	int n_marks, r;

	if (!live->is_started)
		return 0;
	quiet(live->timer_fd);
	n_marks = take_marks(live);
	if (n_marks < 0)
		return n_marks;
	now_ns = watt_now_ns();
	if (n_marks == 0 && now_ns < live->due_ns) {
		if (now_ns - live->looked_ns < live->drain_ns)
			return 0;
		return drain(live, now_ns);
	}
	due_ns = WATT_MIN(now_ns, live->due_ns);
	/* however many were missed, and at once for a mark: one slice ends */
	if (now_ns >= live->due_ns)
		live->due_ns = next_due_ns(live, now_ns);
	live->looked_ns = now_ns;
	r = watt_pipeline_tick(live->pipeline, due_ns);
	live->swept_ns = watt_now_ns();
	set_pace(live);
	return r < 0 ? r : 1;
}

/* For those who wait, and for the next dispatch(). */
static void note_done(struct live *live, int r)
{
	if (r == 0)
		return;
	if (r > 0)
		live->n_slices += live->n_slices < INT_MAX;
	else if (live->error == 0)
		live->error = r;
	watt_signal_send(&live->progress);
}

/* Returns what was noted, once. */
static int take_noted(struct live *live)
{
	int r = live->error < 0 ? live->error : live->n_slices;

	live->error = 0;
	live->n_slices = 0;
	if (live->has_news)
		quiet(live->news_fd);
	live->has_news = false;
	return r;
}

/* ---- the thread ---- */

static bool is_thread_on_duty(const struct live *live)
{
	return !live->is_driven || live->is_absent;
}

/* When the thread has to look, if nothing wakes it. */
static uint64_t next_look_ns(const struct live *live)
{
	uint64_t drain_ns = live->looked_ns + live->drain_ns;

	if (is_thread_on_duty(live))
		return drain_ns; /* the end of a slice wakes it */
	return WATT_MIN(drain_ns, live->due_ns + live->grace_ns);
}

static void look(struct live *live)
{
	uint64_t now_ns = watt_now_ns();
	int r;

	if (live->is_driven && now_ns >= live->due_ns + live->grace_ns)
		live->is_absent = true;
	if (is_thread_on_duty(live)) {
		r = do_due(live);
	} else if (now_ns - live->looked_ns >= live->drain_ns) {
		r = drain(live, now_ns);
	} else {
		return;
	}
	note_done(live, r);
	if (r != 0 && !live->has_news)
		ring(live->news_fd);
	live->has_news = live->has_news || r != 0;
}

static void sleep_until(const struct live *live, bool is_on_duty, uint64_t t_ns)
{
	struct pollfd fds[] = {
		{ .fd = live->wake_fd, .events = POLLIN },
		{ .fd = live->work_fd, .events = POLLIN },
	};
	uint64_t now_ns = watt_now_ns();
	struct timespec left = watt_timespec_from_ns(t_ns > now_ns ? t_ns - now_ns : 0);

	ppoll(fds, is_on_duty ? 2 : 1, &left, NULL);
}

static void *run(void *data)
{
	struct live *live = data;

	prctl(PR_SET_NAME, "watt-session");
	watt_lock_take(live->ses.lock);
	while (!live->is_closing) {
		bool is_on_duty = is_thread_on_duty(live);
		uint64_t t_ns = next_look_ns(live);

		watt_lock_give(live->ses.lock);
		sleep_until(live, is_on_duty, t_ns);
		watt_lock_take(live->ses.lock);
		look(live);
	}
	watt_lock_give(live->ses.lock);
	return NULL;
}

static int start_thread(struct live *live)
{
	sigset_t all, old;
	int r;

	/* the program's signals are for its own threads */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = -pthread_create(&live->thread, NULL, run, live);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return r;
}

static void stop_thread(struct live *live)
{
	watt_lock_take(live->ses.lock);
	live->is_closing = true;
	watt_lock_give(live->ses.lock);
	ring(live->wake_fd);
	pthread_join(live->thread, NULL);
}

/* ---- the session ---- */

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void live_close(struct watt_session *ses)
{
	struct live *live = live_of(ses);
	bool is_hung;

	if (live->is_started)
		stop_thread(live);
	is_hung = watt_pipeline_stop(live->pipeline) > 0;
	watt_pipeline_free(live->pipeline);
	watt_mark_socket_close(live->marks);
	close_fd(live->poll_fd);
	close_fd(live->work_fd);
	close_fd(live->timer_fd);
	close_fd(live->news_fd);
	close_fd(live->wake_fd);
	watt_lock_free(live->ses.lock);
	/* a read that comes back one day finds its world, but nobody to talk to */
	if (is_hung)
		live->world->env.log = (struct watt_log){ 0 };
	else
		watt_env_unref(&live->world->env);
	free(live->cutting);
	free(live);
}

static int add_to_poll(int poll_fd, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(poll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int open_clock(struct live *live)
{
	int r;

	live->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	live->work_fd = epoll_create1(EPOLL_CLOEXEC);
	live->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	live->news_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	live->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (live->poll_fd < 0 || live->work_fd < 0 || live->timer_fd < 0 || live->news_fd < 0 ||
	    live->wake_fd < 0)
		return -errno;
	r = add_to_poll(live->work_fd, live->timer_fd);
	if (r == 0 && live->is_driven)
		r = add_to_poll(live->poll_fd, live->work_fd);
	return r < 0 ? r : add_to_poll(live->poll_fd, live->news_fd);
}

/* A session that nobody can tell marks is one without phases, no failure. */
static int open_marks(struct live *live)
{
	const struct watt_log *log = &live->world->env.log;
	int r;

	if (live->marks)
		return 0;
	r = watt_mark_socket_open(NULL, log, &live->marks);
	if (r < 0) {
		watt_log(log, WATT_LOG_INFO, "cannot listen for marks: %s", strerror(-r));
		return 0;
	}
	live->ses.marks_address = watt_mark_socket_get_address(live->marks);
	return add_to_poll(live->work_fd, watt_mark_socket_get_fd(live->marks));
}

static int live_record(struct watt_session *ses, const char *path,
		       const struct watt_record_opts *opts)
{
	struct live *live = live_of(ses);
	_cleanup_free_ char *command = NULL;
	struct watt_record_opts told = *opts;
	int r;

	if (live->is_started)
		return -EALREADY;
	r = watt_privacy_tell_command(live->world->env.privacy, opts->command, &command);
	told.command = command;
	return r < 0 ? r : watt_pipeline_record(live->pipeline, path, &told);
}

static int live_end_recording(struct watt_session *ses, uint64_t t_ns)
{
	return watt_pipeline_end_recording(live_of(ses)->pipeline, t_ns);
}

static int live_get_record_stats(const struct watt_session *ses, struct watt_record_stats *ret)
{
	return watt_pipeline_record_stats(live_of(ses)->pipeline, ret);
}

static int start_clock(struct live *live)
{
	struct itimerspec when = { .it_interval = watt_timespec_from_ns(live->slice_ns) };

	live->looked_ns = watt_now_ns();
	set_pace(live);
	/* on the grid of the sensors: they are read, and then it is seen who ran */
	live->due_ns = live->world->env.epoch_ns;
	live->due_ns = next_due_ns(live, live->looked_ns);
	when.it_value = watt_timespec_from_ns(live->due_ns);
	return timerfd_settime(live->timer_fd, TFD_TIMER_ABSTIME, &when, NULL) < 0 ? -errno : 0;
}

static int live_start(struct watt_session *ses)
{
	struct live *live = live_of(ses);
	int r;

	if (live->is_started)
		return -EALREADY;
	r = open_marks(live);
	if (r == 0)
		r = watt_pipeline_start(live->pipeline);
	if (r == 0)
		r = start_clock(live);
	if (r == 0)
		r = start_thread(live);
	live->is_started = r == 0;
	return r;
}

static int live_get_fd(const struct watt_session *ses)
{
	return live_of(ses)->poll_fd;
}

static int live_dispatch(struct watt_session *ses)
{
	struct live *live = live_of(ses);

	if (live->is_driven) {
		live->is_absent = false;
		note_done(live, do_due(live));
	}
	return take_noted(live);
}

/* ---- waiting: without the lock ---- */

static void pause_for(struct live *live, uint64_t time_ns)
{
	struct timespec pause = watt_timespec_from_ns(time_ns);

	watt_lock_give(live->ses.lock);
	nanosleep(&pause, NULL);
	watt_lock_take(live->ses.lock);
}

/* Until something was done, or, if the caller drives, is due; at most until end_ns. */
static void wait_for_work(struct live *live, uint64_t end_ns)
{
	struct pollfd pfd = { .fd = live->poll_fd, .events = POLLIN };
	uint32_t seen = watt_signal_get(&live->progress);
	uint64_t now_ns = watt_now_ns();
	struct timespec left = watt_timespec_from_ns(end_ns > now_ns ? end_ns - now_ns : 0);

	watt_lock_give(live->ses.lock);
	if (live->is_driven)
		ppoll(&pfd, 1, &left, NULL);
	else
		watt_signal_wait(&live->progress, seen, end_ns);
	watt_lock_take(live->ses.lock);
}

/* Does what is due, if the caller drives. 0, or an error that somebody had. */
static int work_or_fail(struct live *live)
{
	int r;

	if (live->is_driven)
		return WATT_MIN(live_dispatch(&live->ses), 0);
	r = live->error;
	live->error = 0;
	return r;
}

static int live_wait(struct watt_session *ses, uint64_t timeout_ns)
{
	struct live *live = live_of(ses);
	uint64_t end_ns = watt_now_ns() + timeout_ns;
	int r = 0;

	while (watt_now_ns() < end_ns && r == 0) {
		wait_for_work(live, end_ns);
		r = work_or_fail(live);
	}
	return r;
}

static int live_flush(struct watt_session *ses, uint64_t timeout_ns)
{
	struct live *live = live_of(ses);
	uint64_t t0_ns = watt_now_ns();
	int r;

	for (;;) {
		r = watt_pipeline_flush_begin(live->pipeline);
		if (r < 0)
			return r;
		live->swept_ns = watt_now_ns();
		watt_lock_give(ses->lock);
		r = watt_pipeline_flush_wait(live->pipeline);
		watt_lock_take(ses->lock);
		if (r == 0)
			r = watt_pipeline_flush_end(live->pipeline, t0_ns, timeout_ns);
		if (r < 0)
			return r;
		if (r == 0)
			return watt_pipeline_take_losses(live->pipeline, t0_ns);
		if (watt_now_ns() - t0_ns >= timeout_ns) {
			watt_pipeline_flush_explain(live->pipeline, t0_ns);
			return -ETIMEDOUT;
		}
		pause_for(live, FLUSH_PAUSE_NS);
	}
}

static int live_snapshot(struct watt_session *ses, uint32_t cursor, struct watt_snapshot **ret)
{
	return watt_pipeline_snapshot(live_of(ses)->pipeline, cursor, ret);
}

static bool is_cutting(const struct live *live, uint32_t cursor)
{
	size_t i;

	for (i = 0; i < live->n_cutting; i++)
		if (live->cutting[i] == cursor)
			return true;
	return false;
}

/* Two threads that share a cursor and wait for different times would let each other wait for ever. */
static int begin_cut(struct live *live, uint32_t cursor, uint64_t end_ns)
{
	uint32_t seen;
	int r;

	while (is_cutting(live, cursor)) {
		if (watt_now_ns() >= end_ns)
			return -ETIMEDOUT;
		seen = watt_signal_get(&live->progress);
		watt_lock_give(live->ses.lock);
		watt_signal_wait(&live->progress, seen, end_ns);
		watt_lock_take(live->ses.lock);
	}
	r = watt_grow((void **)&live->cutting, &live->cap_cutting, live->n_cutting,
		      sizeof(*live->cutting));
	if (r == 0)
		live->cutting[live->n_cutting++] = cursor;
	return r;
}

static void end_cut(struct live *live, uint32_t cursor)
{
	size_t i = 0;

	while (live->cutting[i] != cursor)
		i++;
	live->cutting[i] = live->cutting[--live->n_cutting];
	watt_signal_send(&live->progress);
}

/*
 * When a cut is worth another try. Before it is known who ran until then it can't be made, which the
 * end of a slice tells, and wakes who waits, if no flush did; what sensors have may come at any time.
 */
static uint64_t next_try_ns(const struct live *live, uint64_t t_ns, uint64_t end_ns)
{
	uint64_t try_ns = watt_now_ns() + CUT_PAUSE_NS;

	if (live->swept_ns < t_ns)
		try_ns = WATT_MAX(try_ns, live->due_ns);
	return WATT_MIN(end_ns, try_ns);
}

static int live_snapshot_at(struct watt_session *ses, uint32_t cursor, uint64_t t_ns,
			    uint64_t timeout_ns, struct watt_snapshot **ret)
{
	struct live *live = live_of(ses);
	uint64_t end_ns = watt_now_ns() + timeout_ns;
	int r;

	r = begin_cut(live, cursor, end_ns);
	if (r < 0)
		return r;
	for (;;) {
		r = watt_pipeline_snapshot_at(live->pipeline, cursor, t_ns, ret);
		if (r != -EAGAIN)
			break;
		r = -ETIMEDOUT;
		if (watt_now_ns() >= end_ns)
			break;
		watt_pipeline_hurry(live->pipeline);
		wait_for_work(live, next_try_ns(live, t_ns, end_ns));
		r = work_or_fail(live);
		if (r < 0)
			break;
	}
	end_cut(live, cursor);
	return r;
}

static int live_open_cursor(struct watt_session *ses, uint32_t *ret_cursor)
{
	return watt_pipeline_open_cursor(live_of(ses)->pipeline, ret_cursor);
}

static void live_close_cursor(struct watt_session *ses, uint32_t cursor)
{
	watt_pipeline_close_cursor(live_of(ses)->pipeline, cursor);
}

static int live_next_snapshot(struct watt_session *ses, struct watt_snapshot **ret)
{
	(void)ses, (void)ret;
	return -EINVAL;
}

static uint64_t live_get_time_ns(const struct watt_session *ses)
{
	(void)ses;
	return watt_now_ns();
}

static int live_track(struct watt_session *ses, uint32_t pid, uint64_t *ret_entity_id)
{
	return watt_pipeline_track(live_of(ses)->pipeline, pid, ret_entity_id);
}

static int live_untrack(struct watt_session *ses, uint64_t entity_id)
{
	return watt_pipeline_untrack(live_of(ses)->pipeline, entity_id);
}

static int live_get_crosscheck(const struct watt_session *ses, size_t index,
			       int64_t *ret_difference_ppm)
{
	return watt_pipeline_crosscheck(live_of(ses)->pipeline, index, ret_difference_ppm);
}

static int live_get_sample(const struct watt_session *ses, size_t index, struct watt_sample *ret)
{
	return watt_pipeline_sample(live_of(ses)->pipeline, index, ret);
}

static int live_get_reader_stats(const struct watt_session *ses, size_t index,
				 struct watt_reader_stats *ret)
{
	watt_pipeline_reader_stats(live_of(ses)->pipeline, index, ret);
	return 0;
}

static int live_get_tier_stats(const struct watt_session *ses, enum watt_tier tier,
			       struct watt_tier_stats *ret)
{
	watt_pipeline_tier_stats(live_of(ses)->pipeline, tier, ret);
	return 0;
}

static const char *live_get_source(const struct watt_session *ses, size_t index,
				   enum watt_status *ret_status)
{
	return watt_pipeline_source(live_of(ses)->pipeline, index, ret_status);
}

static const struct watt_session_ops live_ops = {
	.close = live_close,
	.record = live_record,
	.end_recording = live_end_recording,
	.get_record_stats = live_get_record_stats,
	.start = live_start,
	.get_fd = live_get_fd,
	.dispatch = live_dispatch,
	.wait = live_wait,
	.flush = live_flush,
	.snapshot = live_snapshot,
	.snapshot_at = live_snapshot_at,
	.open_cursor = live_open_cursor,
	.close_cursor = live_close_cursor,
	.next_snapshot = live_next_snapshot,
	.get_time_ns = live_get_time_ns,
	.track = live_track,
	.untrack = live_untrack,
	.get_crosscheck = live_get_crosscheck,
	.get_sample = live_get_sample,
	.get_reader_stats = live_get_reader_stats,
	.get_tier_stats = live_get_tier_stats,
	.get_source = live_get_source,
};

static int open_parts(struct live *live, const struct watt_options *options)
{
	struct watt_options *own = &live->world->options;
	int r;

	r = watt_env_open(options, live->world);
	if (r < 0)
		return r;
	if (!own->slice_ns)
		own->slice_ns = DEFAULT_SLICE_NS;
	if (!own->period_ns)
		own->period_ns = own->slice_ns;
	if (!own->open_wait_ms)
		own->open_wait_ms = DEFAULT_OPEN_WAIT_MS;
	/* Said in recordings: those of before it was automatic to learn say nothing. */
	if (!own->share_keys.n)
		r = watt_rules_add(&own->share_keys, NULL, WATT_KEY_AUTO);
	if (r < 0)
		return r;
	live->is_driven = own->is_driven;
	live->slice_ns = own->slice_ns;
	r = open_clock(live);
	if (r < 0)
		return r;
	if (watt_machine_read_host(&live->world->env, live->host))
		live->ses.host = live->host;
	return watt_pipeline_new(&live->world->env, own, &live->pipeline);
}

int watt_live_open(const struct watt_options *options, struct watt_session **ret)
{
	struct live *live = calloc(1, sizeof(*live));
	int r;

	if (!live)
		return -ENOMEM;
	live->ses.ops = &live_ops;
	live->ses.lock = watt_lock_new();
	live->world = watt_env_new();
	if (!live->ses.lock || !live->world) {
		watt_lock_free(live->ses.lock);
		free(live->world);
		free(live);
		return -ENOMEM;
	}
	live->poll_fd = live->work_fd = live->timer_fd = live->news_fd = live->wake_fd = -1;
	r = open_parts(live, options);
	if (r < 0) {
		live_close(&live->ses);
		return r;
	}
	live->ses.setup = watt_pipeline_setup(live->pipeline);
	live->ses.attrib = watt_pipeline_attrib(live->pipeline);
	*ret = &live->ses;
	return 0;
}
