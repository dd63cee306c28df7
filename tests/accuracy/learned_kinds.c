/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watts are learned of each kind of domain by the sensor that it has: a counter, a rail's power that
 * is read now and then, a machine's total that is old and comes once a second. One world of programs,
 * whose truth is known, is shown by each sensor in turn; everything goes the whole way, from sweeps
 * and readings to the rows of a snapshot, and is a function of the seeds. The test fails where a
 * figure is above its bound.
 * usage: learned_kinds [--markdown | SEED]; tests/accuracy/worlds puts its table into the docs.
 * With a SEED, other worlds of which nothing is judged.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attrib/attrib.h"
#include "base/clock.h"
#include "base/util.h"
#include "experiment.h"
#include "world.h"

#define STEP_NS (WORLD_SLICE_NS / WORLD_STEPS)
#define N_TASKS 12
#define N_CPUS 4
#define STEP_S 1e-3
#define SLICES_PER_S (WATT_NSEC_PER_SEC / WORLD_SLICE_NS)
#define BEGIN_S 3       /* by then every sensor has told something */
#define INSIDE_LEAST 92 /* percent of rows whose truth is within two sigma */
#define CHECKED_S 30    /* from when on rows are held against their uncertainty */

enum meter {
	BY_CPU_TIME,
	BY_LEARNED,
	N_METERS
};
enum mark {
	AT_BEGIN,
	AT_MIDDLE,
	AT_END,
	N_MARKS
};

/* What a sensor makes of the world. */
struct sensor {
	const char *name;
	enum watt_domain_kind kind;
	const char *domain;
	double gain; /* of the world's dynamic power */
	double idle_w;
	double other_w; /* up to so much is taken by what is no program's, another every second */
	double quantum; /* J of a counter, W of a power */
	uint32_t period_ms; /* between readings; 0: a counter that is read with each sweep */
	uint32_t window_ms; /* a reading is the mean of so much */
	uint32_t delay_ms;  /* and then so old */
	uint32_t seconds;
	bool is_silent;       /* it tells nothing of its window, as most BMCs */
	bool has_steps;       /* and it is known when its mean ended */
	bool is_slow;         /* programs run and sleep for seconds */
	bool is_idle_unknown; /* it has to be learned, and nobody is ever idle */
	double bound,
		late_bound; /* of what is learned, in percent: the first half, and the second */
	bool has_smt, has_turbo; /* which bend power over load */
};

/* clang-format off */
static const struct sensor sensors[] = {
	{ "package: a counter of 61 uJ", WATT_DOMAIN_PACKAGE, "package-0", 1, 10, 0, 61.035e-6, 0, 0, 0, 120, false, false, false, false, 2, 1, false, false },
	{ "core: the same, four fifths of it", WATT_DOMAIN_CORES, "package-0/core", 0.8, 1, 0, 61.035e-6, 0, 0, 0, 120, false, false, false, false, 2, 1, false, false },
	{ "dram: the same, a twentieth of it", WATT_DOMAIN_DRAM, "dram-0", 0.05, 3, 0, 61.035e-6, 0, 0, 0, 120, false, false, false, false, 2, 1, false, false },
	{ "psys: with losses, and 1 W of others", WATT_DOMAIN_TOTAL, "psys", 1.12, 6, 1, 61.035e-6, 0, 0, 0, 120, false, false, false, false, 2, 1, false, false },
	{ "package: 20 W idle, which nobody sees", WATT_DOMAIN_PACKAGE, "package-0", 1, 20, 0, 61.035e-6, 0, 0, 0, 120, false, false, false, true, 50, 40, false, false },
	{ "package: the same, with turbo", WATT_DOMAIN_PACKAGE, "package-0", 1, 20, 0, 61.035e-6, 0, 0, 0, 120, false, false, false, true, 50, 40, false, true },
	{ "package: the same, with siblings", WATT_DOMAIN_PACKAGE, "package-0", 1, 20, 0, 61.035e-6, 0, 0, 0, 120, false, false, false, true, 50, 40, true, false },
	{ "rail: power, each 10 ms, in 40 mW", WATT_DOMAIN_CPU_RAIL, "vdd_cpu", 1, 2, 0, 40e-3, 10, 1, 0, 120, false, false, false, false, 3, 2, false, false },
	{ "rail: power, each 100 ms, in 40 mW", WATT_DOMAIN_CPU_RAIL, "vdd_cpu", 1, 2, 0, 40e-3, 100, 1, 0, 240, false, false, false, false, 15, 15, false, false },
	{ "rail: means of 100 ms, in 40 mW", WATT_DOMAIN_CPU_RAIL, "vdd_cpu", 1, 2, 0, 40e-3, 100, 100, 0, 240, false, false, false, false, 15, 12, false, false },
	{ "rail: the same, known when they ended", WATT_DOMAIN_CPU_RAIL, "vdd_cpu", 1, 2, 0, 40e-3, 100, 100, 0, 240, false, true, false, false, 2, 2, false, false },
	{ "BMC: power, each 1 s, 1 s old, in 1 W", WATT_DOMAIN_TOTAL, "node", 1.12, 60, 0, 1, 1000, 1000, 500, 1200, true, false, true, false, 25, 15, false, false },
	{ "BMC: means of 1 s, 1 s old, in 1 W", WATT_DOMAIN_TOTAL, "node", 1.12, 60, 0, 1, 1000, 1000, 1000, 1200, false, false, true, false, 45, 45, false, false },
	{ "BMC: the same, known when they ended", WATT_DOMAIN_TOTAL, "node", 1.12, 60, 0, 1, 1000, 1000, 1000, 1200, false, true, true, false, 6, 4, false, false },
};
/* clang-format on */

struct rig {
	const struct sensor *sensor;
	struct watt_channel channel;
	const struct watt_channel *list[1];
	struct world *world;
	uint64_t seed;
	size_t n_slices;
	double *shown_j; /* what the sensor has had at the end of each step */
	size_t n_shown;
	size_t next_step; /* of the next reading of a power */
	double other_w, other_j;
	double *true_j; /* of each group, at the end of each slice */
	struct watt_timeline *tl[N_METERS];
	struct watt_attrib *at[N_METERS];
	double got_j[N_MARKS][N_METERS][N_TASKS];
	double newest_j[N_TASKS];
	size_t known[N_MARKS]; /* slices of which that is */
	size_t was_known;
	size_t n_rows, n_inside, n_learned;
};

static bool is_counter(const struct sensor *sensor)
{
	return !sensor->period_ms;
}

static bool is_mean(const struct sensor *sensor)
{
	return sensor->window_ms > 1 && !sensor->is_silent;
}

static void describe(struct rig *rig)
{
	const struct sensor *sensor = rig->sensor;
	uint32_t middle_ms = sensor->is_silent ? sensor->window_ms / 2 : 0;

	rig->channel = (struct watt_channel){
		.name = "sensor",
		.source = "world",
		.domain = sensor->domain,
		.kind = sensor->kind,
		.quantity = is_counter(sensor) ? WATT_QUANTITY_ENERGY : WATT_QUANTITY_POWER,
		.semantics = is_mean(sensor) ? WATT_SEMANTICS_AVERAGE : WATT_SEMANTICS_INSTANT,
		.origin = WATT_ORIGIN_MEASURED,
		.scale_num = (uint64_t)llround(sensor->quantum * (is_counter(sensor) ? 1e9 : 1e6)),
		.scale_den = 1,
		.package_id = -1,
		.die_id = -1,
		.core_id = -1,
		.idle_uw = sensor->is_idle_unknown ?
				   0 :
				   (uint64_t)((sensor->idle_w + sensor->other_w / 2) * 1e6),
		.flags = sensor->has_steps ? WATT_CHANNEL_STEPS : 0,
		.period_ns = sensor->period_ms * STEP_NS,
		.window_ns = is_mean(sensor) ? sensor->window_ms * STEP_NS : 0,
		.delay_ns = (sensor->delay_ms + middle_ms) * STEP_NS,
	};
	rig->list[0] = &rig->channel;
}

static void open_meter(struct rig *rig, enum meter meter)
{
	static const char *const keys[] = { "cpu_time", "learned" };
	static const uint16_t slots[N_CPUS];
	struct watt_rules rules = { 0 };
	struct watt_attrib_opts opts = { .channels = rig->list,
					 .n_channels = 1,
					 .cpu_slot = slots,
					 .n_cpus = N_CPUS,
					 .n_slots = 1,
					 .horizon_ns = 60000000000ULL,
					 .share_keys = &rules };
	char *word = NULL;

	must(watt_rules_parse(&rules, &watt_share_key_syntax, keys[meter], &word));
	must(watt_timeline_new(rig->list, 1, &rig->tl[meter]));
	must(watt_attrib_new(&opts, &rig->at[meter]));
	watt_rules_clear(&rules);
}

static void open_rig(struct rig *rig, const struct sensor *sensor, uint64_t seed)
{
	struct world_opts opts = { .n_tasks = N_TASKS,
				   .n_cpus = N_CPUS,
				   .seconds = sensor->seconds,
				   .seed = 31 + seed,
				   .is_slow = sensor->is_slow,
				   .has_smt = sensor->has_smt,
				   .has_turbo = sensor->has_turbo };
	size_t n_slices = sensor->seconds * SLICES_PER_S;

	*rig = (struct rig){ .sensor = sensor, .world = world_new(&opts), .seed = seed };
	rig->next_step = WATT_MAX(sensor->period_ms, sensor->window_ms);
	rig->shown_j = calloc(n_slices * WORLD_STEPS + 1, sizeof(*rig->shown_j));
	rig->true_j = calloc((n_slices + 1) * N_TASKS, sizeof(*rig->true_j));
	must(rig->shown_j && rig->true_j ? 0 : -ENOMEM);
	describe(rig);
	open_meter(rig, BY_CPU_TIME);
	open_meter(rig, BY_LEARNED);
}

static void close_rig(struct rig *rig)
{
	int meter;

	for (meter = 0; meter < N_METERS; meter++) {
		watt_attrib_free(rig->at[meter]);
		watt_timeline_free(rig->tl[meter]);
	}
	free(rig->shown_j);
	free(rig->true_j);
	world_free(rig->world);
}

/* What the sensor has had by the end of each step of the newest slice. */
static void show(struct rig *rig)
{
	const struct sensor *sensor = rig->sensor;
	uint32_t i;

	if (rig->n_slices % SLICES_PER_S == 0)
		rig->other_w = sensor->other_w * draw_part(&rig->seed);
	for (i = 0; i < WORLD_STEPS; i++) {
		double t_s = STEP_S * (double)++rig->n_shown;

		rig->other_j += rig->other_w * STEP_S;
		rig->shown_j[rig->n_shown] =
			sensor->gain * (world_step_j(rig->world, i) - WORLD_IDLE_W * t_s) +
			sensor->idle_w * t_s + rig->other_j;
	}
}

static void push(struct rig *rig, uint64_t t_ns, int64_t raw)
{
	struct watt_sample sample = { .t_before_ns = t_ns, .t_after_ns = t_ns, .raw = raw };
	int meter;

	for (meter = 0; meter < N_METERS; meter++)
		must(watt_timeline_push(rig->tl[meter], &sample));
}

/* A counter moves once a millisecond. */
static void read_counter(struct rig *rig)
{
	const double *now_j = &rig->shown_j[rig->n_shown];
	double seen_j = now_j[0] - draw_part(&rig->seed) * (now_j[0] - now_j[-1]);

	push(rig, world_now_ns(rig->world), (int64_t)(seen_j / rig->sensor->quantum));
}

/* All readings of a power that have come by now. */
static void read_powers(struct rig *rig)
{
	const struct sensor *sensor = rig->sensor;

	while (rig->next_step + sensor->delay_ms <= rig->n_shown) {
		size_t at = rig->next_step, from = at - sensor->window_ms;
		double power_w =
			(rig->shown_j[at] - rig->shown_j[from]) / (STEP_S * sensor->window_ms);

		push(rig, WORLD_START_NS + (at + sensor->delay_ms) * STEP_NS,
		     llround(power_w / sensor->quantum));
		rig->next_step += sensor->period_ms;
	}
}

static void step(struct rig *rig)
{
	const struct watt_usage_batch *batch = world_run(rig->world);
	int meter;
	size_t g;

	show(rig);
	for (meter = 0; meter < N_METERS; meter++)
		must(watt_attrib_push_usage(rig->at[meter], batch));
	if (is_counter(rig->sensor))
		read_counter(rig);
	else
		read_powers(rig);
	for (meter = 0; meter < N_METERS; meter++)
		must(watt_attrib_advance(rig->at[meter], rig->tl[meter], world_now_ns(rig->world)));
	rig->n_slices++;
	for (g = 0; g < N_TASKS; g++)
		rig->true_j[rig->n_slices * N_TASKS + g] =
			rig->sensor->gain * world_group(rig->world, g)->true_j;
}

static double truth_j(const struct rig *rig, size_t from, size_t to, size_t g)
{
	return rig->true_j[to * N_TASKS + g] - rig->true_j[from * N_TASKS + g];
}

/* ---- what comes of it ---- */

/* Slices that a meter has divided: those behind them wait for a sensor that is old. */
static size_t known_slices(const struct rig *rig, enum meter meter)
{
	return (watt_attrib_settled_ns(rig->at[meter], 0) - WORLD_START_NS) / WORLD_SLICE_NS;
}

static size_t group_of(const struct watt_row *row)
{
	const struct watt_entity *entity = row->entity;

	if (entity->kind != WATT_ENTITY_PROCESS || !entity->identity)
		return N_TASKS;
	return entity->identity->pid - WORLD_FIRST_PID;
}

/* Whether the truth of the newest second lies within two sigma of what a row says of it. */
static void check_row(struct rig *rig, const struct watt_row *row, size_t from, size_t to)
{
	double off_j = (double)row->window_total_nj / 1e9 - truth_j(rig, from, to, group_of(row));

	rig->n_rows++;
	rig->n_inside += fabs(off_j) <= 2 * row->window_total_uncertainty_j;
}

static void look(struct rig *rig, enum meter meter, bool is_checked, double *got_j)
{
	struct watt_look_opts opts = { .t_ns = world_now_ns(rig->world) };
	size_t known = known_slices(rig, meter), i;
	struct watt_snapshot *snap;

	must(watt_attrib_snapshot(rig->at[meter], rig->tl[meter], &opts, &snap));
	must(watt_snapshot_get_quality(snap)->check_failures ? -EBADMSG : 0);
	must(watt_snapshot_get_quality(snap)->sum_failures ? -EBADMSG : 0);
	for (i = 0; i < watt_snapshot_get_row_count(snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(snap, i);

		if (group_of(row) >= N_TASKS)
			continue;
		got_j[group_of(row)] = (double)watt_energy_to_nj(row->total) / 1e9;
		if (is_checked && row->window_total_nj)
			check_row(rig, row, rig->was_known, known);
	}
	if (meter == BY_LEARNED) {
		rig->was_known = known;
		rig->n_learned += watt_snapshot_get_domain_state(snap, 0)->key == WATT_KEY_LEARNED;
	}
	watt_snapshot_unref(snap);
}

static void take_mark(struct rig *rig, enum mark mark)
{
	look(rig, BY_CPU_TIME, false, rig->got_j[mark][BY_CPU_TIME]);
	memcpy(rig->got_j[mark][BY_LEARNED], rig->newest_j, sizeof(rig->newest_j));
	rig->known[mark] = known_slices(rig, BY_LEARNED);
}

static void run_second(struct rig *rig, uint32_t second)
{
	uint32_t i;

	for (i = 0; i < SLICES_PER_S; i++)
		step(rig);
	if (second < BEGIN_S)
		return;
	look(rig, BY_LEARNED, second > CHECKED_S, rig->newest_j);
	if (second == BEGIN_S)
		take_mark(rig, AT_BEGIN);
	if (second == rig->sensor->seconds / 2)
		take_mark(rig, AT_MIDDLE);
	if (second == rig->sensor->seconds)
		take_mark(rig, AT_END);
}

/* Percent of the dynamic energy between two marks that went to the wrong one. */
static double misplaced(const struct rig *rig, enum meter meter, enum mark from, enum mark to)
{
	double sum_j = 0, off_j = 0;
	size_t g;

	for (g = 0; g < N_TASKS; g++) {
		double true_j = truth_j(rig, rig->known[from], rig->known[to], g);

		sum_j += true_j;
		off_j += fabs(rig->got_j[to][meter][g] - rig->got_j[from][meter][g] - true_j);
	}
	return 100 * off_j / sum_j;
}

static bool judge(const struct rig *rig, bool is_markdown)
{
	const struct sensor *sensor = rig->sensor;
	double by_time = misplaced(rig, BY_CPU_TIME, AT_MIDDLE, AT_END);
	double first = misplaced(rig, BY_LEARNED, AT_BEGIN, AT_MIDDLE);
	double late = misplaced(rig, BY_LEARNED, AT_MIDDLE, AT_END);
	double inside = 100.0 * (double)rig->n_inside / (double)WATT_MAX(rig->n_rows, 1u);
	double part = 100.0 * (double)rig->n_learned / (sensor->seconds - BEGIN_S + 1);
	bool is_good = first <= sensor->bound && late <= sensor->late_bound &&
		       inside >= INSIDE_LEAST;

	if (is_markdown)
		printf("| %s | %u | %.0f | %.1f | %.1f | %.0f %% | %.0f %% |\n", sensor->name,
		       sensor->seconds / 2, by_time, first, late, part, inside);
	else
		printf("%-44s %5u %8.1f %8.2f %8.2f %7.0f %% %7.1f %%  %s\n", sensor->name,
		       sensor->seconds / 2, by_time, first, late, part, inside,
		       is_good ? "ok" : "TOO FAR OFF");
	return is_good;
}

static bool run(const struct sensor *sensor, bool is_markdown, uint64_t seed)
{
	struct rig rig;
	uint32_t second;
	bool is_good;

	open_rig(&rig, sensor, seed);
	for (second = 1; second <= sensor->seconds; second++)
		run_second(&rig, second);
	is_good = judge(&rig, is_markdown);
	close_rig(&rig);
	return is_good;
}

int main(int argc, char **argv)
{
	bool is_markdown = argc > 1 && !strcmp(argv[1], "--markdown"), is_good = true;
	uint64_t seed = argc > 1 && !is_markdown ? strtoull(argv[1], NULL, 10) : 0;
	size_t i;

	if (is_markdown)
		puts("| domain and its sensor | half, s | `cpu_time` | `learned` | later | divided by it | within 2 sigma |\n"
		     "| --- | --- | --- | --- | --- | --- | --- |");
	else
		printf("%-44s %5s %8s %8s %8s %9s %9s\n",
		       "% of the dynamic energy that is misplaced", "half", "CPU time", "learned",
		       "later", "by it", "2 sigma");
	for (i = 0; i < WATT_ARRAY_SIZE(sensors); i++)
		is_good &= run(&sensors[i], is_markdown, seed);
	return is_good || seed ? 0 : 1;
}
