/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that compresses chunks and commits them, and begins the next file of a rotated
 * recording. Jobs go there and come back through rings; whoever hands them in never waits.
 */
#ifndef WATT_RECORD_WRITER_H
#define WATT_RECORD_WRITER_H

#include "record/chunk.h"
#include "record/record.h"
#include "record/part.h"

/* Chunks that may wait for the disk. */
#define WATT_WRITER_QUEUE 8
/* Marks and snapshots of one chunk. */
#define WATT_JOB_MARKS 1024
#define WATT_JOB_SNAPSHOTS 32

/* All channels and domains that there are. */
struct watt_tables {
	const struct watt_channel **channels;
	size_t n_channels;
	const struct watt_domain **domains;
	size_t n_domains;
};

/* Accepts NULL; returns NULL. */
struct watt_tables *watt_tables_free(struct watt_tables *tables);

/* A chunk and what is committed with it. Belongs to one thread at a time. */
struct watt_job {
	struct watt_chunk chunk;
	struct watt_mark marks[WATT_JOB_MARKS];
	size_t n_marks;
	struct watt_snapshot *snapshots[WATT_JOB_SNAPSHOTS];
	size_t n_snapshots;
	uint64_t begin_ns; /* what time it covers, CLOCK_MONOTONIC */
	uint64_t end_ns;
	uint64_t missed_reads;
	uint64_t lost_samples;
	uint64_t lost_usage;
	uint64_t lost_marks;
	uint64_t ended_ns;          /* the recording; 0: it was not */
	int64_t realtime_offset_ns; /* CLOCK_REALTIME minus CLOCK_MONOTONIC of its marks */
	uint64_t slept_ns;          /* the machine, since the recording began */
	bool is_snapshot_aligned;
	bool begins_file;           /* with it begins another file */
	struct watt_tables *tables; /* owned; NULL: none have come */
	/* what was dropped before it; t1_ns 0: nothing */
	struct watt_part_loss loss;
	int error; /* when it comes back: it is not in the file */
};

/* Drops the snapshots and empties it. */
void watt_job_clear(struct watt_job *job);

struct watt_writer;

/* Makes the first file and starts the thread. Everything pointed to must outlive the writer. */
int watt_writer_new(const char *path, const struct watt_record_opts *opts,
		    const struct watt_part_head *head, const struct watt_log *log,
		    struct watt_writer **ret);
/* Waits until all is written, and finishes the file. Accepts NULL; returns NULL. */
struct watt_writer *watt_writer_free(struct watt_writer *writer, uint64_t end_ns,
				     const struct watt_part_loss *loss);
/* The writer owns the job until it comes back. At most WATT_WRITER_QUEUE may be under way. */
void watt_writer_push(struct watt_writer *writer, struct watt_job *job);
/* A job that is done; NULL: none is. */
struct watt_job *watt_writer_pop(struct watt_writer *writer);
/* Fills what the writer knows. Any thread. */
void watt_writer_get_stats(const struct watt_writer *writer, struct watt_record_stats *ret);
/* Bytes of the file that is written now. Any thread. */
uint64_t watt_writer_get_file_bytes(const struct watt_writer *writer);

#endif
