/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chunk: the ops of about a second as a set of named columns. It stands alone: nothing in it
 * refers to another chunk. wattribute-recording(5) says what each column holds. One thread per
 * object at a time.
 */
#ifndef WATT_RECORD_CHUNK_H
#define WATT_RECORD_CHUNK_H

#include <stdbool.h>

#include "record/column.h"
#include "record/op.h"
#include "record/predict.h"

#define WATT_CHUNK_MAGIC "WATT"
#define WATT_CHUNK_VERSION 1
/* Bytes of a chunk, unpacked. More is no chunk. */
#define WATT_CHUNK_MAX ((size_t)64 << 20)
/* Ops of a chunk. A recorder ends chunks long before. */
#define WATT_CHUNK_OPS_MAX 262144
/* Items of one op: samples, records, CPUs. More is no op. */
#define WATT_OP_MAX 400000
/* Texts of what one domain has learned. */
#define WATT_LEARNED_TEXTS_MAX 1024
/* Labels of one container. */
#define WATT_LABELS_MAX 256
/* Bytes of one text without its NUL. */
#define WATT_TEXT_MAX 65535

/* X(id, name, encoding): the names are those of the file format. */
#define WATT_COLUMNS(X) \
	X(OP, "op", UNSIGNED) \
	X(SAMPLES, "samples", UNSIGNED) \
	X(SAMPLE_CHANNEL, "sample.channel", SIGNED) \
	X(SAMPLE_BEFORE, "sample.t_before_ns", SIGNED) \
	X(SAMPLE_READ, "sample.read_ns", UNSIGNED) \
	X(SAMPLE_RAW, "sample.raw", SIGNED) \
	X(SAMPLE_STATUS, "sample.status", UNSIGNED) \
	X(BATCH_BEFORE, "batch.t_before_ns", SIGNED) \
	X(BATCH_SWEEP, "batch.sweep_ns", UNSIGNED) \
	X(BATCH_RECORDS, "batch.records", UNSIGNED) \
	X(BATCH_CPUS, "batch.cpus", UNSIGNED) \
	X(BATCH_LOST, "batch.lost", SIGNED) \
	X(BATCH_FLAGS, "batch.flags", UNSIGNED) \
	X(BATCH_TASKS, "batch.tasks", UNSIGNED) \
	X(BATCH_UNSEEN, "batch.unseen_ns", SIGNED) \
	X(USAGE_TID, "usage.tid", SIGNED) \
	X(USAGE_TIME, "usage.t_ns", SIGNED) \
	X(USAGE_CPU_NS, "usage.cpu_ns", SIGNED) \
	X(USAGE_CHANGED, "usage.changed", UNSIGNED) \
	X(USAGE_START, "usage.start_ns", SIGNED) \
	X(USAGE_LEADER, "usage.leader_start_ns", SIGNED) \
	X(USAGE_CGROUP, "usage.cgroup", SIGNED) \
	X(USAGE_TGID, "usage.tgid", SIGNED) \
	X(USAGE_PARENT, "usage.parent", SIGNED) \
	X(USAGE_UID, "usage.uid", SIGNED) \
	X(USAGE_CPU, "usage.cpu", SIGNED) \
	X(USAGE_KIND, "usage.kind", UNSIGNED) \
	X(USAGE_FLAGS, "usage.flags", UNSIGNED) \
	X(USAGE_COMM, "usage.comm", TEXT) \
	X(CPU_USER, "cpu.user_ns", SIGNED) \
	X(CPU_SYSTEM, "cpu.system_ns", SIGNED) \
	X(CPU_IDLE, "cpu.idle_ns", SIGNED) \
	X(CPU_IRQ, "cpu.irq_ns", SIGNED) \
	X(CPU_SOFTIRQ, "cpu.softirq_ns", SIGNED) \
	X(CPU_STEAL, "cpu.steal_ns", SIGNED) \
	X(CPU_ONLINE, "cpu.online", UNSIGNED) \
	X(ACTIVITY_PLACES, "activity.places", UNSIGNED) \
	X(ACTIVITY_READINGS, "activity.readings", UNSIGNED) \
	X(PLACE_PATH, "place.path", TEXT) \
	X(PLACE_KIND, "place.kind", UNSIGNED) \
	X(PLACE_UNITS, "place.units", UNSIGNED) \
	X(PLACE_COMPLETE, "place.complete_ns", SIGNED) \
	X(READING_PLACE, "reading.place", UNSIGNED) \
	X(READING_PID, "reading.pid", SIGNED) \
	X(READING_AGE, "reading.age_ns", UNSIGNED) \
	X(READING_AMOUNT, "reading.amount", SIGNED) \
	X(READING_START, "reading.start_ns", SIGNED) \
	X(IDENTITY_PID, "identity.pid", UNSIGNED) \
	X(IDENTITY_PARENT, "identity.parent", UNSIGNED) \
	X(IDENTITY_START, "identity.start_ns", UNSIGNED) \
	X(IDENTITY_UID, "identity.uid", UNSIGNED) \
	X(IDENTITY_MISSING, "identity.missing", UNSIGNED) \
	X(IDENTITY_COMM, "identity.comm", TEXT) \
	X(IDENTITY_EXE, "identity.exe", TEXT) \
	X(IDENTITY_CMDLINE, "identity.cmdline", TEXT) \
	X(IDENTITY_VM, "identity.vm", TEXT) \
	X(IDENTITY_HYPERVISOR, "identity.hypervisor", TEXT) \
	X(CGROUP_ID, "cgroup.id", UNSIGNED) \
	X(CGROUP_V1, "cgroup.v1", UNSIGNED) \
	X(CGROUP_PATH, "cgroup.path", TEXT) \
	X(CGROUP_RUNTIME, "cgroup.runtime", TEXT) \
	X(CGROUP_CONTAINER, "cgroup.container", TEXT) \
	X(CGROUP_POD, "cgroup.pod", TEXT) \
	X(CGROUP_UNIT, "cgroup.unit", TEXT) \
	X(CGROUP_USER_UNIT, "cgroup.user_unit", TEXT) \
	X(USER_UID, "user.uid", UNSIGNED) \
	X(USER_NAME, "user.name", TEXT) \
	X(TRACK_PID, "track.pid", UNSIGNED) \
	X(MARK_TIME, "mark.t_ns", UNSIGNED) \
	X(MARK_PID, "mark.pid", UNSIGNED) \
	X(MARK_LABEL, "mark.label", TEXT) \
	X(ADVANCE_TIME, "advance.t_ns", SIGNED) \
	X(BARRIER_TIME, "hold.t_ns", UNSIGNED) \
	X(SNAPSHOT_TIME, "snapshot.t_ns", UNSIGNED) \
	X(SNAPSHOT_REALTIME, "snapshot.realtime_ns", UNSIGNED) \
	X(SNAPSHOT_MISSED, "snapshot.missed_reads", UNSIGNED) \
	X(SNAPSHOT_LOST, "snapshot.lost_samples", UNSIGNED) \
	X(LOOK_CURSOR, "look.cursor", UNSIGNED) \
	X(CURSOR_ID, "cursor.id", UNSIGNED) \
	X(CURSOR_TIME, "cursor.t_ns", UNSIGNED) \
	X(CURSOR_OPEN, "cursor.open", UNSIGNED) \
	X(CHANNELS, "channels", UNSIGNED) \
	X(CONTAINER_ID, "container.id", TEXT) \
	X(CONTAINER_RUNTIME, "container.runtime", TEXT) \
	X(CONTAINER_NAME, "container.name", TEXT) \
	X(CONTAINER_IMAGE, "container.image", TEXT) \
	X(CONTAINER_POD, "container.pod", TEXT) \
	X(CONTAINER_POD_NAME, "container.pod_name", TEXT) \
	X(CONTAINER_NAMESPACE, "container.pod_namespace", TEXT) \
	X(CONTAINER_LABELS, "container.labels", UNSIGNED) \
	X(LABEL_KEY, "label.key", TEXT) \
	X(LABEL_VALUE, "label.value", TEXT) \
	X(CGROUP_JOB, "cgroup.job", TEXT) \
	X(UNTRACK_PID, "untrack.pid", UNSIGNED) \
	X(UNTRACK_START, "untrack.start_ns", UNSIGNED) \
	X(SLOT_CPU, "slot.cpu", UNSIGNED) \
	X(SLOT, "slot.slot", UNSIGNED) \
	X(SLOT_PACKAGE, "slot.package", UNSIGNED) \
	X(SLOT_DIE, "slot.die", UNSIGNED) \
	X(SLOT_CORE, "slot.core", UNSIGNED) \
	X(CLOCK_FROM, "clock.from_ns", UNSIGNED) \
	X(CLOCK_TO, "clock.to_ns", UNSIGNED) \
	X(CLOCK_SLEPT, "clock.slept_ns", UNSIGNED) \
	X(CLOCK_REALTIME, "clock.realtime_ns", UNSIGNED) \
	X(LEARNED_DOMAIN, "learned.domain", TEXT) \
	X(LEARNED_WORDS, "learned.words", UNSIGNED) \
	X(LEARNED_TEXTS, "learned.texts", UNSIGNED) \
	X(LEARNED_WORD, "learned.word", UNSIGNED) \
	X(LEARNED_TEXT, "learned.text", TEXT)

enum watt_column_id {
#define X(id, name, encoding) WATT_COLUMN_##id,
	WATT_COLUMNS(X)
#undef X
	WATT_N_COLUMNS
};

struct watt_column_kind {
	const char *name;
	enum watt_encoding encoding;
};

extern const struct watt_column_kind watt_column_kinds[WATT_N_COLUMNS];

/* Bits of usage.changed: what follows in a column of its own, in this order. */
enum watt_usage_changed {
	WATT_CHANGED_START = 1u << 0,
	WATT_CHANGED_LEADER = 1u << 1,
	WATT_CHANGED_CGROUP = 1u << 2,
	WATT_CHANGED_TGID = 1u << 3,
	WATT_CHANGED_PARENT = 1u << 4,
	WATT_CHANGED_UID = 1u << 5,
	WATT_CHANGED_CPU = 1u << 6,
	WATT_CHANGED_KIND = 1u << 7,
	WATT_CHANGED_FLAGS = 1u << 8,
	WATT_CHANGED_COMM = 1u << 9,
	WATT_CHANGED_ALL = (1u << 10) - 1,
};

/* ---- writing ---- */

struct watt_chunk {
	struct watt_column columns[WATT_N_COLUMNS];
	uint64_t t0_ns; /* of the earliest thing in it; UINT64_MAX: nothing has a time */
	uint64_t t1_ns; /* of the latest */
	uint64_t n_samples;
	uint64_t n_usage;
	uint32_t n_ops;
};

/* Makes it empty and keeps its memory. */
void watt_chunk_clear(struct watt_chunk *chunk);
/* Accepts one of zeros. */
void watt_chunk_done(struct watt_chunk *chunk);
/* Bytes of all columns. */
size_t watt_chunk_size(const struct watt_chunk *chunk);
/*
 * Adds an op. 0; -EINVAL: it makes no sense; -E2BIG: too much for one op, or for a chunk; -ENOMEM. On failure
 * nothing has changed.
 */
int watt_chunk_put(struct watt_chunk *chunk, struct watt_predict *predict,
		   const struct watt_op *op);

/* ---- packing ---- */

struct watt_packer;

int watt_packer_new(struct watt_packer **ret);
/* Accepts NULL; returns NULL. */
struct watt_packer *watt_packer_free(struct watt_packer *packer);
/* *ret is the packer's until the next call. 0; -E2BIG; -ENOMEM. */
int watt_packer_pack(struct watt_packer *packer, const struct watt_chunk *chunk, const void **ret,
		     size_t *ret_size);

/* ---- reading ---- */

/* Why a chunk is refused: static text, and where in its unpacked bytes. */
struct watt_chunk_fault {
	const char *what;
	size_t offset;
};

struct watt_chunk_reader;

int watt_chunk_reader_new(uint32_t n_channels, struct watt_chunk_reader **ret);
/* There are so many channels now. 0 or -ENOMEM. */
int watt_chunk_reader_grow(struct watt_chunk_reader *reader, uint32_t n_channels);
/* Accepts NULL; returns NULL. */
struct watt_chunk_reader *watt_chunk_reader_free(struct watt_chunk_reader *reader);
/*
 * Unpacks a chunk and begins with its first op. 0; -EBADMSG: damaged, the fault says how (the
 * reader has no ops then); -ENOMEM.
 */
int watt_chunk_reader_open(struct watt_chunk_reader *reader, const void *data, size_t size,
			   struct watt_chunk_fault *ret_fault);
/* Begins with the first op of a chunk that is still in memory, and must outlive the reading. */
void watt_chunk_reader_borrow(struct watt_chunk_reader *reader, const struct watt_chunk *chunk);
/*
 * The next op, the reader's until the next call; CHANNELS without its list. 0; 1: there is none;
 * as above.
 */
int watt_chunk_reader_next(struct watt_chunk_reader *reader, struct watt_op *ret,
			   struct watt_chunk_fault *ret_fault);
/*
 * Samples alone, in order: up to n. Not to be mixed with watt_chunk_reader_next. How many, 0: no
 * more; or as above.
 */
int watt_chunk_reader_samples(struct watt_chunk_reader *reader, struct watt_sample *ret, size_t n,
			      struct watt_chunk_fault *ret_fault);

#endif
