/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is still known of entities that a series doesn't keep apart: how much each has used, and
 * all of one name together. Windows of their own they have none. One thread per object.
 */
#ifndef WATT_VIEW_FOLDED_H
#define WATT_VIEW_FOLDED_H

#include <wattribute/series.h>

#include "base/htab.h"
#include "base/idmap.h"

/* All folded processes of one name, those of the kernel by themselves. */
struct watt_folded_name {
	struct watt_hnode node;
	enum watt_entity_kind kind; /* of the first one */
	uint32_t count;
	int64_t *energy_nj; /* per domain */
	size_t n_domains;
	int64_t total_nj; /* over the partition */
	uint64_t cpu_ns;
	char *text;
};

struct watt_folded_entity {
	uint64_t id;
	enum watt_entity_kind kind;
	struct watt_folded_name *name; /* NULL: it is a group */
	int64_t total_nj;
	uint64_t cpu_ns;
};

/* Zeros are an empty one. */
struct watt_folded {
	struct watt_folded_entity *list;
	size_t n, cap;
	struct watt_idmap index; /* of the list by id */
	struct watt_htab names;
};

/* What someone used, per domain and in all. */
struct watt_folded_use {
	const int64_t *energy_nj;
	size_t n_domains;
	int64_t total_nj;
	uint64_t cpu_ns;
};

/* One who is not kept apart from now on, with what he has used so far. 0 or -ENOMEM. */
int watt_folded_add(struct watt_folded *folded, const struct watt_series_entity *entity,
		    const struct watt_folded_use *use);
/* What he used since; nothing where he is not known. 0 or -ENOMEM. */
int watt_folded_count(struct watt_folded *folded, uint64_t id, const struct watt_folded_use *use);
/* NULL: none of that name was folded. */
const struct watt_folded_name *watt_folded_find(const struct watt_folded *folded, const char *name,
						int is_kernel);
void watt_folded_done(struct watt_folded *folded);

#endif
