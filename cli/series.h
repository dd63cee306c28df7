/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that was measured, window by window, in memory: what each domain used in it, and
 * each entity that used anything. Bounded: beyond a number of entities of a kind, those that used
 * the least are summed into one, "others", in every window.
 *
 * For each domain, the sum over windows is the whole, and in each window and in the whole
 *
 *     energy = idle + unattributed + sum over the entities that view_is_user()
 *
 * in integer nJ. Entities of other kinds (containers, units, users, ...) are sums over those.
 */
#ifndef WATT_CLI_SERIES_H
#define WATT_CLI_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wattribute/window.h>

#include "view.h"

/* Entities of a kind that are kept apart, where nothing else is asked. */
#define SERIES_ENTITIES 1000

/* A domain in a window, or in all of them. */
struct series_energy {
	int64_t energy_nj;
	int64_t idle_nj;
	int64_t unattributed_nj;
	/* For which energy is known: shorter than the window where a sensor came late or has gone;
	 * 0: none is known, whatever the numbers. */
	uint64_t known_ns;
	enum watt_status status; /* at the end */
	bool is_baseline_ready;
};

/* Who used energy. Strings are owned by the series; NULL: unknown, or it has none. */
struct series_entity {
	uint64_t id; /* of the session; 0: "others" of its kind */
	enum watt_entity_kind kind;
	uint32_t pid; /* 0: none */
	uint32_t parent_pid;
	int64_t uid;     /* -1: none or unknown */
	uint32_t count;  /* processes in it */
	bool is_others;  /* the sum of those that are not kept apart */
	bool is_dead;    /* it has ended */
	char *name;      /* as the library has it: comm, id, unit, user name */
	char *cmdline;   /* of a process */
	char *container; /* that it is in, by its cgroup */
	char *pod;
	char *unit;
	/* Over all windows. */
	int64_t *energy_nj; /* per domain */
	int64_t total_nj;   /* over the partition */
	uint64_t cpu_ns;
	double peak_w; /* the greatest mean power of a window */
};

/* What entities used in one window; those that used nothing are not there. */
struct series_cells {
	size_t n;
	uint32_t *entity;   /* index of each; n of them */
	uint64_t *cpu_ns;   /* n */
	int64_t *total_nj;  /* n; over the partition */
	int64_t *energy_nj; /* n times the number of domains */
};

struct series_window {
	uint64_t t0_ns;
	uint64_t t1_ns;
	size_t mark;                   /* that began its phase; WATT_NO_MARK: none */
	struct series_energy *domains; /* one each */
	struct series_cells cells;
};

struct series {
	struct watt_snapshot *snap; /* owned: the newest one */
	struct view last;           /* of it: the domains, their states, the quality */
	size_t n_domains;
	struct series_energy *totals; /* per domain */
	uint64_t *gap_ns;             /* per domain, up to the newest window */
	struct series_entity *entities;
	size_t n_entities;
	struct series_window *windows;
	size_t n_windows;
	uint64_t window_ns; /* that was asked or chosen */
	uint64_t start_ns;  /* of the first window, CLOCK_MONOTONIC */
	uint64_t end_ns;
	int64_t start_realtime_ns; /* CLOCK_REALTIME at start_ns */
	size_t n_folded;           /* entities that are in "others" */
	size_t n_checks; /* of the equation above, here: one for each domain of each window */
	size_t n_failures;
	struct series_index *index; /* of the entities by id */
	size_t max_entities;
};

/* An empty one. max_entities: of each kind that are kept apart; 0: SERIES_ENTITIES. */
void series_init(struct series *series, size_t max_entities);
void series_done(struct series *series);
/*
 * Reads all windows of a plan. 0 or a negative errno; whatever came before an error is there.
 * The session must outlive the series.
 */
int series_read(struct series *series, struct watt_session *ses,
		const struct watt_windows_opts *plan);
/* Adds one window. What the view shows must stay until the next one is added. */
void series_add(struct series *series, const struct view *view, uint64_t t0_ns, uint64_t t1_ns,
		size_t mark);
/* After the last window: folds what is too much for good. */
void series_finish(struct series *series);

/* Whether any energy is known, of a domain in a window or in the whole. */
bool series_is_known(const struct series_energy *energy);
/* Mean power in the time for which energy is known; NAN: none is. */
double series_power_w(const struct series_energy *energy, int64_t energy_nj);
/* Adds a later part to a sum. */
void series_add_energy(struct series_energy *sum, const struct series_energy *part);
/* A domain over the windows from the first one to before the last one. */
struct series_energy series_sum(const struct series *series, size_t domain, size_t first,
				size_t last);

#endif
