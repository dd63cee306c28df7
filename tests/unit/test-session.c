/* SPDX-License-Identifier: Apache-2.0 */
/* lib/session.c by the public interface alone, on the simulated machine. */
#include "unit.h"

#include <poll.h>

#include <wattribute/wattribute.h>

static struct watt_session_opts synth_opts(void)
{
	return (struct watt_session_opts){ .sz = sizeof(struct watt_session_opts),
					   .sources = "synth",
					   .usage = "synth",
					   .slice_us = 10000 };
}

static struct watt_session *open_synth(void)
{
	struct watt_session_opts opts = synth_opts();
	struct watt_session *ses = NULL;

	assert_int_equal(watt_session_open(&opts, &ses), 0);
	assert_non_null(ses);
	return ses;
}

static void test_refuses_bad_options(void **state)
{
	struct watt_session *const none = (struct watt_session *)&none;
	struct watt_session *ses = none;
	struct {
		struct watt_session_opts opts;
		uint64_t from_the_future;
	} more = { .opts = synth_opts() };
	struct watt_session_opts opts = synth_opts();

	assert_int_equal(watt_session_open(NULL, &ses), -EINVAL);
	assert_int_equal(watt_session_open(&opts, NULL), -EINVAL);
	opts.sz = sizeof(opts.sz) - 1;
	assert_int_equal(watt_session_open(&opts, &ses), -EINVAL);
	opts = synth_opts();
	opts.slice_us = 999;
	assert_int_equal(watt_session_open(&opts, &ses), -EINVAL);
	opts.slice_us = 0;
	opts.period_us = 60000001;
	assert_int_equal(watt_session_open(&opts, &ses), -EINVAL);
	opts = synth_opts();
	opts.sources = "synth,nonsense";
	assert_int_equal(watt_session_open(&opts, &ses), -EINVAL);
	opts.sources = "synth";
	opts.usage = "nonsense";
	assert_int_equal(watt_session_open(&opts, &ses), -EINVAL);
	opts.usage = "synth";
	opts.sysfs_root = "/nowhere";
	assert_int_equal(watt_session_open(&opts, &ses), -ENOENT);
	more.opts.sz = sizeof(more);
	more.from_the_future = 1;
	assert_int_equal(watt_session_open(&more.opts, &ses), -EINVAL);
	assert_ptr_equal(ses, none);
	more.from_the_future = 0;
	assert_int_equal(watt_session_open(&more.opts, &ses), 0);
	assert_null(watt_session_close(ses));
	assert_null(watt_session_close(NULL));
}

static void test_out_of_range(void **state)
{
	struct watt_session *ses = open_synth();
	size_t n_channels = watt_session_get_channel_count(ses);
	size_t n_domains = watt_session_get_domain_count(ses);
	struct watt_reader_stats stats;
	struct watt_sample sample;
	int64_t difference_ppm;
	uint64_t id;

	assert_true(n_channels > 0 && n_domains > 0);
	assert_non_null(watt_session_get_channel(ses, n_channels - 1));
	assert_null(watt_session_get_channel(ses, n_channels));
	assert_null(watt_session_get_domain(ses, n_domains));
	assert_int_equal(watt_session_get_channel_domain(ses, n_channels), -1);
	assert_int_equal(watt_session_channel_is_duplicate(ses, n_channels), 0);
	assert_int_equal(watt_session_get_crosscheck(ses, n_channels, &difference_ppm), -EINVAL);
	assert_int_equal(watt_session_get_sample(ses, n_channels, &sample), -EINVAL);
	assert_int_equal(watt_session_get_sample(ses, 0, &sample), -ENODATA); /* not started */
	assert_int_equal(watt_session_get_reader_stats(ses, n_channels, &stats), -EINVAL);
	assert_int_equal(watt_session_dispatch(ses), 0); /* nothing is due */
	assert_int_equal(watt_session_start(ses), 0);
	assert_int_equal(watt_session_start(ses), -EALREADY);
	assert_int_equal(watt_session_get_sample(ses, 0, &sample), 0);
	assert_int_equal(watt_session_track(ses, UINT32_MAX, &id), -ESRCH);
	assert_string_equal(watt_session_get_usage_name(ses), "synth");
	watt_session_close(ses);
}

static bool is_leaf(enum watt_entity_kind kind)
{
	return kind == WATT_ENTITY_PROCESS || kind == WATT_ENTITY_KTHREAD ||
	       kind == WATT_ENTITY_VM || kind == WATT_ENTITY_EXITED || kind == WATT_ENTITY_IRQ ||
	       kind == WATT_ENTITY_SOFTIRQ;
}

/* All that a domain used, in total and in the window, is somebody's; windows begin where the last
 * one ended. */
static void check_snapshot(const struct watt_snapshot *last, const struct watt_snapshot *snap)
{
	size_t n_rows = watt_snapshot_get_row_count(snap), d, i;

	assert_int_equal(watt_snapshot_get_quality(snap)->check_failures, 0);
	for (d = 0; d < watt_snapshot_get_domain_count(snap); d++) {
		const struct watt_domain_state *s = watt_snapshot_get_domain_state(snap, d);
		int64_t all_nj = s->idle_nj + s->unattributed_nj;
		int64_t window_nj = s->window_idle_nj + s->window_unattributed_nj;

		for (i = 0; i < n_rows; i++) {
			const struct watt_row *row = watt_snapshot_get_row(snap, i);

			all_nj += is_leaf(row->entity.kind) ? row->energy_nj[d] : 0;
			window_nj += is_leaf(row->entity.kind) ? row->window_nj[d] : 0;
		}
		assert_int_equal(all_nj, s->energy_nj);
		assert_int_equal(window_nj, s->window_nj);
		assert_int_equal(s->energy_nj - s->window_nj,
				 last ? watt_snapshot_get_domain_state(last, d)->energy_nj : 0);
	}
}

static void test_measures(void **state)
{
	struct watt_session *ses = open_synth();
	struct watt_snapshot *snaps[3] = { NULL };
	uint64_t cpu_ns = 0;
	int64_t energy_nj = 0;
	size_t i;

	assert_int_equal(watt_session_start(ses), 0);
	for (i = 0; i < 3; i++) {
		assert_int_equal(watt_session_wait(ses, 100), 0);
		assert_int_equal(watt_session_flush(ses, 10000), 0);
		assert_int_equal(watt_session_snapshot(ses, &snaps[i]), 0);
		check_snapshot(i ? snaps[i - 1] : NULL, snaps[i]);
		assert_int_equal(watt_snapshot_get_sequence(snaps[i]), i + 1);
		if (i)
			assert_int_equal(watt_snapshot_get_window_start_ns(snaps[i]),
					 watt_snapshot_get_time_ns(snaps[i - 1]));
	}
	watt_session_close(ses); /* snapshots outlive it */
	for (i = 0; i < watt_snapshot_get_row_count(snaps[2]); i++) {
		const struct watt_row *row = watt_snapshot_get_row(snaps[2], i);

		assert_ptr_equal(watt_snapshot_find_row(snaps[2], row->entity.id), row);
		assert_non_null(row->entity.name);
		cpu_ns += is_leaf(row->entity.kind) ? row->cpu_ns : 0;
		energy_nj += is_leaf(row->entity.kind) ? row->total_nj : 0;
	}
	assert_true(cpu_ns > 0 && energy_nj > 0);
	assert_null(watt_snapshot_get_row(snaps[2], watt_snapshot_get_row_count(snaps[2])));
	assert_null(watt_snapshot_get_domain(snaps[2], watt_snapshot_get_domain_count(snaps[2])));
	assert_null(watt_snapshot_find_row(snaps[2], UINT64_MAX));
	for (i = 0; i < 3; i++)
		watt_snapshot_unref(snaps[i]);
}

/* Before the start there is nothing to tell, and that is no error. */
static void test_snapshot_before_start(void **state)
{
	struct watt_session *ses = open_synth();
	struct watt_snapshot *snap = NULL;
	size_t d;

	assert_int_equal(watt_session_snapshot(ses, &snap), 0);
	for (d = 0; d < watt_snapshot_get_domain_count(snap); d++) {
		assert_int_equal(watt_snapshot_get_domain_state(snap, d)->status,
				 WATT_STATUS_PENDING);
		assert_int_equal(watt_snapshot_get_domain_state(snap, d)->energy_nj, 0);
	}
	check_snapshot(NULL, snap);
	watt_snapshot_unref(snap);
	watt_session_close(ses);
}

/* Windows between snapshots at times meet without a gap and add up to the whole, in every domain. */
static void test_snapshots_at_times(void **state)
{
	struct watt_session *ses = open_synth();
	size_t n = watt_session_get_domain_count(ses), d;
	struct watt_snapshot *snap = NULL;
	uint64_t t_ns, end_ns = 0;
	int64_t sum_nj[16] = { 0 };
	int i;

	assert_in_range(n, 1, 16);
	assert_int_equal(watt_session_start(ses), 0);
	t_ns = watt_session_get_time_ns(ses);
	assert_int_equal(watt_session_snapshot_at(ses, t_ns + 3600000000000ULL, 0, &snap),
			 -ETIMEDOUT);
	for (i = 1; i <= 5; i++) {
		assert_int_equal(watt_session_snapshot_at(ses, t_ns + (uint64_t)i * 25000000, 60000,
							  &snap),
				 0);
		assert_true(watt_snapshot_get_time_ns(snap) >= t_ns + (uint64_t)i * 25000000);
		if (end_ns)
			assert_int_equal(watt_snapshot_get_window_start_ns(snap), end_ns);
		end_ns = watt_snapshot_get_time_ns(snap);
		for (d = 0; d < n; d++) {
			const struct watt_domain_state *s = watt_snapshot_get_domain_state(snap, d);

			sum_nj[d] += s->window_nj;
			assert_int_equal(sum_nj[d], s->energy_nj);
			if (s->status == WATT_STATUS_OK)
				assert_int_equal(s->t_ns, end_ns);
		}
		assert_null(watt_snapshot_get_phase(snap));
		assert_int_equal(watt_snapshot_get_quality(snap)->check_failures, 0);
		snap = watt_snapshot_unref(snap);
	}
	watt_session_close(ses);
}

/* Takes a mark of this process, and a snapshot that ends there. */
static struct watt_snapshot *mark_and_cut(struct watt_session *ses, const char *label)
{
	struct watt_mark mark = { .t_ns = watt_session_get_time_ns(ses) }, told;
	struct watt_snapshot *snap = NULL;
	struct pollfd pfd = { .fd = watt_session_get_fd(ses), .events = POLLIN };
	int r;

	strcpy(mark.label, label);
	assert_int_equal(watt_mark_send(watt_session_get_marks_address(ses), &mark), 0);
	do {
		assert_int_equal(poll(&pfd, 1, 60000), 1);
		assert_true(watt_session_dispatch(ses) >= 0);
		r = watt_session_next_mark(ses, &told);
	} while (r == 1);
	assert_int_equal(r, 0);
	assert_string_equal(told.label, label);
	assert_int_equal(told.pid, getpid());
	assert_int_equal(watt_session_next_mark(ses, &told), 1);
	assert_int_equal(watt_session_snapshot_at(ses, told.t_ns, 60000, &snap), 0);
	assert_true(watt_snapshot_get_time_ns(snap) >= told.t_ns);
	return snap;
}

static void test_phases(void **state)
{
	static const char *const labels[] = { "load", "solve", "", "load" };
	struct watt_session *ses = open_synth();
	uint64_t end_ns = 0;
	size_t i;

	assert_null(watt_session_get_marks_address(ses));
	assert_int_equal(watt_session_start(ses), 0);
	assert_non_null(watt_session_get_marks_address(ses));
	for (i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		struct watt_snapshot *snap = mark_and_cut(ses, labels[i]);

		/* the window that ends here is of the phase before */
		if (i == 0 || !labels[i - 1][0])
			assert_null(watt_snapshot_get_phase(snap));
		else
			assert_string_equal(watt_snapshot_get_phase(snap), labels[i - 1]);
		if (i > 0)
			assert_int_equal(watt_snapshot_get_window_start_ns(snap), end_ns);
		end_ns = watt_snapshot_get_time_ns(snap);
		watt_snapshot_unref(snap);
	}
	watt_session_close(ses);
}

/* Who never asks for marks loses the oldest and nothing else. */
static void test_marks_are_kept_within_bounds(void **state)
{
	struct watt_session *ses = open_synth();
	struct watt_mark mark = { 0 };
	int i, n = 0;

	assert_int_equal(watt_session_start(ses), 0);
	for (i = 0; i < 300; i++) {
		snprintf(mark.label, sizeof(mark.label), "%d", i);
		assert_int_equal(watt_mark_send(watt_session_get_marks_address(ses), &mark), 0);
		assert_true(watt_session_dispatch(ses) >= 0);
	}
	assert_int_equal(watt_session_next_mark(ses, &mark), 0);
	assert_string_equal(mark.label, "44");
	for (n = 1; watt_session_next_mark(ses, &mark) == 0; n++)
		continue;
	assert_int_equal(n, 256);
	assert_string_equal(mark.label, "299");
	watt_session_close(ses);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refuses_bad_options),
		cmocka_unit_test(test_snapshots_at_times),
		cmocka_unit_test(test_phases),
		cmocka_unit_test(test_marks_are_kept_within_bounds),
		cmocka_unit_test(test_out_of_range),
		cmocka_unit_test(test_measures),
		cmocka_unit_test(test_snapshot_before_start),
	};

	return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
