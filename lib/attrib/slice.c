/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of slices. Knows nothing of energy. */
#include "attrib/slice.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"

void watt_slices_init(struct watt_slices *slices)
{
	*slices = (struct watt_slices){ .next_seq = 1 };
}

struct watt_slice *watt_slices_get(const struct watt_slices *slices, size_t i)
{
	return slices->ring[(slices->head + i) & (slices->cap - 1)];
}

void watt_actor_add_users(struct watt_member *actor, int by)
{
	if (!actor)
		return;
	actor->users += (uint32_t)by;
	actor->self->users += (uint32_t)by;
}

static void uses_done(struct watt_uses *uses)
{
	size_t i;

	for (i = 0; i < uses->n; i++)
		watt_actor_add_users(uses->list[i].actor, -1);
	free(uses->list);
	free(uses->first);
}

static void slice_free(struct watt_slice *slice)
{
	size_t kind, i;

	for (kind = 0; kind < WATT_N_ACTIVITIES; kind++)
		uses_done(&slice->uses[kind]);
	for (i = 0; i < slice->n_reserves; i++)
		watt_actor_add_users(slice->reserves[i].actor, -1);
	free(slice->reserves);
	free(slice);
}

void watt_slices_drop(struct watt_slices *slices)
{
	slice_free(watt_slices_get(slices, 0));
	slices->head = (slices->head + 1) & (slices->cap - 1);
	slices->n--;
}

void watt_slices_done(struct watt_slices *slices)
{
	while (slices->n)
		watt_slices_drop(slices);
	free(slices->ring);
	*slices = (struct watt_slices){ 0 };
}

static int make_room(struct watt_slices *slices)
{
	size_t cap = slices->cap ? slices->cap * 2 : 16, i;
	struct watt_slice **ring;

	if (slices->n < slices->cap)
		return 0;
	ring = calloc(cap, sizeof(*ring));
	if (!ring)
		return -ENOMEM;
	for (i = 0; i < slices->n; i++)
		ring[i] = watt_slices_get(slices, i);
	free(slices->ring);
	slices->ring = ring;
	slices->cap = cap;
	slices->head = 0;
	return 0;
}

struct watt_slice *watt_slices_add(struct watt_slices *slices, uint64_t t0_ns, uint64_t t1_ns)
{
	struct watt_slice *slice;

	if (make_room(slices) < 0)
		return NULL;
	slice = calloc(1, sizeof(*slice));
	if (!slice)
		return NULL;
	slice->seq = slices->next_seq++;
	slice->t0_ns = t0_ns;
	slice->t1_ns = t1_ns;
	slice->pending = slices->next_pending;
	slices->next_pending = 0;
	slices->ring[(slices->head + slices->n++) & (slices->cap - 1)] = slice;
	return slice;
}

struct watt_slice *watt_slices_find(const struct watt_slices *slices, uint64_t seq)
{
	uint64_t first = slices->next_seq - slices->n;

	return seq >= first && seq < slices->next_seq ? watt_slices_get(slices, seq - first) : NULL;
}

struct watt_slice *watt_slices_find_time(const struct watt_slices *slices, uint64_t t_ns)
{
	size_t i = slices->n;

	while (i-- > 0) {
		struct watt_slice *slice = watt_slices_get(slices, i);

		if (t_ns > slice->t0_ns)
			return t_ns <= slice->t1_ns ? slice : NULL;
	}
	return NULL;
}

int watt_slice_open(struct watt_slice *slice, enum watt_activity_kind kind, uint32_t n_places)
{
	struct watt_uses *uses = &slice->uses[kind];

	uses->first = calloc(2 * (size_t)n_places + 1, sizeof(*uses->first));
	if (!uses->first)
		return -ENOMEM;
	uses->n_units = uses->first + n_places;
	uses->n_places = n_places;
	return 0;
}

int watt_slice_add_use(struct watt_slice *slice, enum watt_activity_kind kind,
		       const struct watt_use *use, uint32_t *use_index)
{
	struct watt_uses *uses = &slice->uses[kind];
	struct watt_use *added;
	uint32_t i;
	int r;

	for (i = *use_index; i; i = uses->list[i - 1].next) {
		struct watt_use *found = &uses->list[i - 1];

		if (found->place != use->place || found->actor != use->actor)
			continue;
		found->amount += WATT_MIN(use->amount, UINT64_MAX - found->amount);
		return 0;
	}
	r = watt_grow((void **)&uses->list, &uses->cap, uses->n, sizeof(*use));
	if (r < 0)
		return r;
	watt_actor_add_users(use->actor, 1);
	added = &uses->list[uses->n];
	*added = *use;
	added->next = *use_index;
	added->next_in_place = uses->first[use->place];
	*use_index = (uint32_t)++uses->n;
	uses->first[use->place] = *use_index;
	return 0;
}
