/* SPDX-License-Identifier: Apache-2.0 */
/* A map from ids (not 0) to positions in somebody's array. */
#ifndef WATT_BASE_IDMAP_H
#define WATT_BASE_IDMAP_H

#include <stddef.h>
#include <stdint.h>

struct watt_idmap {
	struct watt_idmap_slot {
		uint64_t id; /* 0: free */
		size_t position;
	} * slots;
	size_t n_slots; /* a power of two, or 0 */
	size_t n;
};

#define WATT_IDMAP_NONE SIZE_MAX

size_t watt_idmap_find(const struct watt_idmap *map, uint64_t id);
/*
 * Where the position of an id is kept; a new one is WATT_IDMAP_NONE. Valid until the next call.
 * NULL: out of memory.
 */
size_t *watt_idmap_get(struct watt_idmap *map, uint64_t id);
void watt_idmap_done(struct watt_idmap *map);

#endif
