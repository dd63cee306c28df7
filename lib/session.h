/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a session: what it is made of and what moves it, this machine (live.c) or a
 * recording (replay.c). The public calls in session.c check their arguments and hand over.
 */
#ifndef WATT_SESSION_H
#define WATT_SESSION_H

#include <wattribute/recording.h>

#include "base/lock.h"
#include "executor.h"
#include "mark/queue.h"

/*
 * All of them are there. They mean what the public calls of the same names mean, and are called
 * with the session's lock held; those that wait give it away meanwhile. Not so the first three.
 */
struct watt_session_ops {
	void (*close)(struct watt_session *ses); /* frees ses, too */
	int (*get_fd)(const struct watt_session *ses);
	uint64_t (*get_time_ns)(const struct watt_session *ses);
	int (*record)(struct watt_session *ses, const char *path,
		      const struct watt_record_opts *opts);
	int (*end_recording)(struct watt_session *ses, uint64_t t_ns);
	int (*get_record_stats)(const struct watt_session *ses, struct watt_record_stats *ret);
	int (*start)(struct watt_session *ses);
	int (*dispatch)(struct watt_session *ses);
	int (*wait)(struct watt_session *ses, uint64_t timeout_ns);
	int (*flush)(struct watt_session *ses, uint64_t timeout_ns);
	/* of a cursor; 0: of the session itself */
	int (*snapshot)(struct watt_session *ses, uint32_t cursor, struct watt_snapshot **ret);
	int (*snapshot_at)(struct watt_session *ses, uint32_t cursor, uint64_t t_ns,
			   uint64_t timeout_ns, struct watt_snapshot **ret);
	int (*open_cursor)(struct watt_session *ses, uint32_t *ret_cursor);
	void (*close_cursor)(struct watt_session *ses, uint32_t cursor);
	/* -EINVAL: it is a live one */
	int (*next_snapshot)(struct watt_session *ses, struct watt_snapshot **ret);
	int (*track)(struct watt_session *ses, uint32_t pid, uint64_t *ret_entity_id);
	int (*untrack)(struct watt_session *ses, uint64_t entity_id);
	/* index is one of the setup's channels */
	int (*get_crosscheck)(const struct watt_session *ses, size_t index,
			      int64_t *ret_difference_ppm);
	int (*get_sample)(const struct watt_session *ses, size_t index, struct watt_sample *ret);
	int (*get_reader_stats)(const struct watt_session *ses, size_t index,
				struct watt_reader_stats *ret);
	int (*get_tier_stats)(const struct watt_session *ses, enum watt_tier tier,
			      struct watt_tier_stats *ret);
	/* the name of a source; NULL: there are not so many */
	const char *(*get_source)(const struct watt_session *ses, size_t index,
				  enum watt_status *ret_status);
};

/*
 * The first member of whatever moves it, which fills it in and owns what it points to. What has no
 * other protection is the lock's. It is taken before any lock of the recorder or the log callback.
 */
struct watt_session {
	const struct watt_session_ops *ops;
	struct watt_lock *lock;
	const struct watt_setup *setup;
	const struct watt_attrib *attrib;
	struct watt_mark_queue told; /* for watt_session_next_mark() */
	const char *marks_address;   /* NULL: it does not listen */
	const char *host;            /* NULL: not known */
};

/* options NULL: as they are new. Errors as watt_session_open(). */
int watt_live_open(const struct watt_options *options, struct watt_session **ret);
/* The same for watt_session_open_recording(). */
int watt_replay_open(const char *path, const struct watt_options *options,
		     struct watt_session **ret);

#endif
