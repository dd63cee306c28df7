/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of the fourth stage: who used it.
 *
 * Takes sweeps of usage and the timeline's curves, cuts time into slices between sweeps, and
 * attributes each domain's energy of each slice to the tasks that ran in it, in integer nJ and
 * conserved exactly. A pure function of what is pushed: it reads no clock and no file, so live
 * and replay give the same bytes. One thread per object.
 */
#ifndef WATT_ATTRIB_ATTRIB_H
#define WATT_ATTRIB_ATTRIB_H

#include <stdbool.h>

#include <wattribute/channel.h>
#include <wattribute/entity.h>
#include <wattribute/snapshot.h>

#include "base/activity.h"
#include "base/log.h"
#include "base/rules.h"
#include "base/usage.h"
#include "timeline/timeline.h"

struct watt_attrib;
struct watt_key_ops; /* attrib/key.h */
struct watt_words;   /* base/words.h */
struct watt_profile;

struct watt_attrib_opts {
	const struct watt_channel *const *channels; /* must outlive the object */
	size_t n_channels;
	const uint16_t *cpu_slot; /* of each CPU; copied; n_slots or above: in none */
	uint32_t n_cpus;
	uint32_t n_slots;
	const struct watt_cpu_place *places; /* of each slot; copied; NULL: one slot has all */
	uint64_t grace_ns;   /* how long a slice waits for the last word of tasks that died in it */
	uint64_t horizon_ns; /* how long it waits for slow domains at most */
	/* The measuring process, if orphans come to it: while it tracks a child of its own and
	 * anybody of that set is alive, children that it did not bear are descendants of that
	 * child. 0: orphans go to somebody else. */
	uint32_t self_pid;
	enum watt_idle_policy idle_policy;
	uint64_t memory_bytes;               /* of the machine; 0: not known */
	const struct watt_rules *share_keys; /* of domains, by path or kind; copied; NULL: none */
	const struct watt_key_ops *const *keys; /* that there are; NULL: those of the registry */
	const struct watt_profile *prior; /* what is known of programs; must outlive; NULL: nothing */
	const struct watt_log *log;       /* hears what is wrong with these; NULL: nobody */
};

/* 0; -ENOENT: a domain or key that does not exist; -ENOMEM. */
int watt_attrib_new(const struct watt_attrib_opts *opts, struct watt_attrib **ret);
struct watt_attrib *watt_attrib_free(struct watt_attrib *at);

/*
 * There are so many channels now: domains of those that have come are behind all others, and
 * their energy counts from the first slice that begins after their first reading. 0, -ENOMEM,
 * -ENOSPC: the tree is full.
 */
int watt_attrib_grow(struct watt_attrib *at, const struct watt_channel *const *channels,
		     size_t n_channels);
/* The tree of the channels: numbers never change, and what is there never moves. */
size_t watt_attrib_domain_count(const struct watt_attrib *at);
const struct watt_domain *watt_attrib_domain(const struct watt_attrib *at, size_t index);
/* As users_status of a domain's state, by now. index is a domain's. */
enum watt_status watt_attrib_users_status(const struct watt_attrib *at, size_t index);
/* Domain that a channel measures or would measure; -1: none. */
int watt_attrib_channel_domain(const struct watt_attrib *at, size_t channel);

/*
 * A CPU that was in no slot has come, and is in this one from the next sweep on: of what is there,
 * or of nothing yet, and then its domains have the slot from now on. 0; -EINVAL: there is no such
 * CPU or slot, or something else is there.
 */
int watt_attrib_place_cpu(struct watt_attrib *at, uint32_t cpu, uint32_t slot,
			  const struct watt_cpu_place *place);
/* Ends a slice: accounts the batch. 0, -EINVAL (time goes back), -ENOMEM. */
int watt_attrib_push_usage(struct watt_attrib *at, const struct watt_usage_batch *batch);
/*
 * What a source of activity tells. 0; -EINVAL: it contradicts itself, and nothing of it is taken;
 * -ENOMEM.
 */
int watt_attrib_push_activity(struct watt_attrib *at, const struct watt_activity_batch *batch);
/*
 * Attributes every slice whose data has arrived. now_ns is the time of the newest input.
 * Returns the number of (slice, domain) pairs done, or -ENOMEM.
 */
int watt_attrib_advance(struct watt_attrib *at, struct watt_timeline *tl, uint64_t now_ns);

/*
 * A live process that nobody named yet: 0 and its pid, start and cgroup; 1: there is none. It is
 * told once, until its name changes (exec, new cgroup).
 */
int watt_attrib_next_nameless(struct watt_attrib *at, uint32_t *ret_pid, uint64_t *ret_start_ns);
/* Names it. Strings are copied. -ESRCH: unknown. */
int watt_attrib_set_identity(struct watt_attrib *at, const struct watt_identity *identity);
/* A cgroup id that nobody explained yet: 0, or 1: there is none. Told once. */
int watt_attrib_next_unknown_cgroup(struct watt_attrib *at, uint64_t *ret_id, bool *ret_v1,
				    uint32_t *ret_pid);
int watt_attrib_set_cgroup(struct watt_attrib *at, const struct watt_cgroup *cgroup);
/* A user without a name: as above. */
int watt_attrib_next_unknown_user(struct watt_attrib *at, uint32_t *ret_uid);
int watt_attrib_set_user(struct watt_attrib *at, uint32_t uid, const char *text);

/*
 * A container that nobody named yet: what its cgroup tells of it, valid until anything is told
 * here. 0, or 1: there is none. Told once.
 */
int watt_attrib_next_unknown_container(struct watt_attrib *at, struct watt_cgroup *ret);
/* Names a container, its pod, or both; all that was attributed to them before counts. */
int watt_attrib_set_container(struct watt_attrib *at, const struct watt_container *container);

/*
 * From the first sweep on, threads are entities, and each process the sum of its own. 0; -EBUSY:
 * there was a sweep, and they are not.
 */
int watt_attrib_show_threads(struct watt_attrib *at);
int watt_attrib_track(struct watt_attrib *at, uint32_t pid, uint64_t *ret_entity_id);
/* The set that began with this process is summed no more. 0; -ENOENT: there is none. */
int watt_attrib_untrack(struct watt_attrib *at, uint32_t pid, uint64_t start_ns);
/* With whom a set began that is tracked. 0; -ENOENT: none is by this id. */
int watt_attrib_find_tracked(const struct watt_attrib *at, uint64_t entity_id, uint32_t *ret_pid,
			     uint64_t *ret_start_ns);
/*
 * Asks again for the names of all who are alive: somebody who listens has just come.
 * 0 or -ENOMEM.
 */
int watt_attrib_ask_again(struct watt_attrib *at);

/* What was learned so far: 0; -ENODATA: no domain learns; -ENOMEM. */
int watt_attrib_get_profile(const struct watt_attrib *at, struct watt_profile **ret);
/*
 * All that a domain has learned, programs and idle power, to go on with elsewhere. 0; -ENODATA: it
 * learns nothing; -ENOMEM.
 */
int watt_attrib_save_learned(const struct watt_attrib *at, size_t domain, struct watt_words *ret);
/*
 * Has a domain know what was saved, and nothing else. 0; -ENODATA: there is none by this path that
 * learns; -EBADMSG: it can't be, and nothing is known then; -ENOMEM.
 */
int watt_attrib_load_learned(struct watt_attrib *at, const char *path, struct watt_words *words);
/* Whether nobody who was seen waits for a name. */
bool watt_attrib_knows_names(const struct watt_attrib *at);

/*
 * From now on, attributes no slice that begins at or after t_ns; 0: no such limit. So a snapshot
 * can wait for slow domains without anything that is later getting into it.
 */
void watt_attrib_set_barrier(struct watt_attrib *at, uint64_t t_ns);
/* Where a barrier at t_ns cuts: the end of the first slice that can; 0: that slice is yet to come. */
uint64_t watt_attrib_cut_ns(const struct watt_attrib *at, uint64_t t_ns);
/* Whether every domain whose sensor answers is attributed up to the barrier. */
bool watt_attrib_is_at_barrier(const struct watt_attrib *at, const struct watt_timeline *tl);

/* When it was last told who ran: so far slices reach. 0: never yet. */
uint64_t watt_attrib_last_sweep_ns(const struct watt_attrib *at);
/* Tasks that began to die before t_ns and whose last word has not come. */
size_t watt_attrib_dying_count(const struct watt_attrib *at, uint64_t t_ns);
/* A domain is attributed up to here; UINT64_MAX: it has not begun. */
uint64_t watt_attrib_settled_ns(const struct watt_attrib *at, size_t domain);

/* Readers at a time: each costs room with every account. */
#define WATT_CURSORS_MAX 256
/*
 * A reader with windows of its own, the first of which begins at t_ns with what is attributed by
 * now. id: not 0, which is the session's own reader and always there. 0; -EEXIST; -EMFILE: there
 * are too many; -ENOMEM.
 */
int watt_attrib_open_cursor(struct watt_attrib *at, uint32_t id, uint64_t t_ns);
/* 0; -ESRCH: there is no such reader; -EINVAL: id is 0. */
int watt_attrib_close_cursor(struct watt_attrib *at, uint32_t id);
/*
 * Start of the window that is open for a reader, CLOCK_MONOTONIC; 0: nothing was swept yet.
 * 0 or -ESRCH.
 */
int watt_attrib_window_start_ns(const struct watt_attrib *at, uint32_t cursor, uint64_t *ret_t_ns);
/* Processes that are gone and wait for a reader to be shown so. */
size_t watt_attrib_gone_count(const struct watt_attrib *at);

/* What a snapshot is to be. */
struct watt_look_opts {
	uint32_t cursor; /* whose window it ends */
	uint64_t t_ns;   /* while there is a barrier, where it cuts */
	uint64_t realtime_ns;
	const char *phase;          /* of the window, copied; NULL: none */
	struct watt_quality losses; /* what other stages count */
};

/*
 * Builds a snapshot and opens the reader's next window; nobody else's changes. 0; -ESRCH: there is
 * no such reader; -ENOMEM; -EOVERFLOW: the window has more than int64 nJ; another one has begun,
 * and the totals stay.
 */
int watt_attrib_snapshot(struct watt_attrib *at, const struct watt_timeline *tl,
			 const struct watt_look_opts *opts, struct watt_snapshot **ret);

#endif
