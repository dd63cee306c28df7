/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much energy each rule misplaces in worlds whose truth is known: CPU time alone, learned
 * watts, and what a peer does (CPU time by jiffies against the energy by the node's load). The
 * first two go the whole way, from sweeps and readings to the rows of a snapshot. Everything is a
 * function of the seeds, and the test fails where a figure is above its bound.
 * usage: learned_worlds [--markdown | --tasks | --other-seeds | SEED]; tests/accuracy/worlds puts its table into the docs
 * --tasks: true joules of each task of the first world, and those by CPU time and as learned.
 * --other-seeds: whether rows say how far off they are in worlds of three other seeds.
 * Another SEED makes other worlds, in which one or the other figure may be above its bound.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attrib/attrib.h"
#include "base/util.h"
#include "experiment.h"
#include "world.h"

#define PEER_S 5 /* between two looks of the peer */
#define JIFFY_NS 10000000ULL
#define MAX_PID 65536
#define CHECKED_SLICES 200
/* Of all rows, as a mean of the worlds in which watts are learned, in percent; and of one world. */
#define INSIDE_LEAST 92
#define INSIDE_MOST 98
#define INSIDE_WORLD 92
#define OTHER_SEEDS 3

enum meter {
	BY_CPU_TIME,
	BY_LEARNED,
	BY_PRECISE, /* learned, with what counters tell */
	BY_PEER,
	N_METERS
};
enum mark {
	AT_SECOND,
	AT_MINUTE,
	AT_END,
	N_MARKS
};

struct scenario {
	const char *name;
	struct world_opts opts;
	/* Of what is learned, in percent of the dynamic energy; 0: none. */
	double bound;      /* from the second second on, learning included */
	double late_bound; /* from the second minute on */
	bool has_to_fall_back;
};

/* one world per line: tasks, CPUs, seconds, programs, seed */
/* clang-format off */
static const struct scenario scenarios[] = {
	{ "12 tasks of 2 to 12 W on 4 CPUs", { 12, 4, 60, 0, 11 }, 2, 0 },
	{ "the package wakes for 8 W", { 12, 4, 60, 0, 12, .has_base = true }, 2, 0 },
	{ "all-core watts 35 % below one-core watts", { 12, 4, 60, 0, 13, .has_turbo = true }, 2, 0 },
	{ "both", { 12, 4, 60, 0, 14, .has_turbo = true, .has_base = true }, 2, 0 },
	{ "2 W of drift", { 12, 4, 60, 0, 15, .has_drift = true }, 5, 0 },
	{ "watts change by up to 40 % every 10 s", { 12, 4, 60, 0, 16, .has_phases = true }, 5, 0 },
	{ "drift and phases", { 12, 4, 60, 0, 17, .has_drift = true, .has_phases = true }, 5, 0 },
	{ "SMT: 12 tasks on 4 cores of 2 threads", { 12, 8, 180, 0, 18, .has_smt = true }, 8, 2 },
	{ "SMT: 24 tasks on 8 cores of 2 threads", { 24, 16, 180, 0, 19, .has_smt = true }, 8, 2 },
	{ "SMT, wake-up and turbo, 12 tasks", { 12, 8, 180, 0, 20, .has_smt = true, .has_turbo = true, .has_base = true }, 8, 2 },
	{ "all of it, 40 tasks that mostly sleep", { 40, 8, 120, 0, 21, .has_smt = true, .has_turbo = true, .has_base = true, .has_drift = true, .is_rare = true }, 8, 0 },
	{ "100 tasks on 16 CPUs", { 100, 16, 120, 0, 22 }, 10, 3 },
	{ "1,000 processes of 40 programs on 16 CPUs", { 1000, 16, 120, 40, 23, .is_rare = true }, 20, 2.5 },
	{ "short lives of 2 to 200 ms, 10 programs", { 4, 8, 60, 0, 24, .n_short_programs = 10 }, 2, 0 },
	{ "equal tasks", { 12, 4, 60, 0, 25, .is_equal = true }, 0.3, 0 },
	{ "4 tasks on 4 CPUs that never stop", { 4, 4, 60, 0, 26, .never_stops = true }, 0, 0, true },
};
/* clang-format on */

static const struct watt_channel *const channels[] = { &world_channel };

/* The peer: what it knows of each process, and what it gave. */
struct peer {
	uint64_t told_jiffies[MAX_PID];
	double seen_j;
	double *got_j; /* per group */
};

struct rig {
	struct world *world;
	struct watt_timeline *tl[BY_PEER];
	struct watt_attrib *at[BY_PEER];
	struct peer *peer;
	uint64_t n_slices, n_learned;
	uint64_t n_rows[BY_PEER];   /* of a second */
	uint64_t n_inside[BY_PEER]; /* and whose truth is within two sigma */
	/* Truth at the last look; what counters tell comes a slice later. */
	double *was_j[BY_PEER];
	double *slice_j; /* truth a slice ago */
	size_t n;        /* groups */
	double *got_j[N_MARKS][N_METERS];
	double *true_j[N_MARKS];
};

static double *make_figures(size_t n)
{
	double *figures = calloc(n + 1, sizeof(*figures));

	must(figures ? 0 : -ENOMEM);
	return figures;
}

static struct watt_attrib *open_attrib(const struct world_opts *world, enum meter meter)
{
	static const char *const keys[] = { "cpu_time", "learned", "learned" };
	uint16_t slots[WORLD_MAX_CPUS] = { 0 };
	struct watt_rules rules = { 0 };
	struct watt_attrib_opts opts = { .channels = channels,
					 .n_channels = 1,
					 .cpu_slot = slots,
					 .n_cpus = world->n_cpus,
					 .n_slots = 1,
					 .horizon_ns = 60000000000ULL,
					 .share_keys = &rules };
	struct watt_attrib *at;
	char *word = NULL;

	must(watt_rules_parse(&rules, &watt_share_key_syntax, keys[meter], &word));
	must(watt_attrib_new(&opts, &at));
	watt_rules_clear(&rules);
	return at;
}

static void open_rig(struct rig *rig, const struct world_opts *opts)
{
	int mark, meter;

	*rig = (struct rig){ .world = world_new(opts) };
	rig->n = world_group_count(rig->world);
	for (meter = 0; meter < BY_PEER; meter++) {
		must(watt_timeline_new(channels, 1, &rig->tl[meter]));
		rig->at[meter] = open_attrib(opts, meter);
		rig->was_j[meter] = make_figures(rig->n);
	}
	rig->peer = calloc(1, sizeof(*rig->peer));
	must(rig->peer ? 0 : -ENOMEM);
	rig->peer->got_j = make_figures(rig->n);
	rig->slice_j = make_figures(rig->n);
	for (mark = 0; mark < N_MARKS; mark++) {
		rig->true_j[mark] = make_figures(rig->n);
		for (meter = 0; meter < N_METERS; meter++)
			rig->got_j[mark][meter] = make_figures(rig->n);
	}
}

static void close_rig(struct rig *rig)
{
	int mark, meter;

	for (meter = 0; meter < BY_PEER; meter++) {
		watt_attrib_free(rig->at[meter]);
		watt_timeline_free(rig->tl[meter]);
		free(rig->was_j[meter]);
	}
	for (mark = 0; mark < N_MARKS; mark++) {
		free(rig->true_j[mark]);
		for (meter = 0; meter < N_METERS; meter++)
			free(rig->got_j[mark][meter]);
	}
	free(rig->peer->got_j);
	free(rig->slice_j);
	free(rig->peer);
	world_free(rig->world);
}

static struct watt_snapshot *look(const struct rig *rig, enum meter meter)
{
	struct watt_look_opts opts = { .t_ns = world_now_ns(rig->world) };
	struct watt_snapshot *snap;

	must(watt_attrib_snapshot(rig->at[meter], rig->tl[meter], &opts, &snap));
	if (watt_snapshot_get_quality(snap)->check_failures ||
	    watt_snapshot_get_quality(snap)->sum_failures) {
		fprintf(stderr, "learned_worlds: energy is not conserved\n");
		exit(1);
	}
	return snap;
}

/* Processes by their pids; who lived shortly by the name of the program. */
static bool is_of_group(const struct watt_row *row, const struct world_group *group)
{
	const struct watt_entity *entity = row->entity;

	if (entity->kind == WATT_ENTITY_PROCESS && group->pid)
		return entity->identity && entity->identity->pid == group->pid;
	return !group->pid && entity->kind <= WATT_ENTITY_EXITED &&
	       !strcmp(entity->name, group->comm);
}

static void take_rows(struct rig *rig, enum mark mark, enum meter meter)
{
	struct watt_snapshot *snap = look(rig, meter);
	size_t i, g;

	for (i = 0; i < watt_snapshot_get_row_count(snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(snap, i);

		if (row->entity->kind != WATT_ENTITY_PROCESS &&
		    row->entity->kind != WATT_ENTITY_EXITED)
			continue;
		for (g = 0; g < rig->n; g++)
			if (is_of_group(row, world_group(rig->world, g)))
				rig->got_j[mark][meter][g] +=
					(double)watt_energy_to_nj(row->total) / 1e9;
	}
	watt_snapshot_unref(snap);
}

static void take_mark(struct rig *rig, enum mark mark)
{
	size_t g;

	for (g = 0; g < rig->n; g++) {
		rig->true_j[mark][g] = world_group(rig->world, g)->true_j;
		rig->got_j[mark][BY_PEER][g] = rig->peer->got_j[g];
	}
	take_rows(rig, mark, BY_CPU_TIME);
	take_rows(rig, mark, BY_LEARNED);
	take_rows(rig, mark, BY_PRECISE);
}

/*
 * Of the energy of the node, the part in which its CPUs were busy is divided by what each process
 * that is there has used meanwhile, in whole ticks of 10 ms.
 */
static void run_peer(struct rig *rig, const struct world_opts *opts)
{
	struct peer *peer = rig->peer;
	double energy_j = world_energy_j(rig->world), active_j;
	uint64_t sum = 0, cpu_ns;
	uint32_t pid, group;
	size_t i, n = world_task_count(rig->world);

	for (i = 0; i < n; i++) {
		world_task(rig->world, i, &pid, &group, &cpu_ns);
		sum += cpu_ns / JIFFY_NS - peer->told_jiffies[pid % MAX_PID];
	}
	active_j = (energy_j - peer->seen_j) *
		   fmin(1, (double)(sum * JIFFY_NS) / (PEER_S * 1e9 * opts->n_cpus));
	peer->seen_j = energy_j;
	for (i = 0; i < n; i++) {
		world_task(rig->world, i, &pid, &group, &cpu_ns);
		if (sum)
			peer->got_j[group] +=
				active_j *
				(double)(cpu_ns / JIFFY_NS - peer->told_jiffies[pid % MAX_PID]) /
				(double)sum;
		peer->told_jiffies[pid % MAX_PID] = cpu_ns / JIFFY_NS;
	}
}

static void take_slice(struct rig *rig)
{
	const struct watt_usage_batch *batch = world_run(rig->world);
	struct watt_sample sample = { .t_before_ns = world_now_ns(rig->world),
				      .t_after_ns = world_now_ns(rig->world),
				      .raw = world_read(rig->world) };
	int meter;

	must(watt_attrib_push_activity(rig->at[BY_PRECISE], world_counts(rig->world)));
	for (meter = 0; meter < BY_PEER; meter++) {
		must(watt_attrib_push_usage(rig->at[meter], batch));
		must(watt_timeline_push(rig->tl[meter], &sample));
		must(watt_attrib_advance(rig->at[meter], rig->tl[meter], sample.t_after_ns));
	}
	rig->n_slices++;
}

static void step(struct rig *rig)
{
	size_t g;

	for (g = 0; g < rig->n; g++)
		rig->slice_j[g] = world_group(rig->world, g)->true_j;
	take_slice(rig);
}

/* Up to what a meter has divided. */
static double truth_j(const struct rig *rig, enum meter meter, size_t g)
{
	return meter == BY_PRECISE ? rig->slice_j[g] : world_group(rig->world, g)->true_j;
}

/* Whether the truth of the newest second lies within two sigma of what a row says of it. */
static void check_row(struct rig *rig, enum meter meter, const struct watt_row *row)
{
	size_t g;

	if (row->entity->kind != WATT_ENTITY_PROCESS || !row->window_total_nj)
		return;
	for (g = 0; g < rig->n; g++) {
		const struct world_group *group = world_group(rig->world, g);
		double off_j = (double)row->window_total_nj / 1e9 - truth_j(rig, meter, g) +
			       rig->was_j[meter][g];

		if (!group->pid || !is_of_group(row, group))
			continue;
		rig->n_rows[meter]++;
		rig->n_inside[meter] += fabs(off_j) <= 2 * row->window_total_uncertainty_j;
	}
}

/* From the tenth second on: before, too little is known to speak of a rule. */
static void check_rows(struct rig *rig, enum meter meter)
{
	struct watt_snapshot *snap = look(rig, meter);
	size_t i, g;

	for (i = 0; rig->n_slices > CHECKED_SLICES && i < watt_snapshot_get_row_count(snap); i++)
		check_row(rig, meter, watt_snapshot_get_row(snap, i));
	for (g = 0; g < rig->n; g++)
		rig->was_j[meter][g] = truth_j(rig, meter, g);
	rig->n_learned += meter == BY_LEARNED &&
			  watt_snapshot_get_domain_state(snap, 0)->key == WATT_KEY_LEARNED;
	watt_snapshot_unref(snap);
}

static void check_second(struct rig *rig)
{
	check_rows(rig, BY_LEARNED);
	check_rows(rig, BY_PRECISE);
}

static void run_second(struct rig *rig, const struct world_opts *opts, uint32_t second)
{
	uint32_t i;

	for (i = 0; i < (uint32_t)(1 / WORLD_SLICE_S); i++)
		step(rig);
	check_second(rig);
	if (second % PEER_S == 0)
		run_peer(rig, opts);
	if (second == 1)
		take_mark(rig, AT_SECOND);
	if (second == 60)
		take_mark(rig, AT_MINUTE);
	if (second == opts->seconds)
		take_mark(rig, AT_END);
}

/* Percent of the dynamic energy between two marks that went to the wrong one. */
static double misplaced(const struct rig *rig, enum meter meter, enum mark from, enum mark to)
{
	double sum_j = 0, off_j = 0;
	size_t g;

	for (g = 0; g < rig->n; g++) {
		double true_j = rig->true_j[to][g] - rig->true_j[from][g];

		sum_j += true_j;
		off_j += fabs(rig->got_j[to][meter][g] - rig->got_j[from][meter][g] - true_j);
	}
	return 100 * off_j / sum_j;
}

static double inside_of(const struct rig *rig, enum meter meter)
{
	return 100.0 * (double)rig->n_inside[meter] / (double)WATT_MAX(rig->n_rows[meter], 1);
}

static bool judge(struct rig *rig, const struct scenario *scenario, bool is_markdown,
		  double *ret_inside)
{
	bool is_long = scenario->opts.seconds > 60, is_good = true;
	double first = misplaced(rig, BY_LEARNED, AT_SECOND, AT_MINUTE);
	double late = is_long ? misplaced(rig, BY_LEARNED, AT_MINUTE, AT_END) : 0;
	double precise = misplaced(rig, BY_PRECISE, AT_SECOND, AT_MINUTE);
	double precise_late = is_long ? misplaced(rig, BY_PRECISE, AT_MINUTE, AT_END) : 0;
	double by_time = misplaced(rig, BY_CPU_TIME, AT_SECOND, AT_MINUTE);
	/* the peer's first look is the first that it can divide from */
	double by_peer = misplaced(rig, BY_PEER, AT_SECOND, AT_MINUTE);
	double inside = inside_of(rig, BY_LEARNED), inside_precise = inside_of(rig, BY_PRECISE);
	char late_text[16] = "", part_text[16], precise_late_text[16] = "";

	if (is_long) {
		snprintf(late_text, sizeof(late_text), "%.1f", late);
		snprintf(precise_late_text, sizeof(precise_late_text), "%.1f", precise_late);
	}
	snprintf(part_text, sizeof(part_text), "%.0f %%",
		 100.0 * (double)rig->n_learned / scenario->opts.seconds);
	is_good &= scenario->has_to_fall_back ? !rig->n_learned : first <= scenario->bound;
	is_good &= !scenario->late_bound || late <= scenario->late_bound;
	is_good &= inside >= INSIDE_WORLD && inside_precise >= INSIDE_WORLD;
	/* counters must not make it worse than by what a world differs from the next */
	is_good &= scenario->has_to_fall_back || precise <= first * 1.1 + 0.1;
	is_good &= !is_long || precise_late <= late + 0.1;
	if (!is_good)
		fprintf(stderr, "learned_worlds: %s: above its bound\n", scenario->name);
	if (is_markdown)
		printf("| %s | %.0f | %.0f | %.1f | %s | %.1f | %s | %s | %.0f %% |\n",
		       scenario->name, by_peer, by_time, first, late_text, precise,
		       precise_late_text, part_text, inside);
	else
		printf("%-44s %6.1f %8.1f %8.2f %8s %8.2f %8s %8s %7.1f  %s\n", scenario->name,
		       by_peer, by_time, first, late_text, precise, precise_late_text, part_text,
		       inside, is_good ? "ok" : "TOO FAR OFF");
	*ret_inside = inside;
	return is_good;
}

static bool run(const struct scenario *scenario, bool is_markdown, uint64_t seed,
		double *ret_inside)
{
	struct world_opts opts = scenario->opts;
	struct rig rig;
	uint32_t second;
	bool is_good;

	opts.seed += seed;
	open_rig(&rig, &opts);
	for (second = 1; second <= opts.seconds; second++)
		run_second(&rig, &opts, second);
	is_good = judge(&rig, scenario, is_markdown, ret_inside);
	close_rig(&rig);
	return is_good;
}

static void run_tasks(const struct scenario *scenario)
{
	uint32_t second;
	struct rig rig;
	size_t g;

	open_rig(&rig, &scenario->opts);
	for (second = 1; second <= scenario->opts.seconds; second++)
		run_second(&rig, &scenario->opts, second);
	for (g = 0; g < rig.n; g++) {
		printf("%.1f", rig.true_j[AT_MINUTE][g] - rig.true_j[AT_SECOND][g]);
		for (int meter = 0; meter < BY_PEER; meter++)
			printf(" %.1f",
			       rig.got_j[AT_MINUTE][meter][g] - rig.got_j[AT_SECOND][meter][g]);
		putchar('\n');
	}
	close_rig(&rig);
}

static bool judge_inside(double inside)
{
	if (inside >= INSIDE_LEAST && inside <= INSIDE_MOST)
		return true;
	fprintf(stderr, "learned_worlds: %.1f %% of the truth is within 2 sigma, not %d to %d\n",
		inside, INSIDE_LEAST, INSIDE_MOST);
	return false;
}

/* All worlds of a seed. Whether each is within its bounds, and whether rows say how far off they are. */
static bool run_all(bool is_markdown, uint64_t seed, bool *ret_is_calibrated)
{
	double inside, sum_inside = 0;
	bool is_good = true;
	size_t i, n = 0;

	for (i = 0; i < WATT_ARRAY_SIZE(scenarios); i++) {
		is_good &= run(&scenarios[i], is_markdown, seed, &inside);
		/* where all are equal nobody is off, and who never stops is told by a wide guess */
		if (scenarios[i].opts.is_equal || scenarios[i].opts.never_stops)
			continue;
		sum_inside += inside;
		n++;
	}
	*ret_is_calibrated = judge_inside(sum_inside / (double)n);
	return is_good;
}

static void print_titles(bool is_markdown)
{
	if (is_markdown)
		puts("| world | peer | `cpu_time` | `learned` | later | precise | later | divided by it | within 2 sigma |\n"
		     "| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
	else
		printf("%-44s %6s %8s %8s %8s %8s %8s %8s %7s\n",
		       "% of the dynamic energy that is misplaced", "peer", "CPU time", "learned",
		       "later", "precise", "later", "by it", "2 sigma");
}

/* The bounds are of the worlds that are published; how sure rows are has to hold in any. */
static bool run_other_seeds(void)
{
	bool is_calibrated, is_good = true;
	uint64_t seed;

	for (seed = 1; seed <= OTHER_SEEDS; seed++) {
		run_all(false, seed, &is_calibrated);
		is_good &= is_calibrated;
	}
	return is_good;
}

int main(int argc, char **argv)
{
	bool is_markdown = argc > 1 && !strcmp(argv[1], "--markdown"), is_good, is_calibrated;
	uint64_t seed = argc > 1 && !is_markdown ? strtoull(argv[1], NULL, 10) : 0;

	if (argc > 1 && !strcmp(argv[1], "--tasks")) {
		run_tasks(&scenarios[0]);
		return 0;
	}
	print_titles(is_markdown);
	if (argc > 1 && !strcmp(argv[1], "--other-seeds"))
		return run_other_seeds() ? 0 : 1;
	is_good = run_all(is_markdown, seed, &is_calibrated);
	return is_good && is_calibrated ? 0 : 1;
}
