/* SPDX-License-Identifier: Apache-2.0 */
/* lib/timeline/curve.c */
#include "unit.h"

#include "timeline/curve.h"

#define MS 1000000ULL

static const struct watt_channel counter = { .quantity = WATT_QUANTITY_ENERGY,
					     .scale_num = 1000,
					     .scale_den = 1 };
static const struct watt_channel power = {
	.quantity = WATT_QUANTITY_POWER,
	.semantics = WATT_SEMANTICS_INSTANT,
	.scale_num = 1,
	.scale_den = 1,
};

static void push(struct watt_curve *curve, uint64_t t_ns, int64_t raw, enum watt_status status)
{
	const struct watt_sample sample = {
		.t_before_ns = t_ns - 10, .t_after_ns = t_ns + 10, .raw = raw, .status = status
	};

	assert_int_equal(watt_curve_push(curve, &sample, NULL, NULL), 0);
}

static int64_t energy_nj(const struct watt_curve *curve, uint64_t t_ns)
{
	watt_i128 value = -1;

	assert_int_equal(watt_curve_energy_nj(curve, t_ns, &value), 0);
	return (int64_t)value;
}

static void test_interpolates(void **state)
{
	struct watt_curve curve;
	watt_i128 value = 42;

	watt_curve_init(&curve, &counter);
	assert_int_equal(watt_curve_energy_nj(&curve, 0, &value), -EAGAIN);
	push(&curve, 100 * MS, 500, WATT_STATUS_OK);
	push(&curve, 200 * MS, 1500, WATT_STATUS_OK);
	assert_int_equal(energy_nj(&curve, 100 * MS), 0);
	assert_int_equal(energy_nj(&curve, 150 * MS), 500000);
	assert_int_equal(energy_nj(&curve, 200 * MS), 1000000);
	assert_int_equal(watt_curve_energy_nj(&curve, 200 * MS + 1, &value), -EAGAIN);
	assert_int_equal(watt_curve_energy_nj(&curve, 100 * MS - 1, &value), -ENODATA);
	assert_int_equal(value, 42);
	watt_curve_done(&curve);
}

/* Windows telescope: however time is cut, the parts add up to the whole. */
static void test_telescopes(void **state)
{
	struct watt_curve curve;
	int64_t sum_nj = 0;
	uint64_t t_ns;

	watt_curve_init(&curve, &counter);
	push(&curve, 1000, 0, WATT_STATUS_OK);
	push(&curve, 8000, 7, WATT_STATUS_OK);
	push(&curve, 9001, 8, WATT_STATUS_OK);
	for (t_ns = 1000; t_ns < 9001; t_ns++) {
		int64_t step_nj = energy_nj(&curve, t_ns + 1) - energy_nj(&curve, t_ns);

		/* a nJ a ns: a sum of differences is right whatever they are, each of them is not */
		assert_in_range(step_nj, 0, 2);
		sum_nj += step_nj;
	}
	assert_int_equal(sum_nj, 8000);
	assert_int_equal(energy_nj(&curve, 1000), 0);
	watt_curve_done(&curve);
}

static void test_trapezoid(void **state)
{
	struct watt_curve curve;
	uint64_t i;

	watt_curve_init(&curve, &power);
	/* a ramp of 1 W a second, from 0: 50 J after 10 s, exactly */
	for (i = 0; i <= 100; i++)
		push(&curve, (i + 1) * 100 * MS, (int64_t)i * 100000, WATT_STATUS_OK);
	assert_int_equal(energy_nj(&curve, 10100 * MS), 50000000000LL);
	watt_curve_done(&curve);
}

static void test_gap_is_flat(void **state)
{
	struct watt_curve curve;
	struct watt_gap gap;

	watt_curve_init(&curve, &power);
	push(&curve, 100 * MS, 1000000, WATT_STATUS_OK);
	push(&curve, 200 * MS, 1000000, WATT_STATUS_OK);
	push(&curve, 300 * MS, 0, WATT_STATUS_NODATA);
	push(&curve, 400 * MS, 1000000, WATT_STATUS_OK);
	push(&curve, 500 * MS, 1000000, WATT_STATUS_OK);
	assert_int_equal(energy_nj(&curve, 500 * MS), 200000000);
	assert_int_equal(curve.stats.gaps, 1);
	assert_int_equal(curve.stats.gap_ns, 200 * MS);
	assert_int_equal(curve.stats.errors, 1);
	assert_true(watt_curve_find_gap(&curve, 250 * MS, 300 * MS, &gap));
	assert_int_equal(gap.t0_ns, 250 * MS);
	assert_int_equal(gap.t1_ns, 300 * MS);
	assert_true(watt_curve_find_gap(&curve, 0, 1000 * MS, &gap));
	assert_int_equal(gap.t1_ns - gap.t0_ns, 200 * MS);
	assert_false(watt_curve_find_gap(&curve, gap.t1_ns, 1000 * MS, &gap));
	assert_false(watt_curve_find_gap(&curve, 0, gap.t0_ns, &gap));
	assert_false(watt_curve_find_gap(&curve, 400 * MS, 500 * MS, &gap));
	/* silence is a gap too */
	push(&curve, 9000 * MS, 1000000, WATT_STATUS_OK);
	assert_int_equal(energy_nj(&curve, 9000 * MS), 200000000);
	assert_int_equal(curve.stats.gaps, 2);
	watt_curve_done(&curve);
}

/* How long a sensor may say nothing follows from how often it has a value, and how late. */
static void test_patience(void **state)
{
	struct watt_channel channel = power;
	struct watt_curve curve;

	watt_curve_init(&curve, &power);
	assert_int_equal(watt_curve_patience_ns(&curve), 10000 * MS);
	push(&curve, 100 * MS, 1, WATT_STATUS_OK);
	push(&curve, 200 * MS, 1, WATT_STATUS_OK);
	assert_int_equal(watt_curve_patience_ns(&curve), 2400 * MS);
	watt_curve_done(&curve);
	channel.period_ns = 10000 * MS;
	channel.delay_ns = 3000 * MS;
	channel.window_ns = 2000 * MS;
	watt_curve_init(&curve, &channel);
	assert_int_equal(watt_curve_patience_ns(&curve), 46000 * MS);
	watt_curve_done(&curve);
}

/* A counter knows what was used while nobody looked. */
static void test_counter_bridges(void **state)
{
	struct watt_curve curve;

	watt_curve_init(&curve, &counter);
	push(&curve, 100 * MS, 0, WATT_STATUS_OK);
	push(&curve, 200 * MS, 0, WATT_STATUS_ABSENT);
	push(&curve, 5000 * MS, 49000, WATT_STATUS_OK);
	assert_int_equal(energy_nj(&curve, 5000 * MS), 49000000);
	assert_int_equal(curve.stats.gaps, 0);
	watt_curve_done(&curve);
}

/* A counter that moves every 100 ms, read at other times: power is as even as it is. */
static void test_steps(void **state)
{
	static const uint64_t reads_ms[] = { 100, 199, 301, 350, 449, 501, 650, 699, 851 };
	struct watt_channel steps = counter;
	struct watt_curve curve;
	size_t i;

	steps.flags = WATT_CHANNEL_STEPS;
	steps.period_ns = 100 * MS;
	watt_curve_init(&curve, &steps);
	for (i = 0; i < sizeof(reads_ms) / sizeof(reads_ms[0]); i++)
		push(&curve, reads_ms[i] * MS, (int64_t)(reads_ms[i] / 100 * 1000), WATT_STATUS_OK);
	assert_int_equal(energy_nj(&curve, 100 * MS), 0);
	assert_in_range(energy_nj(&curve, 199 * MS), 980000, 990000); /* it had not moved yet */
	assert_int_equal(energy_nj(&curve, 301 * MS), 2000000);
	assert_in_range(energy_nj(&curve, 399 * MS), 2640000, 2670000);
	assert_int_equal(energy_nj(&curve, 851 * MS), 7000000);
	/* one that stands still for longer does not move */
	push(&curve, 1050 * MS, 8000, WATT_STATUS_OK);
	push(&curve, 1150 * MS, 8000, WATT_STATUS_OK);
	push(&curve, 1260 * MS, 8000, WATT_STATUS_OK);
	push(&curve, 1360 * MS, 8000, WATT_STATUS_OK);
	assert_int_equal(energy_nj(&curve, 1200 * MS), 7000000);
	assert_int_equal(curve.stats.samples, 13);
	assert_int_equal(curve.stats.gaps, 0);
	watt_curve_done(&curve);
}

/* What was used from the last reading before a reset to the first one behind it, nobody knows. */
static void test_reset_is_a_gap(void **state)
{
	struct watt_curve curve;
	struct watt_gap gap;

	watt_curve_init(&curve, &counter);
	push(&curve, 100 * MS, 5000, WATT_STATUS_OK);
	push(&curve, 200 * MS, 6000, WATT_STATUS_OK);
	push(&curve, 350 * MS, 100, WATT_STATUS_OK);
	push(&curve, 400 * MS, 600, WATT_STATUS_OK);
	assert_int_equal(curve.stats.resets, 1);
	assert_int_equal(curve.stats.gaps, 1);
	assert_int_equal(curve.stats.gap_ns, 150 * MS);
	assert_true(watt_curve_find_gap(&curve, 100 * MS, 400 * MS, &gap));
	assert_int_equal(gap.t0_ns, 200 * MS);
	assert_int_equal(gap.t1_ns, 350 * MS);
	watt_curve_done(&curve);
}

/* 50 W within 10 ms of a multiple of 100 ms, and nothing else. */
static bool get_pulses_j(const struct watt_shape *shape, uint64_t t_ns, double *ret_j)
{
	uint64_t n = t_ns / (100 * MS), rest_ns = t_ns % (100 * MS);
	double j = (double)n;

	if (rest_ns <= 10 * MS)
		j += 50e-9 * (double)rest_ns;
	else
		j += rest_ns >= 90 * MS ? 0.5 + 50e-9 * (double)(rest_ns - 90 * MS) : 0.5;
	*ret_j = j;
	return true;
}

/* However far readings are from what the parts tell, and below it: no energy is taken back. */
static void test_shape_never_goes_back(void **state)
{
	const struct watt_shape shape = {
		.get_j = get_pulses_j, .is_followed = true, .window_ns = 20 * MS, .step_ns = 5 * MS
	};
	struct watt_curve curve;
	int64_t last_nj = 0;
	uint64_t t_ms;

	watt_curve_init(&curve, &power);
	for (t_ms = 100; t_ms <= 500; t_ms += 100) {
		/* 1 W, and at last 200 W */
		const struct watt_sample sample = { .t_before_ns = t_ms * MS,
						    .t_after_ns = t_ms * MS,
						    .raw = t_ms < 500 ? 1000000 : 200000000,
						    .status = WATT_STATUS_OK };

		assert_int_equal(watt_curve_push(&curve, &sample, &shape, NULL), 0);
	}
	for (t_ms = 100; t_ms <= 500; t_ms++) {
		int64_t now_nj = energy_nj(&curve, t_ms * MS);

		assert_true(now_nj >= last_nj);
		last_nj = now_nj;
	}
	assert_true(last_nj > 0);
	watt_curve_done(&curve);
}

/* 10 W until 4 s, 110 W from then on. */
static bool get_step_j(const struct watt_shape *shape, uint64_t t_ns, double *ret_j)
{
	double t_s = (double)t_ns / 1e9;

	*ret_j = 10 * t_s + (t_s > 4 ? 100 * (t_s - 4) : 0);
	return true;
}

/*
 * Nobody knows to a second when readings are of: a line between two of them is not to be believed
 * around a step of the parts, and the rest is.
 */
static void test_transient(void **state)
{
	const struct watt_shape shape = {
		.get_j = get_step_j, .spread_ns = 1000 * MS, .window_ns = 20 * MS, .step_ns = 5 * MS
	};
	struct watt_curve curve;
	uint64_t t_ms;

	watt_curve_init(&curve, &power);
	for (t_ms = 500; t_ms <= 8000; t_ms += 500) {
		const struct watt_sample sample = { .t_before_ns = t_ms * MS,
						    .t_after_ns = t_ms * MS,
						    .raw = t_ms < 4500 ? 20000000 : 120000000,
						    .status = WATT_STATUS_OK };

		assert_int_equal(watt_curve_push(&curve, &sample, &shape, NULL), 0);
	}
	assert_int_equal(watt_curve_transient_ns(&curve, 0, 2500 * MS), 0);

	assert_int_equal(watt_curve_transient_ns(&curve, 3600 * MS, 4400 * MS), 800 * MS);
	assert_int_equal(watt_curve_transient_ns(&curve, 5500 * MS, 9000 * MS), 0);
	assert_int_equal(watt_curve_transient_ns(&curve, 0, 9000 * MS), 3000 * MS);
	watt_curve_done(&curve);
}

static void test_delay_and_window(void **state)
{
	struct watt_channel late = power;
	struct watt_curve curve;

	late.semantics = WATT_SEMANTICS_AVERAGE;
	late.window_ns = 100 * MS;
	late.delay_ns = 30 * MS;
	watt_curve_init(&curve, &late);
	push(&curve, 1000 * MS, 1, WATT_STATUS_OK);
	assert_int_equal(curve.stats.first_ns, 920 * MS);
	watt_curve_done(&curve);
}

static void test_refuses(void **state)
{
	struct watt_curve curve;

	watt_curve_init(&curve, &power);
	push(&curve, 200 * MS, 5, WATT_STATUS_OK);
	push(&curve, 100 * MS, 5, WATT_STATUS_OK);
	assert_int_equal(curve.stats.disordered, 1);
	push(&curve, 300 * MS, -5, WATT_STATUS_OK); /* power that can't be negative */
	assert_int_equal(curve.stats.errors, 1);
	assert_int_equal(curve.stats.status, WATT_STATUS_BROKEN);
	assert_int_equal(curve.stats.samples, 1);
	watt_curve_done(&curve);
}

static void test_signed(void **state)
{
	struct watt_channel battery = power;
	struct watt_curve curve;

	battery.flags = WATT_CHANNEL_SIGNED;
	watt_curve_init(&curve, &battery);
	push(&curve, 100 * MS, -1000000, WATT_STATUS_OK);
	push(&curve, 200 * MS, -1000000, WATT_STATUS_OK);
	assert_int_equal(energy_nj(&curve, 200 * MS), -100000000);
	watt_curve_done(&curve);
}

static void test_forgets(void **state)
{
	struct watt_curve curve;
	int64_t before_nj;
	uint64_t i;

	watt_curve_init(&curve, &counter);
	for (i = 1; i <= 200000; i++) { /* far beyond its room: the oldest go */
		push(&curve, i * MS, (int64_t)i, WATT_STATUS_OK);
		if (i == 1000) {
			before_nj = energy_nj(&curve, 900 * MS + 500000);
			watt_curve_forget(&curve, 900 * MS + 500000);
			assert_int_equal(energy_nj(&curve, 900 * MS + 500000), before_nj);
			assert_true(curve.n < 120);
		}
	}
	assert_true(curve.n <= 65536);
	assert_int_equal(energy_nj(&curve, 200000 * MS), 199999000);
	watt_curve_done(&curve);
}

#define YEAR_NS (365 * 86400ULL * 1000 * MS)

/* Sixty years between two readings of 10 kW: energy times time is more than 128 bits. */
static void test_years(void **state)
{
	static const struct watt_channel joules = { .scale_num = 1000000000, .scale_den = 1 };
	const int64_t year_j = 365LL * 86400 * 10000;
	struct watt_curve curve;
	watt_i128 value;
	int64_t i;

	watt_curve_init(&curve, &joules);
	push(&curve, YEAR_NS, 0, WATT_STATUS_OK);
	push(&curve, 61 * YEAR_NS, 60 * year_j, WATT_STATUS_OK);
	for (i = 0; i <= 60; i++) {
		assert_int_equal(watt_curve_energy_nj(&curve, (uint64_t)(i + 1) * YEAR_NS, &value),
				 0);
		assert_true(value == (watt_i128)i * year_j * 1000000000);
	}
	assert_int_equal(watt_curve_energy_nj(&curve, 60 * YEAR_NS + 1, &value), 0);
	assert_true(value == (watt_i128)59 * year_j * 1000000000 + 10000);
	watt_curve_done(&curve);
	(void)state;
}

/* A power that no number holds is no power. */
static void test_impossible_power(void **state)
{
	static const struct watt_channel watts = { .quantity = WATT_QUANTITY_POWER,
						   .semantics = WATT_SEMANTICS_INSTANT,
						   .scale_num = 1000000,
						   .scale_den = 1 };
	struct watt_curve curve;

	watt_curve_init(&curve, &watts);
	push(&curve, 100 * MS, 1, WATT_STATUS_OK);
	push(&curve, 200 * MS, INT64_MAX / 1000, WATT_STATUS_OK);
	assert_int_equal(curve.stats.status, WATT_STATUS_BROKEN);
	assert_int_equal(curve.stats.errors, 1);
	/* nor is what no machine takes */
	push(&curve, 300 * MS, 1000001, WATT_STATUS_OK);
	assert_int_equal(curve.stats.errors, 2);
	push(&curve, 400 * MS, -1000001, WATT_STATUS_OK);
	assert_int_equal(curve.stats.errors, 3);
	push(&curve, 500 * MS, 1000000, WATT_STATUS_OK);
	assert_int_equal(curve.stats.errors, 3);
	watt_curve_done(&curve);
	(void)state;
}

/* A counter that went on while the machine slept, or began anew: neither is of this time. */
static void test_sleep_is_a_gap(void **state)
{
	static const int64_t woken[] = { 5000000, 40, 0 };
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(woken); i++) {
		struct watt_curve curve;
		struct watt_gap gap;

		watt_curve_init(&curve, &counter);
		push(&curve, 100 * MS, 1000, WATT_STATUS_OK);
		push(&curve, 150 * MS, 2000, WATT_STATUS_OK);
		watt_curve_sleep(&curve, 160 * MS, 210 * MS);
		push(&curve, 155 * MS, 2100, WATT_STATUS_OK); /* was on its way */
		push(&curve, 200 * MS, woken[i], WATT_STATUS_OK);
		push(&curve, 250 * MS, woken[i] + 7, WATT_STATUS_OK);
		push(&curve, 300 * MS, woken[i] + 57, WATT_STATUS_OK);
		assert_int_equal(energy_nj(&curve, 155 * MS), 1100000);
		assert_int_equal(energy_nj(&curve, 250 * MS), 1100000);
		assert_int_equal(energy_nj(&curve, 300 * MS), 1150000);
		assert_int_equal(curve.stats.gaps, 2);
		assert_int_equal(curve.stats.gap_ns, 95 * MS);
		assert_int_equal(curve.stats.resets, 0);
		assert_true(watt_curve_find_gap(&curve, 0, 300 * MS, &gap));
		assert_int_equal(gap.t0_ns, 155 * MS);
		watt_curve_done(&curve);
	}
	(void)state;
}

/* Who reads seldom has one gap; what he read behind the sleep is as ever, and so is what has no value. */
static void test_sleep_of_the_slow(void **state)
{
	struct watt_curve curve;

	watt_curve_init(&curve, &power);
	push(&curve, 1000 * MS, 1000000, WATT_STATUS_OK);
	push(&curve, 2000 * MS, 1000000, WATT_STATUS_OK);
	watt_curve_sleep(&curve, 2100 * MS, 2150 * MS);
	push(&curve, 2500 * MS, 0, WATT_STATUS_BROKEN);
	push(&curve, 3000 * MS, 1000000, WATT_STATUS_OK);
	push(&curve, 4000 * MS, 1000000, WATT_STATUS_OK);
	assert_int_equal(energy_nj(&curve, 4000 * MS), 2000000000);
	assert_int_equal(curve.stats.gap_ns, 1000 * MS);
	watt_curve_done(&curve);
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interpolates),
		cmocka_unit_test(test_telescopes),
		cmocka_unit_test(test_trapezoid),
		cmocka_unit_test(test_gap_is_flat),
		cmocka_unit_test(test_patience),
		cmocka_unit_test(test_counter_bridges),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_reset_is_a_gap),
		cmocka_unit_test(test_shape_never_goes_back),
		cmocka_unit_test(test_transient),
		cmocka_unit_test(test_delay_and_window),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_signed),
		cmocka_unit_test(test_forgets),
		cmocka_unit_test(test_years),
		cmocka_unit_test(test_impossible_power),
		cmocka_unit_test(test_sleep_is_a_gap),
		cmocka_unit_test(test_sleep_of_the_slow),
	};

	return cmocka_run_group_tests_name("curve", tests, NULL, NULL);
}
