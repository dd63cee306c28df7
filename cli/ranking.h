/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who used the energy of a series, in the order of how much: processes, or what they are in.
 * Whatever the grouping, the rows add up to the energy of the partition exactly.
 */
#ifndef WATT_CLI_RANKING_H
#define WATT_CLI_RANKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "phases.h"
#include "series.h"

enum ranking_group {
	RANK_BY_PROCESS,
	RANK_BY_NAME, /* processes of one name together */
	RANK_BY_CONTAINER,
	RANK_BY_POD,
	RANK_BY_UNIT,
	RANK_BY_USER,
	RANK_BY_CGROUP,
	RANK_N_GROUPS,
};

#define RANKING_NO_ENTITY SIZE_MAX

struct ranking_row {
	enum watt_entity_kind kind;
	size_t entity; /* of the series; RANKING_NO_ENTITY: made here */
	bool is_rest;  /* what is in no group of this kind */
	char *name;    /* for people: a command, "[kthread]", "idle" */
	uint32_t count;
	int64_t *energy_nj; /* per domain */
	int64_t total_nj;
	uint64_t cpu_ns;
	double power_w; /* mean over the whole; NAN: not known */
	double peak_w;  /* NAN: not known */
	double share;   /* of the whole energy; NAN: there is none */
};

struct ranking {
	enum ranking_group group;
	struct ranking_row *rows; /* by energy */
	size_t n;
	size_t n_domains;
};

void ranking_build(struct ranking *ranking, enum ranking_group group, const struct series *series,
		   const struct phase_sum *whole);
void ranking_done(struct ranking *ranking);
/* NULL if out of range. */
const char *ranking_group_name(enum ranking_group group);
/* The other way round; -1: there is none of that name. */
int ranking_group_of(const char *name);
/* What an entity is called for people; the caller frees it. */
char *ranking_name(const struct series_entity *entity);
/* The name under which processes of one kind are put together; borrowed. */
const char *ranking_short_name(const struct series_entity *entity);

#endif
