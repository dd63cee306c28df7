/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps a series bounded. Folding adds within each window, so that every sum stays what it was;
 * one that is folded stays so, though he may use more later.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "series_index.h"
#include "xalloc.h"

#define N_KINDS (WATT_ENTITY_POD + 1)

static size_t others_of(struct series *series, enum watt_entity_kind kind)
{
	size_t i;

	for (i = 0; i < series->n_entities; i++)
		if (series->entities[i].is_others && series->entities[i].kind == kind)
			return i;
	i = series_entity_add(series, kind, "(others)");
	series->entities[i].is_others = true;
	series->entities[i].is_dead = true;
	return i;
}

static int by_total(const void *left, const void *right, void *data)
{
	const struct series *series = data;
	const struct series_entity *a = &series->entities[*(const size_t *)left];
	const struct series_entity *b = &series->entities[*(const size_t *)right];

	if (a->total_nj != b->total_nj)
		return a->total_nj < b->total_nj ? 1 : -1;
	if (a->cpu_ns != b->cpu_ns)
		return a->cpu_ns < b->cpu_ns ? 1 : -1;
	return (a->id > b->id) - (a->id < b->id);
}

/* Where each entity's cells go: to itself, or to the others of its kind. Counts those that go. */
static size_t choose_kind(struct series *series, enum watt_entity_kind kind, size_t keep,
			  size_t *target, size_t n_targets)
{
	auto_free size_t *list = xcalloc(n_targets, sizeof(*list));
	size_t n = 0, i, others;

	for (i = 0; i < n_targets; i++)
		if (series->entities[i].kind == kind && !series->entities[i].is_others)
			list[n++] = i;
	if (n <= keep)
		return 0;
	others = others_of(series, kind);
	qsort_r(list, n, sizeof(*list), by_total, series);
	for (i = keep; i < n; i++)
		target[list[i]] = others;
	return n - keep;
}

static void merge_cell(const struct series *series, struct series_cells *cells, size_t to,
		       size_t from)
{
	size_t d, n = series->n_domains;

	for (d = 0; d < n; d++)
		cells->energy_nj[to * n + d] += cells->energy_nj[from * n + d];
	cells->total_nj[to] += cells->total_nj[from];
	cells->cpu_ns[to] += cells->cpu_ns[from];
}

static void move_cell(const struct series *series, struct series_cells *cells, size_t to,
		      size_t from)
{
	size_t n = series->n_domains;

	if (to == from)
		return;
	memmove(&cells->energy_nj[to * n], &cells->energy_nj[from * n],
		n * sizeof(*cells->energy_nj));
	cells->total_nj[to] = cells->total_nj[from];
	cells->cpu_ns[to] = cells->cpu_ns[from];
}

/* Mean power of a cell in its window, each domain by its own time. */
static double power_of(const struct series *series, const struct series_window *window, size_t cell)
{
	double power_w = 0;
	size_t d;

	for (d = 0; d < series->n_domains; d++)
		if (series->last.domains[d]->is_partition && series_is_known(&window->domains[d]))
			power_w += series_power_w(
				&window->domains[d],
				window->cells.energy_nj[cell * series->n_domains + d]);
	return power_w;
}

static void fold_window(struct series *series, struct series_window *window, const size_t *target)
{
	size_t at[N_KINDS] = { 0 }; /* of the others' cells, from 1 on */
	struct series_cells *cells = &window->cells;
	size_t c, kept = 0;

	for (c = 0; c < cells->n; c++) {
		size_t to = target[cells->entity[c]];
		const struct series_entity *entity = &series->entities[to];

		if (entity->is_others && at[entity->kind]) {
			merge_cell(series, cells, at[entity->kind] - 1, c);
			continue;
		}
		move_cell(series, cells, kept, c);
		cells->entity[kept++] = (uint32_t)to;
		if (entity->is_others)
			at[entity->kind] = kept;
	}
	cells->n = kept;
	for (c = 0; c < N_KINDS; c++) {
		struct series_entity *others;

		if (!at[c])
			continue;
		others = &series->entities[cells->entity[at[c] - 1]];
		others->peak_w = fmax(others->peak_w, power_of(series, window, at[c] - 1));
	}
}

static void add_entity(struct series *series, size_t to, size_t from)
{
	struct series_entity *sum = &series->entities[to];
	const struct series_entity *part = &series->entities[from];
	size_t d;

	for (d = 0; d < series->n_domains; d++)
		sum->energy_nj[d] += part->energy_nj[d];
	sum->total_nj += part->total_nj;
	sum->cpu_ns += part->cpu_ns;
	sum->count += part->count;
}

/* Takes out the entities that were folded, and tells everybody where the rest has gone. */
static void compact(struct series *series, const size_t *target)
{
	auto_free size_t *place = xcalloc(series->n_entities, sizeof(*place));
	struct series_index *index = series_index_new();
	size_t i, w, c, at, kept = 0;

	for (i = 0; i < series->n_entities; i++)
		place[i] = target[i] == i ? kept++ : SIZE_MAX;
	/* Who is not in the newest snapshot is gone, and his id is not used again. */
	for (i = 0; i < series->last.n_rows; i++) {
		uint64_t id = series->last.rows[i]->entity.id;

		if (series_index_find(series->index, id, &at))
			series_index_put(index, id, place[target[at]]);
	}
	for (i = 0; i < series->n_entities; i++) {
		if (target[i] == i)
			series->entities[place[i]] = series->entities[i];
		else
			series_entity_done(&series->entities[i]);
	}
	series->n_entities = kept;
	for (w = 0; w < series->n_windows; w++)
		for (c = 0; c < series->windows[w].cells.n; c++)
			series->windows[w].cells.entity[c] =
				(uint32_t)place[series->windows[w].cells.entity[c]];
	series_index_free(series->index);
	series->index = index;
}

void series_fold(struct series *series, size_t keep)
{
	size_t n = series->n_entities, n_folded = 0, i, w, kind;
	/* Room for the others of each kind, which may be made here. */
	auto_free size_t *target = xcalloc(n + N_KINDS, sizeof(*target));

	for (i = 0; i < n + N_KINDS; i++)
		target[i] = i;
	for (kind = 0; kind < N_KINDS; kind++)
		n_folded += choose_kind(series, (enum watt_entity_kind)kind, keep, target, n);
	if (n_folded == 0)
		return;
	for (i = 0; i < n; i++)
		if (target[i] != i)
			add_entity(series, target[i], i);
	for (w = 0; w < series->n_windows; w++)
		fold_window(series, &series->windows[w], target);
	compact(series, target);
	series->n_folded += n_folded;
}
