/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing, at most half full. Nothing is ever taken out. */
#include "base/idmap.h"

#include <stdbool.h>
#include <stdlib.h>

static struct watt_idmap_slot *slot_of(const struct watt_idmap *map, uint64_t id)
{
	/* Ids are consecutive, or have what differs in their high bits: mix them. */
	uint64_t hash = (id ^ id >> 32) * 0x9e3779b97f4a7c15ULL;
	size_t i = hash >> 20;

	for (;; i++) {
		struct watt_idmap_slot *slot = &map->slots[i & (map->n_slots - 1)];

		if (slot->id == id || slot->id == 0)
			return slot;
	}
}

static bool grow(struct watt_idmap *map)
{
	struct watt_idmap old = *map;
	size_t n_slots = old.n_slots ? 2 * old.n_slots : 64, i;
	struct watt_idmap_slot *slots = calloc(n_slots, sizeof(*slots));

	if (!slots)
		return false;
	map->n_slots = n_slots;
	map->slots = slots;
	for (i = 0; i < old.n_slots; i++)
		if (old.slots[i].id)
			*slot_of(map, old.slots[i].id) = old.slots[i];
	free(old.slots);
	return true;
}

size_t watt_idmap_find(const struct watt_idmap *map, uint64_t id)
{
	const struct watt_idmap_slot *slot;

	if (map->n_slots == 0)
		return WATT_IDMAP_NONE;
	slot = slot_of(map, id);
	return slot->id ? slot->position : WATT_IDMAP_NONE;
}

size_t *watt_idmap_get(struct watt_idmap *map, uint64_t id)
{
	struct watt_idmap_slot *slot;

	if (2 * (map->n + 1) > map->n_slots && !grow(map))
		return NULL;
	slot = slot_of(map, id);
	if (slot->id == 0) {
		*slot = (struct watt_idmap_slot){ .id = id, .position = WATT_IDMAP_NONE };
		map->n++;
	}
	return &slot->position;
}

void watt_idmap_done(struct watt_idmap *map)
{
	free(map->slots);
	*map = (struct watt_idmap){ 0 };
}
