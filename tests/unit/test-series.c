/* SPDX-License-Identifier: Apache-2.0 */
/* lib/view/series.c, on windows that are made up here */
#include "unit.h"

#include <errno.h>
#include <math.h>

#include "base/util.h"
#include "view/series.h"

#define N_DOMAINS 3 /* the second lies inside the first */
#define N_ROWS_MAX 400
#define WINDOW_NS 1000000000ULL

struct machine {
	struct watt_domain domain[N_DOMAINS];
	struct watt_domain_state state[N_DOMAINS];
	struct watt_row row[N_ROWS_MAX];
	struct watt_entity entity[N_ROWS_MAX];
	struct watt_identity who[N_ROWS_MAX];
	char name[N_ROWS_MAX][16];
	int64_t window_nj[N_ROWS_MAX][N_DOMAINS];
	const struct watt_domain *domains[N_DOMAINS];
	const struct watt_domain_state *states[N_DOMAINS];
	const struct watt_row *rows[N_ROWS_MAX];
	struct watt_quality quality;
	struct watt_view view;
	size_t n_windows;
	uint32_t random;
	int64_t truth_nj[N_DOMAINS];
	watt_i128 entity_nj[4 * N_ROWS_MAX]; /* by id, over the partition */
	uint64_t entity_cpu_ns[4 * N_ROWS_MAX];
};

static uint32_t draw(struct machine *m, uint32_t below)
{
	m->random = m->random * 1664525 + 1013904223;
	return (m->random >> 8) % below;
}

static void init(struct machine *m)
{
	size_t d, i;

	*m = (struct machine){ .random = 1 };
	for (d = 0; d < N_DOMAINS; d++) {
		m->domain[d] = (struct watt_domain){ .path = "d",
						     .name = "d",
						     .parent = -1,
						     .key = WATT_KEY_CPU_TIME,
						     .is_partition = d != 1 };
		m->domains[d] = &m->domain[d];
		m->states[d] = &m->state[d];
	}
	for (i = 0; i < N_ROWS_MAX; i++)
		m->rows[i] = &m->row[i];
	m->view = (struct watt_view){ .domains = m->domains,
				      .states = m->states,
				      .rows = m->rows,
				      .n_domains = N_DOMAINS,
				      .quality = &m->quality };
}

static void put_row(struct machine *m, uint64_t id, enum watt_entity_kind kind, int64_t energy_nj)
{
	size_t i = m->view.n_rows++, d;

	snprintf(m->name[i], sizeof(m->name[i]), "p%u", (unsigned int)id);
	m->who[i] = (struct watt_identity){ .pid = (uint32_t)id };
	m->row[i] = (struct watt_row){ .entity = &m->entity[i],
				       .window_nj = m->window_nj[i],
				       .window_cpu_ns = (uint64_t)energy_nj / 2 };
	m->entity[i] = (struct watt_entity){ .id = id,
					     .kind = kind,
					     .count = 1,
					     .alive = 1,
					     .name = m->name[i],
					     .identity = &m->who[i] };
	for (d = 0; d < N_DOMAINS; d++) {
		m->window_nj[i][d] = energy_nj * (int64_t)(d + 1);
		if (watt_view_is_user(kind))
			m->state[d].window_nj += m->window_nj[i][d];
		m->entity_nj[id] += d == 1 ? 0 : m->window_nj[i][d];
	}
	m->entity_cpu_ns[id] += (uint64_t)energy_nj / 2;
}

/* A window in which n processes from id `first` on used something, or nothing. */
static void add_window(struct machine *m, struct watt_series *series, uint64_t first, size_t n,
		       size_t mark)
{
	uint64_t t_ns = m->n_windows++ * WINDOW_NS;
	size_t d, i;

	m->view.n_rows = 0;
	for (d = 0; d < N_DOMAINS; d++) {
		m->state[d] = (struct watt_domain_state){ .window_ns = WINDOW_NS,
							  .window_idle_nj = 1000,
							  .window_unattributed_nj = 7,
							  .window_nj = 1007 };
	}
	for (i = 0; i < n; i++)
		put_row(m, first + i, WATT_ENTITY_PROCESS, draw(m, 4) ? draw(m, 1000000) : 0);
	put_row(m, 1, WATT_ENTITY_USER, m->state[0].window_nj);
	for (d = 0; d < N_DOMAINS; d++)
		m->truth_nj[d] += m->state[d].window_nj;
	assert_int_equal(watt_series_add(series, &m->view, t_ns, t_ns + WINDOW_NS, mark), 0);
}

/* Two windows: each row says so much of the window, and of all since the session began. */
static void add_doubts(struct machine *m, struct watt_series *series, double window_j, double all_j)
{
	uint64_t t_ns = m->n_windows++ * WINDOW_NS;
	size_t i;

	m->view.n_rows = 0;
	for (i = 0; i < N_DOMAINS; i++)
		m->state[i] = (struct watt_domain_state){ .window_ns = WINDOW_NS };
	put_row(m, 2, WATT_ENTITY_PROCESS, 1000);
	put_row(m, 3, WATT_ENTITY_PROCESS, 1000);
	put_row(m, 4, WATT_ENTITY_PROCESS, 1000);
	for (i = 0; i < 3; i++) {
		m->row[i].window_total_nj = 4000;
		m->row[i].total = watt_energy_from_nj(4000 * (int64_t)m->n_windows);
		m->row[i].window_total_uncertainty_j = window_j;
		m->row[i].total_uncertainty_j = all_j;
	}
	m->row[1].total = watt_energy_from_nj(1000000); /* it ran before */
	m->row[2].window_total_uncertainty_j = m->row[2].total_uncertainty_j = NAN;
	assert_int_equal(watt_series_add(series, &m->view, t_ns, t_ns + WINDOW_NS, WATT_NO_MARK),
			 0);
}

/* Errors of windows are neither added as such nor taken for independent. */
static void test_doubts_are_of_the_whole(void **state)
{
	static struct machine m;
	struct watt_series *series;

	(void)state;
	init(&m);
	assert_int_equal(watt_series_new(0, &series), 0);
	add_doubts(&m, series, 3, 3);
	add_doubts(&m, series, 4, 6.5);
	assert_int_equal(watt_series_finish(series), 0);
	watt_series_tell_doubts(series, NULL);
	assert_true(series->windows[0].uncertainty_j[0] == 3);
	assert_true(series->windows[1].uncertainty_j[0] == 4);
	assert_true(series->entities[0].uncertainty_j == 6.5);
	assert_true(series->entities[1].uncertainty_j == 7); /* at most so much */
	assert_true(isnan(series->entities[2].uncertainty_j));
	watt_series_free(series);
	/* those who are put together are as unsure as all of them at once */
	init(&m);
	assert_int_equal(watt_series_new(1, &series), 0);
	add_doubts(&m, series, 3, 3);
	add_doubts(&m, series, 4, 6.5);
	assert_int_equal(watt_series_finish(series), 0);
	watt_series_tell_doubts(series, NULL);
	assert_int_equal(series->info.n_folded, 2);
	assert_true(isnan(series->entities[series->info.n_entities - 1].uncertainty_j));
	watt_series_free(series);
}

/* All that a domain used in a window is somebody's, and windows and entities add up to the whole. */
static void check_whole(const struct machine *m, const struct watt_series *series)
{
	int64_t whole_nj[N_DOMAINS] = { 0 }, entities_nj[N_DOMAINS] = { 0 };
	size_t w, d, c;

	assert_int_equal(series->info.n_windows, m->n_windows);
	assert_int_equal(series->info.n_failures, 0);
	assert_int_equal(series->info.n_checks, N_DOMAINS * m->n_windows);
	for (w = 0; w < series->info.n_windows; w++) {
		const struct watt_series_window *window = &series->windows[w];

		for (d = 0; d < N_DOMAINS; d++) {
			int64_t sum_nj =
				window->domains[d].idle_nj + window->domains[d].unattributed_nj;

			for (c = 0; c < window->n_cells; c++)
				if (watt_view_is_user(
					    series->entities[window->entity_index[c]].kind))
					sum_nj += window->energy_nj[c * N_DOMAINS + d];
			assert_int_equal(sum_nj, window->domains[d].energy_nj);
			whole_nj[d] += window->domains[d].energy_nj;
		}
	}
	for (c = 0; c < series->info.n_entities; c++)
		for (d = 0; d < N_DOMAINS; d++)
			if (watt_view_is_user(series->entities[c].kind))
				entities_nj[d] += series->entities[c].energy_nj[d];
	for (d = 0; d < N_DOMAINS; d++) {
		assert_int_equal(whole_nj[d], m->truth_nj[d]);
		assert_int_equal(series->totals[d].energy_nj, m->truth_nj[d]);
		assert_int_equal(series->totals[d].energy_nj, m->truth_nj[d]);
		assert_int_equal(entities_nj[d] + series->totals[d].idle_nj +
					 series->totals[d].unattributed_nj,
				 m->truth_nj[d]);
	}
}

static const struct watt_series_entity *find(const struct watt_series *series, uint64_t id,
					     enum watt_entity_kind kind)
{
	size_t i;

	for (i = 0; i < series->info.n_entities; i++)
		if (series->entities[i].id == id && series->entities[i].kind == kind)
			return &series->entities[i];
	return NULL;
}

static void test_sums_are_exact(void **state)
{
	struct watt_series *series = NULL;
	struct machine m;
	size_t w, i;

	init(&m);
	assert_int_equal(watt_series_new(0, &series), 0);
	for (w = 0; w < 150; w++)
		add_window(&m, series, 2, 30, w < 50 ? WATT_NO_MARK : w / 50);
	assert_int_equal(watt_series_finish(series), 0);
	check_whole(&m, series);
	assert_int_equal(series->info.n_folded, 0);
	assert_int_equal(series->info.n_entities, 31);
	for (i = 2; i < 32; i++) {
		const struct watt_series_entity *entity = find(series, i, WATT_ENTITY_PROCESS);

		assert_int_equal(entity->total_nj, m.entity_nj[i]);
		assert_int_equal(entity->cpu_ns, m.entity_cpu_ns[i]);
		assert_string_equal(entity->name, m.name[i - 2]);
		assert_int_equal(entity->pid, i);
		assert_true(entity->peak_w > 0 && entity->peak_w < 4e6 / 1e9);
	}
	assert_int_equal(series->windows[0].mark_index, WATT_NO_MARK);
	assert_int_equal(series->windows[149].mark_index, 2);
	watt_series_free(series);
}

/* Those that used nothing take no room. */
static void test_is_sparse(void **state)
{
	struct watt_series *series = NULL;
	struct machine m;
	size_t c;

	init(&m);
	assert_int_equal(watt_series_new(0, &series), 0);
	add_window(&m, series, 2, 100, WATT_NO_MARK);
	assert_true(series->windows[0].n_cells < 100);
	for (c = 0; c < series->windows[0].n_cells; c++)
		assert_true(series->windows[0].total_nj[c] > 0);
	check_whole(&m, series);
	watt_series_free(series);
}

/* Processes come and go; the number kept is bounded all the time and nothing is lost. */
static void test_folding_loses_nothing(void **state)
{
	const size_t max = 20;
	struct watt_series *series = NULL;
	struct machine m;
	int64_t all_nj = 0, kept_nj = 0;
	double least_nj = INFINITY;
	size_t w, i;

	init(&m);
	assert_int_equal(watt_series_new(max, &series), 0);
	for (w = 0; w < 300; w++) {
		add_window(&m, series, 2 + w, 60, WATT_NO_MARK);
		assert_true(series->info.n_entities <= 2 * max + 60 + 3);
	}
	assert_int_equal(watt_series_finish(series), 0);
	check_whole(&m, series);
	assert_true(series->info.n_folded > 100);
	assert_int_equal(series->info.n_entities, max + 2); /* others, and the user */
	for (i = 0; i < series->info.n_entities; i++) {
		const struct watt_series_entity *entity = &series->entities[i];

		if (!watt_view_is_user(entity->kind))
			continue;
		all_nj += entity->total_nj;
		if (entity->is_others)
			continue;
		kept_nj += entity->total_nj;
		least_nj = fmin(least_nj, (double)entity->total_nj);
		assert_true(entity->total_nj <= m.entity_nj[entity->id]);
	}
	for (i = 2; i < 2 + 300 + 60; i++)
		all_nj -= m.entity_nj[i];
	assert_int_equal(all_nj, 0);
	assert_true(kept_nj > 0 && least_nj > 0);
	watt_series_free(series);
}

/* Who is folded while he lives goes on in "others", and does not come back as a part of himself. */
static void test_the_folded_stay_folded(void **state)
{
	struct watt_series *series = NULL;
	struct machine m;
	size_t w, i;

	init(&m);
	assert_int_equal(watt_series_new(5, &series), 0);
	for (w = 0; w < 40; w++)
		add_window(&m, series, 2, 50, WATT_NO_MARK);
	assert_int_equal(watt_series_finish(series), 0);
	check_whole(&m, series);
	assert_int_equal(series->info.n_folded, 45);
	for (i = 0; i < series->info.n_entities; i++)
		if (watt_view_is_user(series->entities[i].kind) && !series->entities[i].is_others)
			assert_int_equal(series->entities[i].total_nj,
					 m.entity_nj[series->entities[i].id]);
	watt_series_free(series);
}

/* Sixty processes, of which number 59 uses least at first, and most at the end. */
static void add_slow_starter(struct machine *m, struct watt_series *series, size_t w)
{
	uint64_t t_ns = m->n_windows++ * WINDOW_NS;
	size_t d, i;

	m->view.n_rows = 0;
	for (d = 0; d < N_DOMAINS; d++)
		m->state[d] = (struct watt_domain_state){ .window_ns = WINDOW_NS };
	for (i = 2; i < 60; i++)
		put_row(m, i, WATT_ENTITY_PROCESS, 1000000 - (int64_t)i * 1000);
	put_row(m, 60, WATT_ENTITY_PROCESS, w < 10 ? 1 : 100000000);
	for (d = 0; d < N_DOMAINS; d++)
		m->truth_nj[d] += m->state[d].window_nj;
	assert_int_equal(watt_series_add(series, &m->view, t_ns, t_ns + WINDOW_NS, WATT_NO_MARK),
			 0);
}

static struct watt_series *read_slow_starter(struct machine *m, const struct watt_series *first)
{
	struct watt_series *series = NULL;
	size_t w;

	init(m);
	assert_int_equal(watt_series_new(5, &series), 0);
	if (first)
		assert_int_equal(watt_series_choose(series, first), 0);
	for (w = 0; w < 20; w++)
		add_slow_starter(m, series, w);
	assert_int_equal(watt_series_finish(series), 0);
	check_whole(m, series);
	return series;
}

/* Totals first, then the rank: who used the most is seen, however late that was. */
static void test_the_top_is_never_lost(void **state)
{
	struct watt_series *first, *series;
	const struct watt_folded_name *name;
	struct machine m;
	size_t w, i, c;
	int64_t sum_nj = 0;

	first = read_slow_starter(&m, NULL);
	assert_null(find(first, 60, WATT_ENTITY_PROCESS));
	assert_int_equal(first->info.n_misplaced, 1);
	name = watt_folded_find(&first->folded, "p60", 0);
	assert_non_null(name);
	assert_int_equal(name->total_nj, m.entity_nj[60]);
	assert_null(watt_folded_find(&first->folded, "p60", 1));
	assert_null(watt_folded_find(&first->folded, "p2", 0));

	series = read_slow_starter(&m, first);
	assert_int_equal(series->info.n_misplaced, 0);
	assert_int_equal(series->info.n_entities, 6);
	assert_int_equal(series->info.n_folded, 54);
	for (i = 2; i < 6; i++)
		assert_int_equal(find(series, i, WATT_ENTITY_PROCESS)->total_nj, m.entity_nj[i]);
	assert_int_equal(find(series, 60, WATT_ENTITY_PROCESS)->total_nj, m.entity_nj[60]);
	/* From his first window on. */
	for (w = 0; w < 20; w++)
		for (c = 0; c < series->windows[w].n_cells; c++)
			if (series->entities[series->windows[w].entity_index[c]].id == 60)
				sum_nj += series->windows[w].total_nj[c];
	assert_int_equal(sum_nj, m.entity_nj[60]);
	assert_int_equal(find(series, 0, WATT_ENTITY_PROCESS)->count, 54);
	watt_series_free(first);
	watt_series_free(series);
}

/* A domain that comes later was not there before; what there was stays what it was. */
static void test_domain_that_comes(void **state)
{
	struct watt_series *series = NULL;
	struct machine m;
	size_t w;

	init(&m);
	m.view.n_domains = N_DOMAINS - 1;
	assert_int_equal(watt_series_new(0, &series), 0);
	for (w = 0; w < 6; w++) {
		if (w == 3)
			m.view.n_domains = N_DOMAINS;
		add_window(&m, series, 2, 4, WATT_NO_MARK);
	}
	assert_int_equal(watt_series_finish(series), 0);
	assert_int_equal(series->info.n_domains, N_DOMAINS);
	assert_int_equal(series->info.n_failures, 0);
	for (w = 0; w < 6; w++) {
		const struct watt_series_energy *late = &series->windows[w].domains[N_DOMAINS - 1];

		assert_int_equal(watt_series_is_known(late), w >= 3);
		assert_int_equal(late->status == WATT_STATUS_ABSENT, w < 3);
		assert_true(watt_series_is_known(&series->windows[w].domains[0]));
	}
	assert_int_equal(series->totals[0].energy_nj, m.truth_nj[0]);
	m.view.n_domains = 1; /* none ever goes */
	assert_int_equal(watt_series_add(series, &m.view, 6 * WINDOW_NS, 7 * WINDOW_NS,
					 WATT_NO_MARK),
			 -EINVAL);
	watt_series_free(series);
}

/* No value is not 0: it has no power, and takes no part in a mean. */
static void test_what_is_missing(void **state)
{
	struct watt_series_energy sum;
	struct watt_series *series = NULL;
	struct machine m;

	init(&m);
	assert_int_equal(watt_series_new(0, &series), 0);
	add_window(&m, series, 2, 4, WATT_NO_MARK);
	m.view.n_rows = 0;
	m.state[2] =
		(struct watt_domain_state){ .window_ns = WINDOW_NS, .status = WATT_STATUS_ABSENT };
	assert_int_equal(watt_series_add(series, &m.view, WINDOW_NS, 2 * WINDOW_NS, WATT_NO_MARK),
			 0);
	m.state[2] = (struct watt_domain_state){ .window_ns = WINDOW_NS,
						 .window_nj = 500000000,
						 .window_unattributed_nj = 500000000,
						 .unknown_ns = WINDOW_NS / 2 };
	m.state[0] = m.state[2];
	m.state[0].unknown_ns = 0;
	assert_int_equal(
		watt_series_add(series, &m.view, 2 * WINDOW_NS, 3 * WINDOW_NS, WATT_NO_MARK), 0);
	assert_false(watt_series_is_known(&series->windows[1].domains[2]));
	assert_true(isnan(watt_series_power_w(&series->windows[1].domains[2], 0)));
	assert_true(watt_series_is_known(&series->windows[1].domains[0]));
	sum = series->windows[1].domains[2];
	watt_series_add_energy(&sum, &series->windows[2].domains[2]);
	assert_int_equal(sum.known_ns, WINDOW_NS / 2);
	assert_true(fabs(watt_series_power_w(&sum, sum.energy_nj) - 1) < 1e-12);
	watt_series_free(series);
	assert_int_equal(watt_series_new(0, &series), 0); /* nothing at all */
	assert_int_equal(watt_series_finish(series), 0);
	assert_int_equal(series->info.n_windows, 0);
	watt_series_free(series);
}

/* Readings run ahead of what is attributed: a gap is told of before the window that it is in. */
static void test_gap_is_told_early(void **state)
{
	struct watt_series *series = NULL;
	struct machine m;
	uint64_t t_ns = 0, length_ns[] = { WINDOW_NS, WINDOW_NS, 5 * WINDOW_NS, WINDOW_NS };
	size_t w;

	init(&m);
	assert_int_equal(watt_series_new(0, &series), 0);
	m.view.n_rows = 0;
	for (w = 0; w < 4; w++) {
		m.state[0] = (struct watt_domain_state){ .window_ns = length_ns[w],
							 .window_nj = WINDOW_NS,
							 .window_unattributed_nj = WINDOW_NS,
							 .unknown_ns = w > 0 ? 4 * WINDOW_NS : 0 };
		assert_int_equal(watt_series_add(series, &m.view, t_ns, t_ns + length_ns[w],
						 WATT_NO_MARK),
				 0);
		t_ns += length_ns[w];
	}
	assert_int_equal(series->windows[0].domains[0].known_ns, WINDOW_NS);
	assert_int_equal(series->windows[2].domains[0].known_ns, 2 * WINDOW_NS);
	assert_int_equal(series->windows[3].domains[0].known_ns, WINDOW_NS);
	assert_int_equal(series->totals[0].known_ns, 4 * WINDOW_NS);
	assert_true(fabs(watt_series_power_w(&series->totals[0], series->totals[0].energy_nj) - 1) <
		    1e-12);
	watt_series_free(series);
}

/* More than int64 nJ: the windows that fit are there, and the sums are theirs. */
static void test_more_than_fits(void **state)
{
	const int64_t much_nj = INT64_MAX / 10;
	const struct watt_series_entity *entity;
	struct watt_series *series;
	struct machine m;
	size_t i, d;

	init(&m);
	assert_int_equal(watt_series_new(0, &series), 0);
	for (i = 0; i < 3; i++) {
		m.view.n_rows = 0;
		for (d = 0; d < N_DOMAINS; d++)
			m.state[d] = (struct watt_domain_state){ .window_ns = WINDOW_NS };
		put_row(&m, 7, WATT_ENTITY_PROCESS, much_nj); /* 1, 2 and 3 times that */
		assert_int_equal(watt_series_add(series, &m.view, i * WINDOW_NS,
						 (i + 1) * WINDOW_NS, WATT_NO_MARK),
				 i == 0 ? 0 : -EOVERFLOW);
	}
	assert_int_equal(watt_series_finish(series), 0);
	assert_int_equal(watt_series_get_info(series)->n_windows, 1);
	assert_int_equal(watt_series_get_info(series)->n_failures, 0);
	entity = watt_series_get_entity(series, 0);
	assert_int_equal(entity->total_nj, 4 * much_nj);
	/* what is small still fits */
	m.view.n_rows = 0;
	for (d = 0; d < N_DOMAINS; d++)
		m.state[d] = (struct watt_domain_state){ .window_ns = WINDOW_NS };
	put_row(&m, 7, WATT_ENTITY_PROCESS, 5);
	assert_int_equal(watt_series_add(series, &m.view, WINDOW_NS, 2 * WINDOW_NS, WATT_NO_MARK),
			 0);
	watt_series_free(series);
	(void)state;
}

static void add_gauges(struct watt_series *series, struct machine *m, const struct watt_gauge *a,
		       const struct watt_gauge *b, uint64_t window)
{
	const struct watt_gauge *list[] = { a, b };

	m->view.gauges = list;
	m->view.n_gauges = b ? 2 : 1;
	m->view.n_rows = 0;
	assert_int_equal(watt_series_add(series, &m->view, window * WINDOW_NS,
					 (window + 1) * WINDOW_NS, WATT_NO_MARK),
			 0);
	m->view.gauges = NULL;
	m->view.n_gauges = 0;
}

/* Means weigh by the time that is known; a window that knows nothing has no part in them. */
static void test_context(void **state)
{
	struct watt_gauge hot = { .name = "cpu", .quantity = WATT_QUANTITY_TEMPERATURE };
	struct watt_gauge late = { .name = "gpu", .quantity = WATT_QUANTITY_RATIO };
	const struct watt_series_gauge *sum;
	struct watt_series *series;
	struct machine m;

	init(&m);
	assert_int_equal(watt_series_new(0, &series), 0);
	hot.mean = NAN;
	hot.status = WATT_STATUS_PENDING;
	add_gauges(series, &m, &hot, NULL, 0);
	assert_true(isnan(watt_series_get_gauge(series, 0)->mean));
	assert_int_equal(watt_series_get_gauge(series, 0)->known_ns, 0);
	hot.mean = -4;
	hot.known_ns = 100;
	hot.status = WATT_STATUS_OK;
	late.mean = 0.5;
	late.known_ns = 7;
	add_gauges(series, &m, &hot, &late, 1);
	hot.mean = 8;
	hot.known_ns = 300;
	/* in another order, too, each is itself */
	add_gauges(series, &m, &late, &hot, 2);
	hot.mean = NAN;
	hot.status = WATT_STATUS_NODATA;
	add_gauges(series, &m, &hot, &late, 3);
	sum = watt_series_get_gauge(series, 0);
	assert_string_equal(sum->name, "cpu");
	assert_int_equal(sum->quantity, WATT_QUANTITY_TEMPERATURE);
	assert_int_equal(sum->status, WATT_STATUS_NODATA);
	assert_int_equal(sum->known_ns, 400);
	assert_true(fabs(sum->mean - 5) < 1e-12);
	assert_true(sum->least == -4 && sum->greatest == 8);
	sum = watt_series_get_gauge(series, 1);
	assert_string_equal(sum->name, "gpu");
	assert_int_equal(sum->known_ns, 21);
	assert_true(sum->mean == 0.5);
	/* in each window; one that came later was in none before */
	assert_true(isnan(watt_series_get_gauge_mean(series, 0, 0)));
	assert_true(watt_series_get_gauge_mean(series, 0, 1) == -4);
	assert_true(watt_series_get_gauge_mean(series, 0, 2) == 8);
	assert_true(isnan(watt_series_get_gauge_mean(series, 0, 3)));
	assert_true(isnan(watt_series_get_gauge_mean(series, 1, 0)));
	assert_true(watt_series_get_gauge_mean(series, 1, 3) == 0.5);
	assert_true(isnan(watt_series_get_gauge_mean(series, 1, 4)));
	assert_true(isnan(watt_series_get_gauge_mean(series, 2, 0)));
	assert_true(isnan(watt_series_get_gauge_mean(NULL, 0, 0)));
	assert_null(watt_series_get_gauge(series, 2));
	assert_null(watt_series_get_gauge(NULL, 0));
	watt_series_free(series);
	(void)state;
}

static void test_choice_of_windows(void **state)
{
	static const uint64_t minute_ns = 60000000000ULL;

	assert_int_equal(watt_windows_choose_ns(10 * minute_ns, 50000000), 1000000000);
	assert_int_equal(watt_windows_choose_ns(minute_ns, 10000000), 100000000);
	assert_int_equal(watt_windows_choose_ns(minute_ns, 200000000), 200000000);
	assert_int_equal(watt_windows_choose_ns(0, 50000000), 50000000);
	assert_int_equal(watt_windows_choose_ns(0, 0), 1000000);
	assert_true(UINT64_MAX / watt_windows_choose_ns(UINT64_MAX, 1) < 1200);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_doubts_are_of_the_whole),
		cmocka_unit_test(test_sums_are_exact),
		cmocka_unit_test(test_is_sparse),
		cmocka_unit_test(test_folding_loses_nothing),
		cmocka_unit_test(test_the_folded_stay_folded),
		cmocka_unit_test(test_the_top_is_never_lost),
		cmocka_unit_test(test_domain_that_comes),
		cmocka_unit_test(test_what_is_missing),
		cmocka_unit_test(test_gap_is_told_early),
		cmocka_unit_test(test_context),
		cmocka_unit_test(test_choice_of_windows),
		cmocka_unit_test(test_more_than_fits),
	};

	return cmocka_run_group_tests_name("series", tests, NULL, NULL);
}
