/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of the first stage: where values come from.
 *
 * A power source shows channels and reads them, a usage source tells what every task used, and
 * meta tells who it was. The one table of all sources is registry.c. A source knows only its
 * environment; it must not attribute, convert units, print, or keep mutable globals.
 */
#ifndef WATT_SOURCE_SOURCE_H
#define WATT_SOURCE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wattribute/channel.h>
#include <wattribute/diag.h>
#include <wattribute/entity.h>
#include <wattribute/sample.h>
#include <wattribute/usage.h>

#include "base/fs.h"
#include "base/log.h"

struct watt_config; /* lib/source/config/config.h */

/* All that a source may know of the world. Immutable; outlives every source opened with it. */
struct watt_env {
	struct watt_root sysfs;
	struct watt_root procfs;
	const struct watt_config *config; /* never NULL */
	const char *nvml_lib;
	const char *redfish_url;
	const char *kubelet_url;
	/* When what is simulated begins, CLOCK_MONOTONIC; 0: when its source is opened. */
	uint64_t epoch_ns;
	struct watt_log log;
};

/* ---- power ---- */

/* Bits of watt_power_ops.flags. */
enum watt_power_flag {
	WATT_POWER_BLOCKING = 1u << 0, /* a read can take long: it gets a thread of its own */
	WATT_POWER_TEST = 1u << 1,     /* only by name, never by itself (null, synth) */
	WATT_POWER_FALLBACK = 1u << 2, /* only where nothing measured covers the CPUs (estimate) */
};

struct watt_power;

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
	 * Reads the channels of one group, in order, into ret[0 .. n): raw, t_before_ns,
	 * t_after_ns and status; `channel` is the caller's. A failed read is a status in its
	 * sample. Called by one thread at a time. Returns nothing to fail with.
	 */
	void (*read)(struct watt_power *power, uint32_t group, struct watt_sample *ret);
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
};

/* The registry, ended by NULL, in the order of preference. */
extern const struct watt_power_ops *const watt_power_registry[];

/* ---- usage ---- */

/* CPUs that share one energy counter: a package, a die or a core. */
#define WATT_SLOT_NONE 0xffffu

/* Which slot each CPU belongs to. One slot: nothing needs to be split. */
struct watt_cpu_map {
	uint32_t n_cpus;  /* possible CPUs */
	uint32_t n_slots; /* at least 1 */
	uint16_t *slot;   /* per CPU; WATT_SLOT_NONE: in no domain that counts */
};

struct watt_usage_source;

/* Bits of watt_usage_ops.flags. */
enum watt_usage_ops_flag {
	WATT_USAGE_OPS_TEST = 1u << 0, /* only by name, never by itself (synth) */
};

struct watt_usage_ops {
	const char *name;
	const char *summary;
	uint32_t flags; /* enum watt_usage_ops_flag */
	/* As watt_power_ops.probe. */
	int (*probe)(const struct watt_env *env, struct watt_diag *diag);
	/* map is borrowed and outlives the source. */
	int (*open)(const struct watt_env *env, const struct watt_cpu_map *map,
		    struct watt_usage_source **ret);
	/*
	 * One sweep over all tasks, and all that happened since the one before. With full set,
	 * every live task is in it (the first sweep is always full). The batch is borrowed until
	 * the next call. Records are in the order in which to account them: for one task, cpu_ns
	 * never says less than the moment it speaks of.
	 * 0, or a negative errno after which the source can be swept again.
	 */
	int (*sweep)(struct watt_usage_source *src, bool full, struct watt_usage_batch *ret);
	void (*close)(struct watt_usage_source *src);
};

struct watt_usage_source {
	const struct watt_usage_ops *ops;
};

/* In the order of preference, ended by NULL. */
extern const struct watt_usage_ops *const watt_usage_registry[];

/* ---- meta ---- */

struct watt_meta;

int watt_meta_open(const struct watt_env *env, struct watt_meta **ret);
struct watt_meta *watt_meta_close(struct watt_meta *meta);
/*
 * Reads who a process is. What can't be read is marked in ret->missing; that is no error.
 * The strings belong to ret, each allocated: free them with watt_identity_done. comm, uid and
 * parent_pid are filled too. -ESRCH: it is gone, or its pid belongs to another process by now
 * (start_ns differs by more than a clock tick). -EACCES: procfs hides it (hidepid); -EBADMSG,
 * -ERANGE: its stat can't be parsed. What usage says of it is then all there is.
 */
int watt_meta_read_process(struct watt_meta *meta, uint32_t pid, uint64_t start_ns,
			   struct watt_identity *ret);
void watt_identity_done(struct watt_identity *identity);
/*
 * Finds out what cgroup `id` is, by looking at process `pid` that is in it (0: search the
 * hierarchy). Returns a cgroup that belongs to meta and lives as long as it; the same id gives
 * the same pointer. Never NULL on success; a path that can't be had is NULL in it. -ENOMEM.
 */
int watt_meta_get_cgroup(struct watt_meta *meta, uint64_t id, bool v1, uint32_t pid,
			 const struct watt_cgroup **ret);
/*
 * Frees what watt_meta_get_cgroup gave for this id; nobody may hold a pointer to it any more.
 * Without it, every cgroup that was ever asked for stays: about 400 bytes each.
 */
void watt_meta_forget_cgroup(struct watt_meta *meta, uint64_t id, bool v1);
/* Name of a user by the machine's passwd file; -ENOENT: it has none. */
int watt_meta_user_name(struct watt_meta *meta, uint32_t uid, char *buf, size_t size);
/*
 * Splits a cgroup path into what it tells of container, pod and unit. Strings of *ret point into
 * storage, which must have room for watt_cgroup_parse_size(path) bytes. Always succeeds.
 */
size_t watt_cgroup_parse_size(const char *path);
void watt_cgroup_parse(const char *path, char *storage, struct watt_cgroup *ret);

#endif
