/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two ways to put the readings of a GPU together, against a truth that is known: the library's,
 * which places steps of power, and least squares with smoothness. Both get the same readings of the
 * fake H100, at the same times, on the script's own clock; the least squares get the mean over 1 s
 * beside a counter, too, and all that came later. Figures are the same on every machine but for
 * the last digits; docs/gpu.md has them. With "scan", also for other bins and weights.
 */
#include <math.h>

#include "../unit/gpu_rig.h"
#include "smooth_curve.h"

#define FROM_NS (2 * S)
#define FIRST_NS (10 * S)
#define LAST_NS (50 * S)
#define MAX_READINGS 1024
#define MAX_EDGES 240
#define MAX_WINDOWS 512
#define SHOWN_NS (2 * MS)

/* ---- loads ---- */

struct load {
	char script[16384];
	size_t length;
	uint64_t edges_ns[MAX_EDGES];
	uint32_t mw[MAX_EDGES + 1]; /* before each, and behind the last */
	size_t n;
};

static void begin(struct load *load, const char *lacks)
{
	load->n = 0;
	load->mw[0] = 80000;
	load->length = (size_t)snprintf(load->script, sizeof(load->script),
					"gpu GPU-1 00000000:01:00.0 an H100\n%spower 0 80000\n",
					lacks);
}

static void add_edge(struct load *load, uint64_t t_ns, uint32_t mw)
{
	assert_in_range(load->n, 0, MAX_EDGES - 1);
	load->edges_ns[load->n++] = t_ns;
	load->mw[load->n] = mw;
	load->length += (size_t)snprintf(load->script + load->length,
					 sizeof(load->script) - load->length, "power %.9f %u\n",
					 (double)t_ns / 1e9, mw);
}

static uint64_t draw(unsigned int *seed, uint64_t from, uint64_t to)
{
	return from + (uint64_t)rand_r(seed) % (to - from);
}

/* On and off, for so long each time. */
static void draw_switches(struct load *load, uint64_t least_ns, uint64_t most_ns)
{
	unsigned int seed = 7;
	uint64_t t_ns = FIRST_NS;

	while (t_ns < LAST_NS && load->n < MAX_EDGES) {
		t_ns += draw(&seed, least_ns, most_ns);
		add_edge(load, t_ns,
			 (uint32_t)(load->n % 2 ? draw(&seed, 70000, 100000) :
						  draw(&seed, 250000, 700000)));
	}
}

static void draw_steps(struct load *load)
{
	draw_switches(load, 350 * MS, 1400 * MS);
}

static void draw_bursts(struct load *load)
{
	draw_switches(load, 30 * MS, 300 * MS);
}

/* Up and down without an edge, once in 8 s. */
static void draw_swing(struct load *load)
{
	uint64_t t_ns;

	for (t_ns = FIRST_NS; t_ns < LAST_NS; t_ns += 173 * MS)
		add_edge(load, t_ns,
			 (uint32_t)(400000 - 250000 * cos((double)t_ns / 1e9 * 2 * M_PI / 8)));
}

/* Idle between loads of 5 s and more. */
static void draw_long(struct load *load)
{
	draw_switches(load, 5000 * MS, 7000 * MS);
}

static const struct {
	const char *name;
	void (*draw)(struct load *load);
	bool has_edges; /* that are far enough from each other to be looked for */
} loads[] = {
	{ "steps, 0.35 to 1.4 s", draw_steps, true },
	{ "bursts, 30 to 300 ms", draw_bursts, false },
	{ "a swing of 8 s", draw_swing, false },
	{ "loads of 5 to 7 s", draw_long, true },
};

/* ---- the two ways ---- */

struct readings {
	struct {
		uint64_t t_ns; /* it came then */
		double energy_j, instant_w, average_w;
	} list[MAX_READINGS];
	size_t n;
	bool has_counter;
};

struct way {
	const struct rig *rig;             /* the library's curve */
	const struct smooth_curve *smooth; /* the other one, else NULL */
	const struct readings *readings;
};

static void read_it(void *arg, const struct rig *rig, const struct watt_sample *first)
{
	struct readings *readings = arg;
	const struct watt_nvml_gpu *gpu = &rig->nvml->gpus[0];
	int64_t mj = 0, instant_mw, average_mw;

	assert_in_range(readings->n, 0, MAX_READINGS - 1);
	if (readings->has_counter)
		assert_int_equal(
			watt_gpu_read(rig->nvml, gpu, WATT_WAY_COUNTER, WATT_SCOPE_GPU, &mj), 0);
	assert_int_equal(
		watt_gpu_read(rig->nvml, gpu, WATT_WAY_INSTANT, WATT_SCOPE_GPU, &instant_mw), 0);
	assert_int_equal(
		watt_gpu_read(rig->nvml, gpu, WATT_WAY_AVERAGE, WATT_SCOPE_GPU, &average_mw), 0);
	readings->list[readings->n].t_ns =
		first->t_before_ns + (first->t_after_ns - first->t_before_ns) / 2;
	readings->list[readings->n].energy_j = (double)mj / 1e3;
	readings->list[readings->n].instant_w = (double)instant_mw / 1e3;
	readings->list[readings->n++].average_w = (double)average_mw / 1e3;
}

static void measure(struct rig *rig, struct readings *readings, uint64_t from_ns)
{
	readings->n = 0;
	readings->has_counter = rig->copies[0]->quantity == WATT_QUANTITY_ENERGY;
	rig->seen = read_it;
	rig->seen_arg = readings;
	rig_measure(rig, RIG_AT_VALUES, from_ns, LAST_NS + 2 * S, 0);
}

struct weights {
	uint64_t bin_ns;
	double lambda, instant, average, counter;
};

/* As a peer weights them, who does it this way. */
static const struct weights usual = { 50 * MS, 5, 1, 6, 40 };

static struct smooth_curve *solve(const struct readings *readings, const struct weights *weights)
{
	struct smooth_curve *curve =
		smooth_curve_new(FROM_NS, LAST_NS + 2 * S, weights->bin_ns, weights->lambda);
	size_t i;

	for (i = 0; i < readings->n; i++) {
		uint64_t t_ns = readings->list[i].t_ns;

		smooth_curve_add(curve, t_ns - 25 * MS, t_ns, readings->list[i].instant_w,
				 weights->instant);
		if (t_ns > FROM_NS + S)
			smooth_curve_add(curve, t_ns - S, t_ns, readings->list[i].average_w,
					 weights->average);
		if (i && readings->has_counter)
			smooth_curve_add(
				curve, readings->list[i - 1].t_ns, t_ns,
				(readings->list[i].energy_j - readings->list[i - 1].energy_j) /
					((double)(t_ns - readings->list[i - 1].t_ns) / 1e9),
				weights->counter);
	}
	smooth_curve_solve(curve);
	return curve;
}

static size_t find_reading(const struct readings *readings, uint64_t t_ns)
{
	size_t i = 0;

	while (i + 2 < readings->n && readings->list[i + 1].t_ns <= t_ns)
		i++;
	return i;
}

/* What the counter said, and between two of its values as much of it as the curve says. */
static double get_counted_j(const struct way *way, uint64_t t_ns)
{
	size_t i = find_reading(way->readings, t_ns);
	uint64_t from_ns = way->readings->list[i].t_ns, to_ns = way->readings->list[i + 1].t_ns;
	double step_j = smooth_curve_energy_j(way->smooth, from_ns, to_ns);
	double part = step_j > 0 ? smooth_curve_energy_j(way->smooth, from_ns, t_ns) / step_j : 0;

	return way->readings->list[i].energy_j +
	       part * (way->readings->list[i + 1].energy_j - way->readings->list[i].energy_j);
}

static double get_energy_j(const struct way *way, uint64_t from_ns, uint64_t to_ns)
{
	if (!way->smooth)
		return (double)rig_energy_nj(way->rig, from_ns, to_ns) / 1e9;
	if (way->readings->has_counter)
		return get_counted_j(way, to_ns) - get_counted_j(way, from_ns);
	return smooth_curve_energy_j(way->smooth, from_ns, to_ns);
}

static double get_power_w(const struct way *way, uint64_t t_ns, uint64_t width_ns)
{
	return way->smooth ? smooth_curve_power_w(way->smooth, t_ns) :
			     rig_power_w(way->rig, t_ns, width_ns);
}

/* ---- how true they are ---- */

struct quality {
	double edge_ms, edge_most_ms; /* how far off, in the middle and of nine in ten */
	double shape;                 /* the mean of what power is off, as a part of its mean */
	double half_s, five_s;        /* the same of the energy of windows of that length */
};

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* When power has gone so much of the way from what was before an edge. */
static uint64_t find_crossing_ns(const struct way *way, const struct load *load, size_t i,
				 double share)
{
	double from_w = load->mw[i] / 1e3, way_w = load->mw[i + 1] / 1e3 - from_w;
	uint64_t t_ns;

	for (t_ns = load->edges_ns[i] - 150 * MS; t_ns < load->edges_ns[i] + 150 * MS;
	     t_ns += MS / 4)
		if ((get_power_w(way, t_ns, MS / 2) - from_w) / way_w > share)
			break;
	return t_ns;
}

static void judge_edges(const struct way *way, const struct load *load, struct quality *ret)
{
	double off_ms[MAX_EDGES];
	size_t i, n = 0;

	for (i = 0; i < load->n && load->edges_ns[i] < LAST_NS; i++)
		off_ms[n++] = fabs(((double)find_crossing_ns(way, load, i, 0.25) +
				    (double)find_crossing_ns(way, load, i, 0.75)) /
					   2e6 -
				   (double)load->edges_ns[i] / 1e6);
	qsort(off_ms, n, sizeof(off_ms[0]), compare);
	ret->edge_ms = off_ms[n / 2];
	ret->edge_most_ms = off_ms[n * 9 / 10];
}

static double judge_shape(const struct way *way)
{
	double off_w = 0, all_w = 0, w;
	uint64_t t_ns;

	for (t_ns = FIRST_NS; t_ns < LAST_NS; t_ns += SHOWN_NS) {
		w = rig_true_w(way->rig, t_ns, SHOWN_NS);
		all_w += w;
		off_w += fabs(w - get_power_w(way, t_ns, SHOWN_NS));
	}
	return off_w / all_w;
}

static double judge_windows(const struct way *way, uint64_t length_ns)
{
	double off_j = 0, all_j = 0, j;
	uint64_t t_ns;

	for (t_ns = FIRST_NS; t_ns + length_ns < LAST_NS; t_ns += 137 * MS) {
		j = (double)way->rig->fake.energy_nj(0, t_ns, t_ns + length_ns) / 1e9;
		all_j += j;
		off_j += fabs(j - get_energy_j(way, t_ns, t_ns + length_ns));
	}
	return off_j / all_j;
}

static void judge(const struct way *way, const struct load *load, bool has_edges,
		  struct quality *sum, double n)
{
	struct quality one = { 0 };

	if (has_edges)
		judge_edges(way, load, &one);
	sum->edge_ms += one.edge_ms / n;
	sum->edge_most_ms += one.edge_most_ms / n;
	sum->shape += judge_shape(way) / n;
	sum->half_s += judge_windows(way, S / 2) / n;
	sum->five_s += judge_windows(way, 5 * S) / n;
}

static void say(const char *load, const char *readings, const char *way, bool has_edges,
		const struct quality *q)
{
	char edges[64] = "| - | - |";

	if (has_edges)
		snprintf(edges, sizeof(edges), "| %.1f ms | %.1f ms |", q->edge_ms,
			 q->edge_most_ms);
	print_message("| %s | %s | %s %s %.1f %% | %.2f %% | %.2f %% |\n", load, readings, way,
		      edges, 100 * q->shape, 100 * q->half_s, 100 * q->five_s);
}

/* ---- side by side ---- */

#define N_PHASES 5

struct pair {
	struct quality ours, smooth;
};

/* The library's way is not the worse one in anything but what nine in ten edges are within. */
static void check(const struct pair *pair, bool has_edges)
{
	assert_true(pair->ours.shape < pair->smooth.shape);
	assert_true(pair->ours.half_s < pair->smooth.half_s);
	assert_true(pair->ours.five_s < pair->smooth.five_s);
	assert_true(pair->ours.five_s < 0.002);
	if (has_edges) {
		assert_true(pair->ours.edge_ms < pair->smooth.edge_ms / 2);
		assert_true(pair->ours.edge_most_ms < pair->smooth.edge_most_ms + 5);
	}
}

static struct pair compare_ways(size_t i, const char *lacks, const struct weights *weights)
{
	static struct load load;
	static struct readings readings;
	struct pair pair = { 0 };
	struct rig rig;
	size_t phase;

	begin(&load, lacks);
	loads[i].draw(&load);
	rig_init(&rig, load.script, 0);
	for (phase = 0; phase < N_PHASES; phase++) {
		struct smooth_curve *curve;
		struct way way = { .rig = &rig, .readings = &readings };

		measure(&rig, &readings, FROM_NS + (3 + 19 * phase) * MS);
		judge(&way, &load, loads[i].has_edges, &pair.ours, N_PHASES);
		way.smooth = curve = solve(&readings, weights);
		judge(&way, &load, loads[i].has_edges, &pair.smooth, N_PHASES);
		smooth_curve_free(curve);
	}
	rig_done(&rig);
	return pair;
}

static const struct {
	const char *name, *lacks;
} sensors[] = {
	{ "counter, power", "" },
	{ "power, mean", "lacks energy\n" },
};

static void test_side_by_side(void **state)
{
	size_t i, s;

	for (s = 0; s < WATT_ARRAY_SIZE(sensors); s++)
		for (i = 0; i < WATT_ARRAY_SIZE(loads); i++) {
			struct pair pair = compare_ways(i, sensors[s].lacks, &usual);

			say(loads[i].name, sensors[s].name, "steps", loads[i].has_edges,
			    &pair.ours);
			say(loads[i].name, sensors[s].name, "least squares", loads[i].has_edges,
			    &pair.smooth);
			check(&pair, loads[i].has_edges);
		}
}

static void test_scan(void **state)
{
	static const uint64_t bins_ns[] = { 50 * MS, 25 * MS, 10 * MS };
	static const double lambdas[] = { 0.001, 0.01, 0.1, 1, 5, 50 };
	size_t i, s, b, l;
	char name[64];

	for (s = 0; s < WATT_ARRAY_SIZE(sensors); s++)
		for (i = 0; i < WATT_ARRAY_SIZE(loads); i++)
			for (b = 0; b < WATT_ARRAY_SIZE(bins_ns); b++)
				for (l = 0; l < WATT_ARRAY_SIZE(lambdas); l++) {
					struct weights weights = usual;
					struct pair pair;

					weights.bin_ns = bins_ns[b];
					weights.lambda = lambdas[l];
					pair = compare_ways(i, sensors[s].lacks, &weights);
					snprintf(name, sizeof(name), "bins of %d ms, %g",
						 (int)(bins_ns[b] / MS), lambdas[l]);
					say(loads[i].name, sensors[s].name, name,
					    loads[i].has_edges, &pair.smooth);
				}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_side_by_side),
	};
	static const struct CMUnitTest scans[] = {
		cmocka_unit_test(test_scan),
	};

	if (argc > 1 && !strcmp(argv[1], "scan"))
		return cmocka_run_group_tests_name("gpu_curves", scans, NULL, NULL);
	return cmocka_run_group_tests_name("gpu_curves", tests, NULL, NULL);
}
