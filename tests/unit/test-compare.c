/* SPDX-License-Identifier: Apache-2.0 */
/* lib/view/comparison.c, phases.c and ranking.c, on two series that are made up here */
#include "unit.h"

#include <math.h>

#include <wattribute/comparison.h>
#include <wattribute/ranking.h>

#include "view/phases.h"
#include "view/ranking.h"

#define WINDOW_NS 1000000000ULL
#define N_WINDOWS 90
#define N_ROWS 4

struct machine {
	struct watt_domain domain;
	struct watt_domain_state state;
	const struct watt_domain *domains[1];
	const struct watt_domain_state *states[1];
	struct watt_row row[N_ROWS];
	struct watt_entity entity[N_ROWS];
	struct watt_identity who[N_ROWS];
	const struct watt_row *rows[N_ROWS];
	int64_t window_nj[N_ROWS][1];
	struct watt_quality quality;
	struct watt_view view;
	uint32_t random;
};

static const char *const names[] = { "web", "web", "db", "web-1" };

static void init(struct machine *m, const char *third)
{
	size_t i;

	*m = (struct machine){ .random = 7 };
	m->domain = (struct watt_domain){ .path = "package-0",
					  .name = "package-0",
					  .parent = -1,
					  .key = WATT_KEY_CPU_TIME,
					  .is_partition = 1 };
	m->domains[0] = &m->domain;
	m->states[0] = &m->state;
	for (i = 0; i < N_ROWS; i++) {
		m->who[i] =
			(struct watt_identity){ .pid = (uint32_t)i + 10, .cmdline = "/bin/x y" };
		m->entity[i] = (struct watt_entity){ .id = i + 1,
						     .count = 1,
						     .alive = 1,
						     .name = i == 2 ? third : names[i],
						     .identity = &m->who[i] };
		m->row[i].entity = &m->entity[i];
		m->row[i].window_nj = m->window_nj[i];
		m->rows[i] = &m->row[i];
	}
	/* A container with the first process in it. */
	m->entity[3].kind = WATT_ENTITY_CONTAINER;
	m->entity[3].identity = NULL;
	m->view = (struct watt_view){ .domains = m->domains,
				      .states = m->states,
				      .rows = m->rows,
				      .n_domains = 1,
				      .n_rows = N_ROWS,
				      .quality = &m->quality };
}

static int64_t noise_nj(struct machine *m)
{
	m->random = m->random * 1664525 + 1013904223;
	return (int64_t)(m->random >> 8) % 1000000;
}

/* web uses factor * 3 W, the third 2 W, idle 1 W. */
static struct watt_series *make_long(struct machine *m, double factor, size_t n_windows,
				     const struct watt_mark *marks, size_t n_marks)
{
	struct watt_series *series = NULL;
	size_t w, i, mark = 0;

	assert_int_equal(watt_series_new(0, &series), 0);
	for (w = 0; w < n_windows; w++) {
		uint64_t t_ns = (w + 100) * WINDOW_NS;

		m->window_nj[0][0] = (int64_t)(2e9 * factor) + noise_nj(m);
		m->window_nj[1][0] = (int64_t)(1e9 * factor) + noise_nj(m);
		m->window_nj[2][0] = 2000000000 + noise_nj(m);
		m->window_nj[3][0] = m->window_nj[0][0];
		m->state = (struct watt_domain_state){ .window_ns = WINDOW_NS,
						       .window_idle_nj = 1000000000,
						       .window_nj = 1000000000 };
		for (i = 0; i < 3; i++)
			m->state.window_nj += m->window_nj[i][0];
		while (mark < n_marks && marks[mark].t_ns <= t_ns)
			mark++;
		assert_int_equal(watt_series_add(series, &m->view, t_ns, t_ns + WINDOW_NS,
						 mark ? mark - 1 : WATT_NO_MARK),
				 0);
	}
	assert_int_equal(watt_series_finish(series), 0);
	return series;
}

static struct watt_series *make(struct machine *m, double factor, const struct watt_mark *marks,
				size_t n_marks)
{
	return make_long(m, factor, N_WINDOWS, marks, n_marks);
}

static const struct watt_comparison_row *find(const struct watt_comparison *comparison,
					      enum watt_comparison_list list, const char *name)
{
	const struct watt_comparison_row *row;
	size_t i;

	for (i = 0; (row = watt_comparison_get(comparison, list, i)); i++)
		if (strcmp(row->name, name) == 0)
			return row;
	return NULL;
}

static const struct watt_mark marks[] = {
	{ .t_ns = 120 * WINDOW_NS, .label = "load" },  { .t_ns = 150 * WINDOW_NS, .label = "run" },
	{ .t_ns = 160 * WINDOW_NS, .label = "load" },  { .t_ns = 180 * WINDOW_NS, .label = "" },
	{ .t_ns = 400 * WINDOW_NS, .label = "never" },
};

/* Each of many labels costs a few comparisons, alone and between two series. */
static void test_many_labels(void **state)
{
	static struct watt_mark many[20000];
	struct watt_comparison *comparison = NULL;
	struct watt_phases *phases = NULL;
	struct watt_series *series;
	struct machine m;
	size_t i, n = sizeof(many) / sizeof(many[0]);

	for (i = 0; i < n; i++) {
		many[i].t_ns = 120 * WINDOW_NS + i;
		snprintf(many[i].label, sizeof(many[i].label), "label %zu", i / 2);
	}
	init(&m, "db");
	series = make(&m, 1, many, n);
	assert_int_equal(watt_phases_find(series, many, n, &phases), 0);
	assert_int_equal(phases->n, n + 1);
	assert_int_equal(phases->n_labels, n / 2 + 1);
	assert_int_equal(phases->by_label[1].count, 2);
	assert_int_equal(phases->first_of_label[1], 1);
	assert_int_equal(phases->next_of_label[1], 2);
	assert_true(phases->next_of_label[2] == WATT_NO_PHASE);
	assert_true(phases->index.n_compares < n * 100);
	assert_int_equal(watt_comparison_build(series, phases, series, phases, &comparison), 0);
	assert_non_null(find(comparison, WATT_COMPARISON_PHASES, "label 777"));
	watt_comparison_free(comparison);
	watt_phases_free(phases);
	watt_series_free(series);
}

/* Phases are all of the time, and sums of their windows. */
static void test_phases(void **state)
{
	int64_t sum_nj = 0, labels_nj = 0;
	struct watt_phases *phases = NULL;
	struct watt_series *series;
	struct machine m;
	size_t i;

	init(&m, "db");
	series = make(&m, 1, marks, 5);
	assert_int_equal(watt_phases_find(series, marks, 5, &phases), 0);
	assert_int_equal(phases->n, 6);
	assert_string_equal(phases->list[0].label, "");
	assert_int_equal(phases->list[1].elapsed_ns, 30 * WINDOW_NS);
	assert_int_equal(phases->list[1].t0_ns, 120 * WINDOW_NS);
	assert_int_equal(phases->list[5].elapsed_ns, 0); /* there, though nothing is in it */
	assert_true(isnan(phases->list[5].power_w));
	for (i = 0; i < phases->n; i++)
		sum_nj += phases->list[i].energy_nj;
	for (i = 0; i < phases->n_labels; i++)
		labels_nj += phases->by_label[i].energy_nj;
	assert_int_equal(sum_nj, series->totals[0].energy_nj);
	assert_int_equal(labels_nj, series->totals[0].energy_nj);
	assert_int_equal(phases->whole.energy_nj, series->totals[0].energy_nj);
	assert_int_equal(phases->n_labels, 4); /* none, load, run, never */
	assert_int_equal(phases->by_label[1].count, 2);
	assert_int_equal(phases->by_label[1].elapsed_ns, 50 * WINDOW_NS);
	phases = watt_phases_free(phases);
	assert_int_equal(watt_phases_find(series, NULL, 0, &phases), 0);
	assert_false(phases->has_marks);
	phases = watt_phases_free(phases);
	watt_series_free(series);
}

static void test_rankings_are_complete(void **state)
{
	struct watt_ranking *ranking = NULL;
	struct watt_phases *phases = NULL;
	struct watt_series *series;
	struct machine m;
	int group;
	size_t i;

	init(&m, "db");
	series = make(&m, 1, NULL, 0);
	assert_int_equal(watt_phases_find(series, NULL, 0, &phases), 0);
	for (group = 0; watt_ranking_group_name((enum watt_ranking_group)group); group++) {
		int64_t sum_nj = 0;

		assert_int_equal(watt_ranking_build(series, phases, (enum watt_ranking_group)group,
						    &ranking),
				 0);
		for (i = 0; i < ranking->n; i++) {
			sum_nj += ranking->rows[i].total_nj;
			if (i)
				assert_true(ranking->rows[i].total_nj <=
					    ranking->rows[i - 1].total_nj);
		}
		assert_int_equal(sum_nj, series->totals[0].energy_nj);
		if (group == WATT_RANKING_NAME) {
			assert_string_equal(ranking->rows[0].name, "web");
			assert_int_equal(ranking->rows[0].count, 2);
		}
		if (group == WATT_RANKING_PROCESS) {
			assert_string_equal(ranking->rows[0].name, "x y");
			assert_true(fabs(ranking->rows[0].power_w - 2) < 0.01);
		}
		watt_ranking_free(ranking);
	}
	assert_int_equal(group, WATT_RANKING_THREAD + 1);
	assert_int_equal(watt_ranking_build(series, phases, (enum watt_ranking_group)group,
					    &ranking),
			 -EINVAL);
	phases = watt_phases_free(phases);
	watt_series_free(series);
}

static void test_comparison(void **state)
{
	const struct watt_comparison_row *row;
	struct watt_comparison *comparison = NULL;
	struct watt_phases *phases[2] = { 0 };
	struct watt_series *series[2];
	struct machine m[2];

	init(&m[0], "db");
	init(&m[1], "old");
	m[1].random = 99;
	series[0] = make(&m[0], 1, marks, 5);
	series[1] = make(&m[1], 1.5, marks, 5);
	assert_int_equal(watt_phases_find(series[0], marks, 5, &phases[0]), 0);
	assert_int_equal(watt_phases_find(series[1], marks, 5, &phases[1]), 0);
	assert_int_equal(
		watt_comparison_build(series[0], phases[0], series[1], phases[1], &comparison), 0);
	/* 6 W now, 7.5 W before. */
	row = watt_comparison_get(comparison, WATT_COMPARISON_TOTAL, 0);
	assert_true(fabs(row->difference_ratio + 0.2) < 1e-3 && row->is_significant);
	assert_int_equal(row->now->energy_nj, series[0]->totals[0].energy_nj);
	assert_null(watt_comparison_get(comparison, WATT_COMPARISON_TOTAL, 1));
	row = find(comparison, WATT_COMPARISON_DOMAINS, "package-0");
	assert_true(fabs(row->difference_w + 1.5) < 1e-2);
	row = find(comparison, WATT_COMPARISON_NAMES, "web");
	assert_true(fabs(row->difference_ratio + 1.0 / 3) < 1e-3 && row->is_significant);
	assert_int_equal(row->now->energy_nj,
			 series[0]->entities[0].total_nj + series[0]->entities[1].total_nj);
	row = find(comparison, WATT_COMPARISON_NAMES, "db");
	assert_true(row->now->is_there && !row->before->is_there);
	row = find(comparison, WATT_COMPARISON_PHASES, "load");
	assert_int_equal(row->now->elapsed_ns, 50 * WINDOW_NS);
	assert_true(row->is_significant);
	row = find(comparison, WATT_COMPARISON_PHASES, "run"); /* ten windows are too few */
	assert_true(!row->is_known && !row->is_significant);
	assert_true(isfinite(row->difference_ratio));
	assert_null(find(comparison, WATT_COMPARISON_PHASES, ""));
	watt_comparison_free(comparison);
	/* With itself there is no difference. */
	assert_int_equal(
		watt_comparison_build(series[0], phases[0], series[0], phases[0], &comparison), 0);
	row = watt_comparison_get(comparison, WATT_COMPARISON_TOTAL, 0);
	assert_true(row->difference_w == 0 && !row->is_significant);
	watt_comparison_free(comparison);
	watt_phases_free(phases[0]);
	watt_phases_free(phases[1]);
	watt_series_free(series[0]);
	watt_series_free(series[1]);
}

/* Two series with their phases, and how they compare. */
struct versus {
	struct machine m[2];
	struct watt_series *series[2];
	struct watt_phases *phases[2];
	struct watt_comparison *comparison;
};

static void versus_init(struct versus *versus, const double factor[2], const size_t n_windows[2],
			const struct watt_mark *list, size_t n_marks)
{
	size_t s;

	*versus = (struct versus){ 0 };
	for (s = 0; s < 2; s++) {
		init(&versus->m[s], "db");
		versus->m[s].random = (uint32_t)s + 3;
		versus->series[s] =
			make_long(&versus->m[s], factor[s], n_windows[s], list, n_marks);
		assert_int_equal(
			watt_phases_find(versus->series[s], list, n_marks, &versus->phases[s]), 0);
	}
	assert_int_equal(watt_comparison_build(versus->series[0], versus->phases[0],
					       versus->series[1], versus->phases[1],
					       &versus->comparison),
			 0);
}

static void versus_done(struct versus *versus)
{
	size_t s;

	watt_comparison_free(versus->comparison);
	for (s = 0; s < 2; s++) {
		watt_phases_free(versus->phases[s]);
		watt_series_free(versus->series[s]);
	}
}

/* The same power for less than half of the time: power did not change, and energy was saved. */
static void test_energy_is_what_is_judged(void **state)
{
	static const double factor[] = { 1, 1 };
	static const size_t n_windows[] = { 40, N_WINDOWS };
	const struct watt_comparison_row *row;
	struct versus versus;

	versus_init(&versus, factor, n_windows, NULL, 0);
	row = watt_comparison_get(versus.comparison, WATT_COMPARISON_TOTAL, 0);
	assert_true(fabs(row->difference_ratio) < 1e-3);
	assert_false(row->is_significant);
	assert_true(fabs(row->energy_j - 6 * (40 - N_WINDOWS)) < 0.2);
	assert_true(fabs(row->energy_ratio - (40.0 / N_WINDOWS - 1)) < 1e-3);
	assert_int_equal(row->energy_basis, WATT_COMPARISON_WINDOWS);
	assert_true(row->is_energy_significant);
	assert_true(row->energy_ci95_j > 0 && row->energy_ci95_j < 1);
	assert_int_equal(row->now->n_runs, 1);
	assert_true(row->now->run_s == 40 && row->before->run_s == N_WINDOWS);
	row = find(versus.comparison, WATT_COMPARISON_NAMES, "db");
	assert_true(row->is_energy_significant);
	versus_done(&versus);
}

/* More power for a shorter time is no more energy. */
static void test_power_is_not_energy(void **state)
{
	static const double factor[] = { 3, 1 };
	static const size_t n_windows[] = { 30, N_WINDOWS };
	const struct watt_comparison_row *row;
	struct versus versus;

	versus_init(&versus, factor, n_windows, NULL, 0);
	row = find(versus.comparison, WATT_COMPARISON_NAMES, "web");
	assert_true(row->is_significant && row->difference_ratio > 1.9);
	assert_true(fabs(row->energy_ratio) < 1e-3);
	versus_done(&versus);
}

/* Runs of a phase are measurements: their means are compared, however many there are of each. */
static void test_runs_of_a_phase(void **state)
{
	static const struct watt_mark list[] = {
		{ .t_ns = 100 * WINDOW_NS, .label = "work" },
		{ .t_ns = 104 * WINDOW_NS, .label = "" },
		{ .t_ns = 105 * WINDOW_NS, .label = "work" },
		{ .t_ns = 110 * WINDOW_NS, .label = "" },
		{ .t_ns = 112 * WINDOW_NS, .label = "work" },
		{ .t_ns = 116 * WINDOW_NS, .label = "once" },
		{ .t_ns = 120 * WINDOW_NS, .label = "" },
	};
	static const double factor[] = { 1, 2 };
	static const size_t n_windows[] = { N_WINDOWS, 11 };
	const struct watt_comparison_row *row;
	struct versus versus;

	versus_init(&versus, factor, n_windows, list, 7);
	row = find(versus.comparison, WATT_COMPARISON_PHASES, "work");
	/* 4, 5 and 4 s of 6 W; 4 and 5 s of 9 W. */
	assert_int_equal(row->now->n_runs, 3);
	assert_int_equal(row->before->n_runs, 2);
	assert_true(fabs(row->now->run_j - 26) < 0.1);
	assert_true(fabs(row->before->run_j - 40.5) < 0.1);
	assert_true(fabs(row->now->run_s - 13.0 / 3) < 1e-9);
	assert_true(fabs(row->energy_j + 14.5) < 0.2);
	assert_int_equal(row->energy_basis, WATT_COMPARISON_RUNS);
	/* t of 2 degrees of freedom, and a standard deviation of 3.46 J. */
	assert_true(fabs(row->now->run_ci95_j - 4.303 * 3.464 / sqrt(3)) < 0.1);
	assert_true(row->energy_ci95_j > 14.5 && !row->is_energy_significant);
	row = find(versus.comparison, WATT_COMPARISON_PHASES, "once");
	assert_int_equal(row->now->n_runs, 1);
	assert_int_equal(row->energy_basis, WATT_COMPARISON_NOTHING);
	versus_done(&versus);
}

/* One run beside several is as sure as each of these. */
static void test_one_run_beside_several(void **state)
{
	static const struct watt_mark list[] = {
		{ .t_ns = 100 * WINDOW_NS, .label = "work" },
		{ .t_ns = 110 * WINDOW_NS, .label = "" },
		{ .t_ns = 111 * WINDOW_NS, .label = "work" },
		{ .t_ns = 121 * WINDOW_NS, .label = "" },
		{ .t_ns = 122 * WINDOW_NS, .label = "work" },
		{ .t_ns = 132 * WINDOW_NS, .label = "" },
	};
	static const double factor[] = { 1, 2 };
	static const size_t n_windows[] = { N_WINDOWS, 10 };
	const struct watt_comparison_row *row;
	struct versus versus;

	versus_init(&versus, factor, n_windows, list, 6);
	row = find(versus.comparison, WATT_COMPARISON_PHASES, "work");
	assert_int_equal(row->before->n_runs, 1);
	assert_int_equal(row->energy_basis, WATT_COMPARISON_RUNS);
	assert_true(isnan(row->before->run_ci95_j));
	assert_true(fabs(row->energy_ratio + 1.0 / 3) < 1e-3 && row->is_energy_significant);
	versus_done(&versus);
}

/* A name that one of the two has put together with others is known in both, and not new. */
static void test_what_is_folded_is_not_gone(void **state)
{
	struct watt_comparison *comparison = NULL;
	const struct watt_comparison_row *row;
	struct watt_phases *phases[2] = { 0 };
	struct watt_ranking *ranking = NULL;
	struct watt_series *series[2];
	struct machine m[2];
	int64_t sum_nj = 0;
	size_t i;

	for (i = 0; i < 2; i++) {
		init(&m[i], "db");
		series[i] = make_long(&m[i], 1, 40, NULL, 0);
	}
	series[1]->max_entities = 1;
	assert_int_equal(watt_series_finish(series[1]), 0);
	assert_int_equal(series[1]->info.n_folded, 2);
	for (i = 0; i < 2; i++)
		assert_int_equal(watt_phases_find(series[i], NULL, 0, &phases[i]), 0);
	assert_int_equal(
		watt_comparison_build(series[0], phases[0], series[1], phases[1], &comparison), 0);
	assert_null(find(comparison, WATT_COMPARISON_NAMES, "all others"));
	for (i = 0; (row = watt_comparison_get(comparison, WATT_COMPARISON_NAMES, i)); i++) {
		assert_true(row->now->is_there && row->before->is_there);
		assert_int_equal(row->now->energy_nj, row->before->energy_nj);
		assert_true(fabs(row->now->power_w - row->before->power_w) < 1e-9);
	}
	assert_int_equal(i, 2);
	row = find(comparison, WATT_COMPARISON_NAMES, "web"); /* one of its two is folded */
	assert_true(isfinite(row->now->power_ci95_w) && isnan(row->before->power_ci95_w));
	assert_int_equal(watt_ranking_build(series[1], phases[1], WATT_RANKING_NAME, &ranking), 0);
	assert_string_equal(ranking->rows[0].name, "web");
	assert_int_equal(ranking->rows[0].count, 2);
	for (i = 0; i < ranking->n; i++)
		sum_nj += ranking->rows[i].total_nj;
	assert_int_equal(sum_nj, series[1]->totals[0].energy_nj);
	watt_ranking_free(ranking);
	watt_comparison_free(comparison);
	for (i = 0; i < 2; i++) {
		watt_phases_free(phases[i]);
		watt_series_free(series[i]);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_phases),
		cmocka_unit_test(test_many_labels),
		cmocka_unit_test(test_rankings_are_complete),
		cmocka_unit_test(test_comparison),
		cmocka_unit_test(test_energy_is_what_is_judged),
		cmocka_unit_test(test_power_is_not_energy),
		cmocka_unit_test(test_runs_of_a_phase),
		cmocka_unit_test(test_one_run_beside_several),
		cmocka_unit_test(test_what_is_folded_is_not_gone),
	};

	return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
