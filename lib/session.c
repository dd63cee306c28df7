/* SPDX-License-Identifier: Apache-2.0 */
/* The public face of a measurement: options, the clock of the slices, and the pipeline. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <wattribute/session.h>

#include "base/clock.h"
#include "base/util.h"
#include "env.h"
#include "pipeline.h"

#define DEFAULT_SLICE_US 50000u
#define MIN_SLICE_US 1000u
#define MAX_SLICE_US 60000000u
#define MIN_PERIOD_US 1000u

struct watt_session {
	struct watt_env_owner env;
	struct watt_pipeline *pipeline;
	uint64_t slice_ns;
	int timer_fd;
	bool is_started;
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

static int session_open(struct watt_session *ses, const struct watt_session_opts *opts)
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
	ses->slice_ns = (opts->slice_us ? opts->slice_us : DEFAULT_SLICE_US) * WATT_NSEC_PER_USEC;
	pipeline_opts.period_ns = opts->period_us ? opts->period_us * WATT_NSEC_PER_USEC :
						    ses->slice_ns;
	pipeline_opts.slice_ns = ses->slice_ns;
	r = watt_env_open(opts, &ses->env);
	if (r < 0)
		return r;
	pipeline_opts.idle_policy = ses->env.idle_policy;
	pipeline_opts.share_keys = ses->env.share_keys;
	pipeline_opts.delays = ses->env.delays;
	ses->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (ses->timer_fd < 0)
		return -errno;
	return watt_pipeline_new(&ses->env.env, &pipeline_opts, &ses->pipeline);
}

int watt_session_open(const struct watt_session_opts *opts, struct watt_session **ret)
{
	struct watt_session_opts full;
	struct watt_session *ses;
	int r;

	r = watt_opts_copy(opts, &full);
	if (r < 0 || !ret)
		return -EINVAL;
	ses = calloc(1, sizeof(*ses));
	if (!ses)
		return -ENOMEM;
	ses->timer_fd = -1;
	ses->env = (struct watt_env_owner)WATT_ENV_OWNER_INIT;
	r = session_open(ses, &full);
	if (r < 0) {
		watt_session_close(ses);
		return r;
	}
	*ret = ses;
	return 0;
}

struct watt_session *watt_session_close(struct watt_session *ses)
{
	bool is_hung;

	if (!ses)
		return NULL;
	is_hung = watt_pipeline_stop(ses->pipeline) > 0;
	watt_pipeline_free(ses->pipeline);
	if (ses->timer_fd >= 0)
		close(ses->timer_fd);
	if (is_hung) {
		/* a read that comes back one day finds its world, but nobody to talk to */
		ses->env.env.log = (struct watt_log){ 0 };
		return NULL;
	}
	watt_env_close(&ses->env);
	free(ses);
	return NULL;
}

int watt_session_start(struct watt_session *ses)
{
	struct itimerspec when = {
		.it_interval = watt_timespec_from_ns(ses->slice_ns),
		.it_value = watt_timespec_from_ns(ses->slice_ns),
	};
	int r;

	if (ses->is_started)
		return -EALREADY;
	r = watt_pipeline_start(ses->pipeline);
	if (r < 0)
		return r;
	if (timerfd_settime(ses->timer_fd, 0, &when, NULL) < 0)
		return -errno;
	ses->is_started = true;
	return 0;
}

int watt_session_get_fd(const struct watt_session *ses)
{
	return ses->timer_fd;
}

int watt_session_dispatch(struct watt_session *ses)
{
	uint64_t expirations;
	int r;

	if (read(ses->timer_fd, &expirations, sizeof(expirations)) != sizeof(expirations))
		return 0;
	/* however many were missed: one longer slice says it all */
	r = watt_pipeline_tick(ses->pipeline);
	return r < 0 ? r : 1;
}

/* Until something is due or end_ns has come. */
static int wait_until(struct watt_session *ses, uint64_t end_ns)
{
	struct pollfd pfd = { .fd = ses->timer_fd, .events = POLLIN };
	uint64_t now_ns = watt_now_ns();
	struct timespec left = watt_timespec_from_ns(end_ns > now_ns ? end_ns - now_ns : 0);

	return ppoll(&pfd, 1, &left, NULL) < 0 ? -errno : 0;
}

int watt_session_wait(struct watt_session *ses, uint32_t timeout_ms)
{
	uint64_t end_ns = watt_now_ns() + timeout_ms * WATT_NSEC_PER_MSEC;
	int r;

	while (watt_now_ns() < end_ns) {
		r = wait_until(ses, end_ns);
		if (r == 0)
			r = watt_session_dispatch(ses);
		if (r < 0)
			return r;
	}
	return 0;
}

int watt_session_flush(struct watt_session *ses, uint32_t timeout_ms)
{
	return watt_pipeline_flush(ses->pipeline, timeout_ms * WATT_NSEC_PER_MSEC);
}

int watt_session_snapshot(struct watt_session *ses, struct watt_snapshot **ret)
{
	return watt_pipeline_snapshot(ses->pipeline, ret);
}

int watt_session_snapshot_at(struct watt_session *ses, uint64_t t_ns, uint32_t timeout_ms,
			     struct watt_snapshot **ret)
{
	uint64_t end_ns = watt_now_ns() + timeout_ms * WATT_NSEC_PER_MSEC;
	int r;

	for (;;) {
		r = watt_pipeline_snapshot_at(ses->pipeline, t_ns, ret);
		if (r != -EAGAIN)
			return r;
		if (watt_now_ns() >= end_ns)
			return -ETIMEDOUT;
		r = wait_until(ses, end_ns);
		if (r == 0)
			r = watt_session_dispatch(ses);
		if (r < 0)
			return r;
	}
}

uint64_t watt_session_get_time_ns(const struct watt_session *ses)
{
	(void)ses;
	return watt_now_ns();
}

int watt_session_track(struct watt_session *ses, uint32_t pid, uint64_t *ret_entity_id)
{
	return watt_pipeline_track(ses->pipeline, pid, ret_entity_id);
}

size_t watt_session_get_channel_count(const struct watt_session *ses)
{
	return watt_pipeline_channel_count(ses->pipeline);
}

const struct watt_channel *watt_session_get_channel(const struct watt_session *ses, size_t index)
{
	return watt_pipeline_channel(ses->pipeline, index);
}

int watt_session_get_channel_domain(const struct watt_session *ses, size_t index)
{
	return watt_pipeline_channel_domain(ses->pipeline, index);
}

int watt_session_channel_is_duplicate(const struct watt_session *ses, size_t index)
{
	int domain = watt_pipeline_channel_domain(ses->pipeline, index);
	const struct watt_domain *d;

	if (domain < 0)
		return 0;
	d = watt_pipeline_domain(ses->pipeline, (size_t)domain);
	return d->channel != (int32_t)index;
}

int watt_session_get_crosscheck(const struct watt_session *ses, size_t index,
				int64_t *ret_difference_ppm)
{
	return watt_pipeline_crosscheck(ses->pipeline, index, ret_difference_ppm);
}

int watt_session_get_sample(const struct watt_session *ses, size_t index, struct watt_sample *ret)
{
	return watt_pipeline_sample(ses->pipeline, index, ret);
}

int watt_session_get_reader_stats(const struct watt_session *ses, size_t index,
				  struct watt_reader_stats *ret)
{
	if (index >= watt_pipeline_channel_count(ses->pipeline))
		return -EINVAL;
	watt_pipeline_reader_stats(ses->pipeline, index, ret);
	return 0;
}

size_t watt_session_get_domain_count(const struct watt_session *ses)
{
	return watt_pipeline_domain_count(ses->pipeline);
}

const struct watt_domain *watt_session_get_domain(const struct watt_session *ses, size_t index)
{
	return watt_pipeline_domain(ses->pipeline, index);
}

const char *watt_session_get_usage_name(const struct watt_session *ses)
{
	return watt_pipeline_usage_name(ses->pipeline);
}
