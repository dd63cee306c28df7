/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rows say of how sure they are: lib/attrib/doubt.c, from sweeps and readings to snapshots.
 * Two programs of 6 and 10 W always run together, a third one of 1 W comes and goes by itself.
 */
#include "unit.h"

#include <math.h>

#include "attrib/attrib.h"
#include "base/util.h"
#include "rules_of.h"

#define SLICE_NS 50000000ULL
#define START_NS 1000000000000ULL
#define IDLE_W 10.0
#define N_SLICES 400

enum {
	TWIN_A,
	TWIN_B,
	LONER,
	N_TASKS
};

static const double watts[N_TASKS] = { 6, 10, 1 };

/* The memory takes so much of what the package does. */
#define DRAM_PART 0.3

/* A counter of uJ. */
#define COUNTER(place) \
	.name = (place), .source = "t", .domain = (place), .quantity = WATT_QUANTITY_ENERGY, \
	.origin = WATT_ORIGIN_MEASURED, .scale_num = 1000, .scale_den = 1, .package_id = -1, \
	.die_id = -1, .core_id = -1

static const struct watt_channel dram = { COUNTER("dram-0"), .kind = WATT_DOMAIN_DRAM };

static const struct watt_channel package = {
	COUNTER("package-0"),
	.kind = WATT_DOMAIN_PACKAGE,
	.idle_uw = (uint64_t)(IDLE_W * 1e6),
};

/* The same, and nobody tells its idle power. */
static const struct watt_channel package_alone = { COUNTER("package-0"),
						   .kind = WATT_DOMAIN_PACKAGE };

struct rig {
	struct watt_attrib *at;
	struct watt_timeline *tl;
	uint64_t now_ns;
	uint64_t seed;
	uint64_t cpu_ns[N_TASKS];
	double used_j[N_TASKS];
	double energy_j;
	bool is_loner_over;
	bool is_resting; /* nobody runs */
	uint32_t n_channels;
};

static void open_rig_on(struct rig *rig, const char *key, const struct watt_channel *first,
			size_t n_channels, enum watt_idle_policy policy)
{
	const struct watt_channel *const channels[] = { first, &dram };
	static const uint16_t slots[N_TASKS] = { 0 };
	struct watt_rules rules;
	struct watt_attrib_opts opts = { .channels = channels,
					 .n_channels = n_channels,
					 .cpu_slot = slots,
					 .n_cpus = N_TASKS,
					 .n_slots = 1,
					 .horizon_ns = 60000000000ULL,
					 .idle_policy = policy,
					 .share_keys = &rules };

	*rig = (struct rig){ .now_ns = START_NS, .seed = 1, .n_channels = (uint32_t)n_channels };
	rules = rules_of(key, &watt_share_key_syntax);
	assert_int_equal(watt_timeline_new(channels, n_channels, &rig->tl), 0);
	assert_int_equal(watt_attrib_new(&opts, &rig->at), 0);
	watt_rules_clear(&rules);
}

static void open_rig_of(struct rig *rig, const char *key, size_t n_channels)
{
	open_rig_on(rig, key, &package, n_channels, WATT_IDLE_SEPARATE);
}

static void open_rig(struct rig *rig, const char *key)
{
	open_rig_of(rig, key, 1);
}

static void close_rig(struct rig *rig)
{
	watt_attrib_free(rig->at);
	watt_timeline_free(rig->tl);
}

static double draw(struct rig *rig)
{
	rig->seed = watt_hash_u64(rig->seed + 0x9e3779b97f4a7c15ULL);
	return (double)(rig->seed >> 11) / (double)(1ULL << 53);
}

static struct watt_usage usage_of(const struct rig *rig, int task, enum watt_usage_kind kind)
{
	struct watt_usage usage = { .t_ns = rig->now_ns,
				    .cpu_ns = rig->cpu_ns[task],
				    .start_ns = START_NS,
				    .leader_start_ns = START_NS,
				    .cgroup_id = task == LONER ? 2 : 1,
				    .tid = 100 + (uint32_t)task,
				    .tgid = 100 + (uint32_t)task,
				    .parent_tgid = 1,
				    .kind = (uint16_t)kind };

	snprintf(usage.comm, sizeof(usage.comm), "task-%d", task);
	return usage;
}

/* A slice in which who is on runs for some part of it. */
static void step(struct rig *rig)
{
	double twins_s = draw(rig) * 0.05, loner_s = rig->is_loner_over ? 0 : draw(rig) * 0.05;
	struct watt_usage records[N_TASKS];
	struct watt_cpu_time cpus[N_TASKS] = { 0 };
	struct watt_usage_batch batch = { .records = records,
					  .cpus = cpus,
					  .n_cpus = N_TASKS,
					  .flags = WATT_BATCH_DEATHS | WATT_BATCH_IRQ_SEPARATE |
						   WATT_BATCH_CPU_NS };
	struct watt_sample sample = { 0 };
	int i;

	if (rig->is_resting)
		twins_s = loner_s = 0;
	rig->now_ns += SLICE_NS;
	rig->energy_j += IDLE_W * 0.05;
	for (i = 0; i < N_TASKS; i++) {
		double on_s = i == LONER ? loner_s : twins_s;

		rig->cpu_ns[i] += (uint64_t)(on_s * 1e9);
		rig->used_j[i] += on_s * watts[i];
		rig->energy_j += on_s * watts[i];
		cpus[i] = (struct watt_cpu_time){ .online = 1, .user_ns = rig->cpu_ns[i] };
		if (on_s > 0)
			records[batch.n_records++] = usage_of(rig, i, WATT_USAGE_TASK);
	}
	batch.t_before_ns = batch.t_after_ns = rig->now_ns;
	sample.t_before_ns = sample.t_after_ns = rig->now_ns;
	sample.raw = (int64_t)(rig->energy_j * 1e6);
	assert_int_equal(watt_attrib_push_usage(rig->at, &batch), 0);
	assert_int_equal(watt_timeline_push(rig->tl, &sample), 0);
	if (rig->n_channels > 1) {
		sample.channel = 1;
		sample.raw = (int64_t)(rig->energy_j * DRAM_PART * 1e6);
		assert_int_equal(watt_timeline_push(rig->tl, &sample), 0);
	}
	assert_true(watt_attrib_advance(rig->at, rig->tl, rig->now_ns) >= 0);
}

static struct watt_snapshot *look(const struct rig *rig)
{
	struct watt_look_opts opts = { .t_ns = rig->now_ns };
	struct watt_snapshot *snap;

	assert_int_equal(watt_attrib_snapshot(rig->at, rig->tl, &opts, &snap), 0);
	return snap;
}

static const struct watt_row *find(const struct watt_snapshot *snap, enum watt_entity_kind kind,
				   const char *name)
{
	size_t i;

	for (i = 0; i < watt_snapshot_get_row_count(snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(snap, i);

		if (row->entity->kind == kind && !strcmp(row->entity->name, name))
			return row;
	}
	return NULL;
}

/* The group in which both twins are. */
static const struct watt_row *find_group(const struct watt_snapshot *snap)
{
	const struct watt_row *a = find(snap, WATT_ENTITY_PROCESS, "task-0");
	const struct watt_row *b = find(snap, WATT_ENTITY_PROCESS, "task-1");
	int64_t sum_nj = watt_energy_to_nj(a->total) + watt_energy_to_nj(b->total);
	size_t i;

	for (i = 0; i < watt_snapshot_get_row_count(snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(snap, i);

		if (row->entity->kind == WATT_ENTITY_CGROUP &&
		    watt_energy_to_nj(row->total) == sum_nj)
			return row;
	}
	fail_msg("no group has both");
	return NULL;
}

static double joules(struct watt_energy energy)
{
	return (double)watt_energy_to_nj(energy) / 1e9;
}

static void run(struct rig *rig, size_t n)
{
	while (n--)
		step(rig);
}

/* Each of two that always run together is unsure; what both used is not. */
static void test_sum_by_covariance(void **state)
{
	const struct watt_row *a, *b, *loner, *group;
	struct watt_snapshot *snap;
	struct rig rig;

	(void)state;
	open_rig(&rig, "learned");
	run(&rig, N_SLICES);
	snap = look(&rig);
	a = find(snap, WATT_ENTITY_PROCESS, "task-0");
	b = find(snap, WATT_ENTITY_PROCESS, "task-1");
	loner = find(snap, WATT_ENTITY_PROCESS, "task-2");
	group = find_group(snap);
	assert_true(a->total_uncertainty_j > 0.1 * joules(a->total));
	assert_true(fabs(joules(a->total) - rig.used_j[TWIN_A]) < 2 * a->total_uncertainty_j);
	assert_true(fabs(joules(b->total) - rig.used_j[TWIN_B]) < 2 * b->total_uncertainty_j);
	assert_true(fabs(joules(loner->total) - rig.used_j[LONER]) <
		    2 * loner->total_uncertainty_j);
	assert_true(group->total_uncertainty_j <
		    0.6 * (a->total_uncertainty_j + b->total_uncertainty_j));
	assert_true(fabs(joules(group->total) - rig.used_j[TWIN_A] - rig.used_j[TWIN_B]) <
		    2 * group->total_uncertainty_j);
	watt_snapshot_unref(snap);
	close_rig(&rig);
}

/* Of several domains, what each is unsure by is independent; and a key tells how sure it is itself. */
static void test_domains(void **state)
{
	struct watt_snapshot *snap;
	const struct watt_row *row;
	struct rig rig;
	double sum_j;
	size_t d;

	(void)state;
	open_rig_of(&rig, "learned", 2);
	run(&rig, N_SLICES);
	snap = look(&rig);
	row = find(snap, WATT_ENTITY_PROCESS, "task-0");
	for (d = 0; d < 2; d++) {
		const struct watt_domain_state *of = watt_snapshot_get_domain_state(snap, d);

		assert_true(of->key_uncertainty_ppm > 0);
		assert_true(row->uncertainty_j[d] > 0);
	}
	sum_j = hypot(row->uncertainty_j[0], row->uncertainty_j[1]);
	assert_true(fabs(row->total_uncertainty_j - sum_j) < 1e-9 * sum_j);
	watt_snapshot_unref(snap);
	close_rig(&rig);
}

/* A window is unsure by its own energy, the whole by all of it. */
static void test_windows(void **state)
{
	struct watt_snapshot *all, *second, *empty;
	const struct watt_row *row, *next;
	struct rig rig;

	(void)state;
	open_rig(&rig, "learned");
	run(&rig, N_SLICES);
	all = look(&rig);
	run(&rig, 20);
	second = look(&rig);
	empty = look(&rig);
	row = find(all, WATT_ENTITY_PROCESS, "task-0");
	next = find(second, WATT_ENTITY_PROCESS, "task-0");
	assert_true(fabs(row->window_total_uncertainty_j - row->total_uncertainty_j) < 1e-9);
	assert_true(next->window_total_uncertainty_j > 0);
	assert_true(next->window_total_uncertainty_j < 0.5 * row->window_total_uncertainty_j);
	assert_true(next->total_uncertainty_j >= row->total_uncertainty_j);
	row = find(empty, WATT_ENTITY_PROCESS, "task-0");
	assert_true(row->window_total_uncertainty_j == 0);
	watt_snapshot_unref(all);
	watt_snapshot_unref(second);
	watt_snapshot_unref(empty);
	close_rig(&rig);
}

/* Nobody said how sure CPU time is where it was chosen; where it stands in, by how all differ. */
static void test_by_cpu_time(void **state)
{
	const struct watt_row *row;
	struct watt_snapshot *snap;
	struct rig rig;

	(void)state;
	open_rig(&rig, "cpu_time");
	run(&rig, 40);
	snap = look(&rig);
	row = find(snap, WATT_ENTITY_PROCESS, "task-0");
	assert_true(watt_energy_to_nj(row->total) > 0);
	assert_true(isnan(row->total_uncertainty_j) && isnan(row->window_uncertainty_j[0]));
	watt_snapshot_unref(snap);
	close_rig(&rig);
	open_rig(&rig, "learned");
	run(&rig, 4);
	snap = look(&rig);
	assert_int_equal(watt_snapshot_get_domain_state(snap, 0)->key, WATT_KEY_CPU_TIME);
	row = find(snap, WATT_ENTITY_PROCESS, "task-0");
	assert_true(row->total_uncertainty_j > 0.1 * joules(row->total));
	watt_snapshot_unref(snap);
	close_rig(&rig);
}

/* Who is gone is as unsure among the exited as it was. */
static void test_outlives_the_process(void **state)
{
	struct watt_usage gone[2];
	struct watt_usage_batch batch = { .records = gone, .n_records = 2 };
	struct watt_snapshot *snap;
	const struct watt_row *row;
	double before_j, used_j;
	struct rig rig;
	int i;

	(void)state;
	open_rig(&rig, "learned");
	run(&rig, N_SLICES);
	snap = look(&rig);
	row = find(snap, WATT_ENTITY_PROCESS, "task-2");
	before_j = row->total_uncertainty_j;
	used_j = joules(row->total);
	watt_snapshot_unref(snap);
	rig.is_loner_over = true;
	rig.now_ns += 1000;
	gone[0] = usage_of(&rig, LONER, WATT_USAGE_EXIT);
	gone[1] = usage_of(&rig, LONER, WATT_USAGE_FREE);
	batch.t_before_ns = batch.t_after_ns = rig.now_ns;
	batch.flags = WATT_BATCH_DEATHS | WATT_BATCH_IRQ_SEPARATE | WATT_BATCH_CPU_NS;
	assert_int_equal(watt_attrib_push_usage(rig.at, &batch), 0);
	for (i = 0; i < 3; i++) {
		run(&rig, 4);
		watt_snapshot_unref(look(&rig));
	}
	snap = look(&rig);
	assert_null(find(snap, WATT_ENTITY_PROCESS, "task-2"));
	row = find(snap, WATT_ENTITY_EXITED, "task-2");
	assert_non_null(row);
	assert_true(fabs(joules(row->total) - used_j) < 1e-2 * used_j);
	assert_true(fabs(row->total_uncertainty_j - before_j) < 0.1 * before_j);
	watt_snapshot_unref(snap);
	close_rig(&rig);
}

/* Of a row that got the idle energy of its time too: that it may be so is in its uncertainty. */
static void check_has_truth(const struct watt_row *row, double used_j)
{
	double off_j = joules(row->total) - used_j;

	assert_true(fabs(off_j) < 2 * row->total_uncertainty_j);
	assert_true(row->total_uncertainty_j < joules(row->total));
}

/* Before idle power is known all energy is shared, and rows say that part of it may be idle. */
static void test_idle_unknown(void **state)
{
	const struct watt_domain_state *of;
	struct watt_snapshot *snap;
	struct rig rig;
	size_t n;

	(void)state;
	open_rig_on(&rig, "learned", &package_alone, 1, WATT_IDLE_SEPARATE);
	for (n = 4; n <= 32; n *= 2) {
		run(&rig, n);
		snap = look(&rig);
		of = watt_snapshot_get_domain_state(snap, 0);
		assert_int_equal(of->baseline_from, WATT_BASELINE_UNKNOWN);
		/* the least power that was seen has idle power in it, and more */
		assert_in_range(of->baseline_uncertainty_uw, IDLE_W * 577e3, 2 * IDLE_W * 577e3);
		check_has_truth(find(snap, WATT_ENTITY_PROCESS, "task-0"), rig.used_j[TWIN_A]);
		check_has_truth(find(snap, WATT_ENTITY_PROCESS, "task-1"), rig.used_j[TWIN_B]);
		check_has_truth(find(snap, WATT_ENTITY_PROCESS, "task-2"), rig.used_j[LONER]);
		check_has_truth(find_group(snap), rig.used_j[TWIN_A] + rig.used_j[TWIN_B]);
		/* and is needed: who took the least has several times what it used */
		assert_true(joules(find(snap, WATT_ENTITY_PROCESS, "task-2")->total) >
			    5 * rig.used_j[LONER]);
		watt_snapshot_unref(snap);
	}
	close_rig(&rig);
}

/* In this window, of its energy. */
static double unsure_part(const struct watt_row *row)
{
	return row->window_total_uncertainty_j / ((double)row->window_total_nj / 1e9);
}

/*
 * From when it is known on, windows are as sure as where it was known from the beginning. What was
 * given before stays unsure.
 */
static void test_idle_gets_known(void **state)
{
	struct watt_snapshot *before, *between, *after, *known[2];
	const struct watt_domain_state *of;
	struct rig rig, other;

	(void)state;
	open_rig_on(&rig, "learned", &package_alone, 1, WATT_IDLE_SEPARATE);
	open_rig(&other, "learned");
	run(&rig, 40);
	before = look(&rig);
	rig.is_resting = true;
	run(&rig, 40);
	rig.is_resting = false;
	between = look(&rig);
	of = watt_snapshot_get_domain_state(between, 0);
	assert_int_equal(of->baseline_from, WATT_BASELINE_SEEN);
	assert_int_equal(of->baseline_uncertainty_uw, 0);
	run(&rig, N_SLICES);
	after = look(&rig);
	run(&other, 40);
	known[0] = look(&other);
	run(&other, N_SLICES);
	known[1] = look(&other);
	assert_int_equal(watt_snapshot_get_domain_state(known[0], 0)->baseline_from,
			 WATT_BASELINE_GIVEN);
	assert_true(unsure_part(find_group(before)) > 1.3 * unsure_part(find_group(known[0])));
	assert_true(unsure_part(find_group(after)) < 1.1 * unsure_part(find_group(known[1])));
	assert_true(find_group(after)->total_uncertainty_j >
		    find_group(before)->total_uncertainty_j);
	watt_snapshot_unref(before);
	watt_snapshot_unref(between);
	watt_snapshot_unref(after);
	watt_snapshot_unref(known[0]);
	watt_snapshot_unref(known[1]);
	close_rig(&other);
	close_rig(&rig);
}

/* In two domains it has the same sign: what both may have too much adds up as it is. */
static void test_idle_of_domains(void **state)
{
	const struct watt_row *row;
	struct watt_snapshot *snap;
	struct rig rig;

	(void)state;
	open_rig_on(&rig, "learned", &package_alone, 2, WATT_IDLE_SEPARATE);
	run(&rig, 16);
	snap = look(&rig);
	row = find_group(snap);
	assert_true(row->total_uncertainty_j >
		    1.05 * hypot(row->uncertainty_j[0], row->uncertainty_j[1]));
	assert_true(row->total_uncertainty_j <=
		    (row->uncertainty_j[0] + row->uncertainty_j[1]) * (1 + 1e-9));
	watt_snapshot_unref(snap);
	close_rig(&rig);
}

/* Who shares idle energy has it in any case. */
static void test_idle_is_shared(void **state)
{
	struct watt_snapshot *snap, *shared;
	struct rig rig, other;

	(void)state;
	open_rig_on(&rig, "learned", &package_alone, 1, WATT_IDLE_SEPARATE);
	open_rig_on(&other, "learned", &package_alone, 1, WATT_IDLE_PROPORTIONAL);
	run(&rig, 16);
	run(&other, 16);
	snap = look(&rig);
	shared = look(&other);
	assert_int_equal(watt_energy_to_nj(find_group(shared)->total),
			 watt_energy_to_nj(find_group(snap)->total));
	assert_true(find_group(shared)->total_uncertainty_j <
		    0.8 * find_group(snap)->total_uncertainty_j);
	watt_snapshot_unref(snap);
	watt_snapshot_unref(shared);
	close_rig(&other);
	close_rig(&rig);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sum_by_covariance),
		cmocka_unit_test(test_domains),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_by_cpu_time),
		cmocka_unit_test(test_outlives_the_process),
		cmocka_unit_test(test_idle_unknown),
		cmocka_unit_test(test_idle_gets_known),
		cmocka_unit_test(test_idle_of_domains),
		cmocka_unit_test(test_idle_is_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
