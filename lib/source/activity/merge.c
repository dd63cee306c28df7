/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orders events and sweep. Records come from the caller; it must not change what they say.
 */
#include "source/activity/merge.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

struct watt_merge_entry {
	const struct watt_usage *task; /* NULL: free */
	bool is_deferred;
};

void watt_usage_list_done(struct watt_usage_list *list)
{
	free(list->records);
	memset(list, 0, sizeof(*list));
}

static int list_reserve(struct watt_usage_list *list, size_t n)
{
	size_t cap = WATT_MAX(list->cap, (size_t)64);
	struct watt_usage *records;

	if (n <= list->cap)
		return 0;
	while (cap < n)
		cap *= 2;
	records = realloc(list->records, cap * sizeof(*records));
	if (!records)
		return -ENOMEM;
	list->records = records;
	list->cap = cap;
	return 0;
}

int watt_usage_list_append(struct watt_usage_list *list, const struct watt_usage *records, size_t n)
{
	int r;

	r = list_reserve(list, list->n + n);
	if (r < 0)
		return r;
	if (n)
		memcpy(list->records + list->n, records, n * sizeof(*records));
	list->n += n;
	return 0;
}

static int compare_times(const void *a, const void *b)
{
	const struct watt_usage *x = a, *y = b;

	if (x->t_ns != y->t_ns)
		return x->t_ns < y->t_ns ? -1 : 1;
	/* Of the same instant on a coarse clock: birth first, death last. */
	return (x->kind == WATT_USAGE_FREE) - (y->kind == WATT_USAGE_FREE) +
	       (y->kind == WATT_USAGE_FORK) - (x->kind == WATT_USAGE_FORK);
}

size_t watt_usage_list_sort(struct watt_usage_list *list, uint64_t t_ns)
{
	size_t n = 0;

	if (list->n)
		qsort(list->records, list->n, sizeof(*list->records), compare_times);
	while (n < list->n && list->records[n].t_ns < t_ns)
		n++;
	return n;
}

void watt_merge_done(struct watt_merge *merge)
{
	free(merge->entries);
	memset(merge, 0, sizeof(*merge));
}

static struct watt_merge_entry *find(const struct watt_merge *merge, uint32_t tid,
				     uint64_t start_ns)
{
	size_t mask = merge->n_entries - 1;
	size_t i = (size_t)watt_hash_u64(start_ns ^ (uint64_t)tid << 32) & mask;

	while (merge->entries[i].task &&
	       (merge->entries[i].task->tid != tid || merge->entries[i].task->start_ns != start_ns))
		i = (i + 1) & mask;
	return &merge->entries[i];
}

/* Of a task that is there twice, the first counts: it is the one an event must not overtake. */
static int index_tasks(struct watt_merge *merge, const struct watt_usage *tasks, size_t n)
{
	size_t n_entries = WATT_MAX(merge->n_entries, (size_t)64);
	struct watt_merge_entry *entry;

	while (n_entries < 2 * n)
		n_entries *= 2;
	if (n_entries > merge->n_entries) {
		entry = realloc(merge->entries, n_entries * sizeof(*entry));
		if (!entry)
			return -ENOMEM;
		merge->entries = entry;
		merge->n_entries = n_entries;
	}
	memset(merge->entries, 0, merge->n_entries * sizeof(*entry));
	for (size_t i = 0; i < n; i++) {
		entry = find(merge, tasks[i].tid, tasks[i].start_ns);
		if (!entry->task)
			entry->task = &tasks[i];
	}
	return 0;
}

static bool is_later(const struct watt_usage *event, const struct watt_usage *task)
{
	if (event->kind == WATT_USAGE_FORK)
		return false;
	if (event->kind == WATT_USAGE_MIGRATE)
		return event->cpu_ns > task->cpu_ns;
	return event->t_ns > task->t_ns;
}

/* Takes the events that have to wait out of list, from n_before on. */
static void defer_events(struct watt_merge *merge, struct watt_usage_list *list, size_t n_before,
			 struct watt_usage_list *deferred)
{
	size_t n = n_before;

	for (size_t i = n_before; i < list->n; i++) {
		const struct watt_usage *event = &list->records[i];
		struct watt_merge_entry *entry = find(merge, event->tid, event->start_ns);

		if (entry->task && (entry->is_deferred || is_later(event, entry->task))) {
			entry->is_deferred = true;
			deferred->records[deferred->n++] = *event;
		} else {
			list->records[n++] = *event;
		}
	}
	list->n = n;
}

int watt_merge(struct watt_merge *merge, struct watt_usage_list *list, size_t n_before,
	       const struct watt_usage *tasks, size_t n, struct watt_usage_list *deferred)
{
	int r;

	r = list_reserve(list, list->n + n);
	if (r < 0)
		return r;
	if (n && n_before < list->n) {
		r = list_reserve(deferred, list->n - n_before);
		if (r < 0)
			return r;
		r = index_tasks(merge, tasks, n);
		if (r < 0)
			return r;
		defer_events(merge, list, n_before, deferred);
	}
	return watt_usage_list_append(list, tasks, n);
}
