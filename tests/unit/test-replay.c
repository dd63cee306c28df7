/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lib/replay.c: a recording replayed gives what the live run gave, byte by byte, and whatever
 * else is asked of it is conserved. What is run live is a random world.
 */
#include "unit.h"

#include <wattribute/cursor.h>
#include <wattribute/recording.h>

#include "../options_of.h"
#include "world.h"

#define SECONDS 6

static void refuse_warnings(void *data, enum watt_log_level level, const char *text)
{
	(void)data;
	if (level <= WATT_LOG_WARNING)
		fail_msg("%s", text);
}

/* What a live run wrote is never called damaged. */
static struct watt_session *open_recording(const char *path, const char *idle_policy)
{
	struct watt_options *options =
		options_of(idle_policy ? "idle-policy" : NULL, idle_policy, NULL);
	struct watt_session *ses;

	watt_options_set_log(options, refuse_warnings, NULL);
	assert_int_equal(watt_session_open_recording(path, options, &ses), 0);
	watt_options_free(options);
	assert_int_equal(watt_session_start(ses), 0);
	assert_int_equal(watt_session_start(ses), -EALREADY);
	return ses;
}

static void assert_same_json(const char *a, const char *b)
{
	assert_int_equal(!a, !b);
	if (a)
		assert_string_equal(a, b);
}

/* All snapshots of the file are the first ones of the live run. Returns how many there are. */
static size_t assert_prefix(const struct world *w, const char *path)
{
	struct watt_session *ses = open_recording(path, NULL);
	struct watt_snapshot *snap;
	size_t n = 0;
	int r;

	while ((r = watt_session_next_snapshot(ses, &snap)) == 0) {
		char *text = json_of(snap);

		assert_true(n < w->n_said);
		assert_same_json(text, w->said[n++]);
		free(text);
		watt_snapshot_unref(snap);
	}
	assert_int_equal(r, 1);
	assert_null(snap);
	watt_session_close(ses);
	return n;
}

static void check_conserved(const struct watt_snapshot *snap)
{
	size_t d, i;

	assert_int_equal(watt_snapshot_get_quality(snap)->check_failures, 0);
	assert_int_equal(watt_snapshot_get_quality(snap)->sum_failures, 0);
	for (d = 0; d < watt_snapshot_get_domain_count(snap); d++) {
		const struct watt_domain_state *s = watt_snapshot_get_domain_state(snap, d);
		int64_t total_nj = 0, window_nj = 0;

		for (i = 0; i < watt_snapshot_get_row_count(snap); i++) {
			const struct watt_row *row = watt_snapshot_get_row(snap, i);

			if (row->entity->kind >= WATT_ENTITY_CGROUP &&
			    row->entity->kind != WATT_ENTITY_VM)
				continue;
			total_nj += watt_energy_to_nj(row->energy[d]);
			window_nj += row->window_nj[d];
		}
		assert_int_equal(total_nj, watt_energy_to_nj(s->energy));
		assert_int_equal(window_nj, s->window_nj);
	}
}

static char *scratch_file(const char *dir)
{
	char *path;

	assert_true(asprintf(&path, "%s/run.watt", dir) > 0);
	return path;
}

static void test_same_bytes(void **state)
{
	char *dir = scratch_new(), *path = scratch_file(dir);
	static struct world w;
	uint64_t seed;

	for (seed = 1; seed <= 12; seed++) {
		world_open(&w, seed, path, seed % 3 ? WATT_IDLE_SEPARATE : WATT_IDLE_PROPORTIONAL,
			   NULL);
		world_live(&w, SECONDS);
		if (w.said[w.n_said - 1])
			assert_int_equal(!!strstr(w.said[w.n_said - 1], "(ended threads)"),
					 w.has_threads);
		assert_int_equal(assert_prefix(&w, path), w.n_said);
		assert_int_equal(assert_prefix(&w, path), w.n_said); /* and again */
		world_close(&w);
	}
	free(path);
	scratch_remove(dir);
}

/* Another policy: the same energy, otherwise divided, and still exactly. */
static void test_other_policies(void **state)
{
	static const char *const keys[] = { NULL, "none", "in/residual=cpu_time,package=auto",
					    "learned" };
	char *dir = scratch_new(), *path = scratch_file(dir);
	struct watt_snapshot *snap, *usual;
	static struct world w;
	size_t i, d, n;

	world_open(&w, 5, path, WATT_IDLE_SEPARATE, NULL);
	world_live(&w, SECONDS);
	for (i = 0; i < WATT_ARRAY_SIZE(keys); i++) {
		struct watt_options *options = options_of(
			"idle-policy", "proportional", keys[i] ? "share-key" : NULL, keys[i], NULL);
		struct watt_session *ses, *live_ses = open_recording(path, NULL);

		assert_int_equal(watt_session_open_recording(path, options, &ses), 0);
		watt_options_free(options);
		for (n = 0; watt_session_next_snapshot(ses, &snap) == 0; n++) {
			assert_int_equal(watt_session_next_snapshot(live_ses, &usual), 0);
			check_conserved(snap);
			for (d = 0; d < watt_snapshot_get_domain_count(snap); d++)
				assert_int_equal(
					watt_snapshot_get_domain_state(snap, d)->window_nj,
					watt_snapshot_get_domain_state(usual, d)->window_nj);
			watt_snapshot_unref(snap);
			watt_snapshot_unref(usual);
		}
		assert_int_equal(n, w.n_said);
		watt_session_close(live_ses);
		watt_session_close(ses);
	}
	world_close(&w);
	free(path);
	scratch_remove(dir);
}

/* Windows of one's own are complete, meet without a gap, and add up to the whole. */
static void test_own_windows(void **state)
{
	static const uint64_t lengths_ns[] = { 50 * MS, 333 * MS, 2000 * MS };
	char *dir = scratch_new(), *path = scratch_file(dir);
	struct watt_snapshot *snap;
	static struct world w;
	size_t i, d, n;

	world_open(&w, 8, path, WATT_IDLE_SEPARATE, NULL);
	world_live(&w, SECONDS);
	for (i = 0; i < WATT_ARRAY_SIZE(lengths_ns); i++) {
		struct watt_session *ses = open_recording(path, NULL);
		uint64_t start_ns = watt_session_get_time_ns(ses), last_ns = 0;
		int64_t sum_nj[2 * N_CHANNELS] = { 0 };
		int r = 0;

		for (n = 1; r == 0; n++) {
			r = watt_session_snapshot_at(ses, start_ns + n * lengths_ns[i], 0, &snap);
			if (r == -ENODATA)
				assert_int_equal(watt_session_snapshot(ses, &snap), 0);
			else
				assert_int_equal(r, 0);
			check_conserved(snap);
			assert_int_equal(watt_snapshot_get_sequence(snap), n);
			if (last_ns)
				assert_int_equal(watt_snapshot_get_window_start_ns(snap), last_ns);
			last_ns = watt_snapshot_get_time_ns(snap);
			for (d = 0; d < watt_snapshot_get_domain_count(snap); d++) {
				const struct watt_domain_state *s =
					watt_snapshot_get_domain_state(snap, d);

				sum_nj[d] += s->window_nj;
				assert_int_equal(sum_nj[d], watt_energy_to_nj(s->energy));
				if (r == 0 && d < 2 && s->status == WATT_STATUS_OK)
					assert_int_equal(s->t_ns, last_ns);
			}
			watt_snapshot_unref(snap);
		}
		assert_int_equal(watt_session_next_snapshot(ses, &snap), -EINVAL);
		watt_session_close(ses);
	}
	world_close(&w);
	free(path);
	scratch_remove(dir);
}

/* Several readers of one recording, each with windows of its own. */
static void test_cursors(void **state)
{
	static const uint64_t paces_ns[] = { 100 * MS, 333 * MS, 950 * MS };
	char *dir = scratch_new(), *path = scratch_file(dir);
	struct watt_cursor *cursors[3];
	int64_t sum_nj[3][2 * N_CHANNELS] = { 0 };
	uint64_t next_ns[3], last_ns[3] = { 0 };
	struct watt_snapshot *snap;
	struct watt_session *ses;
	static struct world w;
	size_t i, d, c, n = 0;
	int r = 0;

	world_open(&w, 9, path, WATT_IDLE_SEPARATE, NULL);
	world_live(&w, SECONDS);
	ses = open_recording(path, NULL);
	for (i = 0; i < 3; i++) {
		assert_int_equal(watt_cursor_open(ses, &cursors[i]), 0);
		next_ns[i] = watt_session_get_time_ns(ses) + paces_ns[i];
	}
	while (r == 0) {
		for (c = 0, i = 1; i < 3; i++)
			c = next_ns[i] < next_ns[c] ? i : c;
		r = watt_cursor_snapshot_at(cursors[c], next_ns[c], 0, &snap);
		if (r < 0)
			break;
		next_ns[c] += paces_ns[c];
		check_conserved(snap);
		if (last_ns[c])
			assert_int_equal(watt_snapshot_get_window_start_ns(snap), last_ns[c]);
		last_ns[c] = watt_snapshot_get_time_ns(snap);
		for (d = 0; d < watt_snapshot_get_domain_count(snap); d++) {
			const struct watt_domain_state *s = watt_snapshot_get_domain_state(snap, d);

			sum_nj[c][d] += s->window_nj;
			assert_int_equal(sum_nj[c][d], watt_energy_to_nj(s->energy));
		}
		watt_snapshot_unref(snap);
		n++;
	}
	assert_int_equal(r, -ENODATA);
	assert_true(n > SECONDS * 10);
	assert_int_equal(watt_session_next_snapshot(ses, &snap), -EINVAL);
	for (i = 0; i < 3; i++)
		watt_cursor_close(cursors[i]);
	watt_session_close(ses);
	world_close(&w);
	free(path);
	scratch_remove(dir);
}

/* The calls of a live session work, in the time of the recording. */
static void test_as_if_live(void **state)
{
	char *dir = scratch_new(), *path = scratch_file(dir);
	struct watt_reader_stats reader_stats = { .sz = sizeof(reader_stats) };
	struct watt_tier_stats tier_stats = { .sz = sizeof(tier_stats) };
	struct watt_record_stats record_stats = { .sz = sizeof(record_stats) };
	struct watt_snapshot *snap;
	struct watt_session *ses;
	struct watt_sample sample;
	struct watt_mark told;
	static struct world w;
	uint64_t begin_ns, id;
	int64_t ppm;
	size_t n = 0;

	world_open(&w, 3, path, WATT_IDLE_SEPARATE, NULL);
	world_live(&w, SECONDS);
	ses = open_recording(path, NULL);
	begin_ns = watt_session_get_time_ns(ses);
	assert_in_range(begin_ns, 77000 * MS - 1000, 77000 * MS + 100000);
	assert_int_equal(watt_session_get_sample(ses, 0, &sample), -ENODATA);
	assert_int_equal(watt_session_dispatch(ses), 1);
	assert_int_equal(watt_session_wait(ses, 1500), 0);
	assert_in_range(watt_session_get_time_ns(ses), begin_ns + 1500 * MS, begin_ns + 1700 * MS);
	assert_int_equal(watt_session_flush(ses, 3000),
			 WATT_FLUSH_LOST_SAMPLES | WATT_FLUSH_LOST_USAGE); /* live, that is */
	assert_int_equal(watt_session_get_sample(ses, 0, &sample), 0);
	assert_int_equal(watt_session_get_sample(ses, N_CHANNELS, &sample), -EINVAL);
	assert_int_equal(watt_session_snapshot(ses, &snap), 0);
	assert_int_equal(watt_snapshot_get_time_ns(snap), watt_session_get_time_ns(ses));
	assert_int_equal(watt_snapshot_get_realtime_ns(snap) - watt_snapshot_get_time_ns(snap),
			 12345);
	check_conserved(snap);
	watt_snapshot_unref(snap);
	assert_int_equal(watt_session_get_channel_count(ses), N_CHANNELS);
	assert_string_equal(watt_session_get_channel(ses, 1)->name, "t/package-1");
	assert_string_equal(watt_session_get_usage_name(ses), "test");
	assert_null(watt_session_get_marks_address(ses));
	assert_null(watt_session_get_host(ses)); /* it says none */
	assert_int_equal(watt_session_get_reader_stats(ses, 0, &reader_stats), -ENODATA);
	assert_int_equal(watt_session_get_tier_stats(ses, WATT_TIER_FAST, &tier_stats), -ENODATA);
	assert_int_equal(watt_session_get_crosscheck(ses, 0, &ppm), -EOPNOTSUPP);
	assert_int_equal(watt_session_record(ses, path, NULL), -EOPNOTSUPP);
	assert_int_equal(watt_session_get_record_stats(ses, &record_stats), -ENODATA);
	assert_int_equal(watt_session_track(ses, 424242, &id), -ESRCH);
	assert_int_equal(watt_session_wait(ses, 3600000), -ENODATA);
	assert_int_equal(watt_session_dispatch(ses), -ENODATA);
	for (; watt_session_next_mark(ses, &told) == 0; n++)
		assert_in_range(told.t_ns, begin_ns, watt_session_get_time_ns(ses));
	assert_true(n > 0);
	watt_session_close(ses);
	world_close(&w);
	free(path);
	scratch_remove(dir);
}

/* From when the clock on the wall was set, times of it are those that it had then. */
static void test_clock_is_set(void **state)
{
	char *dir = scratch_new(), *path = scratch_file(dir);
	struct watt_op op = { .kind = WATT_OP_CLOCK };
	struct watt_snapshot *snap;
	struct watt_session *ses;
	static struct world w;
	size_t i;

	world_open(&w, 5, path, WATT_IDLE_SEPARATE, NULL);
	sweep(&w, true);
	for (i = 1; i <= 40; i++)
		step(&w, i);
	snapshot(&w);
	op.clock.from_ns = op.clock.to_ns = w.t_ns;
	op.clock.realtime_ns = w.t_ns + 500 * MS;
	apply(&w, &op, NULL);
	for (i = 41; i <= 60; i++)
		step(&w, i);
	world_end(&w);
	ses = open_recording(path, NULL);
	assert_int_equal(watt_session_wait(ses, 3600000), -ENODATA);
	assert_int_equal(watt_session_snapshot(ses, &snap), 0);
	assert_int_equal(watt_snapshot_get_realtime_ns(snap) - watt_snapshot_get_time_ns(snap),
			 500 * MS);
	watt_snapshot_unref(snap);
	watt_session_close(ses);
	world_close(&w);
	free(path);
	scratch_remove(dir);
}

/* Snapshots that were not asked for any more leave no barrier behind. */
static void test_taking_over(void **state)
{
	char *dir = scratch_new(), *path = scratch_file(dir);
	struct watt_snapshot *snap;
	struct watt_session *ses;
	static struct world w;
	uint64_t t_ns;

	world_open(&w, 4, path, WATT_IDLE_SEPARATE, NULL);
	world_live(&w, SECONDS);
	ses = open_recording(path, NULL);
	assert_int_equal(watt_session_next_snapshot(ses, &snap), 0);
	watt_snapshot_unref(snap);
	assert_int_equal(watt_session_next_snapshot(ses, &snap),
			 0); /* its barrier is not over yet */
	t_ns = watt_snapshot_get_time_ns(snap) + 700 * MS;
	watt_snapshot_unref(snap);
	assert_int_equal(watt_session_snapshot_at(ses, t_ns, 0, &snap), 0);
	assert_in_range(watt_snapshot_get_time_ns(snap), t_ns, t_ns + 80 * MS);
	assert_int_equal(watt_snapshot_get_sequence(snap), 3);
	check_conserved(snap);
	watt_snapshot_unref(snap);
	watt_session_close(ses);
	world_close(&w);
	free(path);
	scratch_remove(dir);
}

static void test_mistakes(void **state)
{
	struct watt_options *bad = options_of("share-key", "nowhere=none", NULL);
	char *dir = scratch_new(), *path = scratch_file(dir);
	struct watt_session *ses = NULL;
	static struct world w;

	world_open(&w, 4, path, WATT_IDLE_SEPARATE, NULL);
	world_live(&w, 1);
	assert_int_equal(watt_session_open_recording(path, bad, &ses), -ENOENT);
	watt_options_free(bad);
	assert_int_equal(watt_session_open_recording(NULL, NULL, &ses), -EINVAL);
	assert_int_equal(watt_session_open_recording("/proc/self/nothing", NULL, &ses), -ENOENT);
	assert_int_equal(watt_session_open_recording("/proc/self/exe", NULL, &ses), -EMEDIUMTYPE);
	assert_null(ses);
	world_close(&w);
	free(path);
	scratch_remove(dir);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_bytes),  cmocka_unit_test(test_other_policies),
		cmocka_unit_test(test_own_windows), cmocka_unit_test(test_cursors),
		cmocka_unit_test(test_as_if_live),  cmocka_unit_test(test_clock_is_set),
		cmocka_unit_test(test_taking_over), cmocka_unit_test(test_mistakes),
	};

	return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
