/* SPDX-License-Identifier: Apache-2.0 */
/* lib/view/stopwatch.c on a session of the simulated machine */
#include "unit.h"

#include "../options_of.h"

#include <wattribute/stopwatch.h>

#include "base/clock.h"

#define MS_NS WATT_NSEC_PER_MSEC

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

/* Follows any process of the simulated machine that nobody follows, and that is not just ending. */
static uint64_t track_any(struct watt_session *ses)
{
	struct watt_snapshot *snap = NULL;
	const struct watt_row *row;
	uint64_t id = 0;
	size_t i;

	assert_true(watt_session_flush(ses, 30000) >= 0);
	assert_int_equal(watt_session_snapshot(ses, &snap), 0);
	for (i = 0; !id && (row = watt_snapshot_get_row(snap, i)); i++)
		if (row->entity->kind == WATT_ENTITY_PROCESS && row->entity->alive)
			watt_session_track(ses, row->entity->identity->pid, &id);
	assert_true(id > 0);
	watt_snapshot_unref(snap);
	return id;
}

static struct watt_stopwatch *open_watch(struct watt_session *ses, uint64_t interval_ns)
{
	struct watt_stopwatch_opts opts = { .sz = sizeof(opts),
					    .tracked_id = track_any(ses),
					    .interval_ns = interval_ns };
	struct watt_stopwatch *watch = NULL;

	assert_int_equal(watt_stopwatch_open(ses, &opts, &watch), 0);
	assert_int_equal(watt_stopwatch_prepare(watch), 0);
	assert_int_equal(watt_stopwatch_begin(watch), 0);
	return watch;
}

static void run_for(struct watt_session *ses, struct watt_stopwatch *watch, uint64_t length_ns)
{
	uint64_t end_ns = watt_now_ns() + length_ns;

	while (watt_now_ns() < end_ns) {
		assert_int_equal(watt_session_wait(ses, 10), 0);
		assert_int_equal(watt_stopwatch_cut(watch), 0);
	}
}

static struct watt_run *finish(struct watt_stopwatch *watch)
{
	struct watt_run *run = NULL;

	assert_int_equal(watt_stopwatch_end(watch), 0);
	assert_int_equal(watt_stopwatch_end(watch), -EINVAL);
	assert_int_equal(watt_stopwatch_finish(watch, 60000, &run), 0);
	assert_non_null(run);
	return run;
}

static void mark_now(struct watt_stopwatch *watch, const char *label)
{
	struct watt_mark mark = { .t_ns = watt_now_ns() };

	snprintf(mark.label, sizeof(mark.label), "%s", label);
	assert_int_equal(watt_stopwatch_mark(watch, &mark), 0);
}

/* Whatever cuts it, all pieces are the run, to the nanojoule and nanosecond. */
static void test_pieces_are_the_run(void **state)
{
	struct watt_session *ses = open_synth();
	struct watt_stopwatch *watch = open_watch(ses, 50 * MS_NS);
	struct watt_balance balance = { .sz = sizeof(balance) };
	int64_t energy_nj = 0, machine_nj = 0, phases_nj = 0, domains_nj = 0;
	uint64_t cpu_ns = 0, elapsed_ns = 0;
	struct watt_run *run;
	size_t i;

	run_for(ses, watch, 120 * MS_NS);
	mark_now(watch, "load");
	run_for(ses, watch, 120 * MS_NS);
	mark_now(watch, "");
	mark_now(watch, "load");
	run_for(ses, watch, 60 * MS_NS);
	assert_null(watt_stopwatch_get_quality(watch));
	run = finish(watch);
	assert_true(run->is_known);
	assert_true(run->n_intervals >= 1);
	for (i = 0; i < run->n_intervals; i++) {
		energy_nj += run->intervals[i].energy_nj;
		machine_nj += run->intervals[i].machine_nj;
		cpu_ns += run->intervals[i].cpu_ns;
		if (i)
			assert_true(run->intervals[i].end_ns >= run->intervals[i - 1].end_ns);
	}
	assert_int_equal(energy_nj, run->energy_nj);
	assert_int_equal(machine_nj, run->machine_nj);
	assert_int_equal(cpu_ns, run->cpu_ns);
	assert_int_equal(run->n_phases, 2);
	assert_string_equal(run->phases[0].label, "");
	assert_int_equal(run->phases[0].count, 2);
	assert_string_equal(run->phases[1].label, "load");
	assert_int_equal(run->phases[1].count, 2);
	for (i = 0; i < run->n_phases; i++) {
		phases_nj += run->phases[i].energy_nj;
		elapsed_ns += run->phases[i].elapsed_ns;
		assert_int_equal(run->phases[i].n_domains, run->n_domains);
		domains_nj += run->phases[i].domain_nj[0];
	}
	assert_int_equal(phases_nj, run->energy_nj);
	assert_int_equal(elapsed_ns, run->elapsed_ns);
	assert_int_equal(domains_nj, run->domain_nj[0]);
	assert_int_equal(watt_stopwatch_get_balance(watch, &balance), 0);
	assert_true(balance.is_exact);
	assert_int_equal(watt_stopwatch_get_quality(watch)->check_failures, 0);
	watt_stopwatch_close(watch);
	watt_session_close(ses);
	watt_run_free(run); /* it outlives both */
}

/* Who takes intervals when they are over finds the others in the run: none twice, none lost. */
static void test_taken_intervals(void **state)
{
	struct watt_session *ses = open_synth();
	struct watt_stopwatch *watch = open_watch(ses, 30 * MS_NS);
	struct watt_run_interval interval;
	uint64_t end_ns = 0;
	int64_t energy_nj = 0;
	struct watt_run *run;
	size_t i;

	assert_int_equal(watt_stopwatch_next_interval(watch, &interval), -EAGAIN);
	assert_true(watt_stopwatch_get_next_ns(watch) < watt_now_ns() + 31 * MS_NS);
	while (watt_stopwatch_next_interval(watch, &interval) < 0)
		run_for(ses, watch, 10 * MS_NS);
	energy_nj = interval.energy_nj;
	end_ns = interval.end_ns;
	assert_true(end_ns >= 30 * MS_NS);
	run_for(ses, watch, 100 * MS_NS);
	run = finish(watch);
	for (i = 0; i < run->n_intervals; i++) {
		assert_true(run->intervals[i].end_ns >= end_ns);
		end_ns = run->intervals[i].end_ns;
		energy_nj += run->intervals[i].energy_nj;
	}
	assert_int_equal(energy_nj, run->energy_nj);
	watt_run_free(run);
	watt_stopwatch_close(watch);
	watt_session_close(ses);
}

static uint64_t own_window_start_ns(struct watt_session *ses, uint64_t *ret_end_ns)
{
	struct watt_snapshot *snap = NULL;
	uint64_t start_ns;

	assert_int_equal(watt_session_snapshot(ses, &snap), 0);
	start_ns = watt_snapshot_get_window_start_ns(snap);
	*ret_end_ns = watt_snapshot_get_time_ns(snap);
	watt_snapshot_unref(snap);
	return start_ns;
}

static void check_sum(const struct watt_run *run)
{
	int64_t energy_nj = 0, machine_nj = 0;
	size_t i;

	for (i = 0; i < run->n_intervals; i++) {
		energy_nj += run->intervals[i].energy_nj;
		machine_nj += run->intervals[i].machine_nj;
	}
	assert_int_equal(energy_nj, run->energy_nj);
	assert_int_equal(machine_nj, run->machine_nj);
	assert_true(run->domain_known[0]);
	assert_true(run->domain_loss[0].gap_ns < run->elapsed_ns / 2);
}

/* Two of them at once, each with cuts of its own, take nothing from each other or from anybody. */
static void test_beside(void **state)
{
	struct watt_session *ses = open_synth();
	struct watt_stopwatch *slow = open_watch(ses, 70 * MS_NS), *fast;
	uint64_t asked_ns, end_ns;
	struct watt_run *run;

	own_window_start_ns(ses, &asked_ns);
	fast = open_watch(ses, 20 * MS_NS);
	/* track_any() asked by the session's own window */
	own_window_start_ns(ses, &asked_ns);
	for (end_ns = watt_now_ns() + 300 * MS_NS; watt_now_ns() < end_ns;) {
		run_for(ses, slow, 10 * MS_NS);
		run_for(ses, fast, 10 * MS_NS);
	}
	run = finish(fast);
	check_sum(run);
	watt_run_free(run);
	assert_null(watt_stopwatch_close(fast));
	run = finish(slow);
	check_sum(run);
	watt_run_free(run);
	assert_null(watt_stopwatch_close(slow));
	assert_int_equal(own_window_start_ns(ses, &end_ns), asked_ns);
	assert_true(end_ns > asked_ns + 200 * MS_NS);
	watt_session_close(ses);
}

/* Each step once, and in its order. */
static void test_order(void **state)
{
	struct watt_session *ses = open_synth();
	struct watt_stopwatch_opts opts = { .sz = sizeof(opts) };
	struct watt_balance balance = { .sz = sizeof(balance) };
	struct watt_mark mark = { .t_ns = 1 };
	struct watt_stopwatch *watch = NULL;
	struct watt_run *run = NULL;
	struct watt_run_interval interval;

	assert_int_equal(watt_stopwatch_open(ses, &opts, &watch), -EINVAL); /* nobody */
	opts.tracked_id = track_any(ses);
	opts.interval_ns = 1000 * MS_NS;
	assert_int_equal(watt_stopwatch_open(NULL, &opts, &watch), -EINVAL);
	assert_int_equal(watt_stopwatch_open(ses, NULL, &watch), -EINVAL);
	assert_int_equal(watt_stopwatch_open(ses, &opts, NULL), -EINVAL);
	opts.sz = 1;
	assert_int_equal(watt_stopwatch_open(ses, &opts, &watch), -EINVAL);
	opts.sz = sizeof(opts);
	assert_null(watch);
	assert_int_equal(watt_stopwatch_open(ses, &opts, &watch), 0);
	assert_int_equal(watt_stopwatch_begin(watch), -EINVAL);
	assert_int_equal(watt_stopwatch_cut(watch), -EINVAL);
	assert_int_equal(watt_stopwatch_end(watch), -EINVAL);
	assert_int_equal(watt_stopwatch_mark(watch, &mark), -EINVAL);
	assert_int_equal(watt_stopwatch_get_balance(watch, &balance), -ENODATA);
	assert_int_equal(watt_stopwatch_get_next_ns(watch), UINT64_MAX);
	assert_int_equal(watt_stopwatch_prepare(watch), 0);
	assert_int_equal(watt_stopwatch_get_next_ns(watch), UINT64_MAX);
	assert_int_equal(watt_stopwatch_prepare(watch), -EINVAL);
	assert_int_equal(watt_stopwatch_begin(watch), 0);
	assert_int_equal(watt_stopwatch_begin(watch), -EINVAL);
	assert_int_equal(watt_stopwatch_finish(watch, 0, &run), -EINVAL);
	assert_int_equal(watt_stopwatch_cut(watch), 0);
	run = finish(watch);
	assert_int_equal(run->n_intervals, 1);
	assert_int_equal(run->n_phases, 0);
	assert_int_equal(watt_stopwatch_finish(watch, 0, &run), -EINVAL);
	assert_int_equal(watt_stopwatch_mark(watch, &mark), -EINVAL);
	assert_int_equal(watt_stopwatch_get_next_ns(watch), UINT64_MAX);
	assert_int_equal(watt_stopwatch_next_interval(watch, &interval), -EAGAIN);
	assert_int_equal(watt_stopwatch_next_interval(watch, NULL), -EINVAL);
	assert_int_equal(watt_stopwatch_next_interval(NULL, &interval), -EINVAL);
	assert_null(watt_stopwatch_get_quality(NULL));
	assert_null(watt_run_free(run));
	assert_null(watt_run_free(NULL));
	assert_null(watt_stopwatch_close(watch));
	assert_null(watt_stopwatch_close(NULL));
	watt_session_close(ses);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces_are_the_run),
		cmocka_unit_test(test_taken_intervals),
		cmocka_unit_test(test_beside),
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests_name("stopwatch", tests, NULL, NULL);
}
