/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of a series: its entities by their ids, and the folding of those that are too many. */
#ifndef WATT_CLI_SERIES_INDEX_H
#define WATT_CLI_SERIES_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "series.h"

struct series_index;

struct series_index *series_index_new(void);
struct series_index *series_index_free(struct series_index *index);
bool series_index_find(const struct series_index *index, uint64_t id, size_t *ret);
/* Adds an id, which is not 0, or changes where it is. */
void series_index_put(struct series_index *index, uint64_t id, size_t i);

/* Adds an entity of no id; returns where it is. */
size_t series_entity_add(struct series *series, enum watt_entity_kind kind, const char *name);
void series_entity_done(struct series_entity *entity);

/*
 * Keeps the `keep` entities of each kind that have used the most, and sums the others of that
 * kind into one in all windows.
 */
void series_fold(struct series *series, size_t keep);

#endif
