/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lib/source/power/nvml/sensor_fit: what a sensor does is found from its readings under a random
 * load, for sensors of all kinds, and nothing is found where there is nothing.
 */
#include "unit.h"

#include <math.h>

#include "base/clock.h"
#include "base/util.h"
#include "source/power/nvml/sensor_fit.h"

#define MS WATT_NSEC_PER_MSEC
#define LENGTH_NS (15 * WATT_NSEC_PER_SEC)
#define START_NS (100 * WATT_NSEC_PER_SEC)
#define MAX 4096

struct sensor {
	uint64_t period_ns, window_ns, delay_ns; /* window 0: a counter */
	uint64_t poll_ns;
	int32_t noise; /* of each value, mW */
	uint32_t late; /* so many of 100 readings are, by up to 120 ms, as on a busy machine */
};

static uint32_t seed;

static uint32_t draw(void)
{
	seed = seed * 1664525u + 1013904223u;
	return seed >> 8;
}

static size_t make_load(struct watt_load_pulse *pulses)
{
	uint64_t t_ns = START_NS;
	size_t n = 0;

	while (t_ns < START_NS + LENGTH_NS) {
		pulses[n].from_ns = t_ns;
		pulses[n].to_ns = t_ns + (6 + draw() % 120) * MS;
		t_ns = pulses[n++].to_ns + (6 + draw() % 120) * MS;
	}
	return n;
}

static double on_ns(const struct watt_load_pulse *pulses, size_t n, uint64_t from_ns,
		    uint64_t to_ns)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t from = WATT_MAX(from_ns, pulses[i].from_ns);
		uint64_t to = WATT_MIN(to_ns, pulses[i].to_ns);

		sum += to > from ? (double)(to - from) : 0;
	}
	return sum;
}

/* Idle at 80 W, 300 W more with the load. */
static int64_t value_at(const struct sensor *sensor, const struct watt_load_pulse *pulses, size_t n,
			uint64_t t_ns)
{
	uint64_t to_ns = t_ns - t_ns % sensor->period_ns - sensor->delay_ns;
	uint64_t from_ns = sensor->window_ns ? to_ns - sensor->window_ns : START_NS / 2;
	double on = on_ns(pulses, n, from_ns, to_ns), all = (double)(to_ns - from_ns);

	if (!sensor->window_ns)
		return (int64_t)((80 * all + 300 * on) / 1e6); /* mJ */
	return (int64_t)(80000 + 300000 * on / all);
}

static size_t make_edges(const struct sensor *sensor, const struct watt_load_pulse *pulses,
			 size_t n, struct watt_sensor_edge *edges)
{
	int64_t value, last = -1, clean_last = -1;
	uint64_t t_ns, last_ns = 0;
	size_t n_edges = 0;

	for (t_ns = START_NS + MS; t_ns < START_NS + LENGTH_NS;
	     t_ns += sensor->poll_ns + draw() % (sensor->poll_ns / 2)) {
		if (sensor->late && draw() % 100 < sensor->late)
			t_ns += draw() % 120 * MS;
		value = value_at(sensor, pulses, n, t_ns);
		if (last_ns && value != clean_last) {
			last = value + (sensor->noise ?
						(int32_t)(draw() % (2 * (uint32_t)sensor->noise)) -
							sensor->noise :
						0);
			edges[n_edges++] = (struct watt_sensor_edge){ last_ns, t_ns, last };
		}
		clean_last = value;
		last_ns = t_ns;
	}
	return n_edges;
}

static void test_sensors(void **state)
{
	static const struct sensor sensors[] = {
		{ 100 * MS, 25 * MS, 0, MS, 0 },
		{ 100 * MS, 25 * MS, 60 * MS, MS, 0 },
		{ 100 * MS, 100 * MS, 30 * MS, MS, 0 },
		{ 20 * MS, 10 * MS, 12 * MS, MS, 0 },
		{ 100 * MS, 1000 * MS, 15 * MS, MS, 0 },
		{ 101 * MS, 25 * MS, 333 * MS, 2 * MS, 0 },
		{ 100 * MS, 25 * MS, 20 * MS, MS, 9000 },
		{ 20 * MS, 200 * MS, 5 * MS, MS, 2000 },
		{ 100 * MS, 1000 * MS, 30 * MS, MS, 0 },
		{ 100 * MS, 500 * MS, 77 * MS, MS, 300 },
		{ 100 * MS, 0, 0, MS, 0 },
		{ 20 * MS, 0, 45 * MS, MS, 0 },
	};
	struct watt_load_pulse *pulses = calloc(MAX, sizeof(*pulses));
	struct watt_sensor_edge *edges = calloc(MAX, sizeof(*edges));
	struct watt_sensor_fit fit;
	size_t i, n_pulses, n_edges;

	assert_true(pulses && edges);
	for (i = 0; i < WATT_ARRAY_SIZE(sensors); i++) {
		const struct sensor *s = &sensors[i];

		seed = (uint32_t)i;
		n_pulses = make_load(pulses);
		n_edges = make_edges(s, pulses, n_pulses, edges);
		assert_int_equal(
			watt_sensor_fit(pulses, n_pulses, edges, n_edges, !s->window_ns, &fit), 0);
		if (fabs((double)fit.period_ns / (double)s->period_ns - 1) > 0.02 ||
		    fabs((double)fit.delay_ns - (double)s->delay_ns) > 10e6 ||
		    fabs((double)fit.window_ns - (double)s->window_ns) >
			    5e6 + 0.05 * (double)s->window_ns)
			fail_msg("sensor %zu: every %.2f ms, of %.2f ms, %.2f ms late", i,
				 (double)fit.period_ns / 1e6, (double)fit.window_ns / 1e6,
				 (double)fit.delay_ns / 1e6);
	}
	free(pulses);
	free(edges);
}

/* The busier the machine, the less is known; what is found is right all the same. */
static void test_busy(void **state)
{
	struct sensor s = { 80 * MS, 30 * MS, 40 * MS, MS };
	struct watt_load_pulse *pulses = calloc(MAX, sizeof(*pulses));
	struct watt_sensor_edge *edges = calloc(MAX, sizeof(*edges));
	struct watt_sensor_fit fit;
	size_t n_pulses, n_edges;
	uint32_t i, found[2] = { 0 };
	int r;

	assert_true(pulses && edges);
	for (i = 0; i < 60; i++) {
		seed = i;
		s.late = i / 2;
		s.window_ns = i % 2 ? 30 * MS : 0;
		n_pulses = make_load(pulses);
		n_edges = make_edges(&s, pulses, n_pulses, edges);
		r = watt_sensor_fit(pulses, n_pulses, edges, n_edges, !s.window_ns, &fit);
		if (r == -ENODATA)
			continue;
		assert_int_equal(r, 0);
		if (fabs((double)fit.period_ns / 80e6 - 1) > 0.02 ||
		    fabs((double)fit.delay_ns - 40e6) > 10e6)
			fail_msg("%u of 100 are late: every %.2f ms, %.2f ms late", s.late,
				 (double)fit.period_ns / 1e6, (double)fit.delay_ns / 1e6);
		found[i % 2]++;
	}
	assert_true(found[0] >= 4 && found[1] >= 4);
	free(pulses);
	free(edges);
}

/* Values that have nothing to do with the load; and too few. */
static void test_nothing(void **state)
{
	struct watt_load_pulse *pulses = calloc(MAX, sizeof(*pulses));
	struct watt_sensor_edge edges[150];
	struct watt_sensor_fit fit;
	size_t n_pulses, i;

	assert_non_null(pulses);
	seed = 7;
	n_pulses = make_load(pulses);
	for (i = 0; i < 150; i++) {
		edges[i].t_ns = START_NS + (i + 10) * 97 * MS;
		edges[i].before_ns = edges[i].t_ns - MS;
		edges[i].value = 80000 + draw() % 300000;
	}
	assert_int_equal(watt_sensor_fit(pulses, n_pulses, edges, 150, false, &fit), -ENODATA);
	assert_int_equal(watt_sensor_fit(pulses, n_pulses, edges, 5, false, &fit), -ENODATA);
	assert_int_equal(watt_sensor_fit(pulses, 0, edges, 150, false, &fit), -ENODATA);
	free(pulses);
}

static void test_timing(void **state)
{
	const struct watt_sensor_fit quarter = { 100 * MS, 25 * MS, 7 * MS, 1 };
	const struct watt_sensor_fit all = { 100 * MS, 1000 * MS, 7 * MS, 1 };
	struct watt_gpu_timing timing = watt_sensor_fit_timing(&quarter, false);

	assert_int_equal(timing.coverage_ppm, 250000);
	assert_int_equal(timing.delay_ns, 7 * MS);
	assert_in_range(timing.uncertainty_ppm, 49900, 50100);
	timing = watt_sensor_fit_timing(&all, false);
	assert_int_equal(timing.coverage_ppm, 1000000);
	assert_int_equal(timing.uncertainty_ppm, 28868);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sensors),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_timing),
	};

	return cmocka_run_group_tests_name("sensor_fit", tests, NULL, NULL);
}
