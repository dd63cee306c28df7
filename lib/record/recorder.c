/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The session's side of a recording: encodes ops into the current chunk and hands it to the
 * writer about once a second. It never waits: when the disk does not keep up, a chunk is dropped,
 * counted, and what it said of names and phases is told again in the next one.
 */
#include "record/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/sized.h"
#include "base/util.h"
#include "record/chunk.h"
#include "record/nvmt_writer.h"
#include "record/part.h"
#include "record/setup.h"
#include "record/writer.h"

/* With the time that a commit takes, less than a second is missing after a sudden end. */
#define CHUNK_NS (750 * WATT_NSEC_PER_MSEC)
#define CHUNK_BYTES ((size_t)4 << 20)
#define CHUNK_OPS (WATT_CHUNK_OPS_MAX / 4)
/* Names that are kept for later. */
#define CARRY_BYTES ((size_t)1 << 20)
#define MAX_TRACKS 64
/* After a file that could not be made, another is tried so much later. */
#define RETRY_NS (60 * WATT_NSEC_PER_SEC)

struct watt_recorder {
	struct watt_log log;
	struct watt_record_opts opts;
	char *path;
	struct watt_head_copy head;
	struct watt_writer *writer;
	struct watt_nvmt_writer *trace; /* of another format, and nothing of what follows; or NULL */
	struct watt_predict predict;
	struct watt_chunk_reader *reader;             /* of chunks that were dropped */
	struct watt_job *jobs[WATT_WRITER_QUEUE + 2]; /* all of them */
	struct watt_job *current;
	struct watt_job *idle[WATT_WRITER_QUEUE + 2];
	size_t n_idle;
	size_t n_away;              /* at the writer */
	struct watt_part_loss loss; /* not yet told to the writer; t1_ns 0: none */
	uint64_t start_ns;
	uint64_t file_begin_ns;
	uint64_t now_ns; /* of the newest op */
	uint64_t barrier_ns;
	struct watt_mark phase; /* t_ns 0: none */
	uint64_t file_marks;    /* in the file that is written now */
	uint64_t excess_marks;  /* that no file had room for */
	uint64_t lost_marks;    /* as the session says */
	uint64_t ended_ns;      /* where it was ended; 0: it was not */
	uint32_t tracks[MAX_TRACKS];
	size_t n_tracks;
	bool has_threads;
	bool is_snapshot_aligned;
	bool needs_all;
	bool has_failed; /* a chunk was not written; the next that is ends that */
	/* the next full sweep begins another file, and so do the names told until then */
	bool is_rotating;
	struct watt_chunk carry;
	uint64_t rotated_ns;
	uint32_t files; /* when the last one was asked for */
	uint64_t put_ns;
};

/* ---- jobs ---- */

static struct watt_job *job_new(void)
{
	struct watt_job *job = calloc(1, sizeof(*job));

	if (job)
		watt_job_clear(job);
	return job;
}

static void job_free(struct watt_job *job)
{
	if (!job)
		return;
	watt_job_clear(job);
	watt_chunk_done(&job->chunk);
	free(job);
}

/* When an op happens; 0: it has no time of its own. */
static uint64_t op_time_ns(const struct watt_op *op)
{
	switch (op->kind) {
	case WATT_OP_SAMPLES:
		return op->samples.n ? op->samples.list[op->samples.n - 1].t_after_ns : 0;
	case WATT_OP_USAGE:
		return op->usage.t_after_ns;
	case WATT_OP_ADVANCE:
		return op->advance_ns;
	case WATT_OP_CLOCK:
		return op->clock.to_ns;
	default:
		return 0;
	}
}

static bool is_name(enum watt_op_kind kind)
{
	return kind == WATT_OP_IDENTITY || kind == WATT_OP_CGROUP || kind == WATT_OP_USER ||
	       kind == WATT_OP_CONTAINER;
}

static void take_loss(struct watt_recorder *rec, uint64_t t0_ns, uint64_t samples,
		      uint64_t usage_records, const char *why)
{
	struct watt_part_loss *loss = &rec->loss;

	if (!loss->t1_ns)
		*loss = (struct watt_part_loss){ .t0_ns = t0_ns, .why = why };
	loss->t1_ns = WATT_MAX(rec->now_ns, loss->t0_ns + 1);
	loss->samples += samples;
	loss->usage_records += usage_records;
	rec->has_failed = true;
}

/* ---- ops ---- */

/* So that there is room for those that are tracked later, however many have been. */
static void forget_track(struct watt_recorder *rec, uint32_t pid)
{
	size_t i = rec->n_tracks;

	while (i-- > 0)
		if (rec->tracks[i] == pid) {
			rec->n_tracks--;
			memmove(&rec->tracks[i], &rec->tracks[i + 1],
				(rec->n_tracks - i) * sizeof(rec->tracks[0]));
			return;
		}
}

static void remember(struct watt_recorder *rec, const struct watt_op *op)
{
	struct watt_job *job = rec->current;

	switch (op->kind) {
	case WATT_OP_MARK:
		rec->phase = op->mark;
		if (job->n_marks < WATT_JOB_MARKS)
			job->marks[job->n_marks++] = op->mark;
		break;
	case WATT_OP_USAGE:
		job->lost_usage = op->usage.lost;
		break;
	case WATT_OP_BARRIER:
		rec->barrier_ns = op->barrier_ns;
		break;
	case WATT_OP_THREADS:
		rec->has_threads = true;
		break;
	case WATT_OP_CLOCK:
		job->realtime_offset_ns = (int64_t)(op->clock.realtime_ns - op->clock.to_ns);
		job->slept_ns += op->clock.slept_ns;
		break;
	case WATT_OP_TRACK:
		if (rec->n_tracks < MAX_TRACKS)
			rec->tracks[rec->n_tracks++] = op->track_pid;
		break;
	case WATT_OP_UNTRACK:
		forget_track(rec, op->untrack.pid);
		break;
	case WATT_OP_SNAPSHOT:
		job->missed_reads = op->snapshot.missed_reads;
		job->lost_samples = op->snapshot.lost_samples;
		rec->is_snapshot_aligned &= rec->barrier_ns != 0;
		job->is_snapshot_aligned = rec->is_snapshot_aligned;
		break;
	default:
		break;
	}
}

static void encode(struct watt_recorder *rec, const struct watt_op *op)
{
	int r = watt_chunk_put(&rec->current->chunk, &rec->predict, op);

	rec->current->end_ns = rec->now_ns;
	if (r == 0)
		return;
	if (!rec->loss.t1_ns)
		watt_log(&rec->log, WATT_LOG_WARNING,
			 "%s: something can't be recorded (%s); the recording says what is missing",
			 rec->path, strerror(-r));
	take_loss(rec, rec->now_ns, op->kind == WATT_OP_SAMPLES ? op->samples.n : 0,
		  op->kind == WATT_OP_USAGE ? op->usage.n_records : 0,
		  r == -ENOMEM ? "out of memory" : "not valid");
}

static void encode_barrier(struct watt_recorder *rec)
{
	const struct watt_op op = { .kind = WATT_OP_BARRIER, .barrier_ns = rec->barrier_ns };

	encode(rec, &op);
}

/* Tells again what a chunk that is not in the file said of names, phases and tracks. */
static void carry(struct watt_recorder *rec, const struct watt_chunk *from)
{
	size_t limit = watt_chunk_size(&rec->current->chunk) + CARRY_BYTES;
	struct watt_chunk_fault fault;
	bool has_barrier = false;
	struct watt_op op;

	watt_chunk_reader_borrow(rec->reader, from);
	while (watt_chunk_reader_next(rec->reader, &op, &fault) == 0) {
		has_barrier |= op.kind == WATT_OP_BARRIER;
		if (!is_name(op.kind) && op.kind != WATT_OP_MARK && op.kind != WATT_OP_TRACK &&
		    op.kind != WATT_OP_UNTRACK && op.kind != WATT_OP_CHANNELS &&
		    op.kind != WATT_OP_THREADS && op.kind != WATT_OP_PLACE &&
		    op.kind != WATT_OP_CLOCK)
			continue;
		if (watt_chunk_size(&rec->current->chunk) > limit)
			break;
		encode(rec, &op);
		if (op.kind == WATT_OP_MARK && rec->current->n_marks < WATT_JOB_MARKS)
			rec->current->marks[rec->current->n_marks++] = op.mark;
	}
	if (has_barrier)
		encode_barrier(rec);
}

/* ---- chunks ---- */

static void put_idle(struct watt_recorder *rec, struct watt_job *job)
{
	watt_job_clear(job);
	rec->idle[rec->n_idle++] = job;
}

/* Takes back what the writer is done with. */
static void reclaim(struct watt_recorder *rec)
{
	struct watt_job *job;

	while ((job = watt_writer_pop(rec->writer))) {
		rec->n_away--;
		if (job->error) {
			rec->has_failed = true;
			carry(rec, &job->chunk);
		} else if (rec->has_failed && !rec->loss.t1_ns) {
			rec->has_failed = false;
			rec->needs_all = true;
		}
		put_idle(rec, job);
	}
}

/* An empty job in the place of the current one, which is returned. There is always one. */
static struct watt_job *change_current(struct watt_recorder *rec)
{
	struct watt_job *before = rec->current;

	rec->current = rec->idle[--rec->n_idle];
	rec->current->begin_ns = rec->current->end_ns = rec->now_ns;
	rec->current->missed_reads = before->missed_reads;
	rec->current->lost_samples = before->lost_samples;
	rec->current->lost_usage = before->lost_usage;
	rec->current->lost_marks = before->lost_marks;
	rec->current->is_snapshot_aligned = before->is_snapshot_aligned;
	rec->current->realtime_offset_ns = before->realtime_offset_ns;
	rec->current->slept_ns = before->slept_ns;
	rec->current->ended_ns = before->ended_ns;
	watt_predict_clear(&rec->predict);
	return before;
}

static void send(struct watt_recorder *rec, struct watt_job *job)
{
	job->loss = rec->loss;
	rec->loss = (struct watt_part_loss){ 0 };
	rec->n_away++;
	watt_writer_push(rec->writer, job);
}

/* The disk is too slow: what can't wait is dropped. */
static void drop(struct watt_recorder *rec, struct watt_job *job)
{
	if (!rec->loss.t1_ns)
		watt_log(&rec->log, WATT_LOG_WARNING,
			 "%s: the disk is too slow for the recording; what is dropped is written "
			 "down in it",
			 rec->path);
	take_loss(rec, job->begin_ns, job->chunk.n_samples, job->chunk.n_usage, "disk too slow");
	rec->current->begins_file = job->begins_file;
	rec->current->tables = job->tables;
	job->tables = NULL;
	carry(rec, &job->chunk);
	put_idle(rec, job);
}

static bool is_over_limits(const struct watt_recorder *rec)
{
	const struct watt_record_opts *opts = &rec->opts;
	struct watt_record_stats stats;

	if (rec->files) {
		watt_writer_get_stats(rec->writer, &stats);
		if (stats.files == rec->files && rec->now_ns - rec->rotated_ns < RETRY_NS)
			return false;
	}
	if (opts->max_seconds &&
	    rec->now_ns - rec->file_begin_ns >= opts->max_seconds * WATT_NSEC_PER_SEC)
		return true;
	return opts->max_bytes && watt_writer_get_file_bytes(rec->writer) >= opts->max_bytes;
}

/* Ends the current chunk. */
static void cut(struct watt_recorder *rec)
{
	struct watt_job *job;

	if (!rec->current->chunk.n_ops)
		return;
	job = change_current(rec);
	if (rec->n_away < WATT_WRITER_QUEUE)
		send(rec, job);
	else
		drop(rec, job);
	if (!rec->is_rotating && is_over_limits(rec)) {
		rec->is_rotating = rec->needs_all = true;
		watt_chunk_clear(&rec->carry);
	}
}

static bool is_due(const struct watt_recorder *rec)
{
	const struct watt_job *job = rec->current;

	return rec->now_ns - job->begin_ns >= CHUNK_NS || job->n_marks == WATT_JOB_MARKS ||
	       job->n_snapshots == WATT_JOB_SNAPSHOTS || job->chunk.n_ops >= CHUNK_OPS ||
	       watt_chunk_size(&job->chunk) > CHUNK_BYTES;
}

/* ---- files ---- */

/* The next chunk begins a file, with all that its reader must know. */
static void rotate(struct watt_recorder *rec)
{
	const struct watt_op phase = { .kind = WATT_OP_MARK, .mark = rec->phase };
	const struct watt_op threads = { .kind = WATT_OP_THREADS };
	struct watt_record_stats stats;

	cut(rec);
	watt_writer_get_stats(rec->writer, &stats);
	rec->files = stats.files;
	rec->file_begin_ns = rec->rotated_ns = rec->now_ns;
	rec->is_rotating = false;
	rec->file_marks = 0;
	rec->current->begins_file = true;
	if (rec->has_threads)
		encode(rec, &threads);
	if (rec->barrier_ns)
		encode_barrier(rec);
	if (rec->phase.label[0]) {
		encode(rec, &phase);
		rec->current->marks[rec->current->n_marks++] = rec->phase;
		rec->file_marks = 1;
	}
	carry(rec, &rec->carry);
}

/* Behind the sweep that knows those processes. */
static void track_again(struct watt_recorder *rec)
{
	struct watt_op op = { .kind = WATT_OP_TRACK };
	size_t i;

	for (i = 0; i < rec->n_tracks; i++) {
		op.track_pid = rec->tracks[i];
		encode(rec, &op);
	}
}

/* Whether a file has room for a mark more; one that has not says how many are missing. */
static bool take_mark(struct watt_recorder *rec)
{
	if (rec->file_marks < WATT_RECORDING_MARKS_MAX) {
		rec->file_marks++;
		return true;
	}
	if (rec->excess_marks++ == 0)
		watt_log(&rec->log, WATT_LOG_WARNING,
			 "%s: has %d marks, and no file of a recording has more: later ones are "
			 "counted as lost",
			 rec->path, WATT_RECORDING_MARKS_MAX);
	rec->current->lost_marks = rec->lost_marks + rec->excess_marks;
	return false;
}

/* ---- the interface ---- */

void watt_recorder_put(struct watt_recorder *rec, const struct watt_op *op)
{
	uint64_t begin_ns = watt_now_ns(), t_ns = op_time_ns(op);
	bool rotates;

	if (rec->trace) {
		watt_nvmt_writer_put(rec->trace, op);
		return;
	}
	reclaim(rec);
	if (op->kind == WATT_OP_MARK && !take_mark(rec))
		return;
	if (!rec->start_ns && t_ns)
		rec->start_ns = rec->file_begin_ns = rec->current->begin_ns = t_ns;
	rec->now_ns = WATT_MAX(rec->now_ns, t_ns);
	rotates = rec->is_rotating && op->kind == WATT_OP_USAGE &&
		  op->usage.flags & WATT_BATCH_FULL;
	if (rotates)
		rotate(rec);
	else if (is_due(rec) || op->kind == WATT_OP_CLOCK)
		cut(rec); /* marks of one chunk are of one clock on the wall */
	encode(rec, op);
	remember(rec, op);
	if (rotates)
		track_again(rec);
	if (rec->is_rotating && is_name(op->kind) && watt_chunk_size(&rec->carry) < CARRY_BYTES)
		watt_chunk_put(&rec->carry, &rec->predict, op);
	rec->put_ns += watt_now_ns() - begin_ns;
}

static int check_channels(const char *path, size_t n_channels, const struct watt_log *log)
{
	if (n_channels <= WATT_RECORDING_CHANNELS_MAX)
		return 0;
	watt_log(
		log, WATT_LOG_ERROR,
		"%s: can't be recorded to: there are %zu channels, and a recording has at most %d; "
		"choose some of them",
		path, n_channels, WATT_RECORDING_CHANNELS_MAX);
	return -E2BIG;
}

int watt_recorder_grow(struct watt_recorder *rec, const struct watt_channel *const *channels,
		       size_t n_channels, const struct watt_domain *const *domains,
		       size_t n_domains)
{
	struct watt_tables *tables;
	int r = check_channels(rec->path, n_channels, &rec->log);

	if (r < 0)
		return r;
	if (rec->trace)
		return watt_nvmt_writer_grow(rec->trace, channels, n_channels, domains, n_domains);
	tables = calloc(1, sizeof(*tables));
	if (tables) {
		tables->channels = calloc(n_channels + 1, sizeof(struct watt_channel *));
		tables->domains = calloc(n_domains + 1, sizeof(struct watt_domain *));
	}
	if (!tables || !tables->channels || !tables->domains ||
	    watt_chunk_reader_grow(rec->reader, (uint32_t)n_channels) < 0) {
		watt_tables_free(tables);
		return -ENOMEM;
	}
	memcpy(tables->channels, channels, n_channels * sizeof(struct watt_channel *));
	memcpy(tables->domains, domains, n_domains * sizeof(struct watt_domain *));
	tables->n_channels = n_channels;
	tables->n_domains = n_domains;
	watt_tables_free(rec->current->tables);
	rec->current->tables = tables;
	return 0;
}

void watt_recorder_put_snapshot(struct watt_recorder *rec, struct watt_snapshot *snap)
{
	struct watt_job *job = rec->current;

	if (job && job->n_snapshots < WATT_JOB_SNAPSHOTS)
		job->snapshots[job->n_snapshots++] = watt_snapshot_ref(snap);
}

bool watt_recorder_needs_all(struct watt_recorder *rec)
{
	bool needs_all;

	if (rec->trace)
		return false;
	reclaim(rec);
	needs_all = rec->needs_all;
	rec->needs_all = false;
	return needs_all;
}

void watt_recorder_set_lost_marks(struct watt_recorder *rec, uint64_t n)
{
	rec->lost_marks = n;
	if (rec->current)
		rec->current->lost_marks = n + rec->excess_marks;
}

int watt_recorder_end(struct watt_recorder *rec, uint64_t t_ns)
{
	const struct watt_op nothing = { .kind = WATT_OP_BARRIER };

	if (rec->trace)
		return -EOPNOTSUPP;
	if (rec->ended_ns)
		return -EALREADY;
	if (!t_ns || t_ns < rec->start_ns)
		return -EINVAL;
	if (!rec->current->chunk.n_ops)
		watt_recorder_put(rec, &nothing); /* for it to be told with */
	rec->ended_ns = rec->current->ended_ns = t_ns;
	return 0;
}

void watt_recorder_get_stats(struct watt_recorder *rec, struct watt_record_stats *ret)
{
	*ret = (struct watt_record_stats){ 0 };
	if (rec->trace) {
		watt_nvmt_writer_get_stats(rec->trace, ret);
		return;
	}
	watt_writer_get_stats(rec->writer, ret);
	if (rec->loss.t1_ns)
		ret->lost_ns += rec->loss.t1_ns - rec->loss.t0_ns;
	ret->cost_ns += rec->put_ns;
	ret->elapsed_ns = (rec->ended_ns ? rec->ended_ns : rec->now_ns) - rec->start_ns;
}

static int check_opts(const char *path, const struct watt_record_opts *opts,
		      struct watt_record_opts *ret)
{
	*ret = (struct watt_record_opts){ .sz = sizeof(*ret) };
	if (!path || !*path)
		return -EINVAL;
	if (!opts)
		return 0;
	if (watt_sized_take(opts, ret, sizeof(*ret)) < 0 || ret->format > WATT_RECORD_NVMT)
		return -EINVAL;
	return ret->format && (ret->max_bytes || ret->max_seconds || ret->keep) ? -EINVAL : 0;
}

/* A file that rotation would want to make, and may not replace, is better met now than later. */
static int check_next_part(const char *path, const struct watt_record_opts *opts,
			   const struct watt_log *log)
{
	char *next;
	int r = 0;

	if (opts->overwrite || (!opts->max_bytes && !opts->max_seconds))
		return 0;
	next = watt_recording_part_path(path, 2);
	if (!next)
		return -ENOMEM;
	if (watt_part_exists(next)) {
		watt_log(log, WATT_LOG_ERROR,
			 "%s: can't be recorded to: it is there already, and the recording would "
			 "go on there; remove it, or ask to overwrite it",
			 next);
		r = -EEXIST;
	}
	free(next);
	return r;
}

static int make_jobs(struct watt_recorder *rec)
{
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(rec->jobs); i++) {
		rec->jobs[i] = job_new();
		if (!rec->jobs[i])
			return -ENOMEM;
		rec->idle[rec->n_idle++] = rec->jobs[i];
	}
	rec->current = rec->idle[--rec->n_idle];
	return 0;
}

static int open_recording(struct watt_recorder *rec, const struct watt_setup *setup,
			  const struct watt_machine *machine,
			  const struct watt_domain *const *domains, size_t n_domains)
{
	int r = check_next_part(rec->path, &rec->opts, &rec->log);

	if (r == 0)
		r = make_jobs(rec);
	if (r == 0)
		r = watt_head_copy(&rec->head, setup, machine, domains, n_domains,
				   rec->opts.command);
	if (r == 0)
		rec->current->realtime_offset_ns = rec->head.head.realtime_offset_ns;
	if (r == 0)
		r = watt_predict_init(&rec->predict, (uint32_t)setup->n_channels);
	if (r == 0)
		r = watt_chunk_reader_new((uint32_t)setup->n_channels, &rec->reader);
	if (r == 0)
		r = watt_writer_new(rec->path, &rec->opts, &rec->head.head, &rec->log,
				    &rec->writer);
	return r;
}

int watt_recorder_new(const char *path, const struct watt_record_opts *opts,
		      const struct watt_setup *setup, const struct watt_machine *machine,
		      const struct watt_domain *const *domains, size_t n_domains,
		      const struct watt_log *log, struct watt_recorder **ret)
{
	struct watt_recorder *rec = calloc(1, sizeof(*rec));
	int r;

	if (!rec)
		return -ENOMEM;
	if (log)
		rec->log = *log;
	rec->is_snapshot_aligned = true;
	watt_chunk_clear(&rec->carry);
	r = check_opts(path, opts, &rec->opts);
	if (r == 0)
		r = check_channels(path, setup->n_channels, log);
	if (r == 0) {
		rec->path = strdup(path);
		r = rec->path ? 0 : -ENOMEM;
	}
	if (r == 0 && rec->opts.format == WATT_RECORD_NVMT)
		r = watt_nvmt_writer_new(path, &rec->opts, setup, machine, domains, n_domains, log,
					 &rec->trace);
	else if (r == 0)
		r = open_recording(rec, setup, machine, domains, n_domains);
	if (r < 0) {
		watt_recorder_close(rec);
		return r;
	}
	*ret = rec;
	return 0;
}

struct watt_recorder *watt_recorder_close(struct watt_recorder *rec)
{
	const struct timespec pause = { .tv_nsec = WATT_NSEC_PER_MSEC };
	size_t i;

	if (!rec)
		return NULL;
	rec->trace = watt_nvmt_writer_close(rec->trace);
	if (rec->writer) {
		reclaim(rec);
		while (rec->n_away == WATT_WRITER_QUEUE) {
			nanosleep(&pause, NULL);
			reclaim(rec);
		}
		cut(rec);
		rec->writer = watt_writer_free(rec->writer, rec->now_ns,
					       rec->loss.t1_ns ? &rec->loss : NULL);
	}
	for (i = 0; i < WATT_ARRAY_SIZE(rec->jobs); i++)
		job_free(rec->jobs[i]);
	watt_chunk_reader_free(rec->reader);
	watt_predict_done(&rec->predict);
	watt_chunk_done(&rec->carry);
	watt_head_copy_done(&rec->head);
	free(rec->path);
	free(rec);
	return NULL;
}
