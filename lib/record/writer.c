/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes chunks from the session's thread and brings them to the disk. What can't be written is
 * counted and written down as a loss once there is room again.
 */
#include "record/writer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/ring.h"
#include "base/util.h"
#include "record/part.h"

#define RING_SLOTS 16 /* the queue, the end, and a power of two */
#define MAX_LOSSES 16

struct watt_writer {
	const struct watt_log *log;
	const struct watt_record_opts *opts;
	const char *path;           /* of the first file */
	struct watt_tables *tables; /* NULL: those of the beginning */
	struct watt_setup setup;    /* with them */
	struct watt_part_head head;
	struct watt_part *part;
	struct watt_packer *packer;
	pthread_t thread;
	struct watt_ring in;
	struct watt_ring out;
	struct watt_signal signal;
	/* not yet in the file; the last one grows when there are too many */
	struct watt_part_loss losses[MAX_LOSSES];
	size_t n_losses;
	bool has_said;       /* the warning of a failure, until it is over */
	bool is_loss_stated; /* the last loss is in the file although the disk is full */
	uint64_t next_statement_ns;
	struct watt_counter samples;
	struct watt_counter usage_records;
	struct watt_counter marks;
	struct watt_counter chunks;
	struct watt_counter finished_bytes;
	struct watt_counter file_bytes;
	struct watt_counter lost_ns;
	struct watt_counter cost_ns;
	struct watt_counter files;
	struct watt_counter error;
};

struct watt_tables *watt_tables_free(struct watt_tables *tables)
{
	if (!tables)
		return NULL;
	free(tables->channels);
	free(tables->domains);
	free(tables);
	return NULL;
}

void watt_job_clear(struct watt_job *job)
{
	size_t i;

	for (i = 0; i < job->n_snapshots; i++)
		watt_snapshot_unref(job->snapshots[i]);
	watt_chunk_clear(&job->chunk);
	job->n_marks = job->n_snapshots = 0;
	job->begin_ns = job->end_ns = 0;
	job->begins_file = false;
	job->tables = watt_tables_free(job->tables);
	job->loss = (struct watt_part_loss){ 0 };
	job->error = 0;
}

/* ---- losses ---- */

static const char *why(int error)
{
	switch (-error) {
	case ENOSPC:
		return "disk full";
	case EDQUOT:
		return "disk quota exceeded";
	case EFBIG:
		return "file size limit reached";
	case EBUSY:
		return "file locked by another program";
	case ENOMEM:
		return "out of memory";
	case EIO:
		return "disk error";
	case ESTALE:
		return "file removed, renamed or changed by somebody else";
	default:
		return "file can't be written";
	}
}

/* Consecutive losses of one reason are one. */
static void add_loss(struct watt_writer *writer, const struct watt_part_loss *loss)
{
	struct watt_part_loss *last = writer->n_losses ? &writer->losses[writer->n_losses - 1] :
							 NULL;

	watt_counter_add(&writer->lost_ns, loss->t1_ns - loss->t0_ns);
	if (last && (!strcmp(last->why, loss->why) || writer->n_losses == MAX_LOSSES)) {
		last->t1_ns = loss->t1_ns;
		last->samples += loss->samples;
		last->usage_records += loss->usage_records;
		return;
	}
	writer->losses[writer->n_losses++] = *loss;
}

/* Brings the losses into the file, alone or with what is committed: the first may be there. */
static int commit_losses(struct watt_writer *writer, const struct watt_part_entry *entry)
{
	size_t stated = writer->is_loss_stated;
	int r = 0;

	if (stated)
		r = watt_part_extend_loss(writer->part, &writer->losses[0]);
	if (r == 0 && (entry || writer->n_losses > stated))
		r = watt_part_commit(writer->part, entry, writer->losses + stated,
				     writer->n_losses - stated);
	return r;
}

/* With what is kept in reserve, so that the file says so even if there is never room again. */
static void state_loss(struct watt_writer *writer, uint64_t now_ns)
{
	const struct watt_part_loss *last = &writer->losses[writer->n_losses - 1];

	if (now_ns < writer->next_statement_ns)
		return;
	/* seldomer and seldomer: each statement costs some of the reserve */
	writer->next_statement_ns = now_ns + WATT_MAX(now_ns - last->t0_ns, WATT_NSEC_PER_SEC);
	if (commit_losses(writer, NULL) < 0)
		return;
	writer->is_loss_stated = true;
	writer->losses[0] = *last;
	writer->n_losses = 1;
}

static void take_failure(struct watt_writer *writer, struct watt_job *job, int r)
{
	const struct watt_part_loss loss = {
		job->begin_ns, job->end_ns, job->chunk.n_samples, job->chunk.n_usage, why(r),
	};

	job->error = r;
	watt_counter_set(&writer->error, (uint64_t)(int64_t)r);
	if (!writer->has_said && r == -ESTALE)
		watt_log(
			writer->log, WATT_LOG_ERROR,
			"%s: somebody has removed, renamed or changed the file while it was written: "
			"what is measured from now on is lost",
			writer->path);
	else if (!writer->has_said)
		watt_log(writer->log, WATT_LOG_WARNING,
			 "%s: %s: what is measured now is not in the recording, and the recording "
			 "says so; it goes on when that is over",
			 writer->path, why(r));
	writer->has_said = true;
	add_loss(writer, &loss);
	state_loss(writer, job->end_ns);
}

static void take_success(struct watt_writer *writer, const struct watt_job *job)
{
	if (writer->has_said)
		watt_log(writer->log, WATT_LOG_INFO, "%s: recording goes on", writer->path);
	writer->has_said = writer->is_loss_stated = false;
	writer->next_statement_ns = 0;
	writer->n_losses = 0;
	watt_counter_set(&writer->error, 0);
	watt_counter_add(&writer->samples, job->chunk.n_samples);
	watt_counter_add(&writer->usage_records, job->chunk.n_usage);
	watt_counter_add(&writer->marks, job->n_marks);
	watt_counter_add(&writer->chunks, 1);
}

/* ---- files ---- */

/*
 * A file more, if it can be made: else the one before goes on. The old one is finished only when
 * the new one is there.
 */
static void begin_file(struct watt_writer *writer, const struct watt_job *job)
{
	struct watt_part_head head = writer->head;
	struct watt_part *part;
	char *path;
	int r;

	head.part++;
	head.realtime_offset_ns = job->realtime_offset_ns;
	path = watt_recording_part_path(writer->path, head.part);
	r = path ? watt_part_create(path, writer->opts->overwrite, &head, writer->log, &part) :
		   -ENOMEM;
	free(path);
	if (r < 0) {
		watt_log(writer->log, WATT_LOG_WARNING,
			 "%s: the recording can't go on in another file and stays in this one",
			 writer->path);
		return;
	}
	watt_part_finish(writer->part);
	watt_counter_add(&writer->finished_bytes, watt_part_get_bytes(writer->part));
	watt_part_free(writer->part);
	writer->part = part;
	writer->head = head;
	watt_counter_set(&writer->files, head.part);
	if (writer->opts->keep && head.part > writer->opts->keep)
		watt_part_remove(writer->path, head.part - writer->opts->keep);
}

/* ---- the thread ---- */

static int commit(struct watt_writer *writer, const struct watt_job *job)
{
	struct watt_part_entry entry = {
		.chunk = &job->chunk,
		.channels = writer->head.setup->channels,
		.n_channels = writer->head.setup->n_channels,
		.domains = writer->head.domains,
		.n_domains = writer->head.n_domains,
		.marks = job->marks,
		.n_marks = job->n_marks,
		.snapshots = job->snapshots,
		.n_snapshots = job->n_snapshots,
		.missed_reads = job->missed_reads,
		.lost_samples = job->lost_samples,
		.lost_usage = job->lost_usage,
		.lost_marks = job->lost_marks,
		.slept_ns = job->slept_ns,
		.ended_ns = job->ended_ns,
		.realtime_offset_ns = job->realtime_offset_ns,
		.is_snapshot_aligned = job->is_snapshot_aligned,
	};
	int r = watt_packer_pack(writer->packer, &job->chunk, &entry.packed, &entry.packed_size);

	if (r < 0)
		return r;
	return commit_losses(writer, &entry);
}

/* From now on there are more channels: for this commit, if it is one, and all that follow. */
static void take_tables(struct watt_writer *writer, struct watt_job *job)
{
	watt_tables_free(writer->tables);
	writer->tables = job->tables;
	job->tables = NULL;
	writer->setup = *writer->head.setup;
	writer->setup.channels = writer->tables->channels;
	writer->setup.n_channels = writer->tables->n_channels;
	writer->head.setup = &writer->setup;
	writer->head.domains = writer->tables->domains;
	writer->head.n_domains = writer->tables->n_domains;
}

static void do_job(struct watt_writer *writer, struct watt_job *job)
{
	uint64_t begin_ns = watt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	int r;

	if (job->tables)
		take_tables(writer, job);
	if (job->loss.t1_ns)
		add_loss(writer, &job->loss);
	if (job->begins_file)
		begin_file(writer, job);
	r = job->chunk.n_ops ? commit(writer, job) : 0;
	if (r < 0)
		take_failure(writer, job, r);
	else if (job->chunk.n_ops)
		take_success(writer, job);
	watt_counter_set(&writer->file_bytes, watt_part_get_bytes(writer->part));
	watt_counter_add(&writer->cost_ns, watt_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns);
}

/* Until NULL comes. */
static void *run(void *data)
{
	struct watt_writer *writer = data;
	struct watt_job *job;
	uint32_t seen;

	for (;;) {
		seen = watt_signal_get(&writer->signal);
		if (!watt_ring_pop(&writer->in, &job, 1)) {
			watt_signal_wait(&writer->signal, seen, INT64_MAX);
			continue;
		}
		if (!job)
			return NULL;
		do_job(writer, job);
		watt_ring_push(&writer->out, &job, 1);
	}
}

/* No signal of the program is handled there, and a file size limit is an error like others. */
static int start(struct watt_writer *writer)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&writer->thread, NULL, run, writer);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r)
		return -r;
	pthread_setname_np(writer->thread, "watt-record");
	return 0;
}

static void done(struct watt_writer *writer)
{
	watt_tables_free(writer->tables);
	watt_part_free(writer->part);
	watt_packer_free(writer->packer);
	watt_ring_done(&writer->in);
	watt_ring_done(&writer->out);
	free(writer);
}

int watt_writer_new(const char *path, const struct watt_record_opts *opts,
		    const struct watt_part_head *head, const struct watt_log *log,
		    struct watt_writer **ret)
{
	struct watt_writer *writer = calloc(1, sizeof(*writer));
	int r;

	if (!writer)
		return -ENOMEM;
	writer->path = path;
	writer->opts = opts;
	writer->head = *head;
	writer->head.uid = opts->uid;
	writer->head.gid = opts->gid;
	writer->log = log;
	watt_counter_set(&writer->files, head->part);
	r = watt_packer_new(&writer->packer);
	if (r == 0)
		r = watt_ring_init(&writer->in, RING_SLOTS, sizeof(struct watt_job *));
	if (r == 0)
		r = watt_ring_init(&writer->out, RING_SLOTS, sizeof(struct watt_job *));
	if (r == 0)
		r = watt_part_create(path, opts->overwrite, &writer->head, log, &writer->part);
	if (r == 0) {
		watt_counter_set(&writer->file_bytes, watt_part_get_bytes(writer->part));
		r = start(writer);
	}
	if (r < 0) {
		done(writer);
		return r;
	}
	*ret = writer;
	return 0;
}

struct watt_writer *watt_writer_free(struct watt_writer *writer, uint64_t end_ns,
				     const struct watt_part_loss *loss)
{
	struct watt_job *end = NULL;

	if (!writer)
		return NULL;
	watt_ring_push(&writer->in, &end, 1);
	watt_signal_send(&writer->signal);
	pthread_join(writer->thread, NULL);
	if (loss)
		add_loss(writer, loss);
	if (writer->n_losses) {
		writer->next_statement_ns = 0;
		state_loss(writer, end_ns);
	}
	watt_part_finish(writer->part);
	done(writer);
	return NULL;
}

void watt_writer_push(struct watt_writer *writer, struct watt_job *job)
{
	watt_ring_push(&writer->in, &job, 1);
	watt_signal_send(&writer->signal);
}

struct watt_job *watt_writer_pop(struct watt_writer *writer)
{
	struct watt_job *job;

	return watt_ring_pop(&writer->out, &job, 1) ? job : NULL;
}

uint64_t watt_writer_get_file_bytes(const struct watt_writer *writer)
{
	return watt_counter_get(&writer->file_bytes);
}

void watt_writer_get_stats(const struct watt_writer *writer, struct watt_record_stats *ret)
{
	ret->samples = watt_counter_get(&writer->samples);
	ret->usage_records = watt_counter_get(&writer->usage_records);
	ret->marks = watt_counter_get(&writer->marks);
	ret->chunks = watt_counter_get(&writer->chunks);
	ret->bytes =
		watt_counter_get(&writer->finished_bytes) + watt_counter_get(&writer->file_bytes);
	ret->lost_ns = watt_counter_get(&writer->lost_ns);
	ret->cost_ns = watt_counter_get(&writer->cost_ns);
	ret->files = (uint32_t)watt_counter_get(&writer->files);
	ret->error = (int32_t)(int64_t)watt_counter_get(&writer->error);
}
