/* SPDX-License-Identifier: Apache-2.0 */
/* lib/base/sized.c, and what <wattribute/types.h> promises of structs that grow */
#include "unit.h"

#include <wattribute/wattribute.h>

#include "../options_of.h"
#include "base/sized.h"
#include "base/util.h"

/* A struct as three releases know it. */
struct first {
	size_t sz;
	uint64_t a;
};
struct second {
	size_t sz;
	uint64_t a, b;
};
struct third {
	size_t sz;
	uint64_t a, b, c;
};

static void test_takes_from_older_and_newer(void **state)
{
	struct first older = { .sz = sizeof(older), .a = 1 };
	struct third newer = { .sz = sizeof(newer), .a = 1, .b = 2 };
	struct second known = { .b = 77 };

	assert_int_equal(watt_sized_take(&older, &known, sizeof(known)), 0);
	assert_int_equal(known.sz, sizeof(known));
	assert_int_equal(known.a, 1);
	assert_int_equal(known.b, 0);
	assert_int_equal(watt_sized_take(&newer, &known, sizeof(known)), 0);
	assert_int_equal(known.sz, sizeof(known));
	assert_int_equal(known.b, 2);
	/* What can't be done is not taken for done. */
	newer.c = 1;
	assert_int_equal(watt_sized_take(&newer, &known, sizeof(known)), -EINVAL);
	older.sz = sizeof(older.sz) - 1;
	assert_int_equal(watt_sized_take(&older, &known, sizeof(known)), -EINVAL);
	assert_int_equal(watt_sized_take(NULL, &known, sizeof(known)), -EINVAL);
}

static void test_gives_to_older_and_newer(void **state)
{
	const struct second result = { .sz = 0, .a = 1, .b = 2 };
	struct second room = { .sz = sizeof(struct first), .b = 77 }; /* an older one, and more */
	struct third newer = { .sz = sizeof(newer), .c = 77 };

	watt_sized_give(&result, sizeof(result), &room);
	assert_int_equal(room.sz, sizeof(struct first));
	assert_int_equal(room.a, 1);
	assert_int_equal(room.b, 77); /* not touched */
	assert_true(WATT_HAS(&newer, c));
	watt_sized_give(&result, sizeof(result), &newer);
	assert_int_equal(newer.b, 2);
	assert_true(WATT_HAS(&newer, b));
	assert_false(WATT_HAS(&newer, c));
	/* Asked again, it is as it was. */
	watt_sized_give(&result, sizeof(result), &newer);
	assert_int_equal(newer.sz, sizeof(struct second));
	assert_false(watt_sized_is_valid(NULL));
}

/* ---- the public ones ---- */

static struct watt_session *open_synth(void)
{
	struct watt_options *options =
		options_of("sources", "synth", "usage", "synth", "slice", "10ms", NULL);
	struct watt_session *ses = NULL;

	assert_int_equal(watt_session_open(options, &ses), 0);
	watt_options_free(options);
	assert_int_equal(watt_session_start(ses), 0);
	return ses;
}

/* The names end where the struct does: a member that is new needs no new test. */
#define ASSERT_SIZED(ptr) assert_int_equal((ptr)->sz, sizeof(*(ptr)))

static void check_row(const struct watt_row *row)
{
	ASSERT_SIZED(row);
	ASSERT_SIZED(row->entity);
	assert_true(WATT_HAS(row, window_total_nj));
	if (row->entity->identity)
		ASSERT_SIZED(row->entity->identity);
	if (row->entity->cgroup)
		ASSERT_SIZED(row->entity->cgroup);
}

static void check_snapshot(struct watt_session *ses)
{
	struct watt_snapshot *snap = NULL;
	size_t i, n;

	assert_int_equal(watt_session_snapshot(ses, &snap), 0);
	n = watt_snapshot_get_row_count(snap);
	assert_true(n > 0);
	for (i = 0; i < n; i++)
		check_row(watt_snapshot_get_row(snap, i));
	for (i = 0; i < watt_snapshot_get_domain_count(snap); i++) {
		ASSERT_SIZED(watt_snapshot_get_domain(snap, i));
		ASSERT_SIZED(watt_snapshot_get_domain_state(snap, i));
	}
	for (i = 0; i < watt_snapshot_get_cpu_count(snap); i++)
		ASSERT_SIZED(watt_snapshot_get_cpu(snap, i));
	ASSERT_SIZED(watt_snapshot_get_quality(snap));
	watt_snapshot_unref(snap);
}

static void check_series(struct watt_session *ses, uint64_t start_ns)
{
	struct watt_windows_opts opts = { .sz = sizeof(opts),
					  .start_ns = start_ns,
					  .end_ns = watt_session_get_time_ns(ses),
					  .timeout_ms = 30000 };
	const struct watt_comparison_row *row;
	struct watt_comparison *comparison;
	struct watt_series *series;
	struct watt_phases *phases;
	struct watt_ranking *ranking;

	assert_int_equal(watt_series_read(ses, &opts, 0, &series), 0);
	ASSERT_SIZED(watt_series_get_info(series));
	ASSERT_SIZED(watt_series_get_window(series, 0));
	ASSERT_SIZED(watt_series_get_entity(series, 0));
	ASSERT_SIZED(watt_series_get_domain(series, 0));
	assert_int_equal(watt_phases_find(series, NULL, 0, &phases), 0);
	ASSERT_SIZED(watt_phases_get_whole(phases));
	ASSERT_SIZED(watt_phases_get(phases, 0));
	assert_int_equal(watt_ranking_build(series, phases, WATT_RANKING_NAME, &ranking), 0);
	ASSERT_SIZED(watt_ranking_get(ranking, 0));
	assert_int_equal(watt_comparison_build(series, phases, series, phases, &comparison), 0);
	row = watt_comparison_get(comparison, WATT_COMPARISON_TOTAL, 0);
	ASSERT_SIZED(row);
	ASSERT_SIZED(row->now);
	watt_comparison_free(comparison);
	watt_ranking_free(ranking);
	watt_phases_free(phases);
	watt_series_free(series);
}

static void test_what_the_library_hands_out(void **state)
{
	struct watt_session *ses = open_synth();
	const struct watt_option_info *option;
	const struct watt_sink_info *sink;
	uint64_t start_ns = watt_session_get_time_ns(ses);
	size_t i;

	for (i = 0; i < watt_session_get_channel_count(ses); i++)
		ASSERT_SIZED(watt_session_get_channel(ses, i));
	for (i = 0; i < watt_session_get_domain_count(ses); i++)
		ASSERT_SIZED(watt_session_get_domain(ses, i));
	for (i = 0; (option = watt_options_get_info(i)); i++)
		ASSERT_SIZED(option);
	for (i = 0; (sink = watt_sink_get_info(i)); i++)
		ASSERT_SIZED(sink);
	assert_int_equal(watt_session_wait(ses, 100), 0);
	check_snapshot(ses);
	check_series(ses, start_ns);
	watt_session_close(ses);
}

/* As a program that was built with headers of another time has it. */
static void test_callers_of_another_time(void **state)
{
	struct watt_session *ses = open_synth();
	struct watt_reader_stats stats = { .sz = offsetof(struct watt_reader_stats, missed),
					   .missed = 4711 };
	struct {
		struct watt_windows_opts known;
		uint64_t unknown;
	} plan = { .known.sz = sizeof(plan), .unknown = 1 };
	struct {
		struct watt_diag known;
		uint64_t unknown;
	} newer[64] = { { .known.sz = sizeof(newer[0]) } };
	struct watt_windows *windows;
	size_t i, n = WATT_ARRAY_SIZE(newer);

	assert_int_equal(watt_session_wait(ses, 50), 0);
	assert_int_equal(watt_session_get_reader_stats(ses, 0, &stats), 0);
	assert_int_equal(stats.missed, 4711);
	assert_true(WATT_HAS(&stats, errors) && !WATT_HAS(&stats, missed));
	stats.sz = 0;
	assert_int_equal(watt_session_get_reader_stats(ses, 0, &stats), -EINVAL);
	assert_int_equal(watt_windows_open(ses, &plan.known, &windows), -EINVAL);
	plan.unknown = 0;
	assert_int_equal(watt_windows_open(ses, &plan.known, &windows), 0);
	watt_windows_close(windows);
	plan.known.sz = offsetof(struct watt_windows_opts, window_ns);
	assert_int_equal(watt_windows_open(ses, &plan.known, &windows), 0);
	watt_windows_close(windows);
	assert_int_equal(watt_doctor(NULL, &newer[0].known, &n), 0);
	assert_in_range(n, 2, WATT_ARRAY_SIZE(newer));
	for (i = 0; i < n; i++) {
		assert_int_equal(newer[i].known.sz, sizeof(newer[0]));
		assert_non_null(newer[i].known.source);
	}
	watt_session_close(ses);
}

/* Whoever fills in a struct of the caller's refuses one without a size, and knows its own end. */
static void test_structs_of_the_caller(void **state)
{
	struct watt_balance balance = { .outside_w = 4711 };
	struct watt_total total = { .power_w = 4711 };
	struct watt_record_stats stats = { .elapsed_ns = 4711 };
	struct watt_capture capture = { .bytes = 4711 };
	struct watt_session *ses = open_synth();
	struct watt_snapshot *snap;
	struct watt_view *view;

	assert_true(watt_session_flush(ses, 30000) >= 0);
	assert_int_equal(watt_session_snapshot(ses, &snap), 0);
	assert_int_equal(watt_view_new(snap, &view), 0);
	assert_int_equal(watt_balance_draw(view, &balance), -EINVAL);
	assert_int_equal(watt_total_draw(view, &total), -EINVAL);
	assert_int_equal(watt_session_get_record_stats(ses, &stats), -EINVAL);
	assert_int_equal(watt_capture_write(NULL, "/nowhere/x.tar", 0, &capture), -EINVAL);
	assert_true(balance.outside_w == 4711 && total.power_w == 4711 &&
		    stats.elapsed_ns == 4711 && capture.bytes == 4711);
	/* As older ones have them. */
	balance.sz = offsetof(struct watt_balance, has_outside);
	total.sz = offsetof(struct watt_total, power_w);
	assert_int_equal(watt_balance_draw(view, &balance), 0);
	assert_int_equal(watt_total_draw(view, &total), 0);
	assert_true(balance.is_known && total.n_known);
	assert_true(balance.outside_w == 4711 && total.power_w == 4711);
	watt_view_free(view);
	watt_snapshot_unref(snap);
	watt_session_close(ses);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_takes_from_older_and_newer),
		cmocka_unit_test(test_gives_to_older_and_newer),
		cmocka_unit_test(test_what_the_library_hands_out),
		cmocka_unit_test(test_callers_of_another_time),
		cmocka_unit_test(test_structs_of_the_caller),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
