/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps a series bounded: who used the least is put into the "others" of his kind. Folding adds
 * within each window, so that every sum stays what it was; one that is folded stays so, though he
 * may use more later. What he uses is counted on, so that this is seen: then a second series of
 * the same windows is told from the beginning whom to keep.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "view/series.h"

#define N_KINDS (WATT_ENTITY_JOB + 1)

int watt_series_others_of(struct watt_series *series, enum watt_entity_kind kind, size_t *ret)
{
	size_t i;
	int r;

	for (i = 0; i < series->info.n_entities; i++)
		if (series->entities[i].is_others && series->entities[i].kind == kind) {
			*ret = i;
			return 0;
		}
	r = watt_series_new_entity(series, kind, "(others)", &i);
	if (r < 0)
		return r;
	series->entities[i].is_others = true;
	series->entities[i].is_dead = true;
	*ret = i;
	return 0;
}

static int by_total(const void *left, const void *right, void *data)
{
	const struct watt_series *series = data;
	const struct watt_series_entity *a = &series->entities[*(const size_t *)left];
	const struct watt_series_entity *b = &series->entities[*(const size_t *)right];

	if (a->total_nj != b->total_nj)
		return a->total_nj < b->total_nj ? 1 : -1;
	if (a->cpu_ns != b->cpu_ns)
		return a->cpu_ns < b->cpu_ns ? 1 : -1;
	return (a->id > b->id) - (a->id < b->id);
}

/* Where each entity's cells go: to itself, or to the others of its kind. Counts those that go. */
static int choose_kind(struct watt_series *series, enum watt_entity_kind kind, size_t keep,
		       size_t *target, size_t n_targets, size_t *n_folded)
{
	_cleanup_free_ size_t *list = calloc(n_targets + 1, sizeof(*list));
	size_t n = 0, i, others;
	int r;

	if (!list)
		return -ENOMEM;
	for (i = 0; i < n_targets; i++)
		if (series->entities[i].kind == kind && !series->entities[i].is_others)
			list[n++] = i;
	if (n <= keep)
		return 0;
	r = watt_series_others_of(series, kind, &others);
	if (r < 0)
		return r;
	qsort_r(list, n, sizeof(*list), by_total, series);
	for (i = keep; i < n; i++)
		target[list[i]] = others;
	*n_folded += n - keep;
	return 0;
}

static void merge_cell(const struct watt_series *series, struct watt_series_window *window,
		       size_t to, size_t from)
{
	size_t d, n = series->info.n_domains;

	for (d = 0; d < n; d++)
		window->energy_nj[to * n + d] += window->energy_nj[from * n + d];
	window->total_nj[to] += window->total_nj[from];
	window->cpu_ns[to] += window->cpu_ns[from];
	window->uncertainty_j[to] += window->uncertainty_j[from];
}

static void move_cell(const struct watt_series *series, struct watt_series_window *window,
		      size_t to, size_t from)
{
	size_t n = series->info.n_domains;

	if (to == from)
		return;
	memmove(&window->energy_nj[to * n], &window->energy_nj[from * n],
		n * sizeof(*window->energy_nj));
	window->total_nj[to] = window->total_nj[from];
	window->cpu_ns[to] = window->cpu_ns[from];
	window->uncertainty_j[to] = window->uncertainty_j[from];
}

static void fold_window(struct watt_series *series, struct watt_series_window *window,
			const size_t *target)
{
	size_t at[N_KINDS] = { 0 }; /* of the others' cells, from 1 on */
	size_t c, kept = 0;

	for (c = 0; c < window->n_cells; c++) {
		size_t to = target[window->entity_index[c]];
		const struct watt_series_entity *entity = &series->entities[to];

		if (entity->is_others && at[entity->kind]) {
			merge_cell(series, window, at[entity->kind] - 1, c);
			continue;
		}
		move_cell(series, window, kept, c);
		window->entity_index[kept++] = (uint32_t)to;
		if (entity->is_others)
			at[entity->kind] = kept;
	}
	window->n_cells = kept;
	for (c = 0; c < N_KINDS; c++) {
		struct watt_series_entity *others;
		double power_w;

		if (!at[c])
			continue;
		others = &series->entities[window->entity_index[at[c] - 1]];
		power_w = watt_series_window_w(
			series, window, &window->energy_nj[(at[c] - 1) * series->info.n_domains]);
		others->peak_w = fmax(others->peak_w, power_w);
	}
}

static int add_entity(struct watt_series *series, size_t to, size_t from)
{
	struct watt_series_entity *sum = &series->entities[to];
	const struct watt_series_entity *part = &series->entities[from];
	const struct watt_folded_use use = { .energy_nj = part->energy_nj,
					     .n_domains = series->info.n_domains,
					     .total_nj = part->total_nj,
					     .cpu_ns = part->cpu_ns };
	size_t d;

	if (watt_folded_add(&series->folded, part, &use) < 0)
		return -ENOMEM;
	for (d = 0; d < series->info.n_domains; d++)
		sum->energy_nj[d] += part->energy_nj[d];
	sum->total_nj += part->total_nj;
	sum->cpu_ns += part->cpu_ns;
	sum->count += part->count;
	series->doubts[to].sum_j += series->doubts[from].sum_j;
	return 0;
}

/* The ids of those who are there, at their new places; place: of each target. */
static int index_again(const struct watt_series *series, const size_t *target, const size_t *place,
		       struct watt_idmap *ret)
{
	size_t i;

	/* Who is not in the newest snapshot is gone, and his id is not used again. */
	for (i = 0; i < series->last.n_rows; i++) {
		uint64_t id = series->last.rows[i]->entity->id;
		size_t at = watt_idmap_find(&series->index, id), *position;

		if (at == WATT_IDMAP_NONE)
			continue;
		position = watt_idmap_get(ret, id);
		if (!position)
			return -ENOMEM;
		*position = place[target[at]];
	}
	return 0;
}

/* Takes out the entities that were folded, and tells everybody where the rest has gone. */
static void compact(struct watt_series *series, const size_t *target, const size_t *place)
{
	size_t i, w, c, kept = 0;

	for (i = 0; i < series->info.n_entities; i++) {
		if (target[i] == i) {
			series->doubts[kept] = series->doubts[i];
			series->entities[kept++] = series->entities[i];
		} else {
			watt_series_entity_done(&series->entities[i]);
		}
	}
	series->info.n_entities = kept;
	for (w = 0; w < series->info.n_windows; w++)
		for (c = 0; c < series->windows[w].n_cells; c++)
			series->windows[w].entity_index[c] =
				(uint32_t)place[series->windows[w].entity_index[c]];
}

/* What has been chosen. */
static int fold(struct watt_series *series, const size_t *target, size_t n)
{
	_cleanup_free_ size_t *place = calloc(series->info.n_entities + 1, sizeof(*place));
	struct watt_idmap index = { 0 };
	size_t i, w, kept = 0;
	int r = 0;

	if (!place)
		return -ENOMEM;
	for (i = 0; i < series->info.n_entities; i++)
		place[i] = target[i] == i ? kept++ : SIZE_MAX;
	if (index_again(series, target, place, &index) < 0) {
		watt_idmap_done(&index);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++)
		if (target[i] != i && add_entity(series, target[i], i) < 0)
			r = -ENOMEM;
	for (w = 0; w < series->info.n_windows; w++)
		fold_window(series, &series->windows[w], target);
	compact(series, target, place);
	watt_idmap_done(&series->index);
	series->index = index;
	return r;
}

int watt_series_fold(struct watt_series *series, size_t keep)
{
	size_t n = series->info.n_entities, n_folded = 0, i, kind;
	/* Room for the others of each kind, which may be made here. */
	_cleanup_free_ size_t *target = calloc(n + N_KINDS, sizeof(*target));
	int r = 0;

	if (!target)
		return -ENOMEM;
	for (i = 0; i < n + N_KINDS; i++)
		target[i] = i;
	for (kind = 0; kind < N_KINDS && r == 0; kind++)
		r = choose_kind(series, (enum watt_entity_kind)kind, keep, target, n, &n_folded);
	if (r < 0 || n_folded == 0)
		return r;
	r = fold(series, target, n);
	if (r == 0)
		series->info.n_folded += n_folded;
	return r;
}

/* ---- whether it was right ---- */

/* One of a kind, kept apart or not. */
struct rank {
	uint64_t id;
	int64_t total_nj;
	uint64_t cpu_ns;
};

static int by_use(const void *left, const void *right)
{
	const struct rank *a = left, *b = right;

	if (a->total_nj != b->total_nj)
		return a->total_nj < b->total_nj ? 1 : -1;
	if (a->cpu_ns != b->cpu_ns)
		return a->cpu_ns < b->cpu_ns ? 1 : -1;
	return (a->id > b->id) - (a->id < b->id);
}

size_t watt_series_count_misplaced(const struct watt_series *series)
{
	int64_t least_nj[N_KINDS];
	size_t i, n = 0;

	for (i = 0; i < N_KINDS; i++)
		least_nj[i] = INT64_MAX;
	for (i = 0; i < series->info.n_entities; i++) {
		const struct watt_series_entity *entity = &series->entities[i];

		if (!entity->is_others && entity->total_nj < least_nj[entity->kind])
			least_nj[entity->kind] = entity->total_nj;
	}
	for (i = 0; i < series->folded.n; i++)
		n += series->folded.list[i].total_nj > least_nj[series->folded.list[i].kind];
	return n;
}

/* All of a kind, by what they used. */
static size_t rank_kind(const struct watt_series *series, enum watt_entity_kind kind,
			struct rank *ranks)
{
	size_t i, n = 0;

	for (i = 0; i < series->info.n_entities; i++) {
		const struct watt_series_entity *entity = &series->entities[i];

		if (entity->kind == kind && !entity->is_others)
			ranks[n++] = (struct rank){ entity->id, entity->total_nj, entity->cpu_ns };
	}
	for (i = 0; i < series->folded.n; i++) {
		const struct watt_folded_entity *entity = &series->folded.list[i];

		if (entity->kind == kind)
			ranks[n++] = (struct rank){ entity->id, entity->total_nj, entity->cpu_ns };
	}
	qsort(ranks, n, sizeof(*ranks), by_use);
	return n;
}

int watt_series_choose(struct watt_series *series, const struct watt_series *first)
{
	_cleanup_free_ struct rank *ranks =
		calloc(first->info.n_entities + first->folded.n + 1, sizeof(*ranks));
	size_t kind, n, i, *position;

	if (!ranks)
		return -ENOMEM;
	for (kind = 0; kind < N_KINDS; kind++) {
		n = rank_kind(first, (enum watt_entity_kind)kind, ranks);
		for (i = 0; i < n && i < first->max_entities; i++) {
			position = watt_idmap_get(&series->chosen, ranks[i].id);
			if (!position)
				return -ENOMEM;
			*position = i;
		}
	}
	series->is_chosen = true;
	return 0;
}
