/* SPDX-License-Identifier: Apache-2.0 */
/* lib/view/windows.c and watt_series_read() on a session of the simulated machine */
#include "unit.h"

#include "../options_of.h"

#include <time.h>

#include "view/series.h"

#define MS_NS 1000000ULL

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

static struct watt_session *open_synth(void)
{
	struct watt_session *ses = NULL;

	assert_int_equal(
		open_by(options_of("sources", "synth", "usage", "synth", "slice", "10ms", NULL),
			&ses),
		0);
	assert_int_equal(watt_session_start(ses), 0);
	return ses;
}

/* Windows follow each other, cut at each mark, and add up to what the session says. */
static void test_windows_are_the_whole(void **state)
{
	struct watt_session *ses = open_synth();
	uint64_t start_ns = now_ns();
	struct watt_mark marks[3] = {
		{ .t_ns = start_ns + 130 * MS_NS, .label = "one" },
		{ .t_ns = start_ns + 200 * MS_NS, .label = "two" },
		{ .t_ns = start_ns + 270 * MS_NS, .label = "" },
	};
	struct watt_windows_opts plan = { .sz = sizeof(plan),
					  .start_ns = start_ns,
					  .end_ns = start_ns + 400 * MS_NS,
					  .window_ns = 50 * MS_NS,
					  .marks = marks,
					  .n_marks = 3,
					  .timeout_ms = 20000 };
	struct watt_series *series = NULL;
	size_t w, d, mark = 0;

	assert_int_equal(watt_series_read(ses, &plan, 0, &series), 0);
	assert_in_range(series->info.n_windows, 1,
			11); /* few where a busy machine made slices long */
	assert_int_equal(series->info.n_failures, 0);
	for (w = 0; w < series->info.n_windows; w++) {
		const struct watt_series_window *window = &series->windows[w];

		assert_true(window->t1_ns > window->t0_ns);
		if (w)
			assert_int_equal(window->t0_ns, window[-1].t1_ns);
		/* A window is of the phase in which it begins, and ends with it. */
		while (mark < 3 && marks[mark].t_ns <= window->t0_ns)
			mark++;
		assert_int_equal(window->mark_index, mark ? mark - 1 : WATT_NO_MARK);
	}
	assert_true(mark == 3 ||
		    series->windows[series->info.n_windows - 1].t0_ns < marks[mark].t_ns);
	for (d = 0; d < series->info.n_domains; d++)
		assert_int_equal(
			series->totals[d].energy_nj,
			watt_energy_to_nj(watt_snapshot_get_domain_state(series->snap, d)->energy));
	assert_true(series->info.n_entities > 0);
	assert_true(series->info.end_ns >= plan.end_ns);
	watt_session_close(ses); /* the series outlives it */
	assert_non_null(series->last.domains[0]->path);
	watt_series_free(series);
}

/* They move the window of their cursor, and nobody else's. */
static void test_windows_of_a_cursor(void **state)
{
	struct watt_session *ses = open_synth();
	struct watt_snapshot *first = NULL, *snap = NULL;
	struct watt_windows *windows = NULL;
	struct watt_cursor *cursor = NULL;
	struct watt_window window;
	uint64_t end_ns = 0;
	struct watt_windows_opts plan = { .sz = sizeof(plan),
					  .window_ns = 30 * MS_NS,
					  .timeout_ms = 20000 };
	int r;

	assert_int_equal(watt_cursor_open(ses, &cursor), 0);
	assert_int_equal(watt_session_snapshot(ses, &first), 0);
	plan.start_ns = now_ns();
	plan.end_ns = plan.start_ns + 100 * MS_NS;
	plan.cursor = cursor;
	assert_int_equal(watt_windows_open(ses, &plan, &windows), 0);
	while ((r = watt_windows_next(windows, &window)) == 0) {
		if (end_ns)
			assert_int_equal(window.t0_ns, end_ns);
		end_ns = window.t1_ns;
		watt_snapshot_unref(window.snap);
	}
	assert_int_equal(r, 1);
	watt_windows_close(windows);
	assert_int_equal(watt_cursor_snapshot(cursor, &snap), 0);
	assert_int_equal(watt_snapshot_get_window_start_ns(snap), end_ns);
	watt_snapshot_unref(snap);
	assert_int_equal(watt_session_snapshot(ses, &snap), 0);
	assert_int_equal(watt_snapshot_get_window_start_ns(snap), watt_snapshot_get_time_ns(first));
	watt_snapshot_unref(snap);
	watt_snapshot_unref(first);
	watt_cursor_close(cursor);
	watt_session_close(ses);
}

static void test_nothing_to_read(void **state)
{
	struct watt_session *ses = open_synth();
	uint64_t start_ns = now_ns();
	struct watt_windows_opts plan = {
		.sz = sizeof(plan), .start_ns = start_ns, .end_ns = start_ns, .timeout_ms = 20000
	};
	struct watt_series *series = NULL;

	assert_int_equal(watt_series_read(ses, &plan, 0, &series), 0);
	assert_true(series->info.n_windows <= 1);
	watt_series_free(series);
	watt_session_close(ses);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows_are_the_whole),
		cmocka_unit_test(test_windows_of_a_cursor),
		cmocka_unit_test(test_nothing_to_read),
	};

	return cmocka_run_group_tests_name("windows", tests, NULL, NULL);
}
