/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of the recording: a file of all the ops that a session was told, in order, with
 * what the session was built from. Writing never blocks and never fails the session: what can't
 * be written is counted and said in the file. Knows no stage.
 */
#ifndef WATT_RECORD_RECORD_H
#define WATT_RECORD_RECORD_H

#include <stdbool.h>

#include <wattribute/domain.h>
#include <wattribute/recording.h>
#include <wattribute/snapshot.h>

#include "base/log.h"
#include "base/rules.h"
#include "record/op.h"

/*
 * What one file holds at most: a recorder stops there, and a reader refuses what has more.
 * wattribute-recording(5) states these, WATT_CHUNK_OPS_MAX and WATT_CURSORS_MAX.
 */
#define WATT_RECORDING_CHANNELS_MAX 16384
#define WATT_RECORDING_MARKS_MAX 262144

/* What a session was built from. Borrowed. */
struct watt_setup {
	const struct watt_channel *const *channels;
	size_t n_channels;
	const uint16_t *cpu_slot; /* of each CPU; n_slots or above: in none */
	uint32_t n_cpus;
	uint32_t n_slots;
	const struct watt_cpu_place *places; /* of each slot */
	uint32_t self_pid; /* of the measuring process, if orphans come to it; else 0 */
	uint64_t slice_ns;
	const char *usage; /* name of the usage source */
	/* Why it is not a better one, in one sentence; NULL or "": there is none, or it was chosen. */
	const char *usage_why;
	/* What somebody chose about attribution. */
	enum watt_idle_policy idle_policy;
	uint64_t memory_bytes;               /* the machine's, as in its description; 0: unknown */
	const struct watt_rules *share_keys; /* of domains; NULL: none, as below */
	const struct watt_rules *delays;     /* of channels */
	const char *prior; /* text of the profile of what is known of programs; NULL: none */
};

/* What the machine is, for people. Strings are borrowed; NULL: unknown. */
struct watt_machine {
	const char *host;
	const char *os;
	const char *kernel;
	const char *arch;
	const char *cpu;
	uint64_t memory_bytes; /* 0: unknown */
	uint32_t n_packages;   /* 0: unknown */
};

/* ---- writing ---- */

struct watt_recorder;

/*
 * Makes the file. setup and machine are copied into it; the channels must outlive the recorder
 * (a later file of a rotated recording begins with them too), as must domains.
 */
int watt_recorder_new(const char *path, const struct watt_record_opts *opts,
		      const struct watt_setup *setup, const struct watt_machine *machine,
		      const struct watt_domain *const *domains, size_t n_domains,
		      const struct watt_log *log, struct watt_recorder **ret);
/* Writes the rest and finishes the file. Accepts NULL; returns NULL. */
struct watt_recorder *watt_recorder_close(struct watt_recorder *recorder);
/* Adds an op. Cheap: it is encoded here, compressed and written by a thread of the recorder. */
void watt_recorder_put(struct watt_recorder *recorder, const struct watt_op *op);
/*
 * What came of a CHANNELS op just put: all channels and domains that there are now. The lists are
 * copied; what they point to must outlive the recorder. 0; -E2BIG: no recording has
 * so many, which is told; -ENOMEM.
 */
int watt_recorder_grow(struct watt_recorder *recorder, const struct watt_channel *const *channels,
		       size_t n_channels, const struct watt_domain *const *domains,
		       size_t n_domains);
/* What came of a SNAPSHOT op just put: for the tables of entities and their energy. */
void watt_recorder_put_snapshot(struct watt_recorder *recorder, struct watt_snapshot *snap);
/*
 * Whether a new file has begun, or something was lost, since the last call: then the next sweep
 * must be a full one, and all names have to be told again.
 */
bool watt_recorder_needs_all(struct watt_recorder *recorder);
/* Marks that were told, or tried to be, and are in no op: so far. */
void watt_recorder_set_lost_marks(struct watt_recorder *recorder, uint64_t n);
/*
 * The recording ends there, and nothing is put any more: 0, -EALREADY, or -EINVAL: before it began.
 */
int watt_recorder_end(struct watt_recorder *recorder, uint64_t t_ns);
void watt_recorder_get_stats(struct watt_recorder *recorder, struct watt_record_stats *ret);

/* ---- reading (the object of <wattribute/recording.h>) ---- */

/* Borrowed, as long as the recording. */
const struct watt_setup *watt_recording_get_setup(const struct watt_recording *rec);
/*
 * The next op, borrowed until the next call. 0; 1: the end; -EBADMSG: damaged here, the next call
 * goes on behind it; -ENOMEM. Its position has nothing to do with that of read_samples.
 */
int watt_recording_next_op(struct watt_recording *rec, struct watt_op *ret);

#endif
