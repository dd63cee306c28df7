/* SPDX-License-Identifier: Apache-2.0 */
/* A build without SQLite or zstd: recordings are refused, never ignored. */
#include "record/record.h"

#include <errno.h>

static int refuse(const struct watt_log *log, const char *path)
{
	watt_log(log, WATT_LOG_ERROR,
		 "%s: this build knows no recordings; build it with SQLite and zstd", path);
	return -EOPNOTSUPP;
}

int watt_recorder_new(const char *path, const struct watt_record_opts *opts,
		      const struct watt_setup *setup, const struct watt_machine *machine,
		      const struct watt_domain *const *domains, size_t n_domains,
		      const struct watt_log *log, struct watt_recorder **ret)
{
	return refuse(log, path);
}

struct watt_recorder *watt_recorder_close(struct watt_recorder *rec)
{
	return NULL;
}

void watt_recorder_put(struct watt_recorder *rec, const struct watt_op *op)
{
}

int watt_recorder_grow(struct watt_recorder *recorder, const struct watt_channel *const *channels,
		       size_t n_channels, const struct watt_domain *const *domains,
		       size_t n_domains)
{
	(void)recorder, (void)channels, (void)n_channels, (void)domains, (void)n_domains;
	return 0;
}

void watt_recorder_put_snapshot(struct watt_recorder *rec, struct watt_snapshot *snap)
{
}

bool watt_recorder_needs_all(struct watt_recorder *rec)
{
	return false;
}

void watt_recorder_set_lost_marks(struct watt_recorder *rec, uint64_t n)
{
}

int watt_recorder_end(struct watt_recorder *rec, uint64_t t_ns)
{
	return -EOPNOTSUPP;
}

void watt_recorder_get_stats(struct watt_recorder *rec, struct watt_record_stats *ret)
{
	*ret = (struct watt_record_stats){ .error = -EOPNOTSUPP };
}

int watt_recording_open(const char *path, watt_log_fn log, void *log_data,
			struct watt_recording **ret)
{
	const struct watt_log to = { log, log_data };

	return path && ret ? refuse(&to, path) : -EINVAL;
}

/* Nobody has an open recording: what follows is there to be linked. */

struct watt_recording *watt_recording_close(struct watt_recording *rec)
{
	return NULL;
}

const struct watt_recording_info *watt_recording_get_info(const struct watt_recording *rec)
{
	return NULL;
}

size_t watt_recording_get_channel_count(const struct watt_recording *rec)
{
	return 0;
}

const struct watt_channel *watt_recording_get_channel(const struct watt_recording *rec,
						      size_t index)
{
	return NULL;
}

char *watt_recording_part_path(const char *path, uint32_t part)
{
	return NULL;
}

size_t watt_recording_get_mark_count(const struct watt_recording *rec)
{
	return 0;
}

const struct watt_mark *watt_recording_get_mark(const struct watt_recording *rec, size_t index)
{
	return NULL;
}

size_t watt_recording_get_loss_count(const struct watt_recording *rec)
{
	return 0;
}

const struct watt_recording_loss *watt_recording_get_loss(const struct watt_recording *rec,
							  size_t index)
{
	return NULL;
}

uint64_t watt_recording_get_realtime_ns(const struct watt_recording *rec, uint64_t t_ns)
{
	return 0;
}

uint64_t watt_recording_find_ns(const struct watt_recording *rec, uint64_t realtime_ns)
{
	return 0;
}

int watt_recording_read_samples(struct watt_recording *rec, struct watt_sample *ret, size_t n)
{
	return -EOPNOTSUPP;
}

int watt_recording_seek(struct watt_recording *rec, uint64_t t_ns)
{
	return -EOPNOTSUPP;
}

const struct watt_setup *watt_recording_get_setup(const struct watt_recording *rec)
{
	return NULL;
}

int watt_recording_next_op(struct watt_recording *rec, struct watt_op *ret)
{
	return -EOPNOTSUPP;
}

int watt_recording_write_trace(const struct watt_recording *rec, int fd)
{
	return -EOPNOTSUPP;
}
