/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects windows. Each snapshot is read once and only its window is taken, so that nothing
 * depends on how long an entity has been there before.
 */
#include "series.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "series_index.h"
#include "xalloc.h"

void series_init(struct series *series, size_t max_entities)
{
	*series = (struct series){ .max_entities = max_entities ? max_entities : SERIES_ENTITIES };
	series->index = series_index_new();
}

static void window_done(struct series_window *window)
{
	free(window->domains);
	free(window->cells.entity);
	free(window->cells.cpu_ns);
	free(window->cells.total_nj);
	free(window->cells.energy_nj);
}

void series_entity_done(struct series_entity *entity)
{
	free(entity->name);
	free(entity->cmdline);
	free(entity->container);
	free(entity->pod);
	free(entity->unit);
	free(entity->energy_nj);
}

void series_done(struct series *series)
{
	size_t i;

	for (i = 0; i < series->n_windows; i++)
		window_done(&series->windows[i]);
	for (i = 0; i < series->n_entities; i++)
		series_entity_done(&series->entities[i]);
	free(series->windows);
	free(series->entities);
	free(series->totals);
	free(series->gap_ns);
	view_done(&series->last);
	watt_snapshot_unref(series->snap);
	series_index_free(series->index);
	*series = (struct series){ 0 };
}

bool series_is_known(const struct series_energy *energy)
{
	return energy->known_ns > 0;
}

double series_power_w(const struct series_energy *energy, int64_t energy_nj)
{
	/* nJ per ns are watts. */
	return series_is_known(energy) ? (double)energy_nj / (double)energy->known_ns : NAN;
}

static void keep(char **field, const char *text)
{
	if (*field && text && strcmp(*field, text) == 0)
		return;
	/* What was once known of somebody does not become unknown by his death. */
	if (!text)
		return;
	free(*field);
	*field = xstrdup(text);
}

static void describe(struct series_entity *to, const struct watt_entity *from)
{
	const struct watt_identity *who = from->identity;

	to->kind = from->kind;
	to->count = from->count;
	to->is_dead = !from->alive;
	keep(&to->name, from->name);
	if (who) {
		to->pid = who->pid;
		to->parent_pid = who->parent_pid;
		to->uid = from->missing & WATT_IDENTITY_UID ? -1 : (int64_t)who->uid;
		keep(&to->cmdline, who->cmdline);
	}
	if (from->cgroup) {
		keep(&to->container, from->cgroup->container);
		keep(&to->pod, from->cgroup->pod_uid);
		keep(&to->unit, from->cgroup->unit);
	}
}

size_t series_entity_add(struct series *series, enum watt_entity_kind kind, const char *name)
{
	struct series_entity *entity;

	series->entities =
		xrealloc(series->entities, series->n_entities + 1, sizeof(*series->entities));
	entity = &series->entities[series->n_entities];
	*entity = (struct series_entity){ .kind = kind, .uid = -1, .peak_w = NAN };
	entity->name = xstrdup(name);
	entity->energy_nj = xcalloc(series->n_domains, sizeof(*entity->energy_nj));
	return series->n_entities++;
}

static size_t find_or_add(struct series *series, const struct watt_entity *from)
{
	size_t i;

	if (!series_index_find(series->index, from->id, &i)) {
		i = series_entity_add(series, from->kind, from->name);
		series->entities[i].id = from->id;
		series_index_put(series->index, from->id, i);
	}
	if (!series->entities[i].is_others)
		describe(&series->entities[i], from);
	return i;
}

static bool has_used(const struct watt_row *row, size_t n_domains)
{
	size_t d;

	for (d = 0; d < n_domains; d++)
		if (row->window_nj[d])
			return true;
	return row->window_cpu_ns > 0;
}

/* Mean power of an entity in a window, each domain by its own time. */
static double power_of(const struct series *series, const struct series_window *window,
		       const int64_t *energy_nj)
{
	double power_w = 0;
	bool is_known = false;
	size_t d;

	for (d = 0; d < series->n_domains; d++) {
		if (!series->last.domains[d]->is_partition || !series_is_known(&window->domains[d]))
			continue;
		power_w += series_power_w(&window->domains[d], energy_nj[d]);
		is_known = true;
	}
	return is_known ? power_w : NAN;
}

static void add_up(struct series *series, const struct series_window *window, size_t cell)
{
	const struct series_cells *cells = &window->cells;
	struct series_entity *entity = &series->entities[cells->entity[cell]];
	const int64_t *energy_nj = &cells->energy_nj[cell * series->n_domains];
	double power_w = power_of(series, window, energy_nj);
	size_t d;

	for (d = 0; d < series->n_domains; d++)
		entity->energy_nj[d] += energy_nj[d];
	entity->total_nj += cells->total_nj[cell];
	entity->cpu_ns += cells->cpu_ns[cell];
	if (!isnan(power_w) && !(entity->peak_w >= power_w))
		entity->peak_w = power_w;
}

static void put_cell(struct series *series, struct series_window *window,
		     const struct watt_row *row)
{
	struct series_cells *cells = &window->cells;
	size_t i = find_or_add(series, &row->entity), c = 0, d;
	int64_t *energy_nj;

	/* Those that are in "others" share a cell. */
	while (series->entities[i].is_others && c < cells->n && cells->entity[c] != i)
		c++;
	if (!series->entities[i].is_others || c == cells->n) {
		c = cells->n++;
		cells->entity[c] = (uint32_t)i;
	}
	energy_nj = &cells->energy_nj[c * series->n_domains];
	for (d = 0; d < series->n_domains; d++) {
		energy_nj[d] += row->window_nj[d];
		if (series->last.domains[d]->is_partition)
			cells->total_nj[c] += row->window_nj[d];
	}
	cells->cpu_ns[c] += row->window_cpu_ns;
}

static void trim(struct series *series, struct series_cells *cells)
{
	cells->entity = xrealloc(cells->entity, cells->n + 1, sizeof(*cells->entity));
	cells->cpu_ns = xrealloc(cells->cpu_ns, cells->n + 1, sizeof(*cells->cpu_ns));
	cells->total_nj = xrealloc(cells->total_nj, cells->n + 1, sizeof(*cells->total_nj));
	cells->energy_nj = xrealloc(cells->energy_nj, cells->n * series->n_domains + 1,
				    sizeof(*cells->energy_nj));
}

static void fill_cells(struct series *series, struct series_window *window, const struct view *view)
{
	struct series_cells *cells = &window->cells;
	size_t i;

	cells->entity = xcalloc(view->n_rows, sizeof(*cells->entity));
	cells->cpu_ns = xcalloc(view->n_rows, sizeof(*cells->cpu_ns));
	cells->total_nj = xcalloc(view->n_rows, sizeof(*cells->total_nj));
	cells->energy_nj = xcalloc(view->n_rows * series->n_domains, sizeof(*cells->energy_nj));
	for (i = 0; i < view->n_rows; i++)
		if (has_used(view->rows[i], series->n_domains))
			put_cell(series, window, view->rows[i]);
	trim(series, cells);
	for (i = 0; i < cells->n; i++)
		add_up(series, window, i);
}

/* The equation of the header, on what was kept. */
static void check(struct series *series, const struct series_window *window)
{
	auto_free int64_t *sum_nj = xcalloc(series->n_domains, sizeof(*sum_nj));
	size_t d, i;

	for (i = 0; i < window->cells.n; i++)
		if (view_is_user(series->entities[window->cells.entity[i]].kind))
			for (d = 0; d < series->n_domains; d++)
				sum_nj[d] += window->cells.energy_nj[i * series->n_domains + d];
	for (d = 0; d < series->n_domains; d++) {
		const struct series_energy *energy = &window->domains[d];

		series->n_checks++;
		series->n_failures += sum_nj[d] + energy->idle_nj + energy->unattributed_nj !=
				      energy->energy_nj;
	}
}

void series_add_energy(struct series_energy *sum, const struct series_energy *part)
{
	sum->energy_nj += part->energy_nj;
	sum->idle_nj += part->idle_nj;
	sum->unattributed_nj += part->unattributed_nj;
	sum->known_ns += part->known_ns;
	sum->status = part->status;
	sum->is_baseline_ready = part->is_baseline_ready;
}

/*
 * For how long of a window a domain's energy is known. A gap that ends in it may have begun long
 * before: those windows said by their status that they knew nothing.
 */
static uint64_t known_ns(const struct watt_domain_state *state, uint64_t gap_before_ns)
{
	uint64_t gap_ns = state->gap_ns - gap_before_ns;

	if (state->status != WATT_STATUS_OK && state->window_nj == 0)
		return 0;
	return gap_ns < state->window_ns ? state->window_ns - gap_ns : 0;
}

static void fill_domains(struct series *series, struct series_window *window,
			 const struct view *view)
{
	size_t d;

	window->domains = xcalloc(series->n_domains, sizeof(*window->domains));
	for (d = 0; d < series->n_domains; d++) {
		const struct watt_domain_state *state = view->states[d];
		struct series_energy *energy = &window->domains[d];

		*energy = (struct series_energy){
			.energy_nj = state->window_nj,
			.idle_nj = state->window_idle_nj,
			.unattributed_nj = state->window_unattributed_nj,
			.status = state->status,
			.is_baseline_ready = state->baseline_ready,
		};
		energy->known_ns = known_ns(state, series->gap_ns[d]);
		series->gap_ns[d] = state->gap_ns;
		series_add_energy(&series->totals[d], energy);
	}
}

static void remember(struct series *series, const struct view *view)
{
	size_t n = view->n_domains;
	struct view last = *view;

	last.domains = xcalloc(n, sizeof(*last.domains));
	last.states = xcalloc(n, sizeof(*last.states));
	last.rows = xcalloc(view->n_rows, sizeof(*last.rows));
	memcpy(last.domains, view->domains, n * sizeof(*last.domains));
	memcpy(last.states, view->states, n * sizeof(*last.states));
	memcpy(last.rows, view->rows, view->n_rows * sizeof(*last.rows));
	view_done(&series->last);
	series->last = last;
	if (!series->totals) {
		series->totals = xcalloc(n, sizeof(*series->totals));
		series->gap_ns = xcalloc(n, sizeof(*series->gap_ns));
	}
	series->n_domains = n;
}

void series_add(struct series *series, const struct view *view, uint64_t t0_ns, uint64_t t1_ns,
		size_t mark)
{
	struct series_window *window;

	remember(series, view);
	if (series->n_windows % 64 == 0)
		series->windows =
			xrealloc(series->windows, series->n_windows + 64, sizeof(*series->windows));
	window = &series->windows[series->n_windows++];
	*window = (struct series_window){ .t0_ns = t0_ns, .t1_ns = t1_ns, .mark = mark };
	fill_domains(series, window, view);
	fill_cells(series, window, view);
	check(series, window);
	if (series->n_windows == 1)
		series->start_ns = t0_ns;
	series->end_ns = t1_ns;
	if (series->n_entities > 2 * series->max_entities)
		series_fold(series, 2 * series->max_entities);
}

void series_finish(struct series *series)
{
	series_fold(series, series->max_entities);
}

int series_read(struct series *series, struct watt_session *ses,
		const struct watt_windows_opts *plan)
{
	struct watt_windows *windows;
	struct watt_window window;
	int r;

	series->window_ns = plan->window_ns;
	r = watt_windows_open(ses, plan, &windows);
	if (r < 0)
		return r;
	while ((r = watt_windows_next(windows, &window)) == 0) {
		struct view view;

		view_init(&view, window.snap);
		series_add(series, &view, window.t0_ns, window.t1_ns, window.mark_index);
		view_done(&view);
		watt_snapshot_unref(series->snap);
		series->snap = window.snap;
		series->start_realtime_ns = (int64_t)(watt_snapshot_get_realtime_ns(window.snap) -
						      (window.t1_ns - series->start_ns));
	}
	watt_windows_close(windows);
	series_finish(series);
	return r < 0 ? r : 0;
}

struct series_energy series_sum(const struct series *series, size_t domain, size_t first,
				size_t last)
{
	struct series_energy sum = { .status = WATT_STATUS_PENDING };
	size_t i;

	for (i = first; i < last && i < series->n_windows; i++)
		series_add_energy(&sum, &series->windows[i].domains[domain]);
	return sum;
}
