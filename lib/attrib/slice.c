/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of slices. Knows nothing of energy. */
#include "attrib/slice.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"

void watt_slices_init(struct watt_slices *slices, uint32_t n_slots)
{
	*slices = (struct watt_slices){ .n_slots = n_slots, .next_seq = 1 };
}

struct watt_slice *watt_slices_get(const struct watt_slices *slices, size_t i)
{
	return slices->ring[(slices->head + i) & (slices->cap - 1)];
}

static void hold(struct watt_account *account, int by)
{
	if (account)
		account->users += (uint32_t)by;
}

static void hold_use(const struct watt_use *use, int by)
{
	hold(use->process, by);
	hold(use->cgroup, by);
	hold(use->owner, by);
	hold(use->tracked, by);
}

static void slice_free(struct watt_slice *slice)
{
	size_t i;

	for (i = 0; i < slice->n_uses; i++)
		hold_use(&slice->uses[i], -1);
	free(slice->uses);
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
	slice = calloc(1, sizeof(*slice) + 4 * (slices->n_slots + 1) * sizeof(slice->per_slot[0]));
	if (!slice)
		return NULL;
	slice->seq = slices->next_seq++;
	slice->t0_ns = t0_ns;
	slice->t1_ns = t1_ns;
	slice->irq_ns = slice->per_slot;
	slice->softirq_ns = slice->irq_ns + slices->n_slots + 1;
	slice->n_online = slice->softirq_ns + slices->n_slots + 1;
	slice->first_use = slice->n_online + slices->n_slots + 1;
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

static bool is_same_use(const struct watt_use *a, const struct watt_use *b)
{
	return a->process == b->process && a->slot == b->slot && a->cgroup == b->cgroup &&
	       a->owner == b->owner && a->tracked == b->tracked;
}

int watt_slice_add_use(struct watt_slice *slice, const struct watt_use *use, uint32_t *use_index)
{
	uint32_t i;
	int r;

	for (i = *use_index; i; i = slice->uses[i - 1].next) {
		if (!is_same_use(&slice->uses[i - 1], use))
			continue;
		slice->uses[i - 1].cpu_ns += use->cpu_ns;
		return 0;
	}
	r = watt_grow((void **)&slice->uses, &slice->cap_uses, slice->n_uses, sizeof(*use));
	if (r < 0)
		return r;
	hold_use(use, 1);
	slice->uses[slice->n_uses] = *use;
	slice->uses[slice->n_uses].next = *use_index;
	slice->uses[slice->n_uses].next_in_slot = (uint32_t)slice->first_use[use->slot];
	*use_index = (uint32_t)++slice->n_uses;
	slice->first_use[use->slot] = *use_index;
	return 0;
}
