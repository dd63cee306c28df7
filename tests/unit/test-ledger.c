/* SPDX-License-Identifier: Apache-2.0 */
/* lib/attrib/ledger.c: to whom the energy of a slice goes. */
#include "unit.h"

#include "attrib/attrib.h"

#define MS 1000000ULL

static const struct watt_channel packages[2] = {
	{ .name = "p0",
	  .source = "t",
	  .domain = "package-0",
	  .kind = WATT_DOMAIN_PACKAGE,
	  .scale_num = 1,
	  .scale_den = 1,
	  .package_id = 0,
	  .die_id = -1,
	  .core_id = -1 },
	{ .name = "p1",
	  .source = "t",
	  .domain = "package-1",
	  .kind = WATT_DOMAIN_PACKAGE,
	  .scale_num = 1,
	  .scale_den = 1,
	  .package_id = 1,
	  .die_id = -1,
	  .core_id = -1 },
};

/* One that knows its idle power from the start. */
static const struct watt_channel model = {
	.name = "m",
	.source = "t",
	.domain = "model",
	.kind = WATT_DOMAIN_PACKAGE,
	.scale_num = 1,
	.scale_den = 1,
	.package_id = -1,
	.die_id = -1,
	.core_id = -1,
	.idle_uw = 4000000,
};

/* One that wraps every 10 J, and can't use more than 2 W. */
static const struct watt_channel narrow = {
	.name = "n",
	.source = "t",
	.domain = "dram-0",
	.kind = WATT_DOMAIN_DRAM,
	.scale_num = 1,
	.scale_den = 1,
	.package_id = -1,
	.die_id = -1,
	.core_id = -1,
	.wrap_nj = 10000 * MS,
	.max_power_uw = 2000000,
};

struct bench {
	struct watt_timeline *tl;
	struct watt_attrib *at;
	struct watt_snapshot *snap;
};

/* Two packages of one CPU each; CPU 2 is in neither. */
static void open_bench_by(struct bench *b, const char *idle_policy, size_t n_channels,
			  uint32_t n_cpus)
{
	static const struct watt_channel *const channels[] = { &packages[0], &packages[1], &model,
							       &narrow };
	static const uint16_t slots[3] = { 0, 1, UINT16_MAX };
	static const struct watt_cpu_place places[2] = { { 0, -1, -1 }, { 1, -1, -1 } };
	struct watt_attrib_opts opts = { .channels = channels,
					 .n_channels = n_channels,
					 .cpu_slot = slots,
					 .n_cpus = n_cpus,
					 .n_slots = n_cpus ? 2 : 0,
					 .places = n_cpus ? places : NULL,
					 .idle_policy = idle_policy };

	*b = (struct bench){ 0 };
	assert_int_equal(watt_timeline_new(channels, n_channels, &b->tl), 0);
	assert_int_equal(watt_attrib_new(&opts, &b->at), 0);
}

static void open_bench(struct bench *b, size_t n_channels, uint32_t n_cpus)
{
	open_bench_by(b, NULL, n_channels, n_cpus);
}

static void close_bench(struct bench *b)
{
	watt_snapshot_unref(b->snap);
	watt_attrib_free(b->at);
	watt_timeline_free(b->tl);
}

static void read_counter(struct bench *b, uint32_t channel, uint64_t t_ms, uint64_t energy_mj)
{
	struct watt_sample sample = { t_ms * MS, t_ms * MS, (int64_t)(energy_mj * MS), channel,
				      WATT_STATUS_OK };

	assert_int_equal(watt_timeline_push(b->tl, &sample), 0);
}

/* One task has used cpu_ms so far, the last of it on this CPU. */
static void sweep(struct bench *b, uint64_t t_ms, uint32_t cpu, uint64_t cpu_ms)
{
	struct watt_usage u = { .t_ns = t_ms * MS,
				.cpu_ns = cpu_ms * MS,
				.start_ns = 1,
				.leader_start_ns = 1,
				.cgroup_id = 1,
				.tid = 9,
				.tgid = 9,
				.cpu = cpu,
				.comm = "task" };
	struct watt_usage_batch batch = { .t_before_ns = t_ms * MS,
					  .t_after_ns = t_ms * MS,
					  .records = &u,
					  .n_records = 1,
					  .flags = WATT_BATCH_FULL };

	assert_int_equal(watt_attrib_push_usage(b->at, &batch), 0);
	assert_true(watt_attrib_advance(b->at, b->tl, t_ms * MS) >= 0);
}

static const struct watt_domain_state *state_of(struct bench *b, uint64_t t_ms, size_t domain)
{
	struct watt_quality quality = { 0 };

	watt_snapshot_unref(b->snap);
	assert_int_equal(watt_attrib_snapshot(b->at, b->tl, t_ms * MS, 0, NULL, &quality, &b->snap),
			 0);
	assert_int_equal(watt_snapshot_get_quality(b->snap)->check_failures, 0);
	return watt_snapshot_get_domain_state(b->snap, domain);
}

static int64_t energy_of_task(const struct bench *b, size_t domain)
{
	size_t i;

	for (i = 0; i < watt_snapshot_get_row_count(b->snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(b->snap, i);

		if (row->entity.kind == WATT_ENTITY_PROCESS)
			return row->energy_nj[domain];
	}
	return -1;
}

/* A package's energy goes to who ran there; where nobody ran, to unattributed. */
static void test_goes_to_who_ran_there(void **state)
{
	struct bench b;
	uint64_t i;

	open_bench(&b, 2, 3);
	for (i = 0; i <= 3; i++) {
		read_counter(&b, 0, 100 * (i + 1), 10 * i);
		read_counter(&b, 1, 100 * (i + 1), 7 * i);
		sweep(&b, 100 * (i + 1), (uint32_t)(i ? i - 1 : 0), 20 * i);
	}
	assert_int_equal(state_of(&b, 400, 0)->unattributed_nj, 20 * MS);
	assert_int_equal(energy_of_task(&b, 0), 10 * MS); /* of the first slice */
	assert_int_equal(state_of(&b, 400, 1)->unattributed_nj, 14 * MS);
	assert_int_equal(energy_of_task(&b, 1), 7 * MS); /* of the second; the third ran nowhere */
	close_bench(&b);
}

/* Slices had to go before the sensor spoke: the energy is counted, and is nobody's. */
static void test_late_energy_is_unattributed(void **state)
{
	const struct watt_domain_state *s;
	struct bench b;
	uint64_t t_ms;

	open_bench(&b, 1, 3);
	read_counter(&b, 0, 100, 0);
	for (t_ms = 100; t_ms <= 100000; t_ms += 1000)
		sweep(&b, t_ms, 0, t_ms);
	assert_int_equal(state_of(&b, t_ms, 0)->energy_nj, 0);
	read_counter(&b, 0, 100100, 100000); /* 1 W for 100 s; the horizon is 60 s */
	sweep(&b, 100100, 0, 100100);
	s = state_of(&b, 100100, 0);
	assert_int_equal(s->energy_nj, 100000 * MS);
	assert_in_range(s->late_nj, 38000 * MS, 41000 * MS);
	assert_int_equal(s->unattributed_nj, s->late_nj);
	assert_int_equal(energy_of_task(&b, 0), s->energy_nj - s->late_nj);
	close_bench(&b);
}

/* A machine without sensors, or of which no CPU is known, is no reason to fail. */
static void test_nothing_to_measure(void **state)
{
	struct bench b;

	open_bench(&b, 0, 3);
	sweep(&b, 100, 0, 10);
	sweep(&b, 200, 0, 20);
	assert_null(state_of(&b, 200, 0));
	close_bench(&b);
	open_bench(&b, 2, 0);
	read_counter(&b, 0, 100, 0);
	read_counter(&b, 0, 200, 10);
	sweep(&b, 100, 0, 10);
	sweep(&b, 200, 0, 20);
	assert_int_equal(state_of(&b, 200, 0)->unattributed_nj, 10 * MS);
	close_bench(&b);
}

/* 10 W of which 4 W are idle; somebody runs in the second of three slices of 100 ms. */
static void live_with_idle(struct bench *b)
{
	uint64_t i;

	for (i = 0; i <= 3; i++) {
		read_counter(b, 2, 100 * (i + 1), 1000 * i);
		sweep(b, 100 * (i + 1), 0, i < 2 ? 0 : 20);
	}
}

/* What idle takes in a slice goes to who ran there; where nobody ran it stays idle. */
static void test_idle_is_shared_in_its_slice(void **state)
{
	const struct watt_domain_state *s;
	struct bench b;

	open_bench_by(&b, "proportional", 3, 3);
	live_with_idle(&b);
	s = state_of(&b, 400, 2);
	assert_int_equal(s->energy_nj, 3000 * MS);
	assert_int_equal(s->shared_idle_nj, 400 * MS);
	assert_int_equal(s->window_shared_idle_nj, 400 * MS);
	assert_int_equal(s->idle_nj, 800 * MS);
	assert_int_equal(s->unattributed_nj, 1200 * MS);
	assert_int_equal(energy_of_task(&b, 2), 1000 * MS);
	assert_int_equal(watt_snapshot_get_idle_policy(b.snap), WATT_IDLE_PROPORTIONAL);
	close_bench(&b);
	open_bench(&b, 3, 3);
	live_with_idle(&b);
	s = state_of(&b, 400, 2);
	assert_int_equal(s->shared_idle_nj, 0);
	assert_int_equal(s->idle_nj, 1200 * MS);
	assert_int_equal(energy_of_task(&b, 2), 600 * MS);
	close_bench(&b);
}

/* What may be missing because nobody looked for too long is said. */
static void test_unseen_wraps_are_told(void **state)
{
	const struct watt_domain_state *s;
	struct bench b;

	open_bench(&b, 4, 3);
	read_counter(&b, 3, 0, 9000);
	sweep(&b, 0, 0, 0);
	read_counter(&b, 3, 1000, 500);
	sweep(&b, 1000, 0, 100);
	s = state_of(&b, 1000, 3);
	assert_int_equal(s->energy_nj, 1500 * MS);
	assert_int_equal(s->wraps, 1);
	assert_int_equal(s->ambiguous, 0);
	read_counter(&b, 3, 9000, 2500);
	sweep(&b, 9000, 0, 200);
	s = state_of(&b, 9000, 3);
	assert_int_equal(s->energy_nj, 3500 * MS);
	assert_int_equal(s->ambiguous, 1);
	close_bench(&b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_goes_to_who_ran_there),
		cmocka_unit_test(test_late_energy_is_unattributed),
		cmocka_unit_test(test_nothing_to_measure),
		cmocka_unit_test(test_idle_is_shared_in_its_slice),
		cmocka_unit_test(test_unseen_wraps_are_told),
	};

	return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
