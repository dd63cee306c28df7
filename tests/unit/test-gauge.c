/* SPDX-License-Identifier: Apache-2.0 */
/* lib/attrib/gauge.c: context in windows. Nobody is accounted for it, and it is part of no sum. */
#include "unit.h"

#include <math.h>

#include "attrib/attrib.h"

#define MS 1000000ULL
#define S (1000 * MS)

#define ANYWHERE .package_id = -1, .die_id = -1, .core_id = -1, .scale_den = 1
static const struct watt_channel power = {
	.name = "t/in",
	.source = "t",
	.domain = "in",
	.kind = WATT_DOMAIN_TOTAL,
	.quantity = WATT_QUANTITY_POWER,
	.semantics = WATT_SEMANTICS_INSTANT,
	.scale_num = 1000000,
	ANYWHERE,
};
static const struct watt_channel zone = {
	.name = "t/zone",
	.source = "t",
	.domain = "in/zone", /* means nothing */
	.label = "cpu",
	.kind = WATT_DOMAIN_RAIL,
	.flags = WATT_CHANNEL_SIGNED,
	.quantity = WATT_QUANTITY_TEMPERATURE,
	.semantics = WATT_SEMANTICS_INSTANT,
	.scale_num = 1,
	ANYWHERE,
};
static const struct watt_channel *const list[] = { &power, &zone };

struct bench {
	struct watt_timeline *tl;
	struct watt_attrib *at;
};

static void bench_open(struct bench *b)
{
	static const uint16_t slots[1] = { 0 };
	const struct watt_attrib_opts opts = {
		.channels = list, .n_channels = 2, .cpu_slot = slots, .n_cpus = 1, .n_slots = 1
	};

	assert_int_equal(watt_timeline_new(list, 2, &b->tl), 0);
	assert_int_equal(watt_attrib_new(&opts, &b->at), 0);
}

static void bench_done(struct bench *b)
{
	watt_attrib_free(b->at);
	watt_timeline_free(b->tl);
}

static void tell(struct bench *b, uint32_t channel, uint64_t t_ns, int64_t raw,
		 enum watt_status status)
{
	const struct watt_sample sample = { .channel = channel,
					    .t_before_ns = t_ns,
					    .t_after_ns = t_ns,
					    .raw = raw,
					    .status = status };

	assert_true(watt_timeline_push(b->tl, &sample) >= 0);
}

static void sweep(struct bench *b, uint64_t t_ns)
{
	const struct watt_usage_batch batch = { .t_before_ns = t_ns, .t_after_ns = t_ns };

	assert_int_equal(watt_attrib_push_usage(b->at, &batch), 0);
	assert_true(watt_attrib_advance(b->at, b->tl, t_ns) >= 0);
}

/* 10 ms of a power of 5 W; the zone as told. */
static void run_to(struct bench *b, uint64_t *t_ns, uint64_t to_ns, int64_t zone_milli_c)
{
	for (; *t_ns <= to_ns; *t_ns += 10 * MS) {
		tell(b, 0, *t_ns, 5, WATT_STATUS_OK);
		tell(b, 1, *t_ns, zone_milli_c, WATT_STATUS_OK);
		if (*t_ns % (50 * MS) == 0)
			sweep(b, *t_ns);
	}
}

static struct watt_snapshot *look(struct bench *b, uint32_t cursor, uint64_t t_ns)
{
	const struct watt_look_opts opts = { .cursor = cursor, .t_ns = t_ns };
	struct watt_snapshot *snap = NULL;

	assert_int_equal(watt_attrib_snapshot(b->at, b->tl, &opts, &snap), 0);
	return snap;
}

static void assert_near(double value, double wanted, double tolerance)
{
	if (!(fabs(value - wanted) <= tolerance))
		fail_msg("%.9g is not %.9g", value, wanted);
}

static void check_mean(struct watt_snapshot *snap, double mean, uint64_t known_ns)
{
	const struct watt_gauge *gauge = watt_snapshot_get_gauge(snap, 0);

	assert_int_equal(watt_snapshot_get_gauge_count(snap), 1);
	assert_string_equal(gauge->name, "t/zone");
	assert_string_equal(gauge->label, "cpu");
	assert_int_equal(gauge->quantity, WATT_QUANTITY_TEMPERATURE);
	assert_near(gauge->mean, mean, 1e-6);
	assert_int_equal(gauge->known_ns, known_ns);
	watt_snapshot_unref(snap);
}

static void test_windows(void **state)
{
	struct bench b;
	uint64_t t_ns = S;

	bench_open(&b);
	run_to(&b, &t_ns, 2 * S, 40000);
	check_mean(look(&b, 0, 2 * S), 40, S);
	run_to(&b, &t_ns, 3 * S, -10000);
	/* from 40 to -10 in the first 10 ms */
	check_mean(look(&b, 0, 3 * S), (0.01 * 15 + 0.99 * -10) / 1, S);
	/* a snapshot that waits for others: its window ends before the newest reading, and is cut there */
	watt_attrib_set_barrier(b.at, 4 * S - 500 * MS);
	run_to(&b, &t_ns, 4 * S, -10000);
	check_mean(look(&b, 0, 4 * S - 500 * MS), -10, 500 * MS);
	bench_done(&b);
}

/* What a window of some us has is too coarse for a mean, and is in the next one. */
static void test_short_window(void **state)
{
	uint64_t t_ns = S, short_ns = 2 * S - 10 * MS + 57300;
	const struct watt_gauge *gauge;
	struct watt_snapshot *snap;
	struct bench b;

	bench_open(&b);
	run_to(&b, &t_ns, 2 * S, -4511);
	watt_attrib_set_barrier(b.at, 2 * S - 10 * MS);
	check_mean(look(&b, 0, 2 * S - 10 * MS), -4.511, S - 10 * MS);
	watt_attrib_set_barrier(b.at, short_ns);
	snap = look(&b, 0, short_ns);
	gauge = watt_snapshot_get_gauge(snap, 0);
	assert_true(isnan(gauge->mean));
	assert_int_equal(gauge->known_ns, 0);
	watt_snapshot_unref(snap);
	watt_attrib_set_barrier(b.at, 2 * S);
	check_mean(look(&b, 0, 2 * S), -4.511, 10 * MS);
	bench_done(&b);
}

/* Windows in the middle of a gap that has ended when they are looked at: nothing is known, not 0. */
static void test_gap_behind(void **state)
{
	struct bench b;
	uint64_t t_ns = S, end_ns;
	const struct watt_gauge *gauge;
	struct watt_snapshot *snap;

	bench_open(&b);
	run_to(&b, &t_ns, 2 * S, 40000);
	check_mean(look(&b, 0, 2 * S), 40, S);
	watt_attrib_set_barrier(b.at, 2 * S);
	for (; t_ns <= 4 * S; t_ns += 10 * MS) {
		tell(&b, 0, t_ns, 5, WATT_STATUS_OK);
		tell(&b, 1, t_ns, 0, WATT_STATUS_ABSENT);
	}
	run_to(&b, &t_ns, 5 * S, 40000);
	for (end_ns = 2500 * MS; end_ns <= 3500 * MS; end_ns += 500 * MS) {
		watt_attrib_set_barrier(b.at, end_ns);
		snap = look(&b, 0, end_ns);
		gauge = watt_snapshot_get_gauge(snap, 0);
		assert_true(isnan(gauge->mean));
		assert_int_equal(gauge->known_ns, 0);
		watt_snapshot_unref(snap);
	}
	watt_attrib_set_barrier(b.at, 5 * S);
	snap = look(&b, 0, 5 * S);
	assert_near(watt_snapshot_get_gauge(snap, 0)->mean, 40, 1e-6);
	watt_snapshot_unref(snap);
	bench_done(&b);
}

static void test_readers(void **state)
{
	struct bench b;
	uint64_t t_ns = S;

	bench_open(&b);
	run_to(&b, &t_ns, 2 * S, 20000);
	assert_int_equal(watt_attrib_open_cursor(b.at, 7, 2 * S), 0);
	run_to(&b, &t_ns, 3 * S, 20000);
	/* who came later has a window of its own, and takes nothing from the others */
	check_mean(look(&b, 7, 3 * S), 20, S);
	check_mean(look(&b, 0, 3 * S), 20, 2 * S);
	assert_int_equal(watt_attrib_close_cursor(b.at, 7), 0);
	run_to(&b, &t_ns, 4 * S, 20000);
	assert_int_equal(watt_attrib_open_cursor(b.at, 8, 4 * S), 0);
	run_to(&b, &t_ns, 5 * S, 20000);
	check_mean(look(&b, 8, 5 * S), 20, S);
	bench_done(&b);
}

static void test_missing(void **state)
{
	const struct watt_gauge *gauge;
	struct watt_snapshot *snap;
	struct bench b;
	uint64_t t_ns;

	bench_open(&b);
	for (t_ns = S; t_ns <= 2 * S; t_ns += 50 * MS) {
		tell(&b, 0, t_ns, 5, WATT_STATUS_OK);
		sweep(&b, t_ns);
	}
	snap = look(&b, 0, 2 * S);
	gauge = watt_snapshot_get_gauge(snap, 0);
	assert_int_equal(gauge->status, WATT_STATUS_PENDING);
	assert_true(isnan(gauge->mean) && isnan(gauge->value));
	watt_snapshot_unref(snap);
	for (; t_ns <= 3 * S; t_ns += 50 * MS) {
		tell(&b, 0, t_ns, 5, WATT_STATUS_OK);
		tell(&b, 1, t_ns, 30000, t_ns < 2500 * MS ? WATT_STATUS_OK : WATT_STATUS_NODATA);
		sweep(&b, t_ns);
	}
	snap = look(&b, 0, 3 * S);
	gauge = watt_snapshot_get_gauge(snap, 0);
	assert_int_equal(gauge->status, WATT_STATUS_NODATA);
	assert_true(isnan(gauge->value));
	assert_near(gauge->mean, 30, 1e-6);
	assert_int_equal(gauge->known_ns, 400 * MS); /* 2.05 to 2.45 s */
	assert_true(gauge->errors > 0 && gauge->samples == 9);
	watt_snapshot_unref(snap);
	bench_done(&b);
}

/* It is no domain, whatever it is called, and the energy is that of the power alone. */
static void test_no_domain(void **state)
{
	struct watt_snapshot *snap;
	struct bench b;
	uint64_t t_ns = S;

	bench_open(&b);
	assert_int_equal(watt_attrib_channel_domain(b.at, 0), 0);
	assert_int_equal(watt_attrib_channel_domain(b.at, 1), -1);
	run_to(&b, &t_ns, 2 * S, 1000000);
	snap = look(&b, 0, 2 * S);
	assert_int_equal(watt_snapshot_get_domain_count(snap), 1);
	assert_int_equal(watt_snapshot_get_domain_state(snap, 0)->window_nj, 5000000000);
	assert_int_equal(watt_snapshot_get_quality(snap)->check_failures, 0);
	watt_snapshot_unref(snap);
	bench_done(&b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows),    cmocka_unit_test(test_short_window),
		cmocka_unit_test(test_gap_behind), cmocka_unit_test(test_readers),
		cmocka_unit_test(test_missing),    cmocka_unit_test(test_no_domain),
	};

	return cmocka_run_group_tests_name("gauge", tests, NULL, NULL);
}
