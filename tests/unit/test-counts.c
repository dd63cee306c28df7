/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts of CPUs beside their time: the keys `cycles` and `instructions`, the places of CPUs, and
 * what counters tell of programs (lib/attrib/features.c).
 */
#include "unit.h"

#include "attrib/attrib.h"
#include "attrib/features.h"
#include "attrib/key.h"
#include "base/rules.h"
#include "two_packages.h"

#define MS 1000000ULL
#define SLICE_NS (100 * MS)
#define ENERGY_NJ 10000000 /* of a package in a slice */
#define CPU_NS (20 * MS)   /* of each task in a slice */

/* CPU 0 is in package 0, CPU 1 in package 1. Tasks 0 and 1 run on CPU 0, tasks 2 and 3 on CPU 1. */
struct bench {
	struct watt_timeline *tl;
	struct watt_attrib *at;
	struct watt_snapshot *snap;
	uint64_t n; /* slices */
};

static void open_bench(struct bench *b, const char *key)
{
	static const struct watt_channel *const list[] = { &two_packages[0], &two_packages[1] };
	static const uint16_t slots[2] = { 0, 1 };
	static const struct watt_cpu_place places[2] = { { 0, -1, -1 }, { 1, -1, -1 } };
	struct watt_rules rules = { 0 };
	struct watt_attrib_opts opts = { .channels = list,
					 .n_channels = 2,
					 .cpu_slot = slots,
					 .n_cpus = 2,
					 .n_slots = 2,
					 .places = places,
					 .share_keys = &rules };
	char *word = NULL;

	*b = (struct bench){ 0 };
	assert_int_equal(watt_rules_parse(&rules, &watt_share_key_syntax, key, &word), 0);
	assert_int_equal(watt_timeline_new(list, 2, &b->tl), 0);
	assert_int_equal(watt_attrib_new(&opts, &b->at), 0);
	watt_rules_clear(&rules);
}

static void close_bench(struct bench *b)
{
	watt_snapshot_unref(b->snap);
	watt_attrib_free(b->at);
	watt_timeline_free(b->tl);
}

static uint64_t now_ns(const struct bench *b)
{
	return 1000 * MS + b->n * SLICE_NS;
}

/* rates: what each task does of a kind in a ns on its CPU; NULL: nobody tells. */
static void tell(struct bench *b, enum watt_activity_kind kind, const uint32_t *rates)
{
	struct watt_activity_place places[2] = { { "cpus-0", now_ns(b), kind, 1 },
						 { "cpus-1", now_ns(b), kind, 1 } };
	struct watt_activity readings[4];
	struct watt_activity_batch batch = { places, 2, readings, 4 };
	uint32_t i;

	for (i = 0; i < 4; i++)
		readings[i] = (struct watt_activity){ .t_ns = now_ns(b),
						      .amount = b->n * CPU_NS * rates[i],
						      .start_ns = 1 + i,
						      .pid = 10 + i,
						      .place = i / 2 };
	assert_int_equal(watt_attrib_push_activity(b->at, &batch), 0);
}

static void sweep(struct bench *b)
{
	struct watt_usage usages[4];
	struct watt_usage_batch batch = { .t_before_ns = now_ns(b),
					  .t_after_ns = now_ns(b),
					  .records = usages,
					  .n_records = 4,
					  .flags = WATT_BATCH_FULL | WATT_BATCH_DEATHS };
	uint32_t i;

	for (i = 0; i < 4; i++) {
		usages[i] = (struct watt_usage){ .t_ns = now_ns(b),
						 .cpu_ns = b->n * CPU_NS,
						 .start_ns = 1 + i,
						 .leader_start_ns = 1 + i,
						 .tid = 10 + i,
						 .tgid = 10 + i,
						 .cpu = i / 2 };
		snprintf(usages[i].comm, sizeof(usages[i].comm), "task-%u", i);
	}
	assert_int_equal(watt_attrib_push_usage(b->at, &batch), 0);
	for (i = 0; i < 2; i++) {
		struct watt_sample sample = { now_ns(b), now_ns(b), (int64_t)(b->n * ENERGY_NJ), i,
					      WATT_STATUS_OK };

		assert_int_equal(watt_timeline_push(b->tl, &sample), 0);
	}
}

/* The end of a slice, and the energy of all since the beginning. */
static void look(struct bench *b, int64_t *ret_nj)
{
	struct watt_look_opts opts = { .t_ns = now_ns(b) };
	size_t i;

	assert_true(watt_attrib_advance(b->at, b->tl, now_ns(b)) >= 0);
	watt_snapshot_unref(b->snap);
	assert_int_equal(watt_attrib_snapshot(b->at, b->tl, &opts, &b->snap), 0);
	assert_int_equal(watt_snapshot_get_quality(b->snap)->check_failures, 0);
	for (i = 0; i < watt_snapshot_get_row_count(b->snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(b->snap, i);

		if (!strncmp(row->entity->name, "task-", 5) &&
		    row->entity->kind == WATT_ENTITY_PROCESS)
			ret_nj[row->entity->name[5] - '0'] = watt_energy_to_nj(row->total);
	}
	b->n++;
}

static enum watt_share_key key_of(const struct bench *b, size_t domain)
{
	return watt_snapshot_get_domain_state(b->snap, domain)->key;
}

/* Each package by what its own CPUs counted. */
static void test_cycles(void **state)
{
	static const uint32_t rates[4] = { 3, 1, 1, 4 };
	int64_t nj[4] = { 0 };
	struct bench b;
	int i;

	open_bench(&b, "cycles");
	for (i = 0; i < 4; i++) {
		tell(&b, WATT_ACTIVITY_CYCLES, rates);
		sweep(&b);
		look(&b, nj);
	}
	assert_int_equal(key_of(&b, 0), WATT_KEY_CYCLES);
	assert_int_equal(nj[0], 3 * ENERGY_NJ * 3 / 4);
	assert_int_equal(nj[1], 3 * ENERGY_NJ / 4);
	assert_int_equal(nj[2], 3 * ENERGY_NJ / 5);
	assert_int_equal(nj[3], 3 * ENERGY_NJ * 4 / 5);
	close_bench(&b);
}

/* What nobody counts is not zero: CPU time divides, and the state says so. */
static void test_nobody_counts(void **state)
{
	static const uint32_t rates[4] = { 3, 1, 1, 4 };
	int64_t nj[4] = { 0 };
	struct bench b;
	int i;

	open_bench(&b, "instructions");
	for (i = 0; i < 3; i++) {
		tell(&b, WATT_ACTIVITY_CYCLES, rates);
		sweep(&b);
		look(&b, nj);
	}
	assert_int_equal(watt_snapshot_get_domain(b.snap, 0)->key, WATT_KEY_INSTRUCTIONS);
	assert_int_equal(key_of(&b, 0), WATT_KEY_CPU_TIME);
	assert_int_equal(watt_snapshot_get_domain_state(b.snap, 0)->key_readiness_ppm, 0);
	assert_int_equal(nj[0], ENERGY_NJ);
	assert_int_equal(nj[3], ENERGY_NJ);
	close_bench(&b);
}

/* A slice waits for the counts of it, and nobody who counts for longer than patience. */
static void test_waits(void **state)
{
	static const uint32_t rates[4] = { 3, 1, 1, 4 };
	int64_t nj[4] = { 0 };
	struct bench b;
	int i;

	open_bench(&b, "instructions");
	for (i = 0; i < 2; i++) {
		tell(&b, WATT_ACTIVITY_INSTRUCTIONS, rates);
		sweep(&b);
		look(&b, nj);
	}
	assert_int_equal(nj[0], ENERGY_NJ * 3 / 4);
	sweep(&b);
	look(&b, nj);
	assert_int_equal(nj[0], ENERGY_NJ * 3 / 4);
	b.n--;
	tell(&b, WATT_ACTIVITY_INSTRUCTIONS, rates);
	look(&b, nj);
	assert_int_equal(nj[0], 2 * ENERGY_NJ * 3 / 4);
	for (i = 0; i < 120; i++) {
		sweep(&b);
		look(&b, nj);
	}
	assert_int_equal(key_of(&b, 0), WATT_KEY_CPU_TIME);
	assert_true(nj[1] > 10 * ENERGY_NJ / 2);
	close_bench(&b);
}

/* A place that is no slot of CPUs belongs to no domain, whatever it is called. */
static void test_paths(void **state)
{
	static const char *const bad[] = { "",        "cpus-",     "cpus-x",         "cpus-01",
					   "cpus-1 ", "package-0", "cpus-4294967296" };
	char path[WATT_CPUS_PATH];
	uint32_t slot = 7;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(bad); i++)
		assert_int_equal(watt_activity_cpus_slot(bad[i], &slot), -EINVAL);
	assert_int_equal(slot, 7);
	watt_activity_cpus_path(UINT32_MAX, path);
	assert_int_equal(watt_activity_cpus_slot(path, &slot), 0);
	assert_int_equal(slot, UINT32_MAX);
}

static void test_features(void **state)
{
	static struct watt_features features;
	const uint32_t counted = WATT_KEY_BIT(WATT_ACTIVITY_CYCLES) |
				 WATT_KEY_BIT(WATT_ACTIVITY_IRQ_TIME);
	double found[WATT_N_FEATURES];
	int i;

	assert_false(watt_features_get(&features, 1, found));
	for (i = 0; i < 100; i++) {
		watt_features_begin(&features);
		watt_features_add_time(&features, 1, 0.01, counted);
		watt_features_add(&features, 1, WATT_ACTIVITY_CYCLES, 30e6);
		watt_features_add_time(&features, 2, 0.01, counted);
		watt_features_add(&features, 2, WATT_ACTIVITY_CYCLES, 10e6);
		watt_features_add(&features, 2, WATT_ACTIVITY_IRQ_TIME, 4e6);
		watt_features_add(&features, 2, WATT_ACTIVITY_SHARED_TIME, 1e9); /* no feature */
	}
	assert_true(watt_features_get(&features, 1, found));
	assert_float_equal(found[WATT_FEATURE_CYCLES], 0.5, 1e-9);
	assert_float_equal(found[WATT_FEATURE_INSTRUCTIONS], 0, 0);
	assert_float_equal(found[WATT_FEATURE_IRQ], -0.2, 1e-9);
	assert_float_equal(found[WATT_FEATURE_ONE], 1, 0);
	assert_true(watt_features_get(&features, 2, found));
	assert_float_equal(found[WATT_FEATURE_CYCLES], -0.5, 1e-9);
	/* one that hardly ran is not known, and who is away for long gives way */
	watt_features_add_time(&features, 3, 0.01, counted);
	assert_false(watt_features_get(&features, 3, found));
	for (i = 0; i < 10 * WATT_FEATURE_PROGRAMS; i++) {
		watt_features_begin(&features);
		watt_features_add_time(&features, 100 + (uint64_t)i, 1, counted);
	}
	assert_false(watt_features_get(&features, 1, found));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cycles),   cmocka_unit_test(test_nobody_counts),
		cmocka_unit_test(test_waits),    cmocka_unit_test(test_paths),
		cmocka_unit_test(test_features),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
