/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks the entities of a series. Groups are the library's own sums; what they leave is a row. */
#include "ranking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

static const char *const group_names[] = {
	[RANK_BY_PROCESS] = "process", [RANK_BY_NAME] = "name", [RANK_BY_CONTAINER] = "container",
	[RANK_BY_POD] = "pod",         [RANK_BY_UNIT] = "unit", [RANK_BY_USER] = "user",
	[RANK_BY_CGROUP] = "cgroup",
};

const char *ranking_group_name(enum ranking_group group)
{
	return group < RANK_N_GROUPS ? group_names[group] : NULL;
}

int ranking_group_of(const char *name)
{
	size_t i;

	for (i = 0; i < RANK_N_GROUPS; i++)
		if (strcmp(group_names[i], name) == 0)
			return (int)i;
	return -1;
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

char *ranking_name(const struct series_entity *entity)
{
	if (entity->is_others)
		return xasprintf("all others (%u)", entity->count);
	switch (entity->kind) {
	case WATT_ENTITY_KTHREAD:
		return xasprintf("[%s]", entity->name);
	case WATT_ENTITY_EXITED:
		return xasprintf("%s (%u ended)", entity->name, entity->count);
	case WATT_ENTITY_IRQ:
		return xstrdup("interrupts (irq)");
	case WATT_ENTITY_SOFTIRQ:
		return xstrdup("interrupts (softirq)");
	case WATT_ENTITY_VM:
		return xasprintf("%s (virtual machine)", entity->name);
	default:
		return xstrdup(entity->cmdline && *entity->cmdline ?
				       short_command(entity->cmdline) :
				       entity->name);
	}
}

const char *ranking_short_name(const struct series_entity *entity)
{
	if (entity->is_others)
		return "all others";
	if (entity->kind == WATT_ENTITY_IRQ)
		return "interrupts (irq)";
	if (entity->kind == WATT_ENTITY_SOFTIRQ)
		return "interrupts (softirq)";
	return entity->name;
}

static struct ranking_row *append(struct ranking *ranking, enum watt_entity_kind kind,
				  char *name_take)
{
	struct ranking_row *row;

	ranking->rows = xrealloc(ranking->rows, ranking->n + 1, sizeof(*ranking->rows));
	row = &ranking->rows[ranking->n++];
	*row = (struct ranking_row){
		.kind = kind, .name = name_take, .peak_w = NAN, .entity = RANKING_NO_ENTITY
	};
	row->energy_nj = xcalloc(ranking->n_domains, sizeof(*row->energy_nj));
	return row;
}

/* sign -1 takes it out again. */
static void add(struct ranking_row *row, const struct ranking *ranking,
		const struct series_entity *entity, int sign)
{
	size_t d;

	for (d = 0; d < ranking->n_domains; d++)
		row->energy_nj[d] += sign * entity->energy_nj[d];
	row->cpu_ns += (uint64_t)sign * entity->cpu_ns;
	row->count += (uint32_t)sign * entity->count;
}

static void append_entity(struct ranking *ranking, const struct series *series, size_t i)
{
	const struct series_entity *entity = &series->entities[i];
	struct ranking_row *row = append(ranking, entity->kind, ranking_name(entity));

	row->entity = i;
	row->peak_w = entity->peak_w;
	add(row, ranking, entity, 1);
}

static void append_unused(struct ranking *ranking, const struct phase_sum *whole)
{
	struct ranking_row *row;
	size_t d;

	row = append(ranking, WATT_ENTITY_IDLE, xstrdup("idle"));
	for (d = 0; d < ranking->n_domains; d++)
		row->energy_nj[d] = whole->domains[d].idle_nj;
	row = append(ranking, WATT_ENTITY_UNATTRIBUTED, xstrdup("unattributed"));
	for (d = 0; d < ranking->n_domains; d++)
		row->energy_nj[d] = whole->domains[d].unattributed_nj;
}

static bool is_empty(const struct ranking *ranking, const struct ranking_row *row)
{
	size_t d;

	for (d = 0; d < ranking->n_domains; d++)
		if (row->energy_nj[d])
			return false;
	return row->cpu_ns == 0;
}

static void drop_last_if_empty(struct ranking *ranking)
{
	struct ranking_row *row = &ranking->rows[ranking->n - 1];

	if (!is_empty(ranking, row))
		return;
	free(row->name);
	free(row->energy_nj);
	ranking->n--;
}

static bool is_of_group(enum ranking_group group, enum watt_entity_kind kind)
{
	static const enum watt_entity_kind kinds[] = {
		[RANK_BY_CONTAINER] = WATT_ENTITY_CONTAINER, [RANK_BY_POD] = WATT_ENTITY_POD,
		[RANK_BY_UNIT] = WATT_ENTITY_UNIT,           [RANK_BY_USER] = WATT_ENTITY_USER,
		[RANK_BY_CGROUP] = WATT_ENTITY_CGROUP,
	};

	return group >= RANK_BY_CONTAINER && group < RANK_N_GROUPS && kinds[group] == kind;
}

/* Kernel threads are in cgroups too, and are not taken out of them here. */
static bool is_apart(enum ranking_group group, enum watt_entity_kind kind)
{
	return group != RANK_BY_CGROUP && view_is_kernel(kind);
}

static void build_groups(struct ranking *ranking, const struct series *series)
{
	size_t i, kernel, rest;

	append(ranking, WATT_ENTITY_KERNEL, xstrdup("kernel"));
	kernel = ranking->n - 1;
	for (i = 0; i < series->n_entities; i++)
		if (is_apart(ranking->group, series->entities[i].kind))
			add(&ranking->rows[kernel], ranking, &series->entities[i], 1);
	drop_last_if_empty(ranking);
	append(ranking, WATT_ENTITY_EXITED,
	       xasprintf("in no %s", ranking_group_name(ranking->group)));
	rest = ranking->n - 1;
	ranking->rows[rest].is_rest = true;
	for (i = 0; i < series->n_entities; i++) {
		const struct series_entity *entity = &series->entities[i];

		if (is_of_group(ranking->group, entity->kind))
			add(&ranking->rows[rest], ranking, entity, -1);
		else if (view_is_user(entity->kind) && !is_apart(ranking->group, entity->kind))
			add(&ranking->rows[rest], ranking, entity, 1);
	}
	ranking->rows[rest].count = 0;
	drop_last_if_empty(ranking);
	for (i = 0; i < series->n_entities; i++)
		if (is_of_group(ranking->group, series->entities[i].kind))
			append_entity(ranking, series, i);
}

static void build_names(struct ranking *ranking, const struct series *series)
{
	size_t i, k;

	for (i = 0; i < series->n_entities; i++) {
		const struct series_entity *entity = &series->entities[i];
		bool is_kernel = view_is_kernel(entity->kind);

		if (!view_is_user(entity->kind))
			continue;
		for (k = 0; k < ranking->n; k++)
			if (view_is_kernel(ranking->rows[k].kind) == is_kernel &&
			    strcmp(ranking->rows[k].name, ranking_short_name(entity)) == 0)
				break;
		if (k == ranking->n)
			append(ranking, entity->kind, xstrdup(ranking_short_name(entity)));
		add(&ranking->rows[k], ranking, entity, 1);
	}
}

static void build_processes(struct ranking *ranking, const struct series *series)
{
	size_t i;

	for (i = 0; i < series->n_entities; i++)
		if (view_is_user(series->entities[i].kind))
			append_entity(ranking, series, i);
}

static void finish_row(struct ranking_row *row, const struct series *series,
		       const struct phase_sum *whole)
{
	bool is_known = false;
	size_t d;

	for (d = 0; d < series->n_domains; d++) {
		if (!series->last.domains[d]->is_partition)
			continue;
		row->total_nj += row->energy_nj[d];
		if (!series_is_known(&whole->domains[d]))
			continue;
		row->power_w += series_power_w(&whole->domains[d], row->energy_nj[d]);
		is_known = true;
	}
	if (!is_known)
		row->power_w = NAN;
	row->share = whole->energy_nj ? (double)row->total_nj / (double)whole->energy_nj : NAN;
}

static int by_energy(const void *left, const void *right)
{
	const struct ranking_row *a = left, *b = right;

	if (a->total_nj != b->total_nj)
		return a->total_nj < b->total_nj ? 1 : -1;
	if (a->cpu_ns != b->cpu_ns)
		return a->cpu_ns < b->cpu_ns ? 1 : -1;
	return strcmp(a->name, b->name);
}

void ranking_build(struct ranking *ranking, enum ranking_group group, const struct series *series,
		   const struct phase_sum *whole)
{
	size_t i;

	*ranking = (struct ranking){ .group = group, .n_domains = series->n_domains };
	if (series->n_domains == 0)
		return;
	if (group == RANK_BY_PROCESS)
		build_processes(ranking, series);
	else if (group == RANK_BY_NAME)
		build_names(ranking, series);
	else
		build_groups(ranking, series);
	append_unused(ranking, whole);
	for (i = 0; i < ranking->n; i++)
		finish_row(&ranking->rows[i], series, whole);
	qsort(ranking->rows, ranking->n, sizeof(*ranking->rows), by_energy);
}

void ranking_done(struct ranking *ranking)
{
	size_t i;

	for (i = 0; i < ranking->n; i++) {
		free(ranking->rows[i].name);
		free(ranking->rows[i].energy_nj);
	}
	free(ranking->rows);
	*ranking = (struct ranking){ 0 };
}
