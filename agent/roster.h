/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The roster: the counters that are served. For each level (processes, containers, pods, ...) it
 * keeps a bounded number of users by name, and what is not told by name in `other`. Bounded in
 * memory and series, whatever the machine does.
 *
 * For each column (a domain, or CPU time), each level and at any time
 *
 *     whole = idle + unattributed + other + ended + sum of the level's users
 *
 * in integers, and none of them ever goes back: a user who leaves takes its value into `ended`,
 * which is a sum of its own so that a rate over users counts nothing twice; one that comes begins
 * at 0. Windows of a snapshot are what is added. A window in which some part is negative (energy
 * that was attributed otherwise before) is held back until it is covered.
 *
 * One thread per object.
 */
#ifndef WATT_AGENT_ROSTER_H
#define WATT_AGENT_ROSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wattribute/snapshot.h>

#include "exposition.h"

enum level_kind {
	LEVEL_PROCESS,
	LEVEL_CONTAINER,
	LEVEL_POD,
	LEVEL_UNIT,
	LEVEL_USER,
	LEVEL_VM,
	LEVEL_N,
};

/* "process", ...; never NULL. */
const char *level_name(enum level_kind kind);

/* What a counter has, and what waits to be added to it. In nJ; CPU time in ns. */
struct roster_sum {
	nanojoules out;
	nanojoules held;
};

/* The columns of an object: CPU time, then the domains. */
#define ROSTER_CPU 0
#define ROSTER_DOMAIN(index) ((index) + 1)

/* One user told of by name. */
struct roster_user {
	uint64_t id;
	char *labels;            /* owned; as exposition_add_label() writes them */
	struct roster_sum *sums; /* per column; owned */
	nanojoules told_nj;      /* of them, what the history has told of: takers' alone */
	uint64_t created_ns;     /* CLOCK_REALTIME at which it began at 0 */
	uint64_t since_ns;       /* the same, CLOCK_MONOTONIC */
	uint64_t leaving_ns;     /* since then it is on its way out; 0: it is not */
	double mean_w;           /* of the last half minute; decides who stays */
	double power_w;          /* in the newest window; NAN: not known */
	double uncertainty_w;    /* standard uncertainty of it, as to who used it; NAN: not known */
	float *powers_w;         /* of it, per domain; owned */
	bool is_seen;            /* in this update */
	bool is_own;             /* the agent itself */
	bool is_sticky;          /* it has no end: irq, or processes of one name that are gone */
};

struct roster_level {
	struct roster_user **users; /* owned */
	size_t n_users, n_leaving;
	struct roster_sum *other; /* per column; owned */
	struct roster_sum *ended; /* per column; owned; nothing is held in it */
	uint64_t n_retired;       /* users that have gone into `ended` */
	uint32_t *slots;          /* hash of ids: index of a user + 1; owned */
	size_t n_slots;
};

struct roster_opts {
	uint32_t levels; /* bits of 1 << enum level_kind */
	size_t top;
	uint64_t min_age_ns;
	uint64_t keep_ns;
	uint32_t own_pid;
};

struct roster {
	struct roster_opts opts;
	struct roster_level levels[LEVEL_N];
	size_t n_columns;
	struct roster_sum *whole, *idle, *unattributed, *own; /* per column; owned */
	uint64_t *created_ns;  /* per column: CLOCK_REALTIME at which it began; owned */
	nanojoules machine_nj; /* over the partition: the library's total, less what is held */
	uint64_t t_ns;
	uint64_t n_updates;
	uint64_t n_held; /* windows held back so far */
};

/* What happened since the update before. Borrowed for the call. */
struct census {
	uint64_t t_ns, realtime_ns, boot_ns; /* the same instant by each clock */
	uint64_t start_ns;                   /* of the session, CLOCK_MONOTONIC */
	size_t n_domains;
	const struct watt_domain **domains;
	const struct watt_domain_state **states;
	size_t n_rows;
	const struct watt_row *const *rows; /* ordered by kind, then by id */
};

void roster_init(struct roster *roster, const struct roster_opts *opts);
void roster_done(struct roster *roster);
/* Other limits from now on; what was told stays. */
void roster_set_opts(struct roster *roster, const struct roster_opts *opts);
void roster_update(struct roster *roster, const struct census *census);
/* Whether the equation holds in every column of every level. */
bool roster_is_balanced(const struct roster *roster);

/* In the newest window; NAN: not known. */
double roster_user_power_w(const struct roster_user *user, size_t domain);
/* The labels of a row in a level; owned by the caller. */
char *roster_labels(enum level_kind kind, const struct watt_row *row);

#endif
