/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up what threads used in one window after the other. It must not know what they are for. */
#include "stat_thread.h"

#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

static struct stat_thread *find(struct stat_threads *threads, const struct watt_entity *entity)
{
	struct stat_thread *thread;
	size_t i;

	for (i = 0; i < threads->n; i++)
		if (threads->list[i].id == entity->id)
			return &threads->list[i];
	threads->list = xrealloc(threads->list, threads->n + 1, sizeof(*threads->list));
	thread = &threads->list[threads->n++];
	*thread = (struct stat_thread){ .id = entity->id };
	return thread;
}

void stat_threads_add(struct stat_threads *threads, const struct watt_view *view,
		      uint64_t tracked_id)
{
	size_t i;

	for (i = 0; i < view->n_rows; i++) {
		const struct watt_row *row = view->rows[i];
		const struct watt_entity *entity = &row->entity;
		struct stat_thread *thread;

		if (entity->kind != WATT_ENTITY_THREAD || entity->tracked_id != tracked_id)
			continue;
		thread = find(threads, entity);
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
	const struct stat_thread *a = left, *b = right;

	if (a->energy_nj != b->energy_nj)
		return a->energy_nj < b->energy_nj ? 1 : -1;
	if (a->cpu_ns != b->cpu_ns)
		return a->cpu_ns < b->cpu_ns ? 1 : -1;
	return (a->id > b->id) - (a->id < b->id);
}

void stat_threads_sort(struct stat_threads *threads)
{
	if (threads->n)
		qsort(threads->list, threads->n, sizeof(*threads->list), by_energy);
}

void stat_threads_done(struct stat_threads *threads)
{
	size_t i;

	for (i = 0; i < threads->n; i++)
		free(threads->list[i].name);
	free(threads->list);
	*threads = (struct stat_threads){ 0 };
}
