/* SPDX-License-Identifier: Apache-2.0 */
/* A session on this machine: the clock of the slices, and the pipeline. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"
#include "env.h"
#include "mark/socket.h"
#include "pipeline.h"
#include "session.h"

#define DEFAULT_SLICE_US 50000u
#define MIN_SLICE_US 1000u
#define MAX_SLICE_US 60000000u
#define MIN_PERIOD_US 1000u
/* Taken in one dispatch; the others make the descriptor readable at once. */
#define MARKS_PER_DISPATCH 64

struct live {
	struct watt_session ses;
	struct watt_env_owner env;
	struct watt_pipeline *pipeline;
	uint64_t slice_ns;
	int poll_fd; /* of the two below */
	int timer_fd;
	struct watt_mark_socket *marks; /* NULL: nobody can tell any */
	bool is_started;
};

static struct live *live_of(const struct watt_session *ses)
{
	return watt_container_of(ses, struct live, ses);
}

static void live_close(struct watt_session *ses)
{
	struct live *live = live_of(ses);
	bool is_hung;

	is_hung = watt_pipeline_stop(live->pipeline) > 0;
	watt_pipeline_free(live->pipeline);
	watt_mark_socket_close(live->marks);
	if (live->timer_fd >= 0)
		close(live->timer_fd);
	if (live->poll_fd >= 0)
		close(live->poll_fd);
	if (is_hung) {
		/* a read that comes back one day finds its world, but nobody to talk to */
		live->env.env.log = (struct watt_log){ 0 };
		return;
	}
	watt_env_close(&live->env);
	free(live);
}

static int add_to_poll(const struct live *live, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(live->poll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int open_clock(struct live *live)
{
	live->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	live->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (live->poll_fd < 0 || live->timer_fd < 0)
		return -errno;
	return add_to_poll(live, live->timer_fd);
}

/* A session that nobody can tell marks is one without phases, no failure. */
static int open_marks(struct live *live)
{
	const struct watt_log *log = &live->env.env.log;
	int r;

	if (live->marks)
		return 0;
	r = watt_mark_socket_open(NULL, log, &live->marks);
	if (r < 0) {
		watt_log(log, WATT_LOG_INFO, "cannot listen for marks: %s", strerror(-r));
		return 0;
	}
	live->ses.marks_address = watt_mark_socket_get_address(live->marks);
	return add_to_poll(live, watt_mark_socket_get_fd(live->marks));
}

static int live_record(struct watt_session *ses, const char *path,
		       const struct watt_record_opts *opts)
{
	struct live *live = live_of(ses);

	return live->is_started ? -EALREADY : watt_pipeline_record(live->pipeline, path, opts);
}

static int live_get_record_stats(const struct watt_session *ses, struct watt_record_stats *ret)
{
	return watt_pipeline_record_stats(live_of(ses)->pipeline, ret);
}

static int live_start(struct watt_session *ses)
{
	struct live *live = live_of(ses);
	struct itimerspec when = {
		.it_interval = watt_timespec_from_ns(live->slice_ns),
		.it_value = watt_timespec_from_ns(live->slice_ns),
	};
	int r;

	if (live->is_started)
		return -EALREADY;
	r = open_marks(live);
	if (r == 0)
		r = watt_pipeline_start(live->pipeline);
	if (r < 0)
		return r;
	if (timerfd_settime(live->timer_fd, 0, &when, NULL) < 0)
		return -errno;
	live->is_started = true;
	return 0;
}

static int live_get_fd(const struct watt_session *ses)
{
	return live_of(ses)->poll_fd;
}

/* Takes what programs told. Returns how many there were, or a negative errno. */
static int take_marks(struct live *live)
{
	struct watt_mark mark;
	int n = 0, r;

	while (live->marks && n < MARKS_PER_DISPATCH &&
	       watt_mark_socket_read(live->marks, &mark) == 0) {
		r = watt_pipeline_mark(live->pipeline, &mark);
		if (r < 0)
			return r;
		watt_mark_queue_push(&live->ses.told, &mark);
		n++;
	}
	return n;
}

static int live_dispatch(struct watt_session *ses)
{
	struct live *live = live_of(ses);
	uint64_t expirations;
	bool is_due;
	int r;

	is_due = read(live->timer_fd, &expirations, sizeof(expirations)) == sizeof(expirations);
	r = take_marks(live);
	if (r < 0 || (r == 0 && !is_due))
		return r;
	/* however many were missed, and at once for a mark: one slice ends */
	r = watt_pipeline_tick(live->pipeline);
	return r < 0 ? r : 1;
}

/* Until something is due or end_ns has come. */
static int wait_until(const struct live *live, uint64_t end_ns)
{
	struct pollfd pfd = { .fd = live->poll_fd, .events = POLLIN };
	uint64_t now_ns = watt_now_ns();
	struct timespec left = watt_timespec_from_ns(end_ns > now_ns ? end_ns - now_ns : 0);

	return ppoll(&pfd, 1, &left, NULL) < 0 ? -errno : 0;
}

static int live_wait(struct watt_session *ses, uint64_t timeout_ns)
{
	uint64_t end_ns = watt_now_ns() + timeout_ns;
	int r;

	while (watt_now_ns() < end_ns) {
		r = wait_until(live_of(ses), end_ns);
		if (r == 0)
			r = live_dispatch(ses);
		if (r < 0)
			return r;
	}
	return 0;
}

static int live_flush(struct watt_session *ses, uint64_t timeout_ns)
{
	return watt_pipeline_flush(live_of(ses)->pipeline, timeout_ns);
}

static int live_snapshot(struct watt_session *ses, struct watt_snapshot **ret)
{
	return watt_pipeline_snapshot(live_of(ses)->pipeline, ret);
}

static int live_snapshot_at(struct watt_session *ses, uint64_t t_ns, uint64_t timeout_ns,
			    struct watt_snapshot **ret)
{
	uint64_t end_ns = watt_now_ns() + timeout_ns;
	int r;

	for (;;) {
		r = watt_pipeline_snapshot_at(live_of(ses)->pipeline, t_ns, ret);
		if (r != -EAGAIN)
			return r;
		if (watt_now_ns() >= end_ns)
			return -ETIMEDOUT;
		r = wait_until(live_of(ses), end_ns);
		if (r == 0)
			r = live_dispatch(ses);
		if (r < 0)
			return r;
	}
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

static const struct watt_session_ops live_ops = {
	.close = live_close,
	.record = live_record,
	.get_record_stats = live_get_record_stats,
	.start = live_start,
	.get_fd = live_get_fd,
	.dispatch = live_dispatch,
	.wait = live_wait,
	.flush = live_flush,
	.snapshot = live_snapshot,
	.snapshot_at = live_snapshot_at,
	.next_snapshot = live_next_snapshot,
	.get_time_ns = live_get_time_ns,
	.track = live_track,
	.get_crosscheck = live_get_crosscheck,
	.get_sample = live_get_sample,
	.get_reader_stats = live_get_reader_stats,
};

static int check_opts(const struct watt_session_opts *opts, const struct watt_log *log)
{
	if (opts->slice_us && (opts->slice_us < MIN_SLICE_US || opts->slice_us > MAX_SLICE_US)) {
		watt_log(log, WATT_LOG_ERROR, "a slice of %u us is not possible; %u to %u us are",
			 opts->slice_us, MIN_SLICE_US, MAX_SLICE_US);
		return -EINVAL;
	}
	if (opts->period_us &&
	    (opts->period_us < MIN_PERIOD_US || opts->period_us > MAX_SLICE_US)) {
		watt_log(log, WATT_LOG_ERROR, "a period of %u us is not possible; %u to %u us are",
			 opts->period_us, MIN_PERIOD_US, MAX_SLICE_US);
		return -EINVAL;
	}
	return 0;
}

static int open_parts(struct live *live, const struct watt_session_opts *opts)
{
	struct watt_pipeline_opts pipeline_opts = {
		.sources = opts->sources,
		.usage = opts->usage,
	};
	struct watt_log log = { opts->log, opts->log_data };
	int r;

	r = check_opts(opts, &log);
	if (r < 0)
		return r;
	live->slice_ns = (opts->slice_us ? opts->slice_us : DEFAULT_SLICE_US) * WATT_NSEC_PER_USEC;
	pipeline_opts.period_ns = opts->period_us ? opts->period_us * WATT_NSEC_PER_USEC :
						    live->slice_ns;
	pipeline_opts.slice_ns = live->slice_ns;
	r = watt_env_open(opts, &live->env);
	if (r < 0)
		return r;
	pipeline_opts.idle_policy = live->env.idle_policy;
	pipeline_opts.share_keys = live->env.share_keys;
	pipeline_opts.delays = live->env.delays;
	pipeline_opts.rates = live->env.rates;
	r = open_clock(live);
	if (r < 0)
		return r;
	return watt_pipeline_new(&live->env.env, &pipeline_opts, &live->pipeline);
}

int watt_live_open(const struct watt_session_opts *opts, struct watt_session **ret)
{
	struct live *live = calloc(1, sizeof(*live));
	int r;

	if (!live)
		return -ENOMEM;
	live->ses.ops = &live_ops;
	live->poll_fd = live->timer_fd = -1;
	live->env = (struct watt_env_owner)WATT_ENV_OWNER_INIT;
	r = open_parts(live, opts);
	if (r < 0) {
		live_close(&live->ses);
		return r;
	}
	live->ses.setup = watt_pipeline_setup(live->pipeline);
	live->ses.attrib = watt_pipeline_attrib(live->pipeline);
	*ret = &live->ses;
	return 0;
}
