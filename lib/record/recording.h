/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a recording that is read. One thread per object at a time. */
#ifndef WATT_RECORD_RECORDING_H
#define WATT_RECORD_RECORDING_H

#include <sqlite3.h>

#include "record/chunk.h"
#include "record/guard.h"
#include "record/record.h"

/* Where a chunk is and what it says of itself. */
struct watt_chunk_place {
	int64_t id;
	uint64_t t0_ns;
	uint64_t t1_ns;
	uint64_t n_samples;
	uint64_t n_usage;
};

/* A place in the sequence of chunks. */
struct watt_stream {
	struct watt_chunk_reader *reader;
	size_t next;       /* chunk to open */
	bool is_open;      /* the one before next is */
	bool has_told_end; /* that the list of chunks is damaged */
};

struct watt_nvmt;

/* What the clock on the wall says from t_ns on. */
struct watt_clock_step {
	uint64_t t_ns;
	int64_t realtime_offset_ns;
};

struct watt_recording {
	struct watt_nvmt *nvmt; /* it is no file of ours but a trace; NULL: it is one */
	sqlite3 *db;
	struct watt_guard guard;
	uint64_t bytes; /* of its files, when it was opened */
	char *path;
	struct watt_log log;
	struct watt_recording_info info;
	uint64_t ended_ns; /* 0: it was not ended */
	int64_t realtime_offset_ns;
	int64_t check; /* what watt_check_compute said when the file was made */
	bool has_check;
	/* texts of all that follows */
	char **texts;
	size_t n_texts;
	size_t cap_texts;
	struct watt_channel *channels;
	size_t n_channels; /* those that came later, too */
	size_t cap_channels;
	uint64_t first_channels; /* that were there at the beginning */
	bool has_first_channels;
	const struct watt_channel **channel_list;
	struct watt_cpu_place *places;
	size_t cap_places;
	uint16_t *cpu_slot;
	size_t cap_cpus;
	struct watt_setup setup;
	/* what somebody chose, as it is written and as it is meant */
	const char *idle_policy, *share_keys_text, *delays_text;
	struct watt_rules share_keys, delays;
	struct watt_mark *marks;
	size_t n_marks;
	size_t cap_marks;
	/* CLOCK_REALTIME minus CLOCK_MONOTONIC from some time on, as its windows say */
	struct watt_clock_step *clock_steps;
	size_t n_clock_steps;
	size_t cap_clock_steps;
	struct watt_recording_loss *losses;
	size_t n_losses;
	size_t cap_losses;
	struct watt_chunk_place *chunks;
	size_t n_chunks;
	size_t cap_chunks;
	bool is_list_damaged; /* there may have been more chunks */
	sqlite3_stmt *get_chunk;
	struct watt_stream ops;
	struct watt_stream samples;
	uint64_t seek_ns; /* samples before it are passed over */
};

/* One sentence, which begins with the name of the file. Returns r. */
__attribute__((format(printf, 3, 4))) int watt_recording_complain(const struct watt_recording *rec,
								  int r, const char *fmt, ...);
/* Rows of a table, up to max. 0; -EBADMSG, -EIO, -ENOMEM. Does not complain. */
int watt_recording_count(struct watt_recording *rec, const char *table, int64_t max, int64_t *ret);
/* Why the last query failed, for people. Borrowed until the next. */
const char *watt_recording_reason(const struct watt_recording *rec);
/* Opens the database so that nothing in it can run. Complains. */
int watt_recording_open_database(struct watt_recording *rec);
/* Reads everything but the chunks' data. Complains. */
int watt_recording_load(struct watt_recording *rec);

#endif
