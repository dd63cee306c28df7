/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what two series have in common, and compares the powers of their windows. */
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ranking.h"
#include "xalloc.h"

#define NAMES_MOST 100

/* Powers of windows, each with its duration. */
struct powers {
	double *power_w;
	double *weight;
	size_t n;
};

static struct powers powers_new(const struct series *series)
{
	return (struct powers){ .power_w = xcalloc(series->n_windows, sizeof(double)),
				.weight = xcalloc(series->n_windows, sizeof(double)) };
}

static void powers_done(struct powers *powers)
{
	free(powers->power_w);
	free(powers->weight);
}

static void put(struct powers *powers, double power_w, uint64_t known_ns)
{
	if (!isfinite(power_w) || known_ns == 0)
		return;
	powers->power_w[powers->n] = power_w;
	powers->weight[powers->n++] = (double)known_ns;
}

static double window_power_w(const struct series *series, const struct series_window *window)
{
	double power_w = 0;
	bool is_known = false;
	size_t d;

	for (d = 0; d < series->n_domains; d++) {
		const struct series_energy *energy = &window->domains[d];

		if (!series->last.domains[d]->is_partition || !series_is_known(energy))
			continue;
		power_w += series_power_w(energy, energy->energy_nj);
		is_known = true;
	}
	return is_known ? power_w : NAN;
}

/* The whole machine, in the windows of a label; NULL: in all. */
static void fill_machine(struct comparison_side *side, const struct comparison_source *source,
			 const struct phase *phase)
{
	const struct series *series = source->series;
	const struct phase_sum *sum = phase ? &phase->sum : &source->phases->whole;
	struct powers powers = powers_new(series);
	size_t i, w;

	for (i = 0; i < source->phases->n; i++) {
		const struct phase *part = &source->phases->list[i];

		if (phase && strcmp(part->label, phase->label) != 0)
			continue;
		for (w = part->first; w < part->last; w++)
			put(&powers, window_power_w(series, &series->windows[w]),
			    series->windows[w].t1_ns - series->windows[w].t0_ns);
	}
	side->is_there = sum->elapsed_ns > 0;
	side->energy_nj = sum->energy_nj;
	side->elapsed_ns = sum->elapsed_ns;
	side->power_w = confidence_mean(powers.power_w, powers.weight, powers.n);
	powers_done(&powers);
}

static void fill_domain(struct comparison_side *side, const struct comparison_source *source,
			size_t domain)
{
	const struct series *series = source->series;
	const struct series_energy *total = &source->phases->whole.domains[domain];
	struct powers powers = powers_new(series);
	size_t w;

	for (w = 0; w < series->n_windows; w++) {
		const struct series_energy *energy = &series->windows[w].domains[domain];

		put(&powers, series_power_w(energy, energy->energy_nj), energy->known_ns);
	}
	side->is_there = series_is_known(total);
	side->energy_nj = total->energy_nj;
	side->elapsed_ns = total->known_ns;
	side->power_w = confidence_mean(powers.power_w, powers.weight, powers.n);
	powers_done(&powers);
}

/* name NULL: the command that was followed. */
static bool has_name(const struct series_entity *entity, const char *name)
{
	if (!name)
		return entity->kind == WATT_ENTITY_TRACKED;
	return view_is_user(entity->kind) && strcmp(ranking_short_name(entity), name) == 0;
}

static void fill_name(struct comparison_side *side, const struct comparison_source *source,
		      const char *name)
{
	const struct series *series = source->series;
	auto_free bool *is_of_name = xcalloc(series->n_entities, sizeof(*is_of_name));
	struct powers powers = powers_new(series);
	size_t i, w, c;

	for (i = 0; i < series->n_entities; i++) {
		is_of_name[i] = has_name(&series->entities[i], name);
		if (is_of_name[i])
			side->energy_nj += series->entities[i].total_nj;
		side->is_there = side->is_there || is_of_name[i];
	}
	/* In a window in which it was not there, it has used nothing. */
	for (w = 0; w < series->n_windows; w++) {
		const struct series_window *window = &series->windows[w];
		uint64_t elapsed_ns = window->t1_ns - window->t0_ns;
		int64_t energy_nj = 0;

		for (c = 0; c < window->cells.n; c++)
			if (is_of_name[window->cells.entity[c]])
				energy_nj += window->cells.total_nj[c];
		if (!isnan(window_power_w(series, window)))
			put(&powers, (double)energy_nj / (double)elapsed_ns, elapsed_ns);
	}
	side->elapsed_ns = source->phases->whole.elapsed_ns;
	side->power_w = confidence_mean(powers.power_w, powers.weight, powers.n);
	powers_done(&powers);
}

static struct comparison_row *append(struct comparison_list *list, const char *name)
{
	struct comparison_row *row;

	list->rows = xrealloc(list->rows, list->n + 1, sizeof(*list->rows));
	row = &list->rows[list->n++];
	*row = (struct comparison_row){ .name = xstrdup(name) };
	row->side[0].power_w = confidence_mean(NULL, NULL, 0);
	row->side[1].power_w = row->side[0].power_w;
	return row;
}

static struct comparison_row *find_or_append(struct comparison_list *list, const char *name)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (strcmp(list->rows[i].name, name) == 0)
			return &list->rows[i];
	return append(list, name);
}

static void finish(struct comparison_row *row)
{
	row->power = confidence_compare(&row->side[1].power_w, &row->side[0].power_w);
}

static void finish_list(struct comparison_list *list)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		finish(&list->rows[i]);
}

static void compare_domains(struct comparison_list *list, const struct comparison_source source[2])
{
	size_t s, d;

	for (s = 0; s < 2; s++)
		for (d = 0; d < source[s].series->n_domains; d++) {
			struct comparison_row *row =
				find_or_append(list, source[s].series->last.domains[d]->path);

			fill_domain(&row->side[s], &source[s], d);
		}
	finish_list(list);
}

static void compare_phases(struct comparison_list *list, const struct comparison_source source[2])
{
	size_t s, i;

	if (!source[0].phases->has_marks && !source[1].phases->has_marks)
		return;
	for (s = 0; s < 2; s++)
		for (i = 0; i < source[s].phases->n_labels; i++) {
			const struct phase *phase = &source[s].phases->by_label[i];

			if (*phase->label)
				fill_machine(&find_or_append(list, phase->label)->side[s],
					     &source[s], phase);
		}
	finish_list(list);
}

static int64_t greater_nj(const struct comparison_row *row)
{
	return row->side[0].energy_nj > row->side[1].energy_nj ? row->side[0].energy_nj :
								 row->side[1].energy_nj;
}

static int by_energy(const void *left, const void *right)
{
	const struct comparison_row *a = left, *b = right;

	if (greater_nj(a) != greater_nj(b))
		return greater_nj(a) < greater_nj(b) ? 1 : -1;
	return strcmp(a->name, b->name);
}

/* Names of both, by what they used; those that used the least are left out. */
static void list_names(struct comparison *comparison, const struct comparison_source source[2])
{
	struct comparison_list *list = &comparison->entities;
	size_t s, i;

	for (s = 0; s < 2; s++)
		for (i = 0; i < source[s].series->n_entities; i++) {
			const struct series_entity *entity = &source[s].series->entities[i];

			if (view_is_user(entity->kind))
				find_or_append(list, ranking_short_name(entity))
					->side[s]
					.energy_nj += entity->total_nj;
		}
	if (list->n)
		qsort(list->rows, list->n, sizeof(*list->rows), by_energy);
	while (list->n > NAMES_MOST) {
		free(list->rows[--list->n].name);
		comparison->n_left_out++;
	}
}

static void compare_names(struct comparison *comparison, const struct comparison_source source[2])
{
	struct comparison_list *list = &comparison->entities;
	size_t s, i;

	list_names(comparison, source);
	for (i = 0; i < list->n; i++)
		for (s = 0; s < 2; s++) {
			list->rows[i].side[s].energy_nj = 0;
			fill_name(&list->rows[i].side[s], &source[s], list->rows[i].name);
		}
	finish_list(list);
}

void comparison_build(struct comparison *comparison, const struct comparison_source source[2])
{
	size_t s;

	*comparison = (struct comparison){ 0 };
	comparison->total.name = xstrdup("machine");
	comparison->command.name = xstrdup("command");
	for (s = 0; s < 2; s++) {
		fill_machine(&comparison->total.side[s], &source[s], NULL);
		fill_name(&comparison->command.side[s], &source[s], NULL);
	}
	finish(&comparison->total);
	finish(&comparison->command);
	compare_domains(&comparison->domains, source);
	compare_phases(&comparison->phases, source);
	compare_names(comparison, source);
}

static void list_done(struct comparison_list *list)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		free(list->rows[i].name);
	free(list->rows);
}

void comparison_done(struct comparison *comparison)
{
	free(comparison->total.name);
	free(comparison->command.name);
	list_done(&comparison->domains);
	list_done(&comparison->phases);
	list_done(&comparison->entities);
	*comparison = (struct comparison){ 0 };
}
