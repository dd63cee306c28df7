/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing, at most half full. Nothing is ever taken out. */
#include "idmap.h"

#include <stdlib.h>

#include "xalloc.h"

static struct idmap_slot *slot_of(const struct idmap *map, uint64_t id)
{
	/* Ids are consecutive, or have what differs in their high bits: mix them. */
	uint64_t hash = (id ^ id >> 32) * 0x9e3779b97f4a7c15ULL;
	size_t i = hash >> 20;

	for (;; i++) {
		struct idmap_slot *slot = &map->slots[i & (map->n_slots - 1)];

		if (slot->id == id || slot->id == 0)
			return slot;
	}
}

static void grow(struct idmap *map)
{
	struct idmap old = *map;
	size_t i;

	map->n_slots = old.n_slots ? 2 * old.n_slots : 64;
	map->slots = xcalloc(map->n_slots, sizeof(*map->slots));
	for (i = 0; i < old.n_slots; i++)
		if (old.slots[i].id)
			*slot_of(map, old.slots[i].id) = old.slots[i];
	free(old.slots);
}

size_t idmap_find(const struct idmap *map, uint64_t id)
{
	const struct idmap_slot *slot;

	if (map->n_slots == 0)
		return IDMAP_NONE;
	slot = slot_of(map, id);
	return slot->id ? slot->position : IDMAP_NONE;
}

size_t *idmap_get(struct idmap *map, uint64_t id)
{
	struct idmap_slot *slot;

	if (2 * (map->n + 1) > map->n_slots)
		grow(map);
	slot = slot_of(map, id);
	if (slot->id == 0) {
		*slot = (struct idmap_slot){ .id = id, .position = IDMAP_NONE };
		map->n++;
	}
	return &slot->position;
}

void idmap_done(struct idmap *map)
{
	free(map->slots);
	*map = (struct idmap){ 0 };
}
