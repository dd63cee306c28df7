/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks the entities of a series. Groups are the library's own sums; what they leave is a row. */
#include "view/ranking.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "view/phases.h"

static const char *const group_names[] = {
	[WATT_RANKING_PROCESS] = "process",     [WATT_RANKING_NAME] = "name",
	[WATT_RANKING_CONTAINER] = "container", [WATT_RANKING_POD] = "pod",
	[WATT_RANKING_UNIT] = "unit",           [WATT_RANKING_USER] = "user",
	[WATT_RANKING_CGROUP] = "cgroup",       [WATT_RANKING_JOB] = "job",
	[WATT_RANKING_THREAD] = "thread",
};

const char *watt_ranking_group_name(enum watt_ranking_group group)
{
	return (size_t)group < WATT_ARRAY_SIZE(group_names) ? group_names[group] : NULL;
}

/* "/usr/lib/x/cc1plus -quiet a.c" is "cc1plus -quiet a.c": the path tells the least. */
static const char *short_command(const char *cmdline)
{
	const char *p, *name = cmdline;

	if (*cmdline != '/')
		return cmdline;
	for (p = cmdline; *p && *p != ' '; p++)
		if (*p == '/' && p[1] && p[1] != ' ')
			name = p + 1;
	return name;
}

static int copy(const char *text, char **ret)
{
	char *name = strdup(text);

	if (!name)
		return -ENOMEM;
	*ret = name;
	return 0;
}

__attribute__((format(printf, 2, 3))) static int make(char **ret, const char *format, ...)
{
	va_list args;
	char *name;
	int n;

	va_start(args, format);
	n = vasprintf(&name, format, args);
	va_end(args);
	if (n < 0)
		return -ENOMEM;
	*ret = name;
	return 0;
}

int watt_ranking_name(const struct watt_series_entity *entity, char **ret)
{
	if (entity->is_others)
		return make(ret, "all others (%u)", entity->count);
	switch (entity->kind) {
	case WATT_ENTITY_KTHREAD:
		return make(ret, "[%s]", entity->name);
	case WATT_ENTITY_EXITED:
		return make(ret, "%s (%u ended)", entity->name, entity->count);
	case WATT_ENTITY_IRQ:
		return copy("interrupts (irq)", ret);
	case WATT_ENTITY_SOFTIRQ:
		return copy("interrupts (softirq)", ret);
	case WATT_ENTITY_VM:
		return make(ret, "%s (virtual machine)", entity->name);
	case WATT_ENTITY_THREAD:
		return entity->parent_pid ?
			       make(ret, "%s, a thread of %u", entity->name, entity->parent_pid) :
			       copy(entity->name, ret);
	default:
		return copy(entity->cmdline && *entity->cmdline ? short_command(entity->cmdline) :
								  entity->name,
			    ret);
	}
}

const char *watt_ranking_short_name(const struct watt_series_entity *entity)
{
	if (entity->is_others)
		return "all others";
	if (entity->kind == WATT_ENTITY_IRQ)
		return "interrupts (irq)";
	if (entity->kind == WATT_ENTITY_SOFTIRQ)
		return "interrupts (softirq)";
	return entity->name;
}

/* A row without energy yet. *ret is valid until the next one. */
static int append(struct watt_ranking *ranking, enum watt_entity_kind kind, const char *name,
		  struct watt_ranking_row **ret)
{
	struct watt_ranking_row *row;

	if (watt_grow((void **)&ranking->rows, &ranking->cap, ranking->n, sizeof(*ranking->rows)) <
	    0)
		return -ENOMEM;
	row = &ranking->rows[ranking->n];
	*row = (struct watt_ranking_row){ .sz = sizeof(*row), .kind = kind, .peak_w = NAN };
	row->energy_nj = calloc(ranking->n_domains + 1, sizeof(*row->energy_nj));
	if (!row->energy_nj || copy(name, &row->name) < 0) {
		free(row->energy_nj);
		return -ENOMEM;
	}
	ranking->n++;
	*ret = row;
	return 0;
}

/* sign -1 takes it out again. */
static void add(struct watt_ranking_row *row, const struct watt_ranking *ranking,
		const struct watt_series_entity *entity, int sign)
{
	size_t d;

	for (d = 0; d < ranking->n_domains; d++)
		row->energy_nj[d] += sign * entity->energy_nj[d];
	row->cpu_ns += (uint64_t)sign * entity->cpu_ns;
	row->count += (uint32_t)sign * entity->count;
	/* what is left when others are taken out is as unsure as nobody knows */
	row->uncertainty_j += sign > 0 ? entity->uncertainty_j : NAN;
}

static int append_entity(struct watt_ranking *ranking, const struct watt_series *series, size_t i)
{
	const struct watt_series_entity *entity = &series->entities[i];
	struct watt_ranking_row *row;
	char *name;
	int r;

	r = watt_ranking_name(entity, &name);
	if (r < 0)
		return r;
	r = append(ranking, entity->kind, name, &row);
	free(name);
	if (r < 0)
		return r;
	row->entity = entity;
	row->peak_w = entity->peak_w;
	add(row, ranking, entity, 1);
	return 0;
}

static int append_unused(struct watt_ranking *ranking, const struct watt_phase *whole)
{
	struct watt_ranking_row *row;
	size_t d;

	if (append(ranking, WATT_ENTITY_IDLE, "idle", &row) < 0)
		return -ENOMEM;
	for (d = 0; d < ranking->n_domains; d++)
		row->energy_nj[d] = whole->domains[d].idle_nj;
	row->uncertainty_j = NAN;
	if (append(ranking, WATT_ENTITY_UNATTRIBUTED, "unattributed", &row) < 0)
		return -ENOMEM;
	for (d = 0; d < ranking->n_domains; d++)
		row->energy_nj[d] = whole->domains[d].unattributed_nj;
	row->uncertainty_j = NAN;
	return 0;
}

static bool is_empty(const struct watt_ranking *ranking, const struct watt_ranking_row *row)
{
	size_t d;

	for (d = 0; d < ranking->n_domains; d++)
		if (row->energy_nj[d])
			return false;
	return row->cpu_ns == 0;
}

static void drop_last_if_empty(struct watt_ranking *ranking)
{
	struct watt_ranking_row *row = &ranking->rows[ranking->n - 1];

	if (!is_empty(ranking, row))
		return;
	free(row->name);
	free(row->energy_nj);
	ranking->n--;
}

static bool is_of_group(enum watt_ranking_group group, enum watt_entity_kind kind)
{
	static const enum watt_entity_kind kinds[] = {
		[WATT_RANKING_CONTAINER] = WATT_ENTITY_CONTAINER,
		[WATT_RANKING_POD] = WATT_ENTITY_POD,
		[WATT_RANKING_UNIT] = WATT_ENTITY_UNIT,
		[WATT_RANKING_USER] = WATT_ENTITY_USER,
		[WATT_RANKING_CGROUP] = WATT_ENTITY_CGROUP,
		[WATT_RANKING_JOB] = WATT_ENTITY_JOB,
		[WATT_RANKING_THREAD] = WATT_ENTITY_THREAD,
	};

	return group >= WATT_RANKING_CONTAINER && (size_t)group < WATT_ARRAY_SIZE(group_names) &&
	       kinds[group] == kind;
}

/* Kernel threads are in cgroups too, and are not taken out of them here. */
static bool is_apart(enum watt_ranking_group group, enum watt_entity_kind kind)
{
	return group != WATT_RANKING_CGROUP && watt_view_is_kernel(kind);
}

static int append_kernel(struct watt_ranking *ranking, const struct watt_series *series)
{
	struct watt_ranking_row *kernel;
	size_t i;

	if (append(ranking, WATT_ENTITY_KERNEL, "kernel", &kernel) < 0)
		return -ENOMEM;
	for (i = 0; i < series->info.n_entities; i++)
		if (is_apart(ranking->group, series->entities[i].kind))
			add(kernel, ranking, &series->entities[i], 1);
	drop_last_if_empty(ranking);
	return 0;
}

/* What is in no group: all users without those that are. */
static int append_rest(struct watt_ranking *ranking, const struct watt_series *series)
{
	struct watt_ranking_row *rest;
	char name[64];
	size_t i;

	snprintf(name, sizeof(name), "in no %s", watt_ranking_group_name(ranking->group));
	if (append(ranking, WATT_ENTITY_EXITED, name, &rest) < 0)
		return -ENOMEM;
	rest->is_rest = true;
	for (i = 0; i < series->info.n_entities; i++) {
		const struct watt_series_entity *entity = &series->entities[i];

		if (is_of_group(ranking->group, entity->kind))
			add(rest, ranking, entity, -1);
		else if (watt_view_is_user(entity->kind) && !is_apart(ranking->group, entity->kind))
			add(rest, ranking, entity, 1);
	}
	rest->count = 0;
	drop_last_if_empty(ranking);
	return 0;
}

static int build_groups(struct watt_ranking *ranking, const struct watt_series *series)
{
	size_t i;
	int r;

	r = append_kernel(ranking, series);
	if (r == 0)
		r = append_rest(ranking, series);
	for (i = 0; i < series->info.n_entities && r == 0; i++)
		if (is_of_group(ranking->group, series->entities[i].kind))
			r = append_entity(ranking, series, i);
	return r;
}

/* The row of a name. *ret is valid until the next one. */
static int find_or_append(struct watt_ranking *ranking, enum watt_entity_kind kind,
			  const char *name, struct watt_ranking_row **ret)
{
	bool is_kernel = watt_view_is_kernel(kind);
	size_t k;

	for (k = 0; k < ranking->n; k++)
		if (watt_view_is_kernel(ranking->rows[k].kind) == is_kernel &&
		    strcmp(ranking->rows[k].name, name) == 0) {
			*ret = &ranking->rows[k];
			return 0;
		}
	return append(ranking, kind, name, ret);
}

/* Those that the series has put together are known by their names all the same. */
static int add_folded_names(struct watt_ranking *ranking, const struct watt_series *series)
{
	struct watt_htab_iter it = { 0 };
	struct watt_hnode *node;
	size_t d;

	if (!series->folded.names.n)
		return 0;
	while ((node = watt_htab_iterate(&series->folded.names, &it))) {
		const struct watt_folded_name *name =
			watt_container_of(node, struct watt_folded_name, node);
		struct watt_ranking_row *row;

		if (find_or_append(ranking, name->kind, name->text, &row) < 0)
			return -ENOMEM;
		for (d = 0; d < name->n_domains; d++)
			row->energy_nj[d] += name->energy_nj[d];
		row->cpu_ns += name->cpu_ns;
		row->count += name->count;
		row->uncertainty_j = NAN;
	}
	return 0;
}

static int build_names(struct watt_ranking *ranking, const struct watt_series *series)
{
	struct watt_ranking_row *row;
	size_t i;

	for (i = 0; i < series->info.n_entities; i++) {
		const struct watt_series_entity *entity = &series->entities[i];

		if (!watt_view_is_user(entity->kind) || entity->is_others)
			continue;
		if (find_or_append(ranking, entity->kind, watt_ranking_short_name(entity), &row) <
		    0)
			return -ENOMEM;
		add(row, ranking, entity, 1);
	}
	return add_folded_names(ranking, series);
}

static int build_processes(struct watt_ranking *ranking, const struct watt_series *series)
{
	size_t i;
	int r = 0;

	for (i = 0; i < series->info.n_entities && r == 0; i++)
		if (watt_view_is_user(series->entities[i].kind))
			r = append_entity(ranking, series, i);
	return r;
}

static void finish_row(struct watt_ranking_row *row, const struct watt_series *series,
		       const struct watt_phase *whole)
{
	bool is_known = false;
	size_t d;

	for (d = 0; d < series->info.n_domains; d++) {
		if (!series->last.domains[d]->is_partition)
			continue;
		row->total_nj += row->energy_nj[d];
		if (!watt_series_is_known(&whole->domains[d]))
			continue;
		row->power_w += watt_series_power_w(&whole->domains[d], row->energy_nj[d]);
		is_known = true;
	}
	if (!is_known)
		row->power_w = NAN;
	row->share_ratio = whole->energy_nj ? (double)row->total_nj / (double)whole->energy_nj :
					      NAN;
}

static int by_energy(const void *left, const void *right)
{
	const struct watt_ranking_row *a = left, *b = right;

	if (a->total_nj != b->total_nj)
		return a->total_nj < b->total_nj ? 1 : -1;
	if (a->cpu_ns != b->cpu_ns)
		return a->cpu_ns < b->cpu_ns ? 1 : -1;
	return strcmp(a->name, b->name);
}

static int build(struct watt_ranking *ranking, const struct watt_series *series,
		 const struct watt_phase *whole)
{
	size_t i;
	int r;

	if (ranking->group == WATT_RANKING_PROCESS)
		r = build_processes(ranking, series);
	else if (ranking->group == WATT_RANKING_NAME)
		r = build_names(ranking, series);
	else
		r = build_groups(ranking, series);
	if (r == 0)
		r = append_unused(ranking, whole);
	if (r < 0)
		return r;
	for (i = 0; i < ranking->n; i++)
		finish_row(&ranking->rows[i], series, whole);
	qsort(ranking->rows, ranking->n, sizeof(*ranking->rows), by_energy);
	return 0;
}

int watt_ranking_build(const struct watt_series *series, const struct watt_phases *phases,
		       enum watt_ranking_group group, struct watt_ranking **ret)
{
	struct watt_ranking *ranking;
	int r = 0;

	if (!series || !phases || !watt_ranking_group_name(group) || !ret)
		return -EINVAL;
	ranking = calloc(1, sizeof(*ranking));
	if (!ranking)
		return -ENOMEM;
	ranking->group = group;
	ranking->n_domains = series->info.n_domains;
	if (ranking->n_domains > 0)
		r = build(ranking, series, &phases->whole);
	if (r < 0)
		watt_ranking_free(ranking);
	else
		*ret = ranking;
	return r;
}

struct watt_ranking *watt_ranking_free(struct watt_ranking *ranking)
{
	size_t i;

	if (!ranking)
		return NULL;
	for (i = 0; i < ranking->n; i++) {
		free(ranking->rows[i].name);
		free(ranking->rows[i].energy_nj);
	}
	free(ranking->rows);
	free(ranking);
	return NULL;
}

const struct watt_ranking_row *watt_ranking_get(const struct watt_ranking *ranking, size_t index)
{
	return index < ranking->n ? &ranking->rows[index] : NULL;
}
