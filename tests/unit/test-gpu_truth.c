/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How true it is what is told of a GPU's energy and power, against the fake NVML whose truth is
 * known, on the script's own time: the same numbers on every machine. They are printed, and
 * docs/gpu.md has them.
 */
#include "gpu_rig.h"

/* Idle, a load, idle, another, a third. */
#define LOADS \
	"gpu GPU-1 00000000:01:00.0 an H100\n" \
	"power 0 80000\npower 20.013 650000\npower 25.013 80000\npower 40.051 300000\n" \
	"power 47.064 90000\npower 60 700000\npower 70 80000\n"

static void check_windows(const struct rig *rig, const char *script, uint64_t phase_ms)
{
	static const uint64_t windows_ns[][2] = {
		{ 15 * S, 30 * S }, { 35 * S, 52 * S }, { 55 * S, 75 * S }, { 62 * S, 68 * S }
	};
	size_t i;

	for (i = 0; i < 4; i++) {
		int64_t truth_nj = rig->fake.energy_nj(0, windows_ns[i][0], windows_ns[i][1]);
		int64_t energy_nj = rig_energy_nj(rig, windows_ns[i][0], windows_ns[i][1]);
		double error = (double)energy_nj / (double)truth_nj - 1;

		if (error > 0.01 || error < -0.01)
			fail_msg("window %zu is off by %f at phase %lu ms of %s", i, error,
				 (unsigned long)phase_ms, script);
	}
}

/*
 * Each load of 5 s and more within 1 %, wherever readings and steps are to each other: by the
 * counter, by a power of which a quarter of the time is seen, and by a mean over 1 s; read when
 * there is something new, and as seldom as somebody may want.
 */
static void test_windows(void **state)
{
	static const char *const scripts[] = { LOADS, LOADS "lacks energy\n",
					       LOADS "lacks energy\nlacks average\n" };
	struct rig rig;
	uint64_t phase_ms;
	size_t i;

	for (i = 0; i < 3; i++) {
		rig_init(&rig, scripts[i], 0);
		assert_int_equal(rig.power->channels[0].quantity,
				 i ? WATT_QUANTITY_POWER : WATT_QUANTITY_ENERGY);
		assert_int_equal(rig.power->channels[0].coverage_ppm, i ? 250000 : 1000000);
		for (phase_ms = 1; phase_ms < 100; phase_ms += 7) {
			rig_measure(&rig, RIG_AT_VALUES, 10 * S + phase_ms * MS, 80 * S, 0);
			check_windows(&rig, scripts[i], phase_ms);
			rig_measure(&rig, RIG_AT_INTERVALS, 10 * S + phase_ms * MS, 80 * S,
				    100 * MS);
			check_windows(&rig, scripts[i], phase_ms);
		}
		rig_done(&rig);
	}
}

/* How far off the energy of a second right after the beginning is, at worst. */
static double first_second(struct rig *rig, uint64_t checked_ns)
{
	double worst = 0, error;
	uint64_t phase_ms, from_ns, shift_ms;

	rig->checked_ns = checked_ns;
	for (phase_ms = 1; phase_ms < 100; phase_ms += 7) {
		rig_measure(rig, RIG_AT_VALUES, 10 * S + phase_ms * MS, 13 * S, 0);
		from_ns = rig->steps_ns[0];
		for (shift_ms = 0; shift_ms <= 200; shift_ms += 25) {
			uint64_t t_ns = from_ns + shift_ms * MS;

			error = (double)rig_energy_nj(rig, t_ns, t_ns + S) /
					(double)rig->fake.energy_nj(0, t_ns, t_ns + S) -
				1;
			worst = error > worst ? error : -error > worst ? -error : worst;
		}
	}
	return worst;
}

/*
 * The source knows a step of the counter from its check. The sooner it reads after that, the better
 * the first window: its energy is off by as much as its beginning.
 */
static void test_beginning(void **state)
{
	static const struct {
		uint64_t checked_ms; /* the check takes up to 0.2 s; 0: there was none */
		double most;
	} cases[] = { { 230, 0.01 }, { 300, 0.01 }, { 700, 0.03 }, { 2000, 0.03 }, { 0, 0.06 } };
	struct rig rig;
	size_t i;

	rig_init(&rig, "gpu GPU-1 00000000:01:00.0 an H100\npower 0 300000\n", 0);
	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		double worst = first_second(&rig, cases[i].checked_ms * MS);

		print_message("read %lu ms after the check began: the first second is off by "
			      "%.2f %% at worst\n",
			      (unsigned long)cases[i].checked_ms, 100 * worst);
		assert_true(worst <= cases[i].most);
	}
	rig_done(&rig);
}

/* ---- when something happens ---- */

#define N_EDGES 60
#define FIRST_EDGE_NS (10 * S)

struct edges {
	char script[4096];
	uint64_t t_ns[N_EDGES];
	uint32_t mw[N_EDGES + 1]; /* before each, and behind the last */
};

/* A load that goes on and off at random, for 0.35 to 1.4 s each time, with other powers. */
static void draw_edges(struct edges *edges, const char *lines)
{
	uint64_t t_ns = FIRST_EDGE_NS;
	unsigned int seed = 7;
	size_t i, n;

	n = (size_t)snprintf(edges->script, sizeof(edges->script),
			     "gpu GPU-1 00000000:01:00.0 an H100\n%spower 0 80000\n", lines);
	edges->mw[0] = 80000;
	for (i = 0; i < N_EDGES; i++) {
		t_ns += 350 * MS + (uint64_t)rand_r(&seed) % (1050 * MS);
		edges->t_ns[i] = t_ns;
		edges->mw[i + 1] = i % 2 ? 70000 + (uint32_t)rand_r(&seed) % 30000 :
					   250000 + (uint32_t)rand_r(&seed) % 450000;
		n += (size_t)snprintf(edges->script + n, sizeof(edges->script) - n,
				      "power %.9f %u\n", (double)t_ns / 1e9, edges->mw[i + 1]);
	}
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct quality {
	double edge_ms;       /* how far off an edge is, in the middle */
	double edge_worst_ms; /* of nine in ten */
	double shape;         /* the mean of what power is off, as a part of its mean */
	double reads;         /* in a period */
};

/* When the measured power has gone so much of the way from what was before an edge. */
static uint64_t find_crossing_ns(const struct rig *rig, const struct edges *edges, size_t i,
				 double share)
{
	double from_w = edges->mw[i] / 1000.0, way_w = edges->mw[i + 1] / 1000.0 - from_w;
	uint64_t t_ns;

	for (t_ns = edges->t_ns[i] - 150 * MS; t_ns < edges->t_ns[i] + 150 * MS; t_ns += MS / 4)
		if ((rig_power_w(rig, t_ns, MS / 2) - from_w) / way_w > share)
			break;
	return t_ns;
}

/* In the middle of the way. */
static double find_edge_ms(const struct rig *rig, const struct edges *edges, size_t i)
{
	uint64_t begin_ns = find_crossing_ns(rig, edges, i, 0.25);
	uint64_t end_ns = find_crossing_ns(rig, edges, i, 0.75);

	return ((double)begin_ns + (double)end_ns) / 2e6 - (double)edges->t_ns[i] / 1e6;
}

static struct quality judge(const struct rig *rig, const struct edges *edges)
{
	double off_ms[N_EDGES], off_w = 0, all_w = 0, w, periods;
	struct quality quality;
	uint64_t t_ns;
	size_t i;

	for (i = 0; i < N_EDGES; i++) {
		off_ms[i] = find_edge_ms(rig, edges, i);
		off_ms[i] = off_ms[i] < 0 ? -off_ms[i] : off_ms[i];
	}
	qsort(off_ms, N_EDGES, sizeof(off_ms[0]), compare);
	for (t_ns = FIRST_EDGE_NS; t_ns < edges->t_ns[N_EDGES - 1] + 200 * MS; t_ns += 2 * MS) {
		w = rig_true_w(rig, t_ns, 2 * MS);
		all_w += w;
		w -= rig_power_w(rig, t_ns, 2 * MS);
		off_w += w < 0 ? -w : w;
	}
	periods = (double)(rig->last_ns - rig->first_ns) / (double)rig->copies[0]->period_ns;
	quality = (struct quality){ .edge_ms = off_ms[N_EDGES / 2],
				    .edge_worst_ms = off_ms[N_EDGES * 9 / 10],
				    .shape = off_w / all_w,
				    .reads = (double)rig->n_reads / periods };
	return quality;
}

/* The mean over phases of readings to values. */
static struct quality measure_edges(struct rig *rig, const struct edges *edges, enum rig_pace pace)
{
	uint64_t end_ns = edges->t_ns[N_EDGES - 1] + S, phase_ms;
	struct quality sum = { 0 }, one;
	int n = 0;

	for (phase_ms = 3; phase_ms < 100; phase_ms += 14, n++) {
		rig_measure(rig, pace, 2 * S + phase_ms * MS, end_ns,
			    rig->copies[0]->period_ns / 2);
		one = judge(rig, edges);
		sum.edge_ms += one.edge_ms;
		sum.edge_worst_ms += one.edge_worst_ms;
		sum.shape += one.shape;
		sum.reads += one.reads;
	}
	return (struct quality){ sum.edge_ms / n, sum.edge_worst_ms / n, sum.shape / n,
				 sum.reads / n };
}

static void say(const char *what, const struct quality *q)
{
	print_message("%-44s edge %5.1f ms, 9 of 10 within %5.1f ms; power off %4.1f %%; %.2f "
		      "readings in a period\n",
		      what, q->edge_ms, q->edge_worst_ms, 100 * q->shape, q->reads);
}

/* With no more readings, and fewer, what happened is known better. */
static void test_pace(void **state)
{
	static const char *const lines[] = { "", "lacks energy\nlacks average\n" };
	static const char *const names[] = { "counter", "power of 25 of each 100 ms" };
	struct quality fixed, paced;
	struct edges edges;
	struct rig rig;
	char text[80];
	size_t i;

	for (i = 0; i < 2; i++) {
		draw_edges(&edges, lines[i]);
		rig_init(&rig, edges.script, 1);
		fixed = measure_edges(&rig, &edges, RIG_AT_INTERVALS);
		paced = measure_edges(&rig, &edges, RIG_AT_VALUES);
		rig_done(&rig);
		snprintf(text, sizeof(text), "%s, at fixed times", names[i]);
		say(text, &fixed);
		snprintf(text, sizeof(text), "%s, when there is a value", names[i]);
		say(text, &paced);
		assert_true(paced.reads <= fixed.reads);
		assert_true(paced.edge_ms < fixed.edge_ms);
		assert_true(paced.shape < fixed.shape);
	}
}

/*
 * A counter whose steps are told the power at their ends. Its energy stays what it counted, to the
 * nJ; what is better is when it was used.
 */
static void test_helped_counter(void **state)
{
	static int64_t counted_nj[RIG_STEPS];
	struct quality alone, helped;
	struct edges edges;
	struct rig rig;
	size_t i, n;

	draw_edges(&edges, "");
	rig_init(&rig, edges.script, 1);
	alone = measure_edges(&rig, &edges, RIG_AT_VALUES);
	n = rig.n_steps;
	assert_in_range(n, 500, RIG_STEPS);
	for (i = 0; i < n; i++)
		counted_nj[i] = rig_energy_nj(&rig, rig.steps_ns[0], rig.steps_ns[i]);
	rig_done(&rig);
	rig_init(&rig, edges.script, 0);
	assert_int_equal(rig.n, 2);
	assert_string_equal(rig.copies[1]->name, "nvml/gpu-0000:01:00_0/instant");
	helped = measure_edges(&rig, &edges, RIG_AT_VALUES);
	assert_int_equal(rig.n_steps, n);
	for (i = 0; i < n; i++)
		assert_int_equal(rig_energy_nj(&rig, rig.steps_ns[0], rig.steps_ns[i]),
				 counted_nj[i]);
	rig_done(&rig);
	say("counter, alone", &alone);
	say("counter, with the power at its steps", &helped);
	assert_true(helped.edge_ms < alone.edge_ms / 4);
	assert_true(helped.shape < alone.shape / 2);
}

/* On for 60 ms in each 100, for some seconds: the quarter that is seen is always off, or always on. */
static void draw_beat(char *script, size_t size, uint64_t offset_ms, const char *lines)
{
	size_t n = (size_t)snprintf(script, size,
				    "gpu GPU-1 00000000:01:00.0 an H100\n%slacks energy\n"
				    "power 0 100000\n",
				    lines);
	int i;

	for (i = 0; i < 30; i++)
		n += (size_t)snprintf(script + n, size - n,
				      "power %.3f 500000\npower %.3f 100000\n",
				      20 + i * 0.1 + (double)offset_ms / 1e3,
				      20 + i * 0.1 + 0.06 + (double)offset_ms / 1e3);
}

/* What a sensor that sees a quarter misses, a mean over all of it tells. */
static void test_helped_power(void **state)
{
	static const uint64_t offsets_ms[] = { 5, 40 };
	char script[4096];
	double off, off_alone;
	struct rig rig;
	size_t i;

	for (i = 0; i < 2; i++) {
		draw_beat(script, sizeof(script), offsets_ms[i], "");
		rig_init(&rig, script, 1);
		rig_measure(&rig, RIG_AT_VALUES, 10 * S, 40 * S, 0);
		off_alone = (double)rig_energy_nj(&rig, 19 * S, 25 * S) /
				    (double)rig.fake.energy_nj(0, 19 * S, 25 * S) -
			    1;
		rig_done(&rig);
		rig_init(&rig, script, 0);
		assert_int_equal(rig.n, 2);
		assert_string_equal(rig.copies[1]->name, "nvml/gpu-0000:01:00_0/average");
		rig_measure(&rig, RIG_AT_VALUES, 10 * S, 40 * S, 0);
		off = (double)rig_energy_nj(&rig, 19 * S, 25 * S) /
			      (double)rig.fake.energy_nj(0, 19 * S, 25 * S) -
		      1;
		rig_done(&rig);
		print_message("a beat that is %s: energy off %.1f %%, with the mean %.2f %%\n",
			      i ? "always seen" : "never seen", 100 * off_alone, 100 * off);
		assert_true(off < 0.01 && off > -0.01);
		assert_true(off_alone > 0.1 || off_alone < -0.1);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows),      cmocka_unit_test(test_beginning),
		cmocka_unit_test(test_pace),         cmocka_unit_test(test_helped_counter),
		cmocka_unit_test(test_helped_power),
	};

	return cmocka_run_group_tests_name("gpu_truth", tests, NULL, NULL);
}
