/* SPDX-License-Identifier: Apache-2.0 */
/* The public face of a measurement. It hands over to what moves the session. */
#include "session.h"

#include <errno.h>

#include <wattribute/profile.h>

#include "base/clock.h"
#include "base/sized.h"
#include "base/efficiency.h"

int watt_session_open(const struct watt_options *options, struct watt_session **ret)
{
	return ret ? watt_live_open(options, ret) : -EINVAL;
}

int watt_session_open_recording(const char *path, const struct watt_options *options,
				struct watt_session **ret)
{
	return path && ret ? watt_replay_open(path, options, ret) : -EINVAL;
}

struct watt_session *watt_session_close(struct watt_session *ses)
{
	if (ses)
		ses->ops->close(ses);
	return NULL;
}

int watt_session_record(struct watt_session *ses, const char *path,
			const struct watt_record_opts *opts)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(ses->lock);
	struct watt_record_opts full = { .sz = sizeof(full) };

	if (!path || (opts && watt_sized_take(opts, &full, sizeof(full)) < 0))
		return -EINVAL;
	return ses->ops->record(ses, path, &full);
}

int watt_session_end_recording(struct watt_session *ses, uint64_t t_ns)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(ses->lock);

	return ses->ops->end_recording(ses, t_ns);
}

int watt_session_get_record_stats(const struct watt_session *ses, struct watt_record_stats *ret)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(ses->lock);
	struct watt_record_stats stats;
	int r;

	if (!watt_sized_is_valid(ret))
		return -EINVAL;
	r = ses->ops->get_record_stats(ses, &stats);
	if (r == 0)
		watt_sized_give(&stats, sizeof(stats), ret);
	return r;
}

int watt_session_start(struct watt_session *ses)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(ses->lock);

	return ses->ops->start(ses);
}

int watt_session_get_fd(const struct watt_session *ses)
{
	return ses->ops->get_fd(ses);
}

int watt_session_dispatch(struct watt_session *ses)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(ses->lock);

	return ses->ops->dispatch(ses);
}

int watt_session_wait(struct watt_session *ses, uint32_t timeout_ms)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(ses->lock);

	return ses->ops->wait(ses, timeout_ms * WATT_NSEC_PER_MSEC);
}

int watt_session_flush(struct watt_session *ses, uint32_t timeout_ms)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(ses->lock);

	return ses->ops->flush(ses, timeout_ms * WATT_NSEC_PER_MSEC);
}

int watt_session_snapshot(struct watt_session *ses, struct watt_snapshot **ret)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(ses->lock);

	return ses->ops->snapshot(ses, 0, ret);
}

int watt_session_snapshot_at(struct watt_session *ses, uint64_t t_ns, uint32_t timeout_ms,
			     struct watt_snapshot **ret)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(ses->lock);

	return ses->ops->snapshot_at(ses, 0, t_ns, timeout_ms * WATT_NSEC_PER_MSEC, ret);
}

int watt_session_next_snapshot(struct watt_session *ses, struct watt_snapshot **ret)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(ses->lock);

	return ses->ops->next_snapshot(ses, ret);
}

uint64_t watt_session_get_time_ns(const struct watt_session *ses)
{
	return ses->ops->get_time_ns(ses);
}

int watt_session_next_mark(struct watt_session *ses, struct watt_mark *ret)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(ses->lock);

	return watt_mark_queue_pop(&ses->told, ret);
}

const char *watt_session_get_marks_address(const struct watt_session *ses)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(ses->lock);

	return ses->marks_address;
}

int watt_session_track(struct watt_session *ses, uint32_t pid, uint64_t *ret_entity_id)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(ses->lock);

	return ses->ops->track(ses, pid, ret_entity_id);
}

int watt_session_untrack(struct watt_session *ses, uint64_t entity_id)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(ses->lock);

	return ses->ops->untrack(ses, entity_id);
}

size_t watt_session_get_channel_count(const struct watt_session *ses)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(ses->lock);

	return ses->setup->n_channels;
}

const struct watt_channel *watt_session_get_channel(const struct watt_session *ses, size_t index)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(ses->lock);

	return index < ses->setup->n_channels ? ses->setup->channels[index] : NULL;
}

int watt_session_get_channel_domain(const struct watt_session *ses, size_t index)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(ses->lock);

	return watt_attrib_channel_domain(ses->attrib, index);
}

int watt_session_channel_is_duplicate(const struct watt_session *ses, size_t index)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(ses->lock);
	int domain = watt_attrib_channel_domain(ses->attrib, index);

	if (domain < 0)
		return 0;
	return watt_attrib_domain(ses->attrib, (size_t)domain)->channel != (int32_t)index;
}

int watt_session_get_crosscheck(const struct watt_session *ses, size_t index,
				int64_t *ret_difference_ppm)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(ses->lock);

	return ses->ops->get_crosscheck(ses, index, ret_difference_ppm);
}

int watt_session_get_sample(const struct watt_session *ses, size_t index, struct watt_sample *ret)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(ses->lock);

	if (index >= ses->setup->n_channels)
		return -EINVAL;
	return ses->ops->get_sample(ses, index, ret);
}

static const struct watt_channel *efficiency_channel(const void *of, size_t i)
{
	return ((const struct watt_session *)of)->setup->channels[i];
}

static int efficiency_sample(const void *of, size_t i, struct watt_sample *ret)
{
	const struct watt_session *ses = of;

	return ses->ops->get_sample(ses, i, ret);
}

int watt_session_get_efficiency(const struct watt_session *ses, size_t index, uint32_t *ret_ppm)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(ses->lock);
	const struct watt_efficiency_view view = { .of = ses,
						   .n = ses->setup->n_channels,
						   .channel = efficiency_channel,
						   .sample = efficiency_sample };
	struct watt_efficiency sides;
	int r;

	if (index >= view.n || !ret_ppm)
		return -EINVAL;
	r = watt_efficiency_read(&view, index, &sides);
	return r < 0 ? r : watt_efficiency_ppm(&sides, ret_ppm);
}

int watt_session_get_reader_stats(const struct watt_session *ses, size_t index,
				  struct watt_reader_stats *ret)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(ses->lock);
	struct watt_reader_stats stats;
	int r;

	if (index >= ses->setup->n_channels || !watt_sized_is_valid(ret))
		return -EINVAL;
	r = ses->ops->get_reader_stats(ses, index, &stats);
	if (r == 0)
		watt_sized_give(&stats, sizeof(stats), ret);
	return r;
}

int watt_session_get_tier_stats(const struct watt_session *ses, enum watt_tier tier,
				struct watt_tier_stats *ret)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(ses->lock);
	struct watt_tier_stats stats;
	int r;

	if ((unsigned int)tier > WATT_TIER_SLOW || !watt_sized_is_valid(ret))
		return -EINVAL;
	r = ses->ops->get_tier_stats(ses, tier, &stats);
	if (r == 0)
		watt_sized_give(&stats, sizeof(stats), ret);
	return r;
}

const char *watt_session_get_host(const struct watt_session *ses)
{
	return ses->host;
}

const char *watt_session_get_source(const struct watt_session *ses, size_t index,
				    enum watt_status *ret_status)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(ses->lock);

	return ses->ops->get_source(ses, index, ret_status);
}

int watt_session_get_profile(struct watt_session *ses, struct watt_profile **ret)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(ses->lock);

	return ret ? watt_attrib_get_profile(ses->attrib, ret) : -EINVAL;
}

size_t watt_session_get_domain_count(const struct watt_session *ses)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(ses->lock);

	return watt_attrib_domain_count(ses->attrib);
}

const struct watt_domain *watt_session_get_domain(const struct watt_session *ses, size_t index)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(ses->lock);

	return watt_attrib_domain(ses->attrib, index);
}

int watt_session_get_users_status(const struct watt_session *ses, size_t index,
				  enum watt_status *ret)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(ses->lock);

	if (index >= watt_attrib_domain_count(ses->attrib) || !ret)
		return -EINVAL;
	*ret = watt_attrib_users_status(ses->attrib, index);
	return 0;
}

const char *watt_session_get_usage_name(const struct watt_session *ses)
{
	return ses->setup->usage;
}

const char *watt_session_get_usage_why(const struct watt_session *ses)
{
	return ses->setup->usage_why ? ses->setup->usage_why : "";
}
