/* SPDX-License-Identifier: Apache-2.0 */
/* lib/attrib/barrier.c: snapshots that mean the same time in every domain. */
#include "channel.h"
#include "unit.h"

#include "attrib/attrib.h"

#define MS 1000000ULL

enum {
	FAST,
	SLOW
};

static const struct watt_channel machine[2] = {
	[FAST] = CHANNEL("fast", "package-0", WATT_DOMAIN_PACKAGE, .package_id = -1),
	[SLOW] = CHANNEL("slow", "package-1", WATT_DOMAIN_PACKAGE, .package_id = -1),
};

struct bench {
	struct watt_timeline *tl;
	struct watt_attrib *at;
	struct watt_snapshot *snap;
	uint64_t t_ms;
};

static void open_bench(struct bench *b)
{
	static const struct watt_channel *const channels[] = { &machine[FAST], &machine[SLOW] };
	struct watt_attrib_opts opts = { .channels = channels, .n_channels = 2 };

	*b = (struct bench){ 0 };
	assert_int_equal(watt_timeline_new(channels, 2, &b->tl), 0);
	assert_int_equal(watt_attrib_new(&opts, &b->at), 0);
}

static void close_bench(struct bench *b)
{
	watt_snapshot_unref(b->snap);
	watt_attrib_free(b->at);
	watt_timeline_free(b->tl);
}

static void read_sensor(struct bench *b, uint32_t channel, enum watt_status status)
{
	/* a watt on either */
	struct watt_sample sample = { b->t_ms * MS, b->t_ms * MS,
				      status == WATT_STATUS_OK ? (int64_t)(b->t_ms * MS) : 0,
				      channel, status };

	assert_int_equal(watt_timeline_push(b->tl, &sample), 0);
}

/* Ends a slice at t_ms; one task runs half of the time. */
static void sweep(struct bench *b, uint64_t t_ms)
{
	struct watt_usage u = { .t_ns = t_ms * MS,
				.cpu_ns = t_ms * MS / 2,
				.start_ns = 1,
				.leader_start_ns = 1,
				.cgroup_id = 1,
				.tid = 9,
				.tgid = 9,
				.comm = "task" };
	struct watt_usage_batch batch = { .t_before_ns = t_ms * MS,
					  .t_after_ns = t_ms * MS,
					  .records = &u,
					  .n_records = 1,
					  .flags = WATT_BATCH_FULL };

	b->t_ms = t_ms;
	read_sensor(b, FAST, WATT_STATUS_OK);
	assert_int_equal(watt_attrib_push_usage(b->at, &batch), 0);
	assert_true(watt_attrib_advance(b->at, b->tl, t_ms * MS) >= 0);
}

static void take(struct bench *b, uint64_t t_ms)
{
	struct watt_look_opts opts = { .t_ns = t_ms * MS, .phase = "phase" };

	watt_snapshot_unref(b->snap);
	assert_int_equal(watt_attrib_snapshot(b->at, b->tl, &opts, &b->snap), 0);
	assert_int_equal(watt_snapshot_get_quality(b->snap)->check_failures, 0);
	assert_int_equal(watt_snapshot_get_quality(b->snap)->sum_failures, 0);
	assert_string_equal(watt_snapshot_get_phase(b->snap), "phase");
}

static const struct watt_row *task_row(const struct bench *b)
{
	size_t i;

	for (i = 0; i < watt_snapshot_get_row_count(b->snap); i++)
		if (watt_snapshot_get_row(b->snap, i)->entity->kind == WATT_ENTITY_PROCESS)
			return watt_snapshot_get_row(b->snap, i);
	fail_msg("the task is not in the snapshot");
	return NULL;
}

/* The slow domain comes a second late: both end where the snapshot says, and nothing is lost. */
static void test_waits_for_the_slow(void **state)
{
	struct bench b;
	uint64_t t_ms;

	open_bench(&b);
	b.t_ms = 100;
	read_sensor(&b, SLOW, WATT_STATUS_OK);
	for (t_ms = 100; t_ms <= 300; t_ms += 100)
		sweep(&b, t_ms);
	read_sensor(&b, SLOW, WATT_STATUS_OK);
	assert_true(watt_attrib_advance(b.at, b.tl, b.t_ms * MS) > 0);
	watt_attrib_set_barrier(b.at, 450 * MS);
	for (t_ms = 400; t_ms <= 1500; t_ms += 100) {
		sweep(&b, t_ms);
		assert_false(watt_attrib_is_at_barrier(b.at, b.tl));
	}
	assert_int_equal(watt_attrib_settled_ns(b.at, FAST), 500 * MS);
	assert_int_equal(watt_attrib_settled_ns(b.at, SLOW), 300 * MS);
	read_sensor(&b, SLOW, WATT_STATUS_OK);
	assert_true(watt_attrib_advance(b.at, b.tl, b.t_ms * MS) > 0);
	assert_true(watt_attrib_is_at_barrier(b.at, b.tl));
	assert_int_equal(watt_attrib_cut_ns(b.at, 450 * MS), 500 * MS);
	take(&b, 500);
	assert_int_equal(watt_energy_to_nj(watt_snapshot_get_domain_state(b.snap, FAST)->energy),
			 400 * MS);
	assert_int_equal(watt_energy_to_nj(watt_snapshot_get_domain_state(b.snap, SLOW)->energy),
			 400 * MS);
	assert_int_equal(task_row(&b)->window_cpu_ns, 200 * MS); /* not what it did since */
	watt_attrib_set_barrier(b.at, 0);
	assert_true(watt_attrib_advance(b.at, b.tl, b.t_ms * MS) > 0);
	take(&b, 1500);
	assert_int_equal(watt_snapshot_get_domain_state(b.snap, FAST)->window_nj, 1000 * MS);
	assert_int_equal(watt_snapshot_get_domain_state(b.snap, SLOW)->window_nj, 1000 * MS);
	assert_int_equal(task_row(&b)->window_cpu_ns, 500 * MS);
	assert_int_equal(task_row(&b)->cpu_ns, 700 * MS);
	close_bench(&b);
}

/* A time that is past already: the cut lies where the quickest domain is, in every domain. */
static void test_never_takes_back(void **state)
{
	struct bench b;

	open_bench(&b);
	assert_int_equal(watt_attrib_cut_ns(b.at, 1), 0); /* nothing was swept */
	b.t_ms = 100;
	read_sensor(&b, SLOW, WATT_STATUS_OK);
	sweep(&b, 100);
	sweep(&b, 200);
	sweep(&b, 300);
	b.t_ms = 200;
	read_sensor(&b, SLOW, WATT_STATUS_OK);
	assert_true(watt_attrib_advance(b.at, b.tl, 300 * MS) > 0);
	assert_int_equal(watt_attrib_settled_ns(b.at, FAST), 300 * MS);
	assert_int_equal(watt_attrib_settled_ns(b.at, SLOW), 200 * MS);
	watt_attrib_set_barrier(b.at, 150 * MS);
	assert_int_equal(watt_attrib_cut_ns(b.at, 150 * MS), 300 * MS);
	assert_int_equal(watt_attrib_cut_ns(b.at, 301 * MS), 0);
	/* the slow domain was past 150 ms, and is not where the snapshot would end */
	sweep(&b, 400);
	assert_false(watt_attrib_is_at_barrier(b.at, b.tl));
	read_sensor(&b, SLOW, WATT_STATUS_OK);
	assert_true(watt_attrib_advance(b.at, b.tl, 400 * MS) > 0);
	assert_true(watt_attrib_is_at_barrier(b.at, b.tl));
	take(&b, watt_attrib_cut_ns(b.at, 150 * MS) / MS);
	assert_int_equal(watt_snapshot_get_time_ns(b.snap), 300 * MS);
	assert_int_equal(watt_snapshot_get_domain_state(b.snap, FAST)->t_ns, 300 * MS);
	assert_int_equal(watt_snapshot_get_domain_state(b.snap, SLOW)->t_ns, 300 * MS);
	close_bench(&b);
}

/* A sensor that fails or falls silent holds nobody up. */
static void test_does_not_wait_for_the_dead(void **state)
{
	struct bench b;

	open_bench(&b);
	b.t_ms = 100;
	read_sensor(&b, SLOW, WATT_STATUS_OK);
	sweep(&b, 100);
	sweep(&b, 200);
	read_sensor(&b, SLOW, WATT_STATUS_OK);
	watt_attrib_set_barrier(b.at, 400 * MS);
	sweep(&b, 300);
	sweep(&b, 400);
	assert_false(watt_attrib_is_at_barrier(b.at, b.tl));
	read_sensor(&b, SLOW, WATT_STATUS_BROKEN);
	assert_true(watt_attrib_is_at_barrier(b.at, b.tl));
	take(&b, 400);
	assert_int_equal(watt_snapshot_get_domain_state(b.snap, SLOW)->window_nj, 100 * MS);
	watt_attrib_set_barrier(b.at, 500 * MS);
	b.t_ms = 450;
	read_sensor(&b, SLOW, WATT_STATUS_OK);
	sweep(&b, 500);
	assert_false(watt_attrib_is_at_barrier(b.at, b.tl));
	sweep(&b, 11000);
	assert_true(watt_attrib_is_at_barrier(b.at, b.tl));
	close_bench(&b);
}

/* A sensor of a long period is waited for as long as that takes, and one that hangs is said to. */
static void test_waits_as_long_as_a_period(void **state)
{
	const struct watt_domain_state *slow;
	struct bench b;
	uint64_t t_ms;

	open_bench(&b);
	for (t_ms = 1000; t_ms <= 21000; t_ms += 500) {
		b.t_ms = t_ms;
		if (t_ms % 10000 == 1000)
			read_sensor(&b, SLOW, WATT_STATUS_OK);
		sweep(&b, t_ms);
	}
	watt_attrib_set_barrier(b.at, 22000 * MS);
	for (t_ms = 21500; t_ms <= 33000; t_ms += 500)
		sweep(&b, t_ms);
	assert_false(watt_attrib_is_at_barrier(b.at, b.tl));
	read_sensor(&b, SLOW, WATT_STATUS_OK); /* two seconds late */
	assert_true(watt_attrib_advance(b.at, b.tl, b.t_ms * MS) > 0);
	assert_true(watt_attrib_is_at_barrier(b.at, b.tl));
	take(&b, 22000);
	slow = watt_snapshot_get_domain_state(b.snap, SLOW);
	assert_int_equal(slow->status, WATT_STATUS_OK);
	assert_int_equal(slow->t_ns, 22000 * MS);
	assert_int_equal(watt_energy_to_nj(slow->energy), 21000 * MS);
	watt_attrib_set_barrier(b.at, 90000 * MS);
	for (t_ms = 33500; t_ms <= 91000; t_ms += 500)
		sweep(&b, t_ms);
	assert_true(watt_attrib_is_at_barrier(b.at, b.tl));
	take(&b, 90000);
	slow = watt_snapshot_get_domain_state(b.snap, SLOW);
	assert_int_equal(slow->status, WATT_STATUS_STALE);
	assert_int_equal(slow->t_ns, 33000 * MS);
	assert_int_equal(watt_snapshot_get_domain_state(b.snap, FAST)->status, WATT_STATUS_OK);
	close_bench(&b);
}

/* Whoever has a name is asked for again, once. */
static void test_asks_again(void **state)
{
	uint64_t start_ns, id;
	uint32_t pid, uid;
	struct bench b;
	bool v1;

	open_bench(&b);
	sweep(&b, 100);
	sweep(&b, 200);
	assert_int_equal(watt_attrib_next_nameless(b.at, &pid, &start_ns), 0);
	assert_int_equal(watt_attrib_next_unknown_cgroup(b.at, &id, &v1, &pid), 0);
	assert_int_equal(watt_attrib_next_unknown_user(b.at, &uid), 0);
	assert_int_equal(watt_attrib_next_nameless(b.at, &pid, &start_ns), 1);
	assert_int_equal(watt_attrib_ask_again(b.at), 0);
	assert_int_equal(watt_attrib_next_nameless(b.at, &pid, &start_ns), 0);
	assert_int_equal(pid, 9);
	assert_int_equal(watt_attrib_next_nameless(b.at, &pid, &start_ns), 1);
	assert_int_equal(watt_attrib_next_unknown_cgroup(b.at, &id, &v1, &pid), 0);
	assert_int_equal(id, 1);
	assert_int_equal(watt_attrib_next_unknown_cgroup(b.at, &id, &v1, &pid), 1);
	assert_int_equal(watt_attrib_next_unknown_user(b.at, &uid), 0);
	assert_int_equal(watt_attrib_next_unknown_user(b.at, &uid), 1);
	close_bench(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits_for_the_slow),
		cmocka_unit_test(test_never_takes_back),
		cmocka_unit_test(test_does_not_wait_for_the_dead),
		cmocka_unit_test(test_waits_as_long_as_a_period),
		cmocka_unit_test(test_asks_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
