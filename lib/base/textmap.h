/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A map from texts to positions in somebody's array, as a balanced tree: whoever chooses the
 * texts can't make it slow. The texts are not copied, and must outlive it. All zero is an empty
 * one. One thread per object.
 */
#ifndef WATT_BASE_TEXTMAP_H
#define WATT_BASE_TEXTMAP_H

#include <stddef.h>
#include <stdint.h>

struct watt_textmap {
	void *root;
	size_t n;
	uint64_t n_compares; /* of two texts, so far: what it has cost */
};

#define WATT_TEXTMAP_NONE SIZE_MAX

size_t watt_textmap_find(struct watt_textmap *map, const char *text);
/* Where the position of a text is kept; a new one is WATT_TEXTMAP_NONE. NULL: out of memory. */
size_t *watt_textmap_get(struct watt_textmap *map, const char *text);
void watt_textmap_done(struct watt_textmap *map);

#endif
