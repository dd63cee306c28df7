/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An op: one thing that the calculating stages are told. A session, live or replayed, is one
 * sequence of them, and whatever they make of it follows from that sequence alone. A plain value;
 * what it points to is borrowed until the call that takes it returns.
 */
#ifndef WATT_RECORD_OP_H
#define WATT_RECORD_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wattribute/channel.h>
#include <wattribute/entity.h>
#include <wattribute/mark.h>
#include <wattribute/sample.h>

#include "base/activity.h"
#include "base/usage.h"

/* The highest number of them. */
#define WATT_OP_LAST WATT_OP_LEARNED

/* The numbers are those of the file format: never change one. */
enum watt_op_kind {
	WATT_OP_SAMPLES = 1,  /* readings of sensors, per channel in the order of time */
	WATT_OP_USAGE = 2,    /* a sweep */
	WATT_OP_IDENTITY = 3, /* who a process is */
	WATT_OP_CGROUP = 4,   /* what a cgroup is */
	WATT_OP_USER = 5,     /* what a user is called */
	WATT_OP_TRACK = 6,    /* track a process with its descendants */
	WATT_OP_MARK = 7,     /* a phase begins */
	WATT_OP_ADVANCE = 8,  /* attribute what can be */
	WATT_OP_BARRIER = 9,  /* attribute nothing that is later; 0: go on */
	WATT_OP_SNAPSHOT = 10,
	WATT_OP_CHANNELS = 11,  /* channels have come; since format 2 */
	WATT_OP_ACTIVITY = 12,  /* what a source of activity tells; since format 2 */
	WATT_OP_CURSOR = 13,    /* a reader with windows of its own comes or goes; since format 2 */
	WATT_OP_LOOK = 14,      /* a snapshot of such a reader; since format 2 */
	WATT_OP_THREADS = 15,   /* threads are entities; since format 2 */
	WATT_OP_CONTAINER = 16, /* what a container or pod is called; since format 2 */
	WATT_OP_UNTRACK = 17,   /* a set of processes is tracked no more; since format 2 */
	WATT_OP_PLACE = 18,     /* a CPU has come, and has a slot; since format 2 */
	WATT_OP_CLOCK = 19,     /* the machine slept, or its clock was set; since format 2 */
	WATT_OP_LEARNED = 20,   /* what a domain has learned by now; since format 2 */
};

struct watt_op {
	enum watt_op_kind kind;
	union {
		struct {
			const struct watt_sample *list;
			size_t n;
		} samples;
		struct watt_usage_batch usage;
		struct watt_activity_batch activity;
		const struct watt_identity *identity;
		const struct watt_cgroup *cgroup;
		const struct watt_container *container;
		struct {
			uint32_t uid;
			const char *name;
		} user;
		uint32_t track_pid;
		struct {
			uint32_t pid;      /* with which the set began */
			uint64_t start_ns; /* CLOCK_BOOTTIME */
		} untrack;
		struct watt_mark mark;
		uint64_t advance_ns; /* CLOCK_MONOTONIC: the time of the newest input */
		uint64_t barrier_ns; /* CLOCK_MONOTONIC */
		struct {
			const struct watt_channel *const *list; /* all; they outlive the stages */
			size_t n;
		} channels;
		struct {
			uint64_t t_ns;        /* CLOCK_MONOTONIC */
			uint64_t realtime_ns; /* CLOCK_REALTIME */
			uint64_t missed_reads;
			uint64_t lost_samples;
			uint32_t cursor; /* of LOOK; 0: the session's own */
		} snapshot;
		struct {
			uint64_t t_ns; /* CLOCK_MONOTONIC; 0: before the session began */
			uint32_t id;   /* not 0 */
			bool is_open;
		} cursor;
		struct {
			struct watt_cpu_place at; /* what the slot has, from now on */
			uint32_t cpu;
			uint32_t slot;
		} place;
		struct {
			uint64_t from_ns; /* CLOCK_MONOTONIC: it was between these two */
			uint64_t to_ns;
			uint64_t slept_ns;    /* 0: it did not sleep */
			uint64_t realtime_ns; /* CLOCK_REALTIME at to_ns */
		} clock;
		struct {
			const char *domain; /* its path */
			const uint64_t *words;
			size_t n_words;
			const char *const *texts;
			size_t n_texts;
		} learned; /* as base/words.h has it; live it changes nothing */
	};
};

#endif
