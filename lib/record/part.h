/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A part: one file of a recording, being written: an SQLite database in WAL mode, one transaction
 * a chunk. A rotated recording has several: run.watt, run-2.watt, run-3.watt. One thread at a time.
 */
#ifndef WATT_RECORD_PART_H
#define WATT_RECORD_PART_H

#include "record/chunk.h"
#include "record/record.h"

struct watt_part;

/* What a file begins with. Borrowed. */
struct watt_part_head {
	const struct watt_setup *setup;
	const struct watt_machine *machine;
	const struct watt_domain *const *domains;
	size_t n_domains;
	const char *command;   /* NULL: the whole machine */
	const char *recording; /* the same in all its files, and in no other recording */
	uint32_t part;         /* from 1 */
	int64_t realtime_offset_ns;
	uint32_t uid; /* whom the file belongs to; 0: who makes it */
	uint32_t gid;
};

/* What is committed at once. Borrowed. */
struct watt_part_entry {
	const struct watt_chunk *chunk; /* NULL: none */
	/* all that there are: those that the file does not have yet are put into it */
	const struct watt_channel *const *channels;
	size_t n_channels;
	const struct watt_domain *const *domains;
	size_t n_domains;
	const void *packed;
	size_t packed_size;
	const struct watt_mark *marks;
	size_t n_marks;
	struct watt_snapshot *const *snapshots;
	size_t n_snapshots;
	/* as the newest data says */
	uint64_t missed_reads;
	uint64_t lost_samples;
	uint64_t lost_marks;
	uint64_t lost_usage;
	uint64_t slept_ns;
	uint64_t ended_ns;          /* the recording; 0: it was not */
	int64_t realtime_offset_ns; /* of the marks */
	bool is_snapshot_aligned;
};

struct watt_part_loss {
	uint64_t t0_ns;
	uint64_t t1_ns;
	uint64_t samples;
	uint64_t usage_records;
	const char *why;
};

/*
 * Makes the file: it is there as a whole or not at all. overwrite: replaces a recording that is
 * there. Logs one sentence on failure; see watt_place_take().
 */
int watt_part_create(const char *path, bool overwrite, const struct watt_part_head *head,
		     const struct watt_log *log, struct watt_part **ret);
/*
 * One transaction: all of it or nothing. Negative errno; the file is as before then. -ESTALE:
 * somebody removed, renamed or changed the file, and nothing will be written any more.
 */
int watt_part_commit(struct watt_part *part, const struct watt_part_entry *entry,
		     const struct watt_part_loss *losses, size_t n_losses);
/* Corrects the row of the last loss: it went on. */
int watt_part_extend_loss(struct watt_part *part, const struct watt_part_loss *loss);
/* Bytes on disk. */
uint64_t watt_part_get_bytes(const struct watt_part *part);
/* Says in the file that it is complete, and makes it one file. 0; or it stays as it was. */
int watt_part_finish(struct watt_part *part);
/* Accepts NULL; returns NULL. */
struct watt_part *watt_part_free(struct watt_part *part);

bool watt_part_exists(const char *path);
/* Removes a part and what SQLite keeps beside it. */
void watt_part_remove(const char *path, uint32_t part);

#endif
