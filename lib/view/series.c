/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects windows. Each snapshot is read once and only its window is taken, so that nothing
 * depends on how long an entity has been there before.
 */
#include "view/series.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/cursor.h>

#include "base/cleanup.h"
#include "base/util.h"
#include "view/total.h"

/* Entities of a kind that are kept apart, where nothing else is asked. */
#define ENTITIES 1000
/* What the newest window needed is there already. */
#define SPAN_WAIT_MS 1

int watt_series_new(size_t max_entities, struct watt_series **ret)
{
	struct watt_series *series = calloc(1, sizeof(*series));

	if (!series)
		return -ENOMEM;
	series->info.sz = sizeof(series->info);
	series->max_entities = max_entities ? max_entities : ENTITIES;
	*ret = series;
	return 0;
}

static void window_done(struct watt_series_window *window)
{
	free(window->domains);
	free(window->entity_index);
	free(window->cpu_ns);
	free(window->total_nj);
	free(window->energy_nj);
	free(window->uncertainty_j);
}

void watt_series_entity_done(struct watt_series_entity *entity)
{
	free(entity->name);
	free(entity->cmdline);
	free(entity->container);
	free(entity->pod);
	free(entity->job);
	free(entity->unit);
	free(entity->energy_nj);
}

struct watt_series *watt_series_free(struct watt_series *series)
{
	size_t i;

	if (!series)
		return NULL;
	for (i = 0; i < series->info.n_windows; i++)
		window_done(&series->windows[i]);
	for (i = 0; i < series->info.n_entities; i++)
		watt_series_entity_done(&series->entities[i]);
	free(series->windows);
	free(series->entities);
	free(series->doubts);
	free(series->totals);
	free(series->gaps);
	watt_series_gauges_done(series);
	watt_view_done(&series->last);
	watt_snapshot_unref(series->snap);
	watt_idmap_done(&series->index);
	watt_idmap_done(&series->chosen);
	watt_folded_done(&series->folded);
	free(series);
	return NULL;
}

bool watt_series_is_known(const struct watt_series_energy *energy)
{
	return energy->known_ns > 0;
}

double watt_series_power_w(const struct watt_series_energy *energy, int64_t energy_nj)
{
	/* nJ per ns are watts. */
	return watt_series_is_known(energy) ? (double)energy_nj / (double)energy->known_ns : NAN;
}

static int keep(char **field, const char *text)
{
	char *copy;

	/* What was once known of somebody does not become unknown by his death. */
	if (!text || (*field && strcmp(*field, text) == 0))
		return 0;
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	free(*field);
	*field = copy;
	return 0;
}

static int describe(struct watt_series_entity *to, const struct watt_entity *from)
{
	const struct watt_identity *who = from->identity;
	int r;

	to->kind = from->kind;
	to->count = from->count;
	to->is_dead = !from->alive;
	r = keep(&to->name, from->name);
	if (who) {
		to->pid = who->tid ? who->tid : who->pid;
		to->parent_pid = who->tid ? who->pid : who->parent_pid;
		to->uid = from->missing & WATT_IDENTITY_UID ? -1 : (int64_t)who->uid;
		if (r == 0)
			r = keep(&to->cmdline, who->cmdline);
	}
	if (r == 0 && from->cgroup)
		r = keep(&to->container, from->cgroup->container);
	if (r == 0 && from->cgroup)
		r = keep(&to->pod, from->cgroup->pod_uid);
	if (r == 0 && from->cgroup)
		r = keep(&to->job, from->cgroup->job);
	if (r == 0 && from->cgroup)
		r = keep(&to->unit, from->cgroup->unit);
	return r;
}

int watt_series_new_entity(struct watt_series *series, enum watt_entity_kind kind, const char *name,
			   size_t *ret)
{
	struct watt_series_entity *entity;

	if (watt_grow((void **)&series->entities, &series->entities_cap, series->info.n_entities,
		      sizeof(*series->entities)) < 0 ||
	    watt_grow((void **)&series->doubts, &series->doubts_cap, series->info.n_entities,
		      sizeof(*series->doubts)) < 0)
		return -ENOMEM;
	series->doubts[series->info.n_entities] = (struct watt_series_doubt){ 0 };
	entity = &series->entities[series->info.n_entities];
	*entity = (struct watt_series_entity){
		.sz = sizeof(*entity), .kind = kind, .uid = -1, .peak_w = NAN, .uncertainty_j = NAN
	};
	entity->name = strdup(name);
	entity->energy_nj = calloc(series->info.n_domains + 1, sizeof(*entity->energy_nj));
	if (!entity->name || !entity->energy_nj) {
		watt_series_entity_done(entity);
		return -ENOMEM;
	}
	*ret = series->info.n_entities++;
	return 0;
}

/* One who is not among those that were chosen, from his first window on. */
static int add_to_others(struct watt_series *series, const struct watt_entity *from, size_t *ret)
{
	const struct watt_series_entity who = {
		.id = from->id, .kind = from->kind, .count = from->count, .name = (char *)from->name
	};
	static const struct watt_folded_use nothing = { 0 };

	if (watt_series_others_of(series, from->kind, ret) < 0 ||
	    watt_folded_add(&series->folded, &who, &nothing) < 0)
		return -ENOMEM;
	series->entities[*ret].count += from->count;
	series->info.n_folded++;
	return 0;
}

static int find_or_add(struct watt_series *series, const struct watt_entity *from, size_t *ret)
{
	size_t i = watt_idmap_find(&series->index, from->id), *position;

	if (i == WATT_IDMAP_NONE) {
		bool is_kept = !series->is_chosen ||
			       watt_idmap_find(&series->chosen, from->id) != WATT_IDMAP_NONE;
		int r;

		position = watt_idmap_get(&series->index, from->id);
		r = !position ? -ENOMEM :
		    is_kept   ? watt_series_new_entity(series, from->kind, from->name, &i) :
				add_to_others(series, from, &i);
		if (r < 0)
			return -ENOMEM;
		if (is_kept)
			series->entities[i].id = from->id;
		*position = i;
	}
	*ret = i;
	return series->entities[i].is_others ? 0 : describe(&series->entities[i], from);
}

static bool has_used(const struct watt_row *row, size_t n_domains)
{
	size_t d;

	for (d = 0; d < n_domains; d++)
		if (row->window_nj[d])
			return true;
	return row->window_cpu_ns > 0;
}

double watt_series_added_w(const struct watt_series *series,
			   const struct watt_series_energy *domains, size_t domain_index,
			   int64_t energy_nj)
{
	struct watt_series_energy longer;
	int rest;

	if (domain_index >= series->info.n_domains ||
	    !series->last.domains[domain_index]->is_partition ||
	    !watt_series_is_known(&domains[domain_index]))
		return NAN;
	longer = domains[domain_index];
	rest = watt_total_find_rest(&series->last, domain_index);
	if (rest >= 0)
		longer.known_ns = WATT_MAX(longer.known_ns, domains[rest].known_ns);
	return watt_series_power_w(&longer, energy_nj);
}

double watt_series_window_w(const struct watt_series *series,
			    const struct watt_series_window *window, const int64_t *energy_nj)
{
	double power_w = 0;
	bool is_known = false;
	size_t d;

	for (d = 0; d < series->info.n_domains; d++) {
		double added_w = watt_series_added_w(series, window->domains, d, energy_nj[d]);

		if (isnan(added_w))
			continue;
		power_w += added_w;
		is_known = true;
	}
	return is_known ? power_w : NAN;
}

static void add_up(struct watt_series *series, const struct watt_series_window *window, size_t cell)
{
	struct watt_series_entity *entity = &series->entities[window->entity_index[cell]];
	const int64_t *energy_nj = &window->energy_nj[cell * series->info.n_domains];
	double power_w = watt_series_window_w(series, window, energy_nj);
	size_t d;

	for (d = 0; d < series->info.n_domains; d++)
		entity->energy_nj[d] += energy_nj[d];
	entity->total_nj += window->total_nj[cell];
	entity->cpu_ns += window->cpu_ns[cell];
	if (!isnan(power_w) && !(entity->peak_w >= power_w))
		entity->peak_w = power_w;
}

/* What a row says of how unsure it is. Those who are put together may all be off the same way. */
static void note_doubt(struct watt_series *series, struct watt_series_window *window, size_t cell,
		       const struct watt_row *row)
{
	struct watt_series_doubt *doubt = &series->doubts[window->entity_index[cell]];

	window->uncertainty_j[cell] += row->window_total_uncertainty_j;
	doubt->sum_j += row->window_total_uncertainty_j;
	if (series->entities[window->entity_index[cell]].is_others)
		return;
	doubt->newest_j = row->total_uncertainty_j;
	if (!doubt->has_any && watt_energy_to_nj(row->total) != row->window_total_nj)
		doubt->began_before = true;
	doubt->has_any = true;
}

static int put_cell(struct watt_series *series, struct watt_series_window *window,
		    const struct watt_row *row)
{
	struct watt_folded_use use = { .energy_nj = row->window_nj,
				       .n_domains = series->info.n_domains,
				       .cpu_ns = row->window_cpu_ns };
	size_t i, c = 0, d;
	int64_t *energy_nj;
	int r;

	r = find_or_add(series, row->entity, &i);
	if (r < 0)
		return r;
	/* Those that are in "others" share a cell. */
	while (series->entities[i].is_others && c < window->n_cells && window->entity_index[c] != i)
		c++;
	if (!series->entities[i].is_others || c == window->n_cells) {
		c = window->n_cells++;
		window->entity_index[c] = (uint32_t)i;
	}
	energy_nj = &window->energy_nj[c * series->info.n_domains];
	for (d = 0; d < series->info.n_domains; d++) {
		energy_nj[d] += row->window_nj[d];
		if (series->last.domains[d]->is_partition)
			use.total_nj += row->window_nj[d];
	}
	window->total_nj[c] += use.total_nj;
	window->cpu_ns[c] += row->window_cpu_ns;
	note_doubt(series, window, c, row);
	return series->entities[i].is_others ?
		       watt_folded_count(&series->folded, row->entity->id, &use) :
		       0;
}

/* Gives back the room that was not needed; where that fails, it stays. */
static void trim(void **array, size_t n, size_t size)
{
	void *smaller = realloc(*array, (n + 1) * size);

	if (smaller)
		*array = smaller;
}

static int fill_cells(struct watt_series *series, struct watt_series_window *window,
		      const struct watt_view *view)
{
	size_t n_domains = series->info.n_domains, i;
	int r = 0;

	window->entity_index = calloc(view->n_rows + 1, sizeof(*window->entity_index));
	window->cpu_ns = calloc(view->n_rows + 1, sizeof(*window->cpu_ns));
	window->total_nj = calloc(view->n_rows + 1, sizeof(*window->total_nj));
	window->energy_nj = calloc(view->n_rows * n_domains + 1, sizeof(*window->energy_nj));
	window->uncertainty_j = calloc(view->n_rows + 1, sizeof(*window->uncertainty_j));
	if (!window->entity_index || !window->cpu_ns || !window->total_nj || !window->energy_nj ||
	    !window->uncertainty_j)
		return -ENOMEM;
	for (i = 0; i < view->n_rows && r == 0; i++)
		if (has_used(view->rows[i], n_domains))
			r = put_cell(series, window, view->rows[i]);
	if (r < 0)
		return r;
	trim((void **)&window->entity_index, window->n_cells, sizeof(*window->entity_index));
	trim((void **)&window->cpu_ns, window->n_cells, sizeof(*window->cpu_ns));
	trim((void **)&window->total_nj, window->n_cells, sizeof(*window->total_nj));
	trim((void **)&window->uncertainty_j, window->n_cells, sizeof(*window->uncertainty_j));
	trim((void **)&window->energy_nj, window->n_cells * n_domains, sizeof(*window->energy_nj));
	for (i = 0; i < window->n_cells; i++)
		add_up(series, window, i);
	return 0;
}

/* The equation of the header, on what was kept. */
static void check(struct watt_series *series, const struct watt_series_window *window)
{
	size_t d, i, n = series->info.n_domains;

	for (d = 0; d < n; d++) {
		const struct watt_series_energy *energy = &window->domains[d];
		int64_t sum_nj = energy->idle_nj + energy->unattributed_nj;

		for (i = 0; i < window->n_cells; i++)
			if (watt_view_is_user(series->entities[window->entity_index[i]].kind))
				sum_nj += window->energy_nj[i * n + d];
		series->info.n_checks++;
		series->info.n_failures += sum_nj != energy->energy_nj;
	}
}

void watt_series_add_energy(struct watt_series_energy *sum, const struct watt_series_energy *part)
{
	sum->energy_nj += part->energy_nj;
	sum->idle_nj += part->idle_nj;
	sum->unattributed_nj += part->unattributed_nj;
	sum->known_ns += part->known_ns;
	sum->status = part->status;
	sum->is_baseline_ready = part->is_baseline_ready;
}

/*
 * For how long of a window a domain's energy is known. A gap is told of as a whole, when the reading
 * that ends it has come: windows of it that are over by then said by their status that they knew
 * nothing, and what is left of it may be attributed in windows that are still to come.
 */
static uint64_t known_ns(const struct watt_domain_state *state, struct watt_series_gap *gap)
{
	uint64_t unknown_ns;

	if (state->unknown_ns > gap->told_ns)
		gap->left_ns += state->unknown_ns - gap->told_ns;
	gap->told_ns = state->unknown_ns;
	if (state->status != WATT_STATUS_OK && state->window_nj == 0) {
		gap->silent_ns += state->window_ns;
		return 0;
	}
	if (gap->left_ns >= gap->silent_ns) /* else it was no gap: it had not begun to tell */
		gap->left_ns -= gap->silent_ns;
	gap->silent_ns = 0;
	unknown_ns = WATT_MIN(gap->left_ns, state->window_ns);
	gap->left_ns -= unknown_ns;
	return state->window_ns - unknown_ns;
}

static int fill_domains(struct watt_series *series, struct watt_series_window *window,
			const struct watt_view *view)
{
	size_t d;

	window->domains = calloc(series->info.n_domains + 1, sizeof(*window->domains));
	if (!window->domains)
		return -ENOMEM;
	for (d = 0; d < series->info.n_domains; d++) {
		const struct watt_domain_state *state = view->states[d];
		struct watt_series_energy *energy = &window->domains[d];

		*energy = (struct watt_series_energy){
			.energy_nj = state->window_nj,
			.idle_nj = state->window_idle_nj,
			.unattributed_nj = state->window_unattributed_nj,
			.status = state->status,
			.is_baseline_ready = state->baseline_ready,
		};
		energy->known_ns = known_ns(state, &series->gaps[d]);
		watt_series_add_energy(&series->totals[d], energy);
	}
	return 0;
}

/* Room for n numbers instead of those that there are; what is new is zero. */
static int widen(int64_t **numbers, size_t n_rows, size_t n_before, size_t n)
{
	int64_t *wider = calloc(n_rows * n + 1, sizeof(*wider));
	size_t i;

	if (!wider)
		return -ENOMEM;
	for (i = 0; i < n_rows && n_before; i++)
		memcpy(&wider[i * n], &(*numbers)[i * n_before], n_before * sizeof(*wider));
	free(*numbers);
	*numbers = wider;
	return 0;
}

/* Of a domain that came later, an earlier window knows that it was not there. */
static int widen_window(struct watt_series_window *window, size_t n_before, size_t n)
{
	struct watt_series_energy *domains =
		realloc(window->domains, (n + 1) * sizeof(*window->domains));
	size_t d;

	if (!domains)
		return -ENOMEM;
	window->domains = domains;
	for (d = n_before; d < n; d++)
		domains[d] = (struct watt_series_energy){ .status = WATT_STATUS_ABSENT };
	return widen(&window->energy_nj, window->n_cells, n_before, n);
}

/* Domains are only ever added, behind those that there are. */
static int grow(struct watt_series *series, size_t n)
{
	size_t before = series->info.n_domains, i;
	struct watt_series_energy *totals = realloc(series->totals, (n + 1) * sizeof(*totals));
	struct watt_series_gap *gaps;
	int r = 0;

	if (!totals)
		return -ENOMEM;
	series->totals = totals;
	gaps = realloc(series->gaps, (n + 1) * sizeof(*gaps));
	if (!gaps)
		return -ENOMEM;
	series->gaps = gaps;
	memset(&totals[before], 0, (n - before) * sizeof(*totals));
	memset(&gaps[before], 0, (n - before) * sizeof(*gaps));
	for (i = 0; i < series->info.n_entities && r == 0; i++)
		r = widen(&series->entities[i].energy_nj, 1, before, n);
	for (i = 0; i < series->info.n_windows && r == 0; i++)
		r = widen_window(&series->windows[i], before, n);
	if (r == 0)
		series->info.n_domains = n;
	return r;
}

static int begin(struct watt_series *series, size_t n_domains)
{
	if (series->totals && n_domains == series->info.n_domains)
		return 0;
	return n_domains < series->info.n_domains ? -EINVAL : grow(series, n_domains);
}

static int remember(struct watt_series *series, const struct watt_view *view)
{
	size_t n = view->n_domains;
	struct watt_view last = *view;

	last.domains = calloc(n + 1, sizeof(*last.domains));
	last.states = calloc(n + 1, sizeof(*last.states));
	last.rows = calloc(view->n_rows + 1, sizeof(*last.rows));
	last.gauges = calloc(view->n_gauges + 1, sizeof(*last.gauges));
	if (!last.domains || !last.states || !last.rows || !last.gauges) {
		watt_view_done(&last);
		return -ENOMEM;
	}
	memcpy(last.domains, view->domains, n * sizeof(*last.domains));
	memcpy(last.states, view->states, n * sizeof(*last.states));
	memcpy(last.rows, view->rows, view->n_rows * sizeof(*last.rows));
	if (view->n_gauges)
		memcpy(last.gauges, view->gauges, view->n_gauges * sizeof(*last.gauges));
	watt_view_done(&series->last);
	series->last = last;
	return 0;
}

/* ---- adding ---- */

/* Sums over windows are int64 nJ, 107 days of 1 kW: as long as all of it fits, each part does. */
static int bound(const struct watt_series *series, const struct watt_view *view, uint64_t *ret_nj)
{
	watt_u128 sum_nj = series->sum_nj;
	size_t d;

	for (d = 0; d < view->n_domains; d++) {
		watt_i128 energy_nj = view->states[d]->window_nj;

		sum_nj += (watt_u128)(energy_nj < 0 ? -energy_nj : energy_nj);
	}
	if (sum_nj > INT64_MAX)
		return -EOVERFLOW;
	*ret_nj = (uint64_t)sum_nj;
	return 0;
}

int watt_series_add(struct watt_series *series, const struct watt_view *view, uint64_t t0_ns,
		    uint64_t t1_ns, size_t mark_index)
{
	struct watt_series_window *window;
	uint64_t sum_nj;
	int r;

	r = bound(series, view, &sum_nj);
	if (r == 0)
		r = begin(series, view->n_domains);
	if (r == 0)
		r = remember(series, view);
	if (r == 0)
		r = watt_series_add_gauges(series, view);
	if (r == 0)
		r = watt_grow((void **)&series->windows, &series->windows_cap,
			      series->info.n_windows, sizeof(*series->windows));
	if (r < 0)
		return r;
	series->sum_nj = sum_nj;
	window = &series->windows[series->info.n_windows++];
	*window = (struct watt_series_window){
		.sz = sizeof(*window), .t0_ns = t0_ns, .t1_ns = t1_ns, .mark_index = mark_index
	};
	r = fill_domains(series, window, view);
	if (r == 0)
		r = fill_cells(series, window, view);
	if (r < 0)
		return r;
	check(series, window);
	if (series->info.n_windows == 1)
		series->info.start_ns = t0_ns;
	series->info.end_ns = t1_ns;
	if (series->info.n_entities > 2 * series->max_entities)
		r = watt_series_fold(series, 2 * series->max_entities);
	return r;
}

int watt_series_finish(struct watt_series *series)
{
	int r;

	r = watt_series_fold(series, series->max_entities);
	if (r == 0)
		series->info.n_misplaced = watt_series_count_misplaced(series);
	return r;
}

/* Takes the window's snapshot. */
static int take_window(struct watt_series *series, const struct watt_window *window)
{
	struct watt_view view;
	int r;

	r = watt_view_init(&view, window->snap);
	if (r == 0) {
		r = watt_series_add(series, &view, window->t0_ns, window->t1_ns,
				    window->mark_index);
		watt_view_done(&view);
	}
	watt_snapshot_unref(series->snap);
	series->snap = window->snap;
	series->info.start_realtime_ns = (int64_t)(watt_snapshot_get_realtime_ns(window->snap) -
						   (window->t1_ns - series->info.start_ns));
	return r;
}

static int read_windows(struct watt_series *series, struct watt_windows *windows)
{
	struct watt_window window;
	int r;

	while ((r = watt_windows_next(windows, &window)) == 0) {
		r = take_window(series, &window);
		if (r < 0)
			break;
	}
	return r;
}

void watt_series_tell_doubts(struct watt_series *series, const struct watt_snapshot *span)
{
	size_t i;

	for (i = 0; i < series->info.n_entities; i++) {
		struct watt_series_entity *entity = &series->entities[i];
		const struct watt_series_doubt *doubt = &series->doubts[i];
		const struct watt_row *row =
			span && entity->id ? watt_snapshot_find_row(span, entity->id) : NULL;

		if (row && row->window_total_nj == entity->total_nj)
			entity->uncertainty_j = row->window_total_uncertainty_j;
		else if (!entity->is_others && !doubt->began_before)
			entity->uncertainty_j = doubt->newest_j;
		else
			entity->uncertainty_j = doubt->sum_j;
	}
}

/* The windows of a reader of its own, which has all of them as one. */
static int read_with_span(struct watt_series *series, struct watt_session *ses,
			  struct watt_windows *windows, struct watt_snapshot **ret_span)
{
	struct watt_cursor *cursor = NULL;
	int r, r_span = watt_cursor_open(ses, &cursor);

	if (r_span == -ENOMEM)
		return r_span;
	r = read_windows(series, windows);
	/* without it everybody is as unsure as windows say */
	if (r >= 0 && cursor && series->info.n_windows)
		r_span = watt_cursor_snapshot_at(cursor, series->info.end_ns, SPAN_WAIT_MS,
						 ret_span);
	watt_cursor_close(cursor);
	return r_span == -ENOMEM ? r_span : r;
}

/* first: NULL: whoever comes to the top. */
static int read_series(struct watt_session *ses, const struct watt_windows_opts *opts,
		       size_t n_kept, const struct watt_series *first, struct watt_series **ret)
{
	struct watt_series *series = NULL;
	struct watt_snapshot *span = NULL;
	struct watt_windows *windows;
	int r, r_fold;

	r = watt_windows_open(ses, opts, &windows);
	if (r < 0)
		return r;
	r = watt_series_new(n_kept, &series);
	if (r == 0 && first)
		r = watt_series_choose(series, first);
	if (r < 0) {
		watt_series_free(series);
		watt_windows_close(windows);
		return r;
	}
	series->info.window_ns = opts->window_ns;
	r = read_with_span(series, ses, windows, &span);
	watt_windows_close(windows);
	r_fold = r == -ENOMEM ? r : watt_series_finish(series);
	watt_series_tell_doubts(series, span);
	watt_snapshot_unref(span);
	if (r_fold < 0) {
		watt_series_free(series);
		return r_fold;
	}
	*ret = series;
	return r < 0 ? r : 0;
}

int watt_series_read(struct watt_session *ses, const struct watt_windows_opts *opts, size_t n_kept,
		     struct watt_series **ret)
{
	return ret ? read_series(ses, opts, n_kept, NULL, ret) : -EINVAL;
}

int watt_series_read_again(struct watt_session *ses, const struct watt_windows_opts *opts,
			   const struct watt_series *first, struct watt_series **ret)
{
	return ret && first ? read_series(ses, opts, first->max_entities, first, ret) : -EINVAL;
}

/* ---- what is got ---- */

const struct watt_series_info *watt_series_get_info(const struct watt_series *series)
{
	return &series->info;
}

const struct watt_domain *watt_series_get_domain(const struct watt_series *series, size_t index)
{
	return index < series->info.n_domains ? series->last.domains[index] : NULL;
}

const struct watt_domain_state *watt_series_get_state(const struct watt_series *series,
						      size_t index)
{
	return index < series->info.n_domains ? series->last.states[index] : NULL;
}

const struct watt_quality *watt_series_get_quality(const struct watt_series *series)
{
	return series->last.quality;
}

const struct watt_series_energy *watt_series_get_total(const struct watt_series *series,
						       size_t index)
{
	return index < series->info.n_domains ? &series->totals[index] : NULL;
}

const struct watt_series_window *watt_series_get_window(const struct watt_series *series,
							size_t index)
{
	return index < series->info.n_windows ? &series->windows[index] : NULL;
}

const struct watt_series_entity *watt_series_get_entity(const struct watt_series *series,
							size_t index)
{
	return index < series->info.n_entities ? &series->entities[index] : NULL;
}
