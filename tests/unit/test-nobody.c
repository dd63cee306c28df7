/* SPDX-License-Identifier: Apache-2.0 */
/* lib/attrib/nobody.c: what no task explains is paid by nobody who is visible. */
#include "two_packages.h"
#include "unit.h"

#include "attrib/attrib.h"
#include "source/activity/procfs/unseen.h"

#define MS 1000000ULL
#define TICK_NS (10 * MS)

/* Two packages of one CPU each; one task is visible, on the first. */
struct bench {
	struct watt_timeline *tl;
	struct watt_attrib *at;
	struct watt_snapshot *snap;
	struct watt_cpu_time cpus[2];
	uint64_t seen_ns;
	uint64_t unseen_ns;
	uint64_t t_ns;
	uint64_t energy_nj; /* of each package */
};

static void open_bench(struct bench *b)
{
	static const struct watt_channel *const channels[] = { &two_packages[0], &two_packages[1] };
	static const uint16_t slots[2] = { 0, 1 };
	static const struct watt_cpu_place places[2] = { { 0, -1, -1 }, { 1, -1, -1 } };
	struct watt_attrib_opts opts = { .channels = channels,
					 .n_channels = 2,
					 .cpu_slot = slots,
					 .n_cpus = 2,
					 .n_slots = 2,
					 .places = places };

	*b = (struct bench){ .cpus = { { .online = 1 }, { .online = 1 } }, .t_ns = 1000 * MS };
	assert_int_equal(watt_timeline_new(channels, 2, &b->tl), 0);
	assert_int_equal(watt_attrib_new(&opts, &b->at), 0);
}

static void close_bench(struct bench *b)
{
	watt_snapshot_unref(b->snap);
	watt_attrib_free(b->at);
	watt_timeline_free(b->tl);
}

/* What ran, and what both packages have counted until then. */
static void push(struct bench *b, const struct watt_usage_batch *batch)
{
	uint32_t i;

	assert_int_equal(watt_attrib_push_usage(b->at, batch), 0);
	for (i = 0; i < 2; i++) {
		struct watt_sample sample = { b->t_ns, b->t_ns, (int64_t)b->energy_nj, i,
					      WATT_STATUS_OK };

		assert_int_equal(watt_timeline_push(b->tl, &sample), 0);
	}
	assert_true(watt_attrib_advance(b->at, b->tl, b->t_ns) >= 0);
}

static void push_sweep(struct bench *b)
{
	struct watt_usage u = { .t_ns = b->t_ns,
				.cpu_ns = b->seen_ns,
				.start_ns = 1,
				.leader_start_ns = 1,
				.cgroup_id = 1,
				.tid = 9,
				.tgid = 9,
				.comm = "visible" };
	struct watt_usage_batch batch = { .t_before_ns = b->t_ns,
					  .t_after_ns = b->t_ns,
					  .records = &u,
					  .n_records = 1,
					  .cpus = b->cpus,
					  .n_cpus = 2,
					  .flags = WATT_BATCH_FULL | WATT_BATCH_COARSE,
					  .unseen_ns = b->unseen_ns };

	push(b, &batch);
}

/* 100 ms at 10 W a package in which the visible one ran for so long. */
static void step(struct bench *b, uint64_t seen_ms)
{
	b->t_ns += 100 * MS;
	b->energy_nj += 1000 * MS;
	b->seen_ns += seen_ms * MS;
	push_sweep(b);
}

static void look(struct bench *b)
{
	struct watt_look_opts opts = { .t_ns = b->t_ns };

	watt_snapshot_unref(b->snap);
	assert_int_equal(watt_attrib_snapshot(b->at, b->tl, &opts, &b->snap), 0);
	assert_int_equal(watt_snapshot_get_quality(b->snap)->check_failures, 0);
	assert_int_equal(watt_snapshot_get_quality(b->snap)->sum_failures, 0);
}

static int64_t energy_of(const struct bench *b, enum watt_entity_kind kind, size_t domain)
{
	size_t i;

	for (i = 0; i < watt_snapshot_get_row_count(b->snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(b->snap, i);

		if (row->entity->kind == kind)
			return row->energy[domain].j * 1000000000 + row->energy[domain].nj;
	}
	return 0;
}

static void test_it_takes_its_share(void **state)
{
	struct bench b;

	open_bench(&b);
	push_sweep(&b);
	/* the first package: 20 ms of somebody visible, 60 of nobody; the second: 40 of nobody */
	b.cpus[0].user_ns += 80 * MS;
	b.cpus[1].system_ns += 40 * MS;
	b.unseen_ns = 100 * MS;
	step(&b, 20);
	look(&b);
	assert_int_equal(energy_of(&b, WATT_ENTITY_PROCESS, 0), 250 * MS);
	assert_int_equal(energy_of(&b, WATT_ENTITY_UNATTRIBUTED, 0), 750 * MS);
	assert_int_equal(energy_of(&b, WATT_ENTITY_PROCESS, 1), 0);
	assert_int_equal(energy_of(&b, WATT_ENTITY_UNATTRIBUTED, 1), 1000 * MS);
	close_bench(&b);
}

/* What was there before the first sweep is nobody's of this session. */
static void test_old_time_counts_for_nothing(void **state)
{
	struct bench b;

	open_bench(&b);
	b.unseen_ns = 5000 * MS;
	push_sweep(&b);
	b.cpus[0].user_ns += 50 * MS;
	step(&b, 50);
	look(&b);
	assert_int_equal(energy_of(&b, WATT_ENTITY_PROCESS, 0), 1000 * MS);
	assert_int_equal(energy_of(&b, WATT_ENTITY_UNATTRIBUTED, 0), 0);
	close_bench(&b);
}

static void test_impossible_time_is_damage(void **state)
{
	struct bench b;

	open_bench(&b);
	push_sweep(&b);
	b.cpus[0].user_ns += 50 * MS;
	b.unseen_ns = UINT64_MAX / 2;
	step(&b, 50);
	look(&b);
	assert_int_equal(watt_snapshot_get_quality(b.snap)->damaged_records, 1);
	assert_int_equal(energy_of(&b, WATT_ENTITY_PROCESS, 0), 1000 * MS);
	close_bench(&b);
}

/* A hold counts time that waits, per account: nobody has none. */
static void test_waits_with_the_others(void **state)
{
	struct bench b;

	open_bench(&b);
	push_sweep(&b);
	b.cpus[0].user_ns += 80 * MS;
	b.unseen_ns = 60 * MS;
	watt_attrib_set_barrier(b.at, b.t_ns);
	step(&b, 20);
	look(&b);
	assert_int_equal(energy_of(&b, WATT_ENTITY_PROCESS, 0), 0);
	watt_attrib_set_barrier(b.at, 0);
	assert_true(watt_attrib_advance(b.at, b.tl, b.t_ns) > 0);
	look(&b);
	assert_int_equal(energy_of(&b, WATT_ENTITY_PROCESS, 0), 250 * MS);
	close_bench(&b);
}

/* A kernel that counts both CPUs by ticks, and the source's own estimate of what is not seen. */
static void run_ticking(struct bench *b, uint32_t seed, uint32_t seen_us, uint32_t hidden_us,
			uint32_t n_slices)
{
	struct watt_unseen unseen = { 0 };
	uint64_t busy_ns[2] = { 0 };
	uint32_t i, cpu;

	for (i = 0; i <= n_slices; i++) {
		uint64_t now_ns = (uint64_t)i * 100 * MS;

		if (i) {
			/* bursts that do not keep step with the ticks */
			seed = seed * 1664525 + 1013904223;
			busy_ns[0] += (seen_us + seed % 2000) * 1000ULL;
			b->seen_ns += (seen_us + seed % 2000) * 1000ULL;
			watt_unseen_add(&unseen, (seen_us + seed % 2000) * 1000ULL);
			busy_ns[1] += hidden_us * 1000ULL;
		}
		for (cpu = 0; cpu < 2; cpu++) {
			b->cpus[cpu].user_ns = busy_ns[cpu] / TICK_NS * TICK_NS;
			b->cpus[cpu].idle_ns = (now_ns - busy_ns[cpu]) / TICK_NS * TICK_NS;
		}
		assert_int_equal(watt_unseen_update(&unseen, b->cpus, 2, TICK_NS), 0);
		b->unseen_ns = unseen.unseen_ns;
		if (i)
			step(b, 0);
		else
			push_sweep(b);
	}
	watt_unseen_done(&unseen);
	look(b);
}

static void test_ticks_make_no_noise(void **state)
{
	uint32_t seed;

	for (seed = 1; seed <= 8; seed++) {
		struct bench b;

		open_bench(&b);
		run_ticking(&b, seed, 13000 + seed * 3000, 0, 300);
		assert_int_equal(energy_of(&b, WATT_ENTITY_UNATTRIBUTED, 0), 0);
		assert_int_equal(energy_of(&b, WATT_ENTITY_PROCESS, 0), 300 * 1000 * MS);
		close_bench(&b);
	}
}

static void test_hidden_work_is_found_among_ticks(void **state)
{
	struct bench b;
	int64_t visible_nj, hidden_nj;

	open_bench(&b);
	run_ticking(&b, 1, 30000, 45000, 300);
	/* all but what the noise hides of 13.5 s on the second package, and none on the first */
	visible_nj = energy_of(&b, WATT_ENTITY_PROCESS, 0);
	hidden_nj = energy_of(&b, WATT_ENTITY_UNATTRIBUTED, 1);
	assert_in_range(visible_nj, 300 * 990 * MS, 300 * 1000 * MS);
	assert_in_range(hidden_nj, 300 * 950 * MS, 300 * 1000 * MS);
	assert_int_equal(energy_of(&b, WATT_ENTITY_PROCESS, 1), 0);
	close_bench(&b);
}

/* Two processes, one of which has a thread, that are outside, and one that is not. */
static void push_outside(struct bench *b, uint64_t outside_ns, bool is_one_over)
{
	static const uint32_t tids[] = { 9, 3 | WATT_USAGE_OUTSIDE, 4 | WATT_USAGE_OUTSIDE,
					 9 | WATT_USAGE_OUTSIDE };
	static const uint32_t tgids[] = { 9, 3 | WATT_USAGE_OUTSIDE, 3 | WATT_USAGE_OUTSIDE,
					  9 | WATT_USAGE_OUTSIDE };
	struct watt_usage records[4];
	struct watt_usage_batch batch = { .t_before_ns = b->t_ns,
					  .t_after_ns = b->t_ns,
					  .records = records,
					  .n_records = 4,
					  .cpus = b->cpus,
					  .n_cpus = 2,
					  .flags = WATT_BATCH_DEATHS };
	uint32_t i;

	for (i = 0; i < 4; i++)
		records[i] =
			(struct watt_usage){ .t_ns = b->t_ns,
					     .cpu_ns = i ? outside_ns : b->seen_ns,
					     .start_ns = 1,
					     .leader_start_ns = 1,
					     .tid = tids[i],
					     .tgid = tgids[i],
					     .flags = WATT_USAGE_NO_UID | WATT_USAGE_NO_CGROUP };
	if (is_one_over)
		records[3].kind = WATT_USAGE_FREE;
	push(b, &batch);
}

static void check_outside(const struct bench *b, int64_t energy_nj, uint64_t cpu_ns)
{
	size_t i, n = 0;

	for (i = 0; i < watt_snapshot_get_row_count(b->snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(b->snap, i);

		if (row->entity->kind != WATT_ENTITY_PROCESS || row->entity->identity->pid)
			continue;
		n++;
		assert_string_equal(row->entity->name, "outside this pid namespace");
		assert_int_equal(row->entity->alive, 1);
		assert_int_equal(row->cpu_ns, cpu_ns);
		assert_int_equal(row->energy[0].j * 1000000000 + row->energy[0].nj, energy_nj);
	}
	assert_int_equal(n, 1);
}

static void test_who_is_outside_is_one(void **state)
{
	uint32_t pid;
	uint64_t start_ns;
	struct bench b;
	size_t n_asked = 0;

	open_bench(&b);
	push_outside(&b, 0, false);
	b.t_ns += 100 * MS;
	b.energy_nj += 1000 * MS;
	b.seen_ns += 10 * MS;
	push_outside(&b, 30 * MS, false);
	look(&b);
	/* 90 ms of the 100 on the first package */
	check_outside(&b, 900 * MS, 90 * MS);
	b.t_ns += 100 * MS;
	b.energy_nj += 1000 * MS;
	push_outside(&b, 40 * MS, true);
	look(&b);
	check_outside(&b, 1900 * MS, 120 * MS);
	while (watt_attrib_next_nameless(b.at, &pid, &start_ns) == 0) {
		n_asked++;
		assert_int_equal(pid, 9);
	}
	assert_int_equal(n_asked, 1);
	close_bench(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_takes_its_share),
		cmocka_unit_test(test_old_time_counts_for_nothing),
		cmocka_unit_test(test_impossible_time_is_damage),
		cmocka_unit_test(test_waits_with_the_others),
		cmocka_unit_test(test_ticks_make_no_noise),
		cmocka_unit_test(test_hidden_work_is_found_among_ticks),
		cmocka_unit_test(test_who_is_outside_is_one),
	};

	return cmocka_run_group_tests_name("nobody", tests, NULL, NULL);
}
