/* SPDX-License-Identifier: Apache-2.0 */
/* What the threads of a set used: each as it was seen last, and of all others together the rest. */
#include "stat_thread.h"

#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

static struct watt_run_thread *add(struct watt_run *run)
{
	run->threads = xrealloc(run->threads, run->n_threads + 1, sizeof(*run->threads));
	return &run->threads[run->n_threads++];
}

static struct watt_run_thread *find(struct watt_run *run, const struct watt_entity *entity)
{
	struct watt_run_thread *thread;
	size_t i;

	for (i = 0; i < run->n_threads; i++)
		if (run->threads[i].id == entity->id)
			return &run->threads[i];
	thread = add(run);
	*thread = (struct watt_run_thread){ .id = entity->id };
	return thread;
}

void stat_threads_note(struct watt_run *run, const struct watt_view *view, uint64_t tracked_id)
{
	size_t i;

	for (i = 0; i < view->n_rows; i++) {
		const struct watt_row *row = view->rows[i];
		const struct watt_entity *entity = row->entity;
		struct watt_run_thread *thread;

		if (entity->kind != WATT_ENTITY_THREAD || entity->tracked_id != tracked_id)
			continue;
		thread = find(run, entity);
		free(thread->name);
		thread->name = xstrdup(entity->name);
		thread->pid = entity->identity ? entity->identity->pid : 0;
		thread->tid = entity->identity ? entity->identity->tid : 0;
		thread->count = entity->count;
		thread->energy_nj = watt_energy_to_nj(row->tracked);
		thread->cpu_ns = row->tracked_cpu_ns;
	}
}

static int by_energy(const void *left, const void *right)
{
	const struct watt_run_thread *a = left, *b = right;

	if (a->energy_nj != b->energy_nj)
		return a->energy_nj < b->energy_nj ? 1 : -1;
	if (a->cpu_ns != b->cpu_ns)
		return a->cpu_ns < b->cpu_ns ? 1 : -1;
	return (a->id > b->id) - (a->id < b->id);
}

/* What no thread was seen to use: those that came and went between two looks, or nobody tells who. */
static void add_others(struct watt_run *run)
{
	struct watt_run_thread others = { .energy_nj = run->energy_nj, .cpu_ns = run->cpu_ns };
	struct watt_run_thread *thread;
	size_t i;

	for (i = 0; i < run->n_threads; i++) {
		others.energy_nj -= run->threads[i].energy_nj;
		others.cpu_ns -= run->threads[i].cpu_ns;
	}
	if (!others.energy_nj && !others.cpu_ns)
		return;
	thread = add(run);
	*thread = others;
	thread->name = xstrdup("(other threads)");
}

void stat_threads_end(struct watt_run *run)
{
	add_others(run);
	if (run->n_threads)
		qsort(run->threads, run->n_threads, sizeof(*run->threads), by_energy);
}

void stat_threads_done(struct watt_run *run)
{
	size_t i;

	for (i = 0; i < run->n_threads; i++)
		free(run->threads[i].name);
	free(run->threads);
	run->threads = NULL;
	run->n_threads = 0;
}
