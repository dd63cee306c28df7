/* SPDX-License-Identifier: Apache-2.0 */
/* A map from ids (not 0) to positions in somebody's array. */
#ifndef WATT_CLI_IDMAP_H
#define WATT_CLI_IDMAP_H

#include <stddef.h>
#include <stdint.h>

struct idmap {
	struct idmap_slot {
		uint64_t id; /* 0: free */
		size_t position;
	} * slots;
	size_t n_slots; /* a power of two, or 0 */
	size_t n;
};

#define IDMAP_NONE SIZE_MAX

size_t idmap_find(const struct idmap *map, uint64_t id);
/* Where the position of an id is kept; a new one is IDMAP_NONE. Valid until the next call. */
size_t *idmap_get(struct idmap *map, uint64_t id);
void idmap_done(struct idmap *map);

#endif
