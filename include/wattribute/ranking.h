/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file ranking.h
 * @brief A ranking: who used the energy of a series, in the order of how much.
 *
 * Processes, or what they are in. Whatever the grouping, the rows add up to the energy of the
 * partition exactly. Immutable; it lives as long as the series at most.
 */
#ifndef WATTRIBUTE_RANKING_H
#define WATTRIBUTE_RANKING_H

#include <wattribute/phase.h>
#include <wattribute/series.h>

WATT_BEGIN_DECLS

struct watt_ranking;

/** By what entities are put together. */
enum watt_ranking_group {
	WATT_RANKING_PROCESS = 0,
	WATT_RANKING_NAME = 1, /**< processes of one name together */
	WATT_RANKING_CONTAINER = 2,
	WATT_RANKING_POD = 3,
	WATT_RANKING_UNIT = 4,
	WATT_RANKING_USER = 5,
	WATT_RANKING_CGROUP = 6,
	WATT_RANKING_JOB = 7,    /**< of a batch scheduler */
	WATT_RANKING_THREAD = 8, /**< where the session has them */
};

/** One row. */
struct watt_ranking_row {
	size_t sz; /**< sizeof(struct watt_ranking_row), the library's */
	enum watt_entity_kind kind;
	uint32_t is_rest;                        /**< what is in no group of this kind */
	uint32_t count;                          /**< processes in it */
	const struct watt_series_entity *entity; /**< of the series; NULL: made here */
	char *name;                              /**< for people: a command, "[kthread]", "idle" */
	int64_t *energy_nj;                      /**< per domain */
	int64_t total_nj;                        /**< over the partition */
	uint64_t cpu_ns;
	double power_w;     /**< mean over the whole; NAN: not known */
	double peak_w;      /**< NAN: not known */
	double share_ratio; /**< of the whole energy; NAN: there is none */
	/** Standard uncertainty of total_nj, as watt_series_entity has it; where several are put
	 *  together, all off the same way. NAN: not known. */
	double uncertainty_j;
};

/** 0; -EINVAL: there is no such group; -ENOMEM. */
WATT_API int watt_ranking_build(const struct watt_series *series, const struct watt_phases *phases,
				enum watt_ranking_group group, struct watt_ranking **ret);
/** NULL is allowed. Always returns NULL. */
WATT_API struct watt_ranking *watt_ranking_free(struct watt_ranking *ranking);
/** By energy; NULL if @p index is out of range. */
WATT_API const struct watt_ranking_row *watt_ranking_get(const struct watt_ranking *ranking,
							 size_t index);
/** "process", "container", ...; NULL: there is no such group. Thread-safe. */
WATT_API const char *watt_ranking_group_name(enum watt_ranking_group group);
/** What an entity is called for people. 0 or -ENOMEM; the caller frees *ret. */
WATT_API int watt_ranking_name(const struct watt_series_entity *entity, char **ret);
/** The name under which processes of one kind are put together; borrowed. */
WATT_API const char *watt_ranking_short_name(const struct watt_series_entity *entity);

WATT_END_DECLS

#endif
