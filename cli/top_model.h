/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `top` shows, without a screen: the rows of a snapshot grouped, filtered and sorted.
 * Whatever the grouping, the rows of an unfiltered model add up to the machine's energy exactly,
 * without those of threads, which are parts of the process above them.
 */
#ifndef WATT_CLI_TOP_MODEL_H
#define WATT_CLI_TOP_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wattribute/view.h>

enum top_group {
	TOP_BY_PROCESS,
	TOP_BY_TREE,
	TOP_BY_CONTAINER,
	TOP_BY_UNIT,
	TOP_BY_USER,
	TOP_BY_CGROUP,
	TOP_BY_JOB,
	TOP_N_GROUPS,
};

enum top_sort {
	TOP_SORT_POWER,
	TOP_SORT_ENERGY,
	TOP_SORT_CPU,
	TOP_SORT_GPU,
	TOP_SORT_PID,
	TOP_SORT_NAME,
	TOP_N_SORTS,
};

struct top_row {
	uint64_t id;         /* of the entity; 0: made here (idle, unattributed, the rest) */
	uint64_t process_id; /* of a thread; else 0 */
	enum watt_entity_kind kind;
	bool is_rest; /* what is in no group of this kind */
	bool is_dead;
	uint32_t pid; /* of a thread, its own; 0: none */
	uint32_t parent_pid;
	int64_t uid;    /* -1: none or unknown */
	uint32_t count; /* processes in it */
	char *name;     /* clean */
	char *stem;     /* branch of the tree in front of the name, "" outside of the tree */
	uint64_t cpu_ns;
	double cpu_ratio;     /* CPUs used in the window: 1.0 is one whole CPU */
	double power_w;       /* NAN: not known in this window */
	double gpu_w;         /* of GPUs, whether that is in power_w or not; NAN: of none known */
	double uncertainty_w; /* standard, of it as to who used it; NAN: not known */
	struct watt_energy energy;
	double tree_w; /* with all below it, in the tree */
	struct watt_energy tree;
	double shown_w; /* as a page shows them: they add up, and so do those of a tree; NAN */
	double shown_j;
	double shown_tree_w;
	double shown_tree_j;
	double *domain_w; /* per domain of the view */
	struct watt_energy *domain;
};

struct top_model {
	enum top_group group;
	enum top_sort sort;
	bool is_reversed;
	bool has_threads; /* below their processes, where these are rows */
	char filter[64];  /* clean; "": none */
	struct top_row *rows;
	size_t n_rows;
	size_t n_hidden; /* rows that the filter left out */
	size_t n_domains;
	double shown_w; /* sum over the rows */
	struct watt_energy shown;
	int decimals_w; /* of all powers of a page */
	int decimals_j;
};

/* Forgets the rows and makes new ones; the settings stay. */
void top_model_build(struct top_model *model, const struct watt_view *view);
void top_model_done(struct top_model *model);
void top_row_done(struct top_row *row);

/* "process", "tree", ...; NULL if out of range. */
const char *top_group_name(enum top_group group);
const char *top_sort_name(enum top_sort sort);
/* The other way round; -1: there is none of that name. */
int top_group_of(const char *name);
int top_sort_of(const char *name);

#endif
