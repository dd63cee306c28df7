/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the rows of `top` from those of a snapshot. It reads no clock, no file and no screen.
 * Groups come from the library's own sums; what they leave over is a row of its own, so nothing
 * is lost from sight.
 */
#include "top_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "top_gpus.h"
#include "top_sums.h"
#include "top_threads.h"
#include "top_tree.h"
#include "xalloc.h"

#define NAME_MAX_BYTES 512

static const char *const group_names[] = {
	[TOP_BY_PROCESS] = "process", [TOP_BY_TREE] = "tree", [TOP_BY_CONTAINER] = "container",
	[TOP_BY_UNIT] = "unit",       [TOP_BY_USER] = "user", [TOP_BY_CGROUP] = "cgroup",
	[TOP_BY_JOB] = "job",
};

static const char *const sort_names[] = {
	[TOP_SORT_POWER] = "power", [TOP_SORT_ENERGY] = "energy", [TOP_SORT_CPU] = "cpu",
	[TOP_SORT_GPU] = "gpu",     [TOP_SORT_PID] = "pid",       [TOP_SORT_NAME] = "name",
};

static int index_of(const char *const *names, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return (int)i;
	return -1;
}

const char *top_group_name(enum top_group group)
{
	return group < TOP_N_GROUPS ? group_names[group] : NULL;
}

const char *top_sort_name(enum top_sort sort)
{
	return sort < TOP_N_SORTS ? sort_names[sort] : NULL;
}

int top_group_of(const char *name)
{
	return index_of(group_names, TOP_N_GROUPS, name);
}

int top_sort_of(const char *name)
{
	return index_of(sort_names, TOP_N_SORTS, name);
}

/* Sums of energies while a row is made. */
struct sums {
	struct watt_energy *energy;
	int64_t *window_nj;
	uint64_t cpu_ns;
	uint64_t window_cpu_ns;
};

static struct sums sums_new(size_t n)
{
	return (struct sums){ .energy = xcalloc(n, sizeof(struct watt_energy)),
			      .window_nj = xcalloc(n, sizeof(int64_t)) };
}

static void sums_done(struct sums *sums)
{
	free(sums->energy);
	free(sums->window_nj);
}

/* sign -1 takes a row out of the sums again. */
static void sums_add(struct sums *sums, const struct watt_view *view, const struct watt_row *row,
		     int sign)
{
	size_t i;

	for (i = 0; i < view->n_domains; i++) {
		sums->energy[i] = sign < 0 ? watt_energy_sub(sums->energy[i], row->energy[i]) :
					     watt_energy_add(sums->energy[i], row->energy[i]);
		sums->window_nj[i] += sign * row->window_nj[i];
	}
	sums->cpu_ns += (uint64_t)sign * row->cpu_ns;
	sums->window_cpu_ns += (uint64_t)sign * row->window_cpu_ns;
}

static bool sums_are_zero(const struct sums *sums, const struct watt_view *view)
{
	size_t i;

	for (i = 0; i < view->n_domains; i++)
		if (!watt_energy_is_zero(sums->energy[i]) || sums->window_nj[i])
			return false;
	return sums->cpu_ns == 0;
}

static struct top_row *append(struct top_model *model, const char *name)
{
	char clean[NAME_MAX_BYTES];
	struct top_row *row;

	model->rows = xrealloc(model->rows, model->n_rows + 1, sizeof(*model->rows));
	row = &model->rows[model->n_rows++];
	*row = (struct top_row){ .uid = -1, .count = 1, .uncertainty_w = NAN };
	row->name = xstrdup(text_clean(clean, sizeof(clean), name));
	row->stem = xstrdup("");
	return row;
}

static double sum_gpus(const struct watt_view *view, const double *domain_w)
{
	double sum_w = NAN;
	size_t i;

	for (i = 0; i < view->n_domains; i++)
		if (!isnan(domain_w[i]) && watt_view_is_whole_gpu(view, i))
			sum_w = (isnan(sum_w) ? 0 : sum_w) + domain_w[i];
	return sum_w;
}

static void fill(struct top_row *row, const struct watt_view *view, const struct sums *sums)
{
	bool is_known = false;
	size_t i;

	row->cpu_ns = sums->cpu_ns;
	row->cpu_ratio = view->window_ns ? (double)sums->window_cpu_ns / (double)view->window_ns :
					   NAN;
	row->domain_w = xcalloc(view->n_domains, sizeof(*row->domain_w));
	row->domain = xcalloc(view->n_domains, sizeof(*row->domain));
	for (i = 0; i < view->n_domains; i++) {
		row->domain_w[i] = watt_view_power_w(view->states[i], sums->window_nj[i]);
		row->domain[i] = sums->energy[i];
		if (!view->domains[i]->is_partition)
			continue;
		row->energy = watt_energy_add(row->energy, sums->energy[i]);
		if (isnan(row->domain_w[i]))
			continue;
		row->power_w += row->domain_w[i];
		is_known = true;
	}
	if (!is_known)
		row->power_w = NAN;
	row->gpu_w = sum_gpus(view, row->domain_w);
	row->tree_w = row->power_w;
	row->tree = row->energy;
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

static void format_name(const struct watt_entity *entity, char *buf, size_t size)
{
	const struct watt_identity *who = entity->identity;

	switch (entity->kind) {
	case WATT_ENTITY_KTHREAD:
		snprintf(buf, size, "[%s]", entity->name);
		break;
	case WATT_ENTITY_EXITED:
		snprintf(buf, size, "%s (%u ended)", entity->name, entity->count);
		break;
	case WATT_ENTITY_IRQ:
		snprintf(buf, size, "interrupts (irq)");
		break;
	case WATT_ENTITY_SOFTIRQ:
		snprintf(buf, size, "interrupts (softirq)");
		break;
	case WATT_ENTITY_VM:
		snprintf(buf, size, "%s (virtual machine%s%s)", entity->name,
			 who && who->hypervisor ? ", " : "",
			 who && who->hypervisor ? who->hypervisor : "");
		break;
	case WATT_ENTITY_THREAD:
		snprintf(buf, size, who ? "{%s}" : "%s", entity->name);
		break;
	default:
		snprintf(buf, size, "%s",
			 who && who->cmdline && *who->cmdline ? short_command(who->cmdline) :
								entity->name);
	}
}

static void append_entity(struct top_model *model, const struct watt_view *view,
			  const struct watt_row *source)
{
	const struct watt_entity *entity = source->entity;
	struct sums sums = sums_new(view->n_domains);
	char name[NAME_MAX_BYTES];
	struct top_row *row;

	format_name(entity, name, sizeof(name));
	row = append(model, name);
	row->id = entity->id;
	row->kind = entity->kind;
	row->is_dead = !entity->alive;
	row->count = entity->count;
	if (entity->kind == WATT_ENTITY_THREAD)
		row->process_id = entity->parent_id;
	if (entity->identity) {
		row->pid = entity->identity->tid ? entity->identity->tid : entity->identity->pid;
		row->parent_pid = entity->identity->parent_pid;
		if (!(entity->missing & WATT_IDENTITY_UID))
			row->uid = entity->identity->uid;
	}
	sums_add(&sums, view, source, 1);
	fill(row, view, &sums);
	if (!isnan(row->power_w))
		row->uncertainty_w = watt_view_uncertainty_w(view, source);
	sums_done(&sums);
}

static void append_sums(struct top_model *model, const struct watt_view *view, const char *name,
			enum watt_entity_kind kind, const struct sums *sums)
{
	struct top_row *row = append(model, name);

	row->kind = kind;
	row->count = 0;
	fill(row, view, sums);
}

/* Idle and unattributed energy are users like any other. */
static void append_unused(struct top_model *model, const struct watt_view *view)
{
	struct sums idle = sums_new(view->n_domains), rest = sums_new(view->n_domains);
	bool is_idle_known = false;
	size_t i;

	for (i = 0; i < view->n_domains; i++) {
		is_idle_known |= view->states[i]->baseline_ready ||
				 watt_energy_to_nj(view->states[i]->idle) != 0;
		idle.energy[i] = view->states[i]->idle;
		idle.window_nj[i] = view->states[i]->window_idle_nj;
		rest.energy[i] = view->states[i]->unattributed;
		rest.window_nj[i] = view->states[i]->window_unattributed_nj;
	}
	if (is_idle_known)
		append_sums(model, view, "idle", WATT_ENTITY_IDLE, &idle);
	append_sums(model, view, "unattributed", WATT_ENTITY_UNATTRIBUTED, &rest);
	sums_done(&idle);
	sums_done(&rest);
}

static void build_processes(struct top_model *model, const struct watt_view *view)
{
	size_t i;

	for (i = 0; i < view->n_rows; i++)
		if (watt_view_is_user(view->rows[i]->entity->kind))
			append_entity(model, view, view->rows[i]);
}

static bool is_of_group(enum top_group group, enum watt_entity_kind kind)
{
	switch (group) {
	case TOP_BY_CONTAINER:
		return kind == WATT_ENTITY_CONTAINER;
	case TOP_BY_UNIT:
		return kind == WATT_ENTITY_UNIT;
	case TOP_BY_USER:
		return kind == WATT_ENTITY_USER;
	case TOP_BY_CGROUP:
		return kind == WATT_ENTITY_CGROUP;
	case TOP_BY_JOB:
		return kind == WATT_ENTITY_JOB;
	case TOP_BY_PROCESS:
	case TOP_BY_TREE:
	case TOP_N_GROUPS:
		break;
	}
	return false;
}

/* Kernel threads are in cgroups too, and are not taken out of them here. */
static bool is_apart(enum top_group group, enum watt_entity_kind kind)
{
	return group != TOP_BY_CGROUP && watt_view_is_kernel(kind);
}

static void build_groups(struct top_model *model, const struct watt_view *view)
{
	struct sums kernel = sums_new(view->n_domains), rest = sums_new(view->n_domains);
	char name[64];
	size_t i;

	for (i = 0; i < view->n_rows; i++) {
		const struct watt_row *row = view->rows[i];

		if (is_apart(model->group, row->entity->kind)) {
			sums_add(&kernel, view, row, 1);
		} else if (watt_view_is_user(row->entity->kind)) {
			sums_add(&rest, view, row, 1);
		} else if (is_of_group(model->group, row->entity->kind)) {
			append_entity(model, view, row);
			sums_add(&rest, view, row, -1);
		}
	}
	if (!sums_are_zero(&kernel, view))
		append_sums(model, view, "kernel", WATT_ENTITY_KERNEL, &kernel);
	if (!sums_are_zero(&rest, view)) {
		snprintf(name, sizeof(name), "in no %s", top_group_name(model->group));
		append_sums(model, view, name, WATT_ENTITY_EXITED, &rest);
		model->rows[model->n_rows - 1].is_rest = true;
	}
	sums_done(&kernel);
	sums_done(&rest);
}

void top_row_done(struct top_row *row)
{
	free(row->name);
	free(row->stem);
	free(row->domain_w);
	free(row->domain);
}

static bool matches(const struct top_model *model, const struct top_row *row)
{
	char pid[16];

	if (!*model->filter)
		return true;
	snprintf(pid, sizeof(pid), "%u", row->pid);
	return strcasestr(row->name, model->filter) ||
	       (row->pid && strcmp(pid, model->filter) == 0);
}

/* Of a process that is shown, all threads are. */
static void apply_filter(struct top_model *model)
{
	bool is_process_shown = false;
	size_t i, n = 0;

	for (i = 0; i < model->n_rows; i++) {
		const struct top_row *row = &model->rows[i];
		bool is_shown = matches(model, row) || (row->process_id && is_process_shown);

		if (!row->process_id)
			is_process_shown = is_shown;
		if (is_shown)
			model->rows[n++] = *row;
		else
			top_row_done(&model->rows[i]);
	}
	model->n_hidden = model->n_rows - n;
	model->n_rows = n;
}

static int by_number(double a, double b)
{
	/* What is not known comes last. */
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return (b > a) - (b < a);
}

static int compare(const void *left, const void *right, void *data)
{
	const struct top_row *a = left, *b = right;
	const struct top_model *model = data;
	int r = 0;

	switch (model->sort) {
	case TOP_SORT_POWER:
		r = by_number(a->tree_w, b->tree_w);
		break;
	case TOP_SORT_ENERGY:
		r = watt_energy_compare(b->tree, a->tree);
		break;
	case TOP_SORT_CPU:
		r = by_number(a->cpu_ratio, b->cpu_ratio);
		break;
	case TOP_SORT_GPU:
		r = by_number(a->gpu_w, b->gpu_w);
		break;
	case TOP_SORT_PID:
		r = (a->pid > b->pid) - (a->pid < b->pid);
		break;
	case TOP_SORT_NAME:
	case TOP_N_SORTS:
		r = strcasecmp(a->name, b->name);
		break;
	}
	if (model->is_reversed)
		r = -r;
	/* Ties keep their places from one refresh to the next. */
	if (r == 0)
		r = watt_energy_compare(b->energy, a->energy);
	return r ? r : (a->id > b->id) - (a->id < b->id);
}

static void add_up(struct top_model *model)
{
	uint64_t process_id = 0; /* whose threads are counted with it */
	size_t i;

	model->shown_w = 0;
	model->shown = (struct watt_energy){ 0 };
	for (i = 0; i < model->n_rows; i++) {
		const struct top_row *row = &model->rows[i];

		if (row->process_id && row->process_id == process_id)
			continue;
		if (!row->process_id)
			process_id = row->id;
		if (!isnan(row->power_w))
			model->shown_w += row->power_w;
		model->shown = watt_energy_add(model->shown, row->energy);
	}
}

static void add_threads(struct top_model *model, const struct watt_view *view)
{
	struct top_model threads = { .sort = model->sort, .is_reversed = model->is_reversed };
	size_t i;

	for (i = 0; i < view->n_rows; i++)
		if (view->rows[i]->entity->kind == WATT_ENTITY_THREAD)
			append_entity(&threads, view, view->rows[i]);
	if (threads.n_rows > 0)
		qsort_r(threads.rows, threads.n_rows, sizeof(*threads.rows), compare, &threads);
	top_threads_place(model, threads.rows, threads.n_rows);
}

void top_model_build(struct top_model *model, const struct watt_view *view)
{
	top_model_done(model);
	model->n_domains = view->n_domains;
	if (model->group == TOP_BY_PROCESS || model->group == TOP_BY_TREE)
		build_processes(model, view);
	else
		build_groups(model, view);
	append_unused(model, view);
	top_sums_round(model, view);
	if (model->group == TOP_BY_TREE)
		top_tree_sum(model->rows, model->n_rows);
	qsort_r(model->rows, model->n_rows, sizeof(*model->rows), compare, model);
	if (model->group == TOP_BY_TREE)
		top_tree_order(model->rows, model->n_rows);
	if (model->has_threads && (model->group == TOP_BY_PROCESS || model->group == TOP_BY_TREE))
		add_threads(model, view);
	top_sums_round_threads(model);
	apply_filter(model);
	add_up(model);
}

void top_model_done(struct top_model *model)
{
	size_t i;

	for (i = 0; i < model->n_rows; i++)
		top_row_done(&model->rows[i]);
	free(model->rows);
	model->rows = NULL;
	model->n_rows = 0;
	model->n_hidden = 0;
}
