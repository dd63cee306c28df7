/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What slices say of processes that have no learner of their own: whether they differ from their
 * program. Of many processes few get one. Built with -ffp-contract=off.
 */
#include "attrib/learned_state.h"

#include "base/util.h"

#define WAYS 8              /* places of a candidate */
#define EVIDENCE_KEPT 0.999 /* of it, a slice */

/* Of the places that a process may be counted at. */
static size_t first_way(uint64_t process)
{
	return watt_hash_u64(process) % (CANDIDATES / WAYS) * WAYS;
}

const struct candidate *watt_evidence_look_up(const struct watt_learned *l,
					      const struct watt_learned_use *use)
{
	static const struct candidate stranger;
	size_t first = first_way(use->process), i;

	for (i = first; i < first + WAYS; i++)
		if (l->counted[i] == use->process)
			return &l->candidates[i];
	return &stranger;
}

size_t watt_evidence_find(struct watt_learned *l, const struct watt_learned_use *use)
{
	uint64_t process = use->process;
	size_t first, oldest, i;

	if (l->counted[use->seen_at] == process)
		return use->seen_at;
	first = oldest = first_way(process);
	for (i = first; i < first + WAYS; i++)
		if (l->counted[i] == process)
			return i;
	for (i = first; i < first + WAYS; i++)
		if (l->candidates[i].newest_slice < l->candidates[oldest].newest_slice)
			oldest = i;
	l->candidates[oldest] = (struct candidate){ 0 };
	l->counted[oldest] = process;
	return oldest;
}

void watt_evidence_fetch(const struct watt_learned *l, const struct watt_learned_slice *slice)
{
	size_t i;

	for (i = 0; i < slice->n_uses; i++)
		watt_prefetch(&l->counted[first_way(slice->uses[i].process)]);
}

static void seek(const struct watt_learned *l, struct watt_learned_use *use)
{
	size_t first = first_way(use->process), at = use->seen_at, i;

	/* no end before the last one: that would wait for the first one */
	for (i = first; i < first + WAYS; i++)
		at = l->counted[i] == use->process ? i : at;
	use->seen_at = (uint16_t)at;
	watt_prefetch(&l->candidates[at].newest_slice);
	watt_prefetch(&l->candidates[at].score);
}

void watt_evidence_seek(const struct watt_learned *l, struct watt_learned_slice *slice)
{
	size_t i;

	for (i = 0; i < slice->n_uses; i++)
		if (slice->uses[i].process && slice->uses[i].at[1] == OTHERS)
			seek(l, &slice->uses[i]);
}

void watt_evidence_note(struct watt_learned *l, const struct watt_learned_slice *slice, double g,
			double error_j, double variance)
{
	size_t i;

	for (i = 0; i < slice->n_uses; i++) {
		const struct watt_learned_use *use = &slice->uses[i];
		double h = time_of(l, use) * g, own;
		struct candidate *one;

		if (use->at[0] == OTHERS || use->at[1] != OTHERS || !use->process ||
		    !l->list[use->at[0]].has_many)
			continue;
		if (l->counted[use->counted_at] != use->process)
			continue; /* another one has its place by now */
		one = &l->candidates[use->counted_at];
		/* what is no part of its usual share of its program: the rest is the program's */
		one->own_s = EVIDENCE_KEPT * one->own_s + h;
		one->program_s = EVIDENCE_KEPT * one->program_s + l->h[use->at[0]];
		own = h - l->h[use->at[0]] * one->own_s / one->program_s;
		one->info = EVIDENCE_KEPT * one->info + squared(own) / variance;
		one->score = EVIDENCE_KEPT * one->score + own * error_j / variance;
	}
}
