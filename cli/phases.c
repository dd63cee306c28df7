/* SPDX-License-Identifier: Apache-2.0 */
/* Sums windows into phases. A window is of one phase only, so nothing has to be divided. */
#include "phases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

static void add_window(struct phase_sum *sum, const struct series *series,
		       const struct series_window *window)
{
	const struct series_cells *cells = &window->cells;
	size_t d, c;

	sum->elapsed_ns += window->t1_ns - window->t0_ns;
	for (c = 0; c < cells->n; c++) {
		if (series->entities[cells->entity[c]].kind != WATT_ENTITY_TRACKED)
			continue;
		sum->command_nj += cells->total_nj[c];
		sum->command_cpu_ns += cells->cpu_ns[c];
	}
	for (d = 0; d < series->n_domains; d++)
		series_add_energy(&sum->domains[d], &window->domains[d]);
}

/* What follows from the sums per domain. */
static void finish_sum(struct phase_sum *sum, const struct series *series)
{
	bool is_known = false;
	size_t d;

	sum->power_w = 0;
	for (d = 0; d < series->n_entities; d++)
		sum->has_command = sum->has_command ||
				   series->entities[d].kind == WATT_ENTITY_TRACKED;
	for (d = 0; d < series->n_domains; d++) {
		const struct series_energy *energy = &sum->domains[d];

		if (!series->last.domains[d]->is_partition)
			continue;
		sum->energy_nj += energy->energy_nj;
		sum->idle_nj += energy->idle_nj;
		sum->unattributed_nj += energy->unattributed_nj;
		if (!series_is_known(energy))
			continue;
		sum->power_w += series_power_w(energy, energy->energy_nj);
		is_known = true;
	}
	if (!is_known)
		sum->power_w = NAN;
}

static void init_sum(struct phase_sum *sum, size_t n_domains)
{
	*sum = (struct phase_sum){ .domains = xcalloc(n_domains, sizeof(*sum->domains)) };
}

static struct phase *append(struct phase **list, size_t *n, const struct phase *phase,
			    size_t n_domains)
{
	struct phase *added;

	*list = xrealloc(*list, *n + 1, sizeof(**list));
	added = &(*list)[(*n)++];
	*added = *phase;
	init_sum(&added->sum, n_domains);
	return added;
}

static void add_phase(struct phases *phases, const struct series *series,
		      const struct watt_mark *marks, size_t n_marks, size_t mark)
{
	uint64_t t0_ns = mark == WATT_NO_MARK ? series->start_ns : marks[mark].t_ns;
	size_t next = mark == WATT_NO_MARK ? 0 : mark + 1;
	uint64_t t1_ns = next < n_marks ? marks[next].t_ns : series->end_ns;
	struct phase phase = { .mark = mark,
			       .label = mark == WATT_NO_MARK ? "" : marks[mark].label,
			       .count = 1 };
	size_t w = phases->n ? phases->list[phases->n - 1].last : 0;
	struct phase *added;

	phase.first = w;
	while (w < series->n_windows && series->windows[w].mark == mark)
		w++;
	phase.last = w;
	phase.t0_ns = w > phase.first ? series->windows[phase.first].t0_ns : t0_ns;
	phase.t1_ns = w > phase.first ? series->windows[w - 1].t1_ns : t1_ns;
	/* Nobody named it and there is nothing in it. */
	if (w == phase.first && !*phase.label)
		return;
	added = append(&phases->list, &phases->n, &phase, series->n_domains);
	for (w = phase.first; w < phase.last; w++)
		add_window(&added->sum, series, &series->windows[w]);
	finish_sum(&added->sum, series);
}

static void add_label(struct phases *phases, const struct series *series, const struct phase *phase)
{
	struct phase *to = NULL;
	size_t i, w;

	for (i = 0; i < phases->n_labels; i++)
		if (strcmp(phases->by_label[i].label, phase->label) == 0)
			to = &phases->by_label[i];
	if (!to) {
		to = append(&phases->by_label, &phases->n_labels, phase, series->n_domains);
		to->count = 0;
	}
	to->count++;
	to->t1_ns = phase->t1_ns;
	for (w = phase->first; w < phase->last; w++)
		add_window(&to->sum, series, &series->windows[w]);
}

void phases_find(struct phases *phases, const struct series *series, const struct watt_mark *marks,
		 size_t n_marks)
{
	size_t i;

	*phases = (struct phases){ .n_domains = series->n_domains, .has_marks = n_marks > 0 };
	init_sum(&phases->whole, series->n_domains);
	for (i = 0; i < series->n_windows; i++)
		add_window(&phases->whole, series, &series->windows[i]);
	finish_sum(&phases->whole, series);
	add_phase(phases, series, marks, n_marks, WATT_NO_MARK);
	for (i = 0; i < n_marks; i++)
		add_phase(phases, series, marks, n_marks, i);
	for (i = 0; i < phases->n; i++)
		add_label(phases, series, &phases->list[i]);
	for (i = 0; i < phases->n_labels; i++)
		finish_sum(&phases->by_label[i].sum, series);
}

void phases_done(struct phases *phases)
{
	size_t i;

	for (i = 0; i < phases->n; i++)
		free(phases->list[i].sum.domains);
	for (i = 0; i < phases->n_labels; i++)
		free(phases->by_label[i].sum.domains);
	free(phases->whole.domains);
	free(phases->list);
	free(phases->by_label);
	*phases = (struct phases){ 0 };
}
