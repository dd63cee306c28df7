/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up what threads used in one window after the other. It must not know what they are for. */
#include "stat_thread.h"

#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

static struct watt_run_thread *find(struct watt_run *run, const struct watt_entity *entity)
{
	struct watt_run_thread *thread;
	size_t i;

	for (i = 0; i < run->n_threads; i++)
		if (run->threads[i].id == entity->id)
			return &run->threads[i];
	run->threads = xrealloc(run->threads, run->n_threads + 1, sizeof(*run->threads));
	thread = &run->threads[run->n_threads++];
	*thread = (struct watt_run_thread){ .id = entity->id };
	return thread;
}

void stat_threads_add(struct watt_run *run, const struct watt_view *view, uint64_t tracked_id)
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
		thread->energy_nj += row->window_total_nj;
		thread->cpu_ns += row->window_cpu_ns;
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

void stat_threads_sort(struct watt_run *run)
{
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
