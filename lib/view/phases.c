/* SPDX-License-Identifier: Apache-2.0 */
/* Sums windows into phases. A window is of one phase only, so nothing has to be divided. */
#include "view/phases.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

static void add_window(struct watt_phase *sum, const struct watt_series *series,
		       const struct watt_series_window *window)
{
	size_t d, c;

	sum->elapsed_ns += window->t1_ns - window->t0_ns;
	for (c = 0; c < window->n_cells; c++) {
		if (series->entities[window->entity_index[c]].kind != WATT_ENTITY_TRACKED)
			continue;
		sum->command_nj += window->total_nj[c];
		sum->command_cpu_ns += window->cpu_ns[c];
	}
	for (d = 0; d < series->info.n_domains; d++)
		watt_series_add_energy(&sum->domains[d], &window->domains[d]);
}

/* What follows from the sums per domain. */
static void finish_sum(struct watt_phase *sum, const struct watt_series *series)
{
	bool is_known = false;
	size_t d;

	sum->power_w = 0;
	for (d = 0; d < series->info.n_entities; d++)
		sum->has_command = sum->has_command ||
				   series->entities[d].kind == WATT_ENTITY_TRACKED;
	for (d = 0; d < series->info.n_domains; d++) {
		const struct watt_series_energy *energy = &sum->domains[d];

		if (!series->last.domains[d]->is_partition)
			continue;
		sum->energy_nj += energy->energy_nj;
		sum->idle_nj += energy->idle_nj;
		sum->unattributed_nj += energy->unattributed_nj;
		if (!watt_series_is_known(energy))
			continue;
		sum->power_w += watt_series_added_w(series, sum->domains, d, energy->energy_nj);
		is_known = true;
	}
	if (!is_known)
		sum->power_w = NAN;
}

/* A copy of a phase, without windows yet; NULL: out of memory. */
static struct watt_phase *append(struct watt_phase **list, size_t *n, size_t *cap,
				 const struct watt_phase *phase, size_t n_domains)
{
	struct watt_phase *added;

	if (watt_grow((void **)list, cap, *n, sizeof(**list)) < 0)
		return NULL;
	added = &(*list)[*n];
	*added = *phase;
	added->domains = calloc(n_domains + 1, sizeof(*added->domains));
	if (!added->domains)
		return NULL;
	++*n;
	return added;
}

static int add_phase(struct watt_phases *phases, const struct watt_series *series,
		     const struct watt_mark *marks, size_t n_marks, size_t mark)
{
	uint64_t t0_ns = mark == WATT_NO_MARK ? series->info.start_ns : marks[mark].t_ns;
	size_t next = mark == WATT_NO_MARK ? 0 : mark + 1;
	uint64_t t1_ns = next < n_marks ? marks[next].t_ns : series->info.end_ns;
	struct watt_phase phase = { .sz = sizeof(phase),
				    .mark_index = mark,
				    .label = mark == WATT_NO_MARK ? "" : marks[mark].label,
				    .count = 1 };
	size_t w = phases->n ? phases->list[phases->n - 1].end_index : 0;
	struct watt_phase *added;

	phase.first_index = w;
	while (w < series->info.n_windows && series->windows[w].mark_index == mark)
		w++;
	phase.end_index = w;
	phase.t0_ns = w > phase.first_index ? series->windows[phase.first_index].t0_ns : t0_ns;
	phase.t1_ns = w > phase.first_index ? series->windows[w - 1].t1_ns : t1_ns;
	/* Nobody named it and there is nothing in it. */
	if (w == phase.first_index && !*phase.label)
		return 0;
	added = append(&phases->list, &phases->n, &phases->list_cap, &phase,
		       series->info.n_domains);
	if (!added)
		return -ENOMEM;
	for (w = phase.first_index; w < phase.end_index; w++)
		add_window(added, series, &series->windows[w]);
	finish_sum(added, series);
	return 0;
}

/* Puts a phase behind those that have its label. */
static void link_phase(struct watt_phases *phases, size_t label, size_t phase)
{
	if (phases->by_label[label].count == 0)
		phases->first_of_label[label] = phase;
	else
		phases->next_of_label[phases->last_of_label[label]] = phase;
	phases->last_of_label[label] = phase;
	phases->next_of_label[phase] = WATT_NO_PHASE;
}

static int add_label(struct watt_phases *phases, const struct watt_series *series, size_t index)
{
	const struct watt_phase *phase = &phases->list[index];
	size_t *label = watt_textmap_get(&phases->index, phase->label), w;
	struct watt_phase *to;
	/* Of the label: nothing is summed yet. */
	struct watt_phase none = { .sz = sizeof(none),
				   .label = phase->label,
				   .mark_index = phase->mark_index,
				   .first_index = phase->first_index,
				   .end_index = phase->end_index,
				   .t0_ns = phase->t0_ns };

	if (!label)
		return -ENOMEM;
	if (*label == WATT_TEXTMAP_NONE) {
		*label = phases->n_labels;
		if (!append(&phases->by_label, &phases->n_labels, &phases->labels_cap, &none,
			    series->info.n_domains))
			return -ENOMEM;
	}
	to = &phases->by_label[*label];
	link_phase(phases, *label, index);
	to->count++;
	to->t1_ns = phase->t1_ns;
	for (w = phase->first_index; w < phase->end_index; w++)
		add_window(to, series, &series->windows[w]);
	return 0;
}

static int find_whole(struct watt_phases *phases, const struct watt_series *series)
{
	struct watt_phase *whole = &phases->whole;
	size_t i;

	*whole = (struct watt_phase){ .sz = sizeof(*whole),
				      .label = "",
				      .mark_index = WATT_NO_MARK,
				      .end_index = series->info.n_windows,
				      .t0_ns = series->info.start_ns,
				      .t1_ns = series->info.end_ns,
				      .count = 1 };
	whole->domains = calloc(series->info.n_domains + 1, sizeof(*whole->domains));
	if (!whole->domains)
		return -ENOMEM;
	for (i = 0; i < series->info.n_windows; i++)
		add_window(whole, series, &series->windows[i]);
	finish_sum(whole, series);
	return 0;
}

/* There are at most as many labels as phases. */
static int make_index(struct watt_phases *phases)
{
	phases->first_of_label = calloc(phases->n + 1, sizeof(size_t));
	phases->last_of_label = calloc(phases->n + 1, sizeof(size_t));
	phases->next_of_label = calloc(phases->n + 1, sizeof(size_t));
	return phases->first_of_label && phases->last_of_label && phases->next_of_label ? 0 :
											  -ENOMEM;
}

static int find(struct watt_phases *phases, const struct watt_series *series,
		const struct watt_mark *marks, size_t n_marks)
{
	size_t i;
	int r;

	r = find_whole(phases, series);
	if (r == 0)
		r = add_phase(phases, series, marks, n_marks, WATT_NO_MARK);
	for (i = 0; i < n_marks && r == 0; i++)
		r = add_phase(phases, series, marks, n_marks, i);
	if (r == 0)
		r = make_index(phases);
	for (i = 0; i < phases->n && r == 0; i++)
		r = add_label(phases, series, i);
	for (i = 0; i < phases->n_labels; i++)
		finish_sum(&phases->by_label[i], series);
	return r;
}

int watt_phases_find(const struct watt_series *series, const struct watt_mark *marks,
		     size_t n_marks, struct watt_phases **ret)
{
	struct watt_phases *phases = calloc(1, sizeof(*phases));
	int r;

	if (!phases)
		return -ENOMEM;
	phases->has_marks = n_marks > 0;
	r = find(phases, series, marks, n_marks);
	if (r < 0)
		watt_phases_free(phases);
	else
		*ret = phases;
	return r;
}

struct watt_phases *watt_phases_free(struct watt_phases *phases)
{
	size_t i;

	if (!phases)
		return NULL;
	for (i = 0; i < phases->n; i++)
		free(phases->list[i].domains);
	for (i = 0; i < phases->n_labels; i++)
		free(phases->by_label[i].domains);
	free(phases->whole.domains);
	free(phases->list);
	free(phases->by_label);
	free(phases->first_of_label);
	free(phases->last_of_label);
	free(phases->next_of_label);
	watt_textmap_done(&phases->index);
	free(phases);
	return NULL;
}

const struct watt_phase *watt_phases_get(const struct watt_phases *phases, size_t index)
{
	return index < phases->n ? &phases->list[index] : NULL;
}

const struct watt_phase *watt_phases_get_label(const struct watt_phases *phases, size_t index)
{
	return index < phases->n_labels ? &phases->by_label[index] : NULL;
}

const struct watt_phase *watt_phases_get_whole(const struct watt_phases *phases)
{
	return &phases->whole;
}
