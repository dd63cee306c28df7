/* SPDX-License-Identifier: Apache-2.0 */
/* A balanced tree of texts; the C library keeps the balance. */
#include "base/textmap.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

struct text_entry {
	const char *text;
	size_t position;
	struct watt_textmap *map;
};

static int compare(const void *left, const void *right)
{
	const struct text_entry *a = left, *b = right;

	a->map->n_compares++;
	return strcmp(a->text, b->text);
}

size_t watt_textmap_find(struct watt_textmap *map, const char *text)
{
	struct text_entry key = { .text = text, .map = map };
	struct text_entry **found = tfind(&key, &map->root, compare);

	return found ? (*found)->position : WATT_TEXTMAP_NONE;
}

size_t *watt_textmap_get(struct watt_textmap *map, const char *text)
{
	struct text_entry *entry = malloc(sizeof(*entry)), **found;

	if (!entry)
		return NULL;
	*entry = (struct text_entry){ .text = text, .position = WATT_TEXTMAP_NONE, .map = map };
	found = tsearch(entry, &map->root, compare);
	if (!found || *found != entry)
		free(entry);
	else
		map->n++;
	return found ? &(*found)->position : NULL;
}

void watt_textmap_done(struct watt_textmap *map)
{
	tdestroy(map->root, free);
	*map = (struct watt_textmap){ 0 };
}
