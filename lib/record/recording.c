/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording that is read: what it says of itself, and its ops and samples chunk by chunk.
 * It must not write, and damage in one chunk must not hide the others.
 */
#include "record/recording.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/nvmt.h"
#include "record/sql.h"

int watt_recording_complain(const struct watt_recording *rec, int r, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	watt_log(&rec->log, WATT_LOG_ERROR, "%s: %s", rec->path, text);
	return r;
}

static int open_streams(struct watt_recording *rec)
{
	uint32_t n_channels = (uint32_t)rec->n_channels;
	int r = watt_sql_prepare(rec->db, "SELECT data FROM chunks WHERE id = ?", &rec->get_chunk);

	if (r < 0)
		return watt_recording_complain(rec, r, "can't be read: %s",
					       sqlite3_errmsg(rec->db));
	r = watt_chunk_reader_new(n_channels, &rec->ops.reader);
	return r < 0 ? r : watt_chunk_reader_new(n_channels, &rec->samples.reader);
}

static int open_file(struct watt_recording *rec)
{
	int r = watt_recording_open_database(rec);

	if (r == 0)
		r = watt_recording_load(rec);
	return r < 0 ? r : open_streams(rec);
}

int watt_recording_open(const char *path, watt_log_fn log, void *log_data,
			struct watt_recording **ret)
{
	struct watt_recording *rec;
	int r;

	if (!path || !ret)
		return -EINVAL;
	rec = calloc(1, sizeof(*rec));
	if (!rec)
		return -ENOMEM;
	rec->info.sz = sizeof(rec->info);
	rec->log = (struct watt_log){ log, log_data };
	rec->path = strdup(path);
	r = rec->path ? watt_nvmt_open(rec) : -ENOMEM;
	if (r == 1)
		r = open_file(rec);
	if (r < 0) {
		watt_recording_close(rec);
		return r;
	}
	*ret = rec;
	return 0;
}

struct watt_recording *watt_recording_close(struct watt_recording *rec)
{
	size_t i;

	if (!rec)
		return NULL;
	watt_nvmt_free(rec->nvmt);
	watt_chunk_reader_free(rec->ops.reader);
	watt_chunk_reader_free(rec->samples.reader);
	sqlite3_finalize(rec->get_chunk);
	sqlite3_close(rec->db);
	for (i = 0; i < rec->n_texts; i++)
		free(rec->texts[i]);
	free(rec->texts);
	free(rec->channels);
	free(rec->channel_list);
	free(rec->places);
	watt_rules_clear(&rec->share_keys);
	watt_rules_clear(&rec->delays);
	free(rec->cpu_slot);
	free(rec->marks);
	free(rec->losses);
	free(rec->clock_steps);
	free(rec->chunks);
	free(rec->path);
	free(rec);
	return NULL;
}

/* ---- what it says ---- */

const struct watt_recording_info *watt_recording_get_info(const struct watt_recording *rec)
{
	return &rec->info;
}

size_t watt_recording_get_channel_count(const struct watt_recording *rec)
{
	return rec->n_channels;
}

const struct watt_channel *watt_recording_get_channel(const struct watt_recording *rec,
						      size_t index)
{
	return index < rec->n_channels ? &rec->channels[index] : NULL;
}

size_t watt_recording_get_mark_count(const struct watt_recording *rec)
{
	return rec->n_marks;
}

const struct watt_mark *watt_recording_get_mark(const struct watt_recording *rec, size_t index)
{
	return index < rec->n_marks ? &rec->marks[index] : NULL;
}

size_t watt_recording_get_loss_count(const struct watt_recording *rec)
{
	return rec->n_losses;
}

const struct watt_recording_loss *watt_recording_get_loss(const struct watt_recording *rec,
							  size_t index)
{
	return index < rec->n_losses ? &rec->losses[index] : NULL;
}

uint64_t watt_recording_get_realtime_ns(const struct watt_recording *rec, uint64_t t_ns)
{
	uint64_t offset_ns = rec->info.start_realtime_ns - rec->info.start_ns;
	size_t i;

	for (i = 0; i < rec->n_clock_steps && rec->clock_steps[i].t_ns <= t_ns; i++)
		offset_ns = (uint64_t)rec->clock_steps[i].realtime_offset_ns;
	return t_ns + offset_ns;
}

uint64_t watt_recording_find_ns(const struct watt_recording *rec, uint64_t realtime_ns)
{
	uint64_t first_ns = realtime_ns - (rec->info.start_realtime_ns - rec->info.start_ns);
	uint64_t t_ns = first_ns;
	size_t i = 0;

	for (;;) {
		if (t_ns >= rec->info.start_ns && t_ns <= rec->info.end_ns &&
		    watt_recording_get_realtime_ns(rec, t_ns) == realtime_ns)
			return t_ns;
		if (i == rec->n_clock_steps)
			return first_ns;
		t_ns = realtime_ns - (uint64_t)rec->clock_steps[i++].realtime_offset_ns;
	}
}

const struct watt_setup *watt_recording_get_setup(const struct watt_recording *rec)
{
	return &rec->setup;
}

/* ---- chunks ---- */

static int complain_chunk(const struct watt_recording *rec, const struct watt_stream *stream,
			  const struct watt_chunk_fault *fault)
{
	return watt_recording_complain(rec, -EBADMSG,
				       "chunk %" PRId64 " is damaged at byte %zu: %s; reading goes "
				       "on behind it",
				       rec->chunks[stream->next - 1].id, fault->offset,
				       fault->what);
}

/* Opens the next chunk. 0; 1: there is none; -EBADMSG: it is damaged, and passed over. */
static int open_chunk(struct watt_recording *rec, struct watt_stream *stream)
{
	struct watt_chunk_fault fault = { "it can't be read", 0 };
	int rc, r = -EBADMSG;

	if (stream->next == rec->n_chunks) {
		if (!rec->is_list_damaged || stream->has_told_end)
			return 1;
		stream->has_told_end = true;
		return watt_recording_complain(rec, -EBADMSG,
					       "is damaged behind chunk %zu: what follows is lost",
					       rec->n_chunks);
	}
	watt_guard_begin(&rec->guard);
	sqlite3_bind_int64(rec->get_chunk, 1, rec->chunks[stream->next++].id);
	rc = sqlite3_step(rec->get_chunk);
	if (rc == SQLITE_ROW && sqlite3_column_type(rec->get_chunk, 0) == SQLITE_BLOB)
		r = watt_chunk_reader_open(stream->reader, sqlite3_column_blob(rec->get_chunk, 0),
					   (size_t)sqlite3_column_bytes(rec->get_chunk, 0), &fault);
	else if ((rc & 0xff) == SQLITE_NOMEM)
		r = -ENOMEM;
	sqlite3_reset(rec->get_chunk);
	stream->is_open = r == 0;
	return r == -EBADMSG ? complain_chunk(rec, stream, &fault) : r;
}

int watt_recording_next_op(struct watt_recording *rec, struct watt_op *ret)
{
	struct watt_stream *stream = &rec->ops;
	struct watt_chunk_fault fault;
	int r;

	if (rec->nvmt)
		return watt_nvmt_next_op(rec, ret);
	for (;;) {
		if (!stream->is_open) {
			r = open_chunk(rec, stream);
			if (r)
				return r;
		}
		r = watt_chunk_reader_next(stream->reader, ret, &fault);
		if (r == 0 && ret->kind == WATT_OP_CHANNELS)
			ret->channels.list = rec->channel_list;
		if (r == 0)
			return 0;
		stream->is_open = false;
		if (r == -EBADMSG)
			return complain_chunk(rec, stream, &fault);
		if (r < 0)
			return r;
	}
}

/* ---- samples ---- */

/* Keeps those that are not before the time that was asked for. */
static size_t pass_over(const struct watt_recording *rec, struct watt_sample *samples, size_t n)
{
	size_t i, kept = 0;

	for (i = 0; i < n; i++)
		if (samples[i].t_before_ns >= rec->seek_ns)
			samples[kept++] = samples[i];
	return kept;
}

int watt_recording_read_samples(struct watt_recording *rec, struct watt_sample *ret, size_t n)
{
	struct watt_stream *stream = &rec->samples;
	struct watt_chunk_fault fault;
	size_t kept = 0;
	int r;

	if (rec->nvmt)
		return watt_nvmt_read_samples(rec, ret, n);
	n = n > INT32_MAX ? INT32_MAX : n;
	while (n && !kept) {
		if (!stream->is_open) {
			r = open_chunk(rec, stream);
			if (r)
				return r < 0 ? r : 0;
		}
		r = watt_chunk_reader_samples(stream->reader, ret, n, &fault);
		if (r <= 0)
			stream->is_open = false;
		if (r == -EBADMSG)
			return complain_chunk(rec, stream, &fault);
		if (r < 0)
			return r;
		kept = pass_over(rec, ret, (size_t)r);
	}
	return (int)kept;
}

int watt_recording_seek(struct watt_recording *rec, uint64_t t_ns)
{
	struct watt_stream *stream = &rec->samples;
	size_t i = 0;

	if (rec->nvmt) {
		watt_nvmt_seek(rec, t_ns);
		return 0;
	}
	while (i < rec->n_chunks && rec->chunks[i].t1_ns < t_ns)
		i++;
	stream->next = i;
	stream->is_open = stream->has_told_end = false;
	rec->seek_ns = t_ns;
	return 0;
}
