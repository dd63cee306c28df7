/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of the first stage: where values come from.
 *
 * A power source shows channels and reads them, a usage source tells what every task used, and
 * a meta provider tells who it was. The one table of all sources is registry.c. A source knows only its
 * environment; it must not attribute, convert units, print, or keep mutable globals.
 */
#ifndef WATT_SOURCE_SOURCE_H
#define WATT_SOURCE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <wattribute/channel.h>
#include <wattribute/diag.h>
#include <wattribute/entity.h>
#include <wattribute/options.h>
#include <wattribute/sample.h>

#include "base/activity.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/refcount.h"
#include "base/usage.h"

struct watt_config; /* lib/source/config/config.h */

/* Who frees an environment when nobody has it any more. */
struct watt_env_keeper {
	struct watt_refcount refs;
	void (*free)(struct watt_env_keeper *keeper);
};

/* All that a source may know of the world. Immutable; outlives every source opened with it. */
struct watt_env {
	struct watt_root sysfs;
	struct watt_root procfs;
	const struct watt_config *config; /* never NULL */
	const char *nvml_lib;
	const char *state_dir; /* what was found out of sensors; NULL: /var/lib/wattribute */
	const char *redfish_url;
	const char *meter;        /* where an instrument is: "unix:PATH", ... */
	const char *redfish_auth; /* a file with names and passwords */
	const char *redfish_tls; /* "insecure", "sha256//PIN", a file; NULL: as the system trusts */
	const char *redfish_user;
	const char *redfish_password;
	const char *kubelet_url;   /* or an API server's list of the pods of this node */
	const char *kubelet_token; /* a file; NULL: that of the pod that we are in, if we are */
	const char *kubelet_tls;   /* as redfish_tls; NULL: the cluster, where we are in a pod */
	enum watt_privacy privacy; /* 0: WATT_PRIVACY_OWN */
	uint32_t owner_uid;        /* whose processes are one's own */
	/* When what is simulated begins, CLOCK_MONOTONIC; 0: when its source is opened. */
	uint64_t epoch_ns;
	bool is_captured; /* an instant of a machine, in files */
	struct watt_log log;
	struct watt_env_keeper *keeper; /* NULL: it outlives everybody */
};

static inline void watt_env_ref(const struct watt_env *env)
{
	if (env->keeper)
		watt_refcount_get(&env->keeper->refs);
}

static inline void watt_env_unref(const struct watt_env *env)
{
	struct watt_env_keeper *keeper = env->keeper;

	if (keeper && watt_refcount_put(&keeper->refs))
		keeper->free(keeper);
}

/* ---- power ---- */

/*
 * In the status of what read() gives: nothing new is known of this channel, and no sample is made
 * of it.
 */
#define WATT_STATUS_NOTHING_NEW 0xffffffffu

/* Bits of watt_power_ops.flags. */
enum watt_power_flag {
	/* It can take long: it gets a thread of its own for all that it does. */
	WATT_POWER_BLOCKING = 1u << 0,
	WATT_POWER_TEST = 1u << 1,     /* only by name, never by itself (null, synth) */
	WATT_POWER_FALLBACK = 1u << 2, /* only where nothing measured covers the CPUs (estimate) */
	/* It tells of context and of no power: only by name, beside others that measure. */
	WATT_POWER_CONTEXT = 1u << 4,
	WATT_POWER_X86 = 1u << 3, /* reads what only CPUs of this architecture have */
	/*
	 * Two threads may read two of its groups at the same time: with BLOCKING, groups that are
	 * read more seldom than others have a thread of their own.
	 */
	WATT_POWER_TIERED = 1u << 5,
	/*
	 * With BLOCKING: somebody far away keeps something for it until its end is told there. What
	 * it began a moment ago is waited for at the end, and so is its close().
	 */
	WATT_POWER_FAREWELL = 1u << 6,
};

/* What rules say of a source. */
enum {
	WATT_SOURCE_OUT = 0,   /* "-name" */
	WATT_SOURCE_ALONE = 1, /* "name": those that are named, and no others */
	WATT_SOURCE_TOO = 2,   /* "+name": beside those that are used by themselves */
};

struct watt_power;

/* Channels of a source that somebody has, and that answer. */
struct watt_known {
	const char *const *names;
	size_t n;
};

/*
 * A source of power or energy. The order in the registry is the preference: of two channels of
 * one domain path, that of the earlier source is used.
 */
struct watt_power_ops {
	const char *name;    /* [a-z0-9_]+ */
	const char *summary; /* what it is, in at most 60 characters */
	uint32_t flags;      /* enum watt_power_flag */
	/*
	 * Looks whether it would work here, and fills state, error, path, why, hint, n_channels,
	 * uncertainty_ppm and period_ns of *diag (the rest is the caller's). Must be quick and
	 * change nothing. 0 if available, else the negative errno in diag.
	 */
	int (*probe)(const struct watt_env *env, struct watt_diag *diag);
	/* -ENODEV: nothing here. A single bad channel is left out with a warning, no more. */
	int (*open)(const struct watt_env *env, struct watt_power **ret);
	/*
	 * As open, of those channels alone that are not known: what has come since, or is back,
	 * under the name that it had. -ENODEV: nothing is. Called by a thread that may wait, never
	 * by one that reads. NULL: what there is at the beginning is all there will be.
	 */
	int (*rescan)(const struct watt_env *env, const struct watt_known *known,
		      struct watt_power **ret);
	/* Directories below sysfs; while the names in them stay the same, nothing has come. */
	const char *const *watched;
	/*
	 * Reads the channels of one group, in order, into ret[0 .. n): raw, t_before_ns,
	 * t_after_ns and status; `channel` is the caller's. A failed read is a status in its
	 * sample. Called by one thread at a time. Returns nothing to fail with.
	 */
	void (*read)(struct watt_power *power, uint32_t group, struct watt_sample *ret);
	/*
	 * When to read a group again, CLOCK_MONOTONIC, where the source knows when there will be
	 * something new; in the past: at once, there is more. 0: period_ns after the last time, as
	 * it is for the others. Called by the thread that reads, after read(). NULL: it never knows.
	 */
	uint64_t (*next_ns)(struct watt_power *power, uint32_t group, uint64_t period_ns);
	/* Accepts a half-built object. */
	void (*close)(struct watt_power *power);
};

/* Channels [first, first + n) are read by one call. */
struct watt_power_group {
	uint32_t first;
	uint32_t n;
	uint64_t period_ns; /* reading it more often tells nothing new; 0: no such limit */
};

/* What every open power source begins with; its own struct embeds it first. */
struct watt_power {
	const struct watt_power_ops *ops;
	const struct watt_channel *channels; /* ordered by group; immutable */
	uint32_t n_channels;
	const struct watt_power_group *groups;
	uint32_t n_groups;
	uint64_t asked_period_ns; /* of who opened it: read it so often; 0: as the others */
	uint32_t n_refused;       /* things that are there and could not be read: asked for again */
	struct watt_refcount parts; /* the next stage's: who reads some of its groups */
};

static inline bool watt_known_has(const struct watt_known *known, const char *name)
{
	size_t i;

	for (i = 0; i < known->n; i++)
		if (!strcmp(known->names[i], name))
			return true;
	return false;
}

/* A channel that lives on its own. 0 or -ENOMEM. */
int watt_channel_copy(const struct watt_channel *channel, struct watt_channel **ret);
/* Of a copy. Accepts NULL; returns NULL. */
struct watt_channel *watt_channel_free(struct watt_channel *copy);

/* The registry, ended by NULL, in the order of preference. */
extern const struct watt_power_ops *const watt_power_registry[];

/* ---- activity ---- */

/* CPUs that share one energy counter: a package, a die or a core. */
#define WATT_SLOT_NONE 0xffffu

/* Which slot each CPU belongs to. One slot: nothing needs to be split. */
struct watt_cpu_map {
	uint32_t n_cpus;  /* possible CPUs */
	uint32_t n_slots; /* at least 1 */
	uint16_t *slot; /* per CPU; WATT_SLOT_NONE: in no domain that counts, or nobody knows yet */
	uint32_t split; /* by package, die or core: topology.c */
	bool is_whole;  /* the first of several slots has everything, until others are needed */
	struct watt_cpu_place home; /* the same: where all CPUs are */
};

struct watt_activity_source;

/* Bits of watt_activity_ops.flags. */
enum watt_activity_flag {
	WATT_ACTIVITY_TEST = 1u << 0,  /* only by name, never by itself (synth) */
	WATT_ACTIVITY_ASKED = 1u << 1, /* the same, and it is no test: precise mode */
};

/*
 * A source of activity. One that has sweep() counts the CPU time of tasks: a session has one, and
 * its sweeps cut time into slices. Any number of those that have read() are open beside it: they
 * tell of other kinds, when they know it.
 */
struct watt_activity_ops {
	const char *name;
	const char *summary;
	uint32_t flags;     /* enum watt_activity_flag */
	uint64_t period_ns; /* of read(): how often there is something new; 0: after each sweep */
	/* As watt_power_ops.probe. */
	int (*probe)(const struct watt_env *env, struct watt_diag *diag);
	/* map is borrowed and outlives the source. Where it has read(), slots in it may change
	 * meanwhile: they are read atomically. */
	int (*open)(const struct watt_env *env, const struct watt_cpu_map *map,
		    struct watt_activity_source **ret);
	/*
	 * One sweep over all tasks, and all that happened since the one before. With full set,
	 * every live task is in it (the first sweep is always full). The batch is borrowed until
	 * the next call. Records are in the order in which to account them: for one task, cpu_ns
	 * never says less than the moment it speaks of.
	 * 0, or a negative errno after which the source can be swept again.
	 */
	int (*sweep)(struct watt_activity_source *src, bool full, struct watt_usage_batch *ret);
	/*
	 * For a source of another kind, with readings of its own: all that is known and was not told
	 * yet. The batch is borrowed until the next call. 0, or a negative errno after which it can
	 * be read again. Opened and read on a thread of its own: it may block.
	 */
	int (*read)(struct watt_activity_source *src, struct watt_activity_batch *ret);
	/* A CPU that has come has this slot. In one that was whole, one that is not the first divides
	 * the CPUs. NULL: the source need not know. */
	void (*place_cpu)(struct watt_activity_source *src, uint32_t cpu, uint32_t slot);
	/* From the next sweep on, each thread is told of by itself. NULL: it always is. */
	void (*show_threads)(struct watt_activity_source *src);
	void (*close)(struct watt_activity_source *src);
};

struct watt_activity_source {
	const struct watt_activity_ops *ops;
};

/* In the order of preference, ended by NULL. */
extern const struct watt_activity_ops *const watt_activity_registry[];
/* Names of sources of power are what rules speak of. */
bool watt_select_is_power(const char *name);
/* Whether somebody is called so who measures none, tells who used something, and can be left out. */
bool watt_select_is_teller(const char *name);

/* ---- meta ---- */

/* What a meta provider can be asked. */
enum watt_question_kind {
	WATT_ASK_PROCESS = 0,   /* who a process is */
	WATT_ASK_CGROUP = 1,    /* what a cgroup is */
	WATT_ASK_USER = 2,      /* what a user is called */
	WATT_ASK_CONTAINER = 3, /* what a container is called, and what pod it is in */
};

#define WATT_CONTAINER_ID_MAX 128

/* One question. A plain value. */
struct watt_question {
	enum watt_question_kind kind;
	unsigned int n_asked; /* how often it was asked before */
	union {
		struct {
			uint32_t pid;
			uint64_t start_ns;
		} process;
		struct {
			uint64_t id;
			uint32_t pid; /* of a process that is in it; 0: none is known */
			bool v1;
		} cgroup;
		uint32_t uid;
		struct {
			char id[WATT_CONTAINER_ID_MAX];
			char runtime[16]; /* as watt_cgroup.runtime; "": not known */
			char pod_uid[40]; /* as watt_cgroup.pod_uid; "": not known */
			uint32_t uid;     /* of the user whose own it is; 0: the machine's */
		} container;
	};
};

#define WATT_USER_NAME_MAX 64

/* What somebody answered. Whoever has it frees what is in it by watt_answer_done(). */
struct watt_answer {
	enum watt_question_kind kind;
	union {
		struct watt_identity identity;
		struct watt_cgroup cgroup;
		struct {
			uint32_t uid;
			char name[WATT_USER_NAME_MAX];
		} user;
		struct watt_container container;
	};
	char *storage; /* what its strings point into; NULL: nothing */
};

void watt_answer_done(struct watt_answer *answer);

/* What every open provider begins with; its own struct embeds it first. */
struct watt_meta {
	const struct watt_meta_ops *ops;
	int fd; /* readable when it has heard something: then listen() is called; -1: it hears nothing */
};

/*
 * Answers who somebody is. Questions are asked by id, and answered whenever the answer is there:
 * each open provider has a thread of its own, that calls all that is below, and nobody waits for
 * it. It may be opened several times, when one that is open does not come back from a call.
 */
struct watt_meta_ops {
	const char *name;    /* [a-z0-9_]+ */
	const char *summary; /* what it is, in at most 60 characters */
	uint32_t answers;    /* 1u << enum watt_question_kind, of those it can answer */
	/* As watt_power_ops.probe. */
	int (*probe)(const struct watt_env *env, struct watt_diag *diag);
	/* 0 or -ENOMEM: what is not there now may be there when it is asked. */
	int (*open)(const struct watt_env *env, struct watt_meta **ret);
	/*
	 * 0; any negative errno: it can't tell, as -ENOENT and -ESRCH: there is no such thing, or no
	 * more; -EACCES: it may not look. -EAGAIN: it may know when it has heard something; the
	 * question is kept, and asked again after listen().
	 */
	int (*answer)(struct watt_meta *meta, const struct watt_question *question,
		      struct watt_answer *ret);
	/* Takes in what makes fd readable. NULL: it hears nothing. */
	void (*listen)(struct watt_meta *meta);
	void (*close)(struct watt_meta *meta);
};

/* Ended by NULL. */
extern const struct watt_meta_ops *const watt_meta_registry[];

/*
 * Splits a cgroup path into what it tells of container, pod and unit. Strings of *ret point into
 * storage, which must have room for watt_cgroup_parse_size(path) bytes. Always succeeds.
 */
size_t watt_cgroup_parse_size(const char *path);
void watt_cgroup_parse(const char *path, char *storage, struct watt_cgroup *ret);
/*
 * How much a path tells of who is in it: the more, the better. A container, pod or job tells more
 * the deeper it is; a directory that systemd did not make was made to tell somebody apart.
 */
#define WATT_CGROUP_TELLS_NOTHING 0
#define WATT_CGROUP_TELLS_UNIT 1
#define WATT_CGROUP_TELLS_NAME 2
#define WATT_CGROUP_TELLS_CONTAINER 3
unsigned int watt_cgroup_tells(const char *path);
/* The user in whose slice a cgroup is; 0: in nobody's but the machine's. */
uint32_t watt_cgroup_find_user(const char *path);

#endif
