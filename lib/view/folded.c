/* SPDX-License-Identifier: Apache-2.0 */
/* Counts on for those who are in "others", so that it is seen when one of them belongs elsewhere. */
#include "view/folded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/ranking.h>

#include "base/util.h"
#include "view/view.h"

static uint64_t hash_of(const char *text, int is_kernel)
{
	uint64_t hash = is_kernel ? 1 : 0;

	for (; *text; text++)
		hash = watt_hash_u64(hash ^ (unsigned char)*text);
	return hash;
}

const struct watt_folded_name *watt_folded_find(const struct watt_folded *folded, const char *name,
						int is_kernel)
{
	struct watt_hnode *node;

	if (!folded->names.n)
		return NULL;
	for (node = watt_htab_first(&folded->names, hash_of(name, is_kernel)); node;
	     node = watt_htab_next(node)) {
		const struct watt_folded_name *found =
			watt_container_of(node, struct watt_folded_name, node);

		if (!watt_view_is_kernel(found->kind) == !is_kernel &&
		    strcmp(found->text, name) == 0)
			return found;
	}
	return NULL;
}

static void name_free(struct watt_folded_name *name)
{
	free(name->energy_nj);
	free(name->text);
	free(name);
}

/* NULL: out of memory. */
static struct watt_folded_name *get_name(struct watt_folded *folded,
					 const struct watt_series_entity *entity)
{
	const char *text = watt_ranking_short_name(entity);
	int is_kernel = watt_view_is_kernel(entity->kind);
	struct watt_folded_name *name =
		(struct watt_folded_name *)watt_folded_find(folded, text, is_kernel);

	if (name)
		return name;
	if (!folded->names.buckets && watt_htab_init(&folded->names) < 0)
		return NULL;
	name = calloc(1, sizeof(*name));
	if (!name)
		return NULL;
	name->kind = entity->kind;
	name->text = strdup(text);
	if (!name->text) {
		name_free(name);
		return NULL;
	}
	watt_htab_insert(&folded->names, &name->node, hash_of(text, is_kernel));
	return name;
}

static int widen(struct watt_folded_name *name, size_t n)
{
	int64_t *wider;

	if (n <= name->n_domains)
		return 0;
	wider = realloc(name->energy_nj, n * sizeof(*wider));
	if (!wider)
		return -ENOMEM;
	memset(&wider[name->n_domains], 0, (n - name->n_domains) * sizeof(*wider));
	name->energy_nj = wider;
	name->n_domains = n;
	return 0;
}

static int count(struct watt_folded_entity *entity, const struct watt_folded_use *use)
{
	struct watt_folded_name *name = entity->name;
	size_t d;

	if (name && widen(name, use->n_domains) < 0)
		return -ENOMEM;
	entity->total_nj += use->total_nj;
	entity->cpu_ns += use->cpu_ns;
	if (!name)
		return 0;
	for (d = 0; d < use->n_domains; d++)
		name->energy_nj[d] += use->energy_nj[d];
	name->total_nj += use->total_nj;
	name->cpu_ns += use->cpu_ns;
	return 0;
}

int watt_folded_add(struct watt_folded *folded, const struct watt_series_entity *entity,
		    const struct watt_folded_use *use)
{
	struct watt_folded_entity *added;
	size_t *position;

	if (watt_grow((void **)&folded->list, &folded->cap, folded->n, sizeof(*folded->list)) < 0)
		return -ENOMEM;
	position = watt_idmap_get(&folded->index, entity->id);
	if (!position)
		return -ENOMEM;
	added = &folded->list[folded->n];
	*added = (struct watt_folded_entity){ .id = entity->id, .kind = entity->kind };
	if (watt_view_is_user(entity->kind)) {
		added->name = get_name(folded, entity);
		if (!added->name)
			return -ENOMEM;
		added->name->count += entity->count;
	}
	*position = folded->n++;
	return count(added, use);
}

int watt_folded_count(struct watt_folded *folded, uint64_t id, const struct watt_folded_use *use)
{
	size_t i = watt_idmap_find(&folded->index, id);

	return i == WATT_IDMAP_NONE ? 0 : count(&folded->list[i], use);
}

void watt_folded_done(struct watt_folded *folded)
{
	struct watt_htab_iter it = { 0 };
	struct watt_hnode *node;

	while (folded->names.buckets && (node = watt_htab_iterate(&folded->names, &it)))
		name_free(watt_container_of(node, struct watt_folded_name, node));
	watt_htab_done(&folded->names);
	watt_idmap_done(&folded->index);
	free(folded->list);
	*folded = (struct watt_folded){ 0 };
}
