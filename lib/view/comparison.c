/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what two series have in common, and compares its energies and powers. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/comparison.h>
#include <wattribute/ranking.h>

#include "base/cleanup.h"
#include "base/util.h"
#include "view/confidence.h"
#include "view/phases.h"
#include "view/series.h"
#include "view/statistics.h"

#define NAMES_MOST 100
#define N_LISTS (WATT_COMPARISON_NAMES + 1)

/* A row with what it points to. */
struct row {
	struct watt_hnode node; /* by name */
	struct watt_comparison_row row;
	struct watt_comparison_side side[2]; /* the series, and the other one */
	struct watt_confidence power[2];
	struct watt_confidence runs_j[2]; /* of energies of runs; no standard error: one run */
};

struct list {
	struct row **rows;
	size_t n, cap;
	struct watt_htab index; /* of those that are looked for */
};

struct watt_comparison {
	struct list lists[N_LISTS];
	size_t n_left_out;
};

struct source {
	const struct watt_series *series;
	const struct watt_phases *phases;
};

/* Powers of windows, each with its duration. */
struct powers {
	double *power_w;
	double *weight;
	size_t n;
};

static int powers_init(struct powers *powers, size_t n_windows)
{
	*powers = (struct powers){ 0 };
	powers->power_w = calloc(n_windows + 1, sizeof(double));
	powers->weight = calloc(n_windows + 1, sizeof(double));
	if (powers->power_w && powers->weight)
		return 0;
	free(powers->power_w);
	free(powers->weight);
	return -ENOMEM;
}

static void put(struct powers *powers, double power_w, uint64_t known_ns)
{
	if (!isfinite(power_w) || known_ns == 0)
		return;
	powers->power_w[powers->n] = power_w;
	powers->weight[powers->n++] = (double)known_ns;
}

/* The mean of all that was put; frees them. */
static struct watt_confidence mean_of(struct powers *powers)
{
	struct watt_confidence mean =
		watt_confidence_mean(powers->power_w, powers->weight, powers->n);

	free(powers->power_w);
	free(powers->weight);
	return mean;
}

static double machine_w(const struct watt_series *series, const struct watt_series_window *window)
{
	double power_w = 0;
	bool is_known = false;
	size_t d;

	for (d = 0; d < series->info.n_domains; d++) {
		double added_w = watt_series_added_w(series, window->domains, d,
						     window->domains[d].energy_nj);

		if (isnan(added_w))
			continue;
		power_w += added_w;
		is_known = true;
	}
	return is_known ? power_w : NAN;
}

/* The first phase of a label, which is one of theirs. */
static size_t first_of(const struct watt_phases *phases, const struct watt_phase *label)
{
	return phases->first_of_label[label - phases->by_label];
}

/*
 * The energies of all runs of a phase. One in which there is no window was too short to be
 * measured, and is none.
 */
static int fill_runs(struct row *row, size_t s, const struct watt_phases *phases,
		     const struct watt_phase *label)
{
	_cleanup_free_ double *runs_j = calloc(label->count + 1, sizeof(double));
	struct watt_statistics of_runs;
	size_t i, n = 0;

	if (!runs_j)
		return -ENOMEM;
	for (i = first_of(phases, label); i != WATT_NO_PHASE; i = phases->next_of_label[i])
		if (phases->list[i].elapsed_ns)
			runs_j[n++] = (double)phases->list[i].energy_nj / 1e9;
	of_runs = watt_statistics_of(runs_j, n);
	row->side[s].n_runs = n;
	if (n > 1)
		row->runs_j[s] = (struct watt_confidence){ .n = n,
							   .mean = of_runs.mean,
							   .se = of_runs.sd / sqrt((double)n),
							   .df = (double)n - 1,
							   .ci95 = of_runs.ci95 };
	return 0;
}

/* Of a label; NULL: all. */
static size_t count_windows(const struct watt_phases *phases, const struct watt_phase *label)
{
	size_t i, n = 0;

	if (!label)
		return phases->whole.end_index;
	for (i = first_of(phases, label); i != WATT_NO_PHASE; i = phases->next_of_label[i])
		n += phases->list[i].end_index - phases->list[i].first_index;
	return n;
}

static void put_windows(struct powers *powers, const struct watt_series *series,
			const struct watt_phase *part)
{
	size_t w;

	for (w = part->first_index; w < part->end_index; w++)
		put(powers, machine_w(series, &series->windows[w]),
		    series->windows[w].t1_ns - series->windows[w].t0_ns);
}

/* The whole machine, in the windows of a label; NULL: in all. */
static int fill_machine(struct row *row, size_t s, const struct source *source,
			const struct watt_phase *label)
{
	const struct watt_series *series = source->series;
	const struct watt_phase *sum = label ? label : &source->phases->whole;
	struct watt_comparison_side *side = &row->side[s];
	struct powers powers;
	size_t i;

	if (powers_init(&powers, count_windows(source->phases, label)) < 0)
		return -ENOMEM;
	if (label)
		for (i = first_of(source->phases, label); i != WATT_NO_PHASE;
		     i = source->phases->next_of_label[i])
			put_windows(&powers, series, &source->phases->list[i]);
	else
		put_windows(&powers, series, sum);
	side->is_there = sum->elapsed_ns > 0;
	side->energy_nj = sum->energy_nj;
	side->elapsed_ns = sum->elapsed_ns;
	row->power[s] = mean_of(&powers);
	return label ? fill_runs(row, s, source->phases, label) : 0;
}

static int fill_domain(struct row *row, size_t s, const struct source *source, size_t domain)
{
	const struct watt_series *series = source->series;
	const struct watt_series_energy *total = &source->phases->whole.domains[domain];
	struct watt_comparison_side *side = &row->side[s];
	struct powers powers;
	size_t w;

	if (powers_init(&powers, series->info.n_windows) < 0)
		return -ENOMEM;
	for (w = 0; w < series->info.n_windows; w++) {
		const struct watt_series_energy *energy = &series->windows[w].domains[domain];

		put(&powers, watt_series_power_w(energy, energy->energy_nj), energy->known_ns);
	}
	side->is_there = watt_series_is_known(total);
	side->energy_nj = total->energy_nj;
	side->elapsed_ns = total->known_ns;
	row->power[s] = mean_of(&powers);
	return 0;
}

/* name NULL: the command that was followed. */
static bool has_name(const struct watt_series_entity *entity, const char *name)
{
	if (!name)
		return entity->kind == WATT_ENTITY_TRACKED;
	return watt_view_is_user(entity->kind) && !entity->is_others &&
	       strcmp(watt_ranking_short_name(entity), name) == 0;
}

/*
 * Those of a name that the series has put together with others: there, and with what they used,
 * but without windows, so that nothing is known of how their power varied.
 */
static bool add_folded(struct row *row, size_t s, const struct source *source, const char *name)
{
	struct watt_comparison_side *side = &row->side[s];
	bool has_any = false;
	int is_kernel;

	for (is_kernel = 0; name && is_kernel < 2; is_kernel++) {
		const struct watt_folded_name *folded =
			watt_folded_find(&source->series->folded, name, is_kernel);

		if (!folded)
			continue;
		side->energy_nj += folded->total_nj;
		side->is_there = true;
		has_any = true;
	}
	return has_any;
}

/* A mean power of which there is no more than the mean. */
static struct watt_confidence without_interval(const struct watt_confidence *mean,
					       int64_t energy_nj, double known_ns)
{
	struct watt_confidence ret = watt_confidence_mean(NULL, NULL, 0);

	ret.n = mean->n;
	ret.mean = known_ns > 0 ? (double)energy_nj / known_ns : NAN;
	return ret;
}

static int fill_name(struct row *row, size_t s, const struct source *source, const char *name)
{
	const struct watt_series *series = source->series;
	_cleanup_free_ bool *is_of_name = calloc(series->info.n_entities + 1, sizeof(bool));
	struct watt_comparison_side *side = &row->side[s];
	bool has_folded;
	double known_ns = 0;
	struct powers powers;
	size_t i, w, c;

	if (!is_of_name || powers_init(&powers, series->info.n_windows) < 0)
		return -ENOMEM;
	side->energy_nj = 0;
	for (i = 0; i < series->info.n_entities; i++) {
		is_of_name[i] = has_name(&series->entities[i], name);
		if (is_of_name[i])
			side->energy_nj += series->entities[i].total_nj;
		side->is_there = side->is_there || is_of_name[i];
	}
	/* In a window in which it was not there, it has used nothing. */
	for (w = 0; w < series->info.n_windows; w++) {
		const struct watt_series_window *window = &series->windows[w];
		uint64_t elapsed_ns = window->t1_ns - window->t0_ns;
		int64_t energy_nj = 0;

		for (c = 0; c < window->n_cells; c++)
			if (is_of_name[window->entity_index[c]])
				energy_nj += window->total_nj[c];
		if (isnan(machine_w(series, window)))
			continue;
		put(&powers, (double)energy_nj / (double)elapsed_ns, elapsed_ns);
		known_ns += (double)elapsed_ns;
	}
	has_folded = add_folded(row, s, source, name);
	side->elapsed_ns = source->phases->whole.elapsed_ns;
	row->power[s] = mean_of(&powers);
	if (has_folded)
		row->power[s] = without_interval(&row->power[s], side->energy_nj, known_ns);
	return 0;
}

/* ---- lists ---- */

/* NULL: out of memory. */
static struct row *append(struct list *list, const char *name)
{
	struct row *row = calloc(1, sizeof(*row));

	if (row)
		row->row.name = strdup(name);
	if (!row || !row->row.name ||
	    watt_grow((void **)&list->rows, &list->cap, list->n, sizeof(struct row *)) < 0) {
		if (row)
			free(row->row.name);
		free(row);
		return NULL;
	}
	row->row.sz = sizeof(row->row);
	row->side[0].sz = row->side[1].sz = sizeof(row->side[0]);
	row->power[0] = watt_confidence_mean(NULL, NULL, 0);
	row->power[1] = row->runs_j[0] = row->runs_j[1] = row->power[0];
	row->side[0].n_runs = row->side[1].n_runs = 1;
	list->rows[list->n++] = row;
	return row;
}

static uint64_t hash_of(const char *name)
{
	uint64_t hash = 0;

	for (; *name; name++)
		hash = watt_hash_u64(hash ^ (unsigned char)*name);
	return hash;
}

static struct row *find_or_append(struct list *list, const char *name)
{
	uint64_t hash = hash_of(name);
	struct watt_hnode *node;
	struct row *row;

	if (!list->index.buckets && watt_htab_init(&list->index) < 0)
		return NULL;
	for (node = watt_htab_first(&list->index, hash); node; node = watt_htab_next(node)) {
		row = watt_container_of(node, struct row, node);
		if (strcmp(row->row.name, name) == 0)
			return row;
	}
	row = append(list, name);
	if (row)
		watt_htab_insert(&list->index, &row->node, hash);
	return row;
}

/* ---- the difference ---- */

/* Of one run, what its windows tell: its energy is as sure as its mean power is. */
static struct watt_confidence by_windows(const struct row *row, size_t s)
{
	struct watt_confidence energy = row->power[s];
	double energy_j = (double)row->side[s].energy_nj / 1e9;
	double scale_s = energy.mean != 0 ? energy_j / energy.mean :
					    (double)row->side[s].elapsed_ns / 1e9;

	if (!row->side[s].is_there)
		return watt_confidence_mean(NULL, NULL, 0);
	energy.mean = isfinite(energy.mean) ? energy_j : NAN;
	energy.se *= fabs(scale_s);
	energy.ci95 *= fabs(scale_s);
	return energy;
}

/*
 * Both by runs, or both by windows. One run beside several differs from its like as these do
 * from theirs.
 */
static enum watt_comparison_basis energies(const struct row *row, struct watt_confidence ret[2])
{
	bool is_repeated = row->side[0].n_runs > 1 || row->side[1].n_runs > 1;
	size_t s;

	for (s = 0; s < 2; s++) {
		const struct watt_confidence *other = &row->runs_j[1 - s];

		if (row->side[s].n_runs > 1) {
			ret[s] = row->runs_j[s];
			continue;
		}
		ret[s] = by_windows(row, s);
		if (!is_repeated)
			continue;
		ret[s].se = other->se * sqrt((double)other->n);
		ret[s].df = other->df;
		ret[s].ci95 = NAN;
	}
	return is_repeated ? WATT_COMPARISON_RUNS : WATT_COMPARISON_WINDOWS;
}

static void finish_energy(struct row *row)
{
	struct watt_confidence energy[2];
	enum watt_comparison_basis basis = energies(row, energy);
	struct watt_confidence_difference difference =
		watt_confidence_compare(&energy[1], &energy[0]);
	size_t s;

	for (s = 0; s < 2; s++) {
		struct watt_comparison_side *side = &row->side[s];

		side->run_j = energy[s].mean;
		side->run_ci95_j = energy[s].ci95;
		side->run_s = side->n_runs ? (double)side->elapsed_ns / 1e9 / (double)side->n_runs :
					     0;
	}
	row->row.energy_j = difference.delta;
	row->row.energy_ci95_j = difference.ci95;
	row->row.energy_ratio = difference.ratio;
	row->row.energy_ci95_ratio = difference.ratio_ci95;
	row->row.energy_basis = difference.is_known ? basis : WATT_COMPARISON_NOTHING;
	row->row.is_energy_significant = difference.is_significant;
}

static void finish(struct row *row)
{
	struct watt_confidence_difference power =
		watt_confidence_compare(&row->power[1], &row->power[0]);
	size_t s;

	finish_energy(row);
	for (s = 0; s < 2; s++) {
		row->side[s].power_w = row->power[s].mean;
		row->side[s].power_ci95_w = row->power[s].ci95;
		row->side[s].n_windows = row->power[s].n;
		row->side[s].n_batches = row->power[s].n_batches;
	}
	row->row.now = &row->side[0];
	row->row.before = &row->side[1];
	row->row.difference_w = power.delta;
	row->row.difference_ci95_w = power.ci95;
	row->row.difference_ratio = power.ratio;
	row->row.difference_ci95_ratio = power.ratio_ci95;
	row->row.is_known = power.is_known;
	row->row.is_significant = power.is_significant;
}

static int compare_whole(struct watt_comparison *comparison, const struct source source[2])
{
	struct row *total = append(&comparison->lists[WATT_COMPARISON_TOTAL], "machine");
	struct row *command = append(&comparison->lists[WATT_COMPARISON_COMMAND], "command");
	size_t s;

	if (!total || !command)
		return -ENOMEM;
	for (s = 0; s < 2; s++)
		if (fill_machine(total, s, &source[s], NULL) < 0 ||
		    fill_name(command, s, &source[s], NULL) < 0)
			return -ENOMEM;
	return 0;
}

static int compare_domains(struct list *list, const struct source source[2])
{
	size_t s, d;

	for (s = 0; s < 2; s++)
		for (d = 0; d < source[s].series->info.n_domains; d++) {
			struct row *row =
				find_or_append(list, source[s].series->last.domains[d]->path);

			if (!row || fill_domain(row, s, &source[s], d) < 0)
				return -ENOMEM;
		}
	return 0;
}

static int compare_phases(struct list *list, const struct source source[2])
{
	size_t s, i;

	if (!source[0].phases->has_marks && !source[1].phases->has_marks)
		return 0;
	for (s = 0; s < 2; s++)
		for (i = 0; i < source[s].phases->n_labels; i++) {
			const struct watt_phase *label = &source[s].phases->by_label[i];
			struct row *row;

			if (!*label->label)
				continue;
			row = find_or_append(list, label->label);
			if (!row || fill_machine(row, s, &source[s], label) < 0)
				return -ENOMEM;
		}
	return 0;
}

static int64_t greater_nj(const struct row *row)
{
	return WATT_MAX(row->side[0].energy_nj, row->side[1].energy_nj);
}

static int by_energy(const void *left, const void *right)
{
	const struct row *a = *(struct row *const *)left, *b = *(struct row *const *)right;

	if (greater_nj(a) != greater_nj(b))
		return greater_nj(a) < greater_nj(b) ? 1 : -1;
	return strcmp(a->row.name, b->row.name);
}

static void row_free(struct row *row)
{
	free(row->row.name);
	free(row);
}

static int add_name(struct list *list, size_t s, const char *name, int64_t energy_nj)
{
	struct row *row = find_or_append(list, name);

	if (!row)
		return -ENOMEM;
	row->side[s].energy_nj += energy_nj;
	return 0;
}

static int add_names(struct list *list, size_t s, const struct watt_series *series)
{
	struct watt_htab_iter it = { 0 };
	struct watt_hnode *node;
	size_t i;
	int r = 0;

	for (i = 0; i < series->info.n_entities && r == 0; i++) {
		const struct watt_series_entity *entity = &series->entities[i];

		if (watt_view_is_user(entity->kind) && !entity->is_others)
			r = add_name(list, s, watt_ranking_short_name(entity), entity->total_nj);
	}
	while (r == 0 && series->folded.names.n &&
	       (node = watt_htab_iterate(&series->folded.names, &it))) {
		const struct watt_folded_name *name =
			watt_container_of(node, struct watt_folded_name, node);

		r = add_name(list, s, name->text, name->total_nj);
	}
	return r;
}

/* Names of both, by what they used; those that used the least are left out. */
static int list_names(struct watt_comparison *comparison, const struct source source[2])
{
	struct list *list = &comparison->lists[WATT_COMPARISON_NAMES];
	size_t s;

	for (s = 0; s < 2; s++)
		if (add_names(list, s, source[s].series) < 0)
			return -ENOMEM;
	if (list->n)
		qsort(list->rows, list->n, sizeof(struct row *), by_energy);
	while (list->n > NAMES_MOST) {
		row_free(list->rows[--list->n]);
		comparison->n_left_out++;
	}
	return 0;
}

static int compare_names(struct watt_comparison *comparison, const struct source source[2])
{
	struct list *list = &comparison->lists[WATT_COMPARISON_NAMES];
	size_t s, i;
	int r;

	r = list_names(comparison, source);
	for (i = 0; i < list->n; i++)
		for (s = 0; s < 2 && r == 0; s++)
			r = fill_name(list->rows[i], s, &source[s], list->rows[i]->row.name);
	return r;
}

static int build(struct watt_comparison *comparison, const struct source source[2])
{
	size_t l, i;
	int r;

	r = compare_whole(comparison, source);
	if (r == 0)
		r = compare_domains(&comparison->lists[WATT_COMPARISON_DOMAINS], source);
	if (r == 0)
		r = compare_phases(&comparison->lists[WATT_COMPARISON_PHASES], source);
	if (r == 0)
		r = compare_names(comparison, source);
	for (l = 0; l < N_LISTS; l++)
		for (i = 0; i < comparison->lists[l].n; i++)
			finish(comparison->lists[l].rows[i]);
	return r;
}

int watt_comparison_build(const struct watt_series *now, const struct watt_phases *now_phases,
			  const struct watt_series *before, const struct watt_phases *before_phases,
			  struct watt_comparison **ret)
{
	const struct source source[2] = { { now, now_phases }, { before, before_phases } };
	struct watt_comparison *comparison = calloc(1, sizeof(*comparison));
	int r;

	if (!comparison)
		return -ENOMEM;
	r = build(comparison, source);
	if (r < 0)
		watt_comparison_free(comparison);
	else
		*ret = comparison;
	return r;
}

struct watt_comparison *watt_comparison_free(struct watt_comparison *comparison)
{
	size_t l, i;

	if (!comparison)
		return NULL;
	for (l = 0; l < N_LISTS; l++) {
		for (i = 0; i < comparison->lists[l].n; i++)
			row_free(comparison->lists[l].rows[i]);
		watt_htab_done(&comparison->lists[l].index);
		free(comparison->lists[l].rows);
	}
	free(comparison);
	return NULL;
}

const struct watt_comparison_row *watt_comparison_get(const struct watt_comparison *comparison,
						      enum watt_comparison_list list, size_t index)
{
	if ((size_t)list >= N_LISTS || index >= comparison->lists[list].n)
		return NULL;
	return &comparison->lists[list].rows[index]->row;
}

size_t watt_comparison_get_left_out(const struct watt_comparison *comparison)
{
	return comparison->n_left_out;
}
