/* SPDX-License-Identifier: Apache-2.0 */
/* A table of ids with open addressing: ids are unique, never 0, and never taken out one by one. */
#include "series_index.h"

#include <stdlib.h>

#include "xalloc.h"

struct slot {
	uint64_t id; /* 0: free */
	size_t i;
};

struct series_index {
	struct slot *slots;
	size_t cap; /* a power of two */
	size_t n;
};

struct series_index *series_index_new(void)
{
	struct series_index *index = xcalloc(1, sizeof(*index));

	index->cap = 256;
	index->slots = xcalloc(index->cap, sizeof(*index->slots));
	return index;
}

struct series_index *series_index_free(struct series_index *index)
{
	if (index)
		free(index->slots);
	free(index);
	return NULL;
}

/* The slot of an id, or the free one where it belongs. */
static struct slot *slot_of(const struct series_index *index, uint64_t id)
{
	size_t at = (size_t)((id * 0x9e3779b97f4a7c15ULL) >> 32);

	while (index->slots[at & (index->cap - 1)].id &&
	       index->slots[at & (index->cap - 1)].id != id)
		at++;
	return &index->slots[at & (index->cap - 1)];
}

bool series_index_find(const struct series_index *index, uint64_t id, size_t *ret)
{
	const struct slot *slot = slot_of(index, id);

	if (!slot->id)
		return false;
	*ret = slot->i;
	return true;
}

static void grow(struct series_index *index)
{
	struct series_index old = *index;
	size_t k;

	index->cap *= 2;
	index->slots = xcalloc(index->cap, sizeof(*index->slots));
	for (k = 0; k < old.cap; k++)
		if (old.slots[k].id)
			*slot_of(index, old.slots[k].id) = old.slots[k];
	free(old.slots);
}

void series_index_put(struct series_index *index, uint64_t id, size_t i)
{
	struct slot *slot = slot_of(index, id);

	if (!slot->id) {
		if (2 * ++index->n > index->cap)
			grow(index);
		slot = slot_of(index, id);
	}
	*slot = (struct slot){ .id = id, .i = i };
}
