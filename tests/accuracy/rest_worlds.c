/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nobody is known to cause: the residual of a machine whose total is read once a second, in
 * worlds whose truth is known. Where programs cause it (losses of the supply, a card that one of them
 * keeps busy, fans that follow the load) it has to become theirs, and to be misplaced by little;
 * where they don't, it has to stay nobody's. Everything is a function of the seeds.
 * usage: rest_worlds [SEEDS]; of so many worlds of each kind it shows how it is spread there, and
 * judges nothing.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attrib/attrib.h"
#include "base/util.h"
#include "experiment.h"

#define SLICE_NS 500000000ULL
#define SLICE_S 0.5
#define FIRST_NS 1000000000000ULL
#define SECONDS 2400
#define N_SLICES (SECONDS * 2)
#define JUDGED_FROM (N_SLICES / 2)
#define N_TASKS 12
#define N_CPUS 8
#define IDLE_W 12.0
#define REST_W 60.0
#define NOISE_W 1.5 /* of a reading, on top of whole watts */
#define DISK_W 8.0
#define LOSS 0.12
#define CARD_W 20.0
#define FAN_W_PER_W 0.15 /* of what the package takes, by its mean of the last seconds */
#define FAN_S 6.0
#define N_SEEDS 6
/* Of the dynamic energy of the residual that programs caused, from the tenth minute on. */
#define MOST_MISPLACED 0.35

enum kind {
	QUIET,  /* noise alone */
	DISKS,  /* and disks and slow fans, by themselves */
	LOSSES, /* a part of what the package takes */
	CARD,   /* while one of the programs runs */
	FANS,   /* by what the package took of late */
	N_KINDS
};

static const struct {
	const char *name;
	bool is_caused;
	size_t least, most; /* of its worlds: 1, all become programs'; 0, none */
} kinds[N_KINDS] = { { "noise alone", false, 0, 0 },
		     { "disks and fans that know no load", false, 0, 0 },
		     { "losses of 12 % of the package", true, 1, 1 },
		     { "a card of 20 W that one program uses", true, 1, 1 },
		     /* what follows after seconds hardly shows from one block to the next */
		     { "fans that follow the load in 6 s", true, 0, 1 } };

static const struct watt_channel package = { .name = "p",
					     .source = "t",
					     .domain = "package-0",
					     .kind = WATT_DOMAIN_PACKAGE,
					     .quantity = WATT_QUANTITY_ENERGY,
					     .origin = WATT_ORIGIN_MEASURED,
					     .scale_num = 1000,
					     .scale_den = 1,
					     .package_id = -1,
					     .die_id = -1,
					     .core_id = -1,
					     .period_ns = 1000000 };
static const struct watt_channel total = { .name = "n",
					   .source = "t",
					   .domain = "node",
					   .kind = WATT_DOMAIN_TOTAL,
					   .quantity = WATT_QUANTITY_POWER,
					   .semantics = WATT_SEMANTICS_INSTANT,
					   .flags = WATT_CHANNEL_AGE_UNKNOWN,
					   .origin = WATT_ORIGIN_MEASURED,
					   .scale_num = 1,
					   .scale_den = 1,
					   .package_id = -1,
					   .die_id = -1,
					   .core_id = -1,
					   .period_ns = 1000000000 };
static const struct watt_channel *const list[] = { &package, &total };

struct task {
	double watts;
	double loss_w; /* of the residual, while it runs */
	double until_s;
	bool is_on;
	uint64_t cpu_ns;
	double true_j; /* of the residual, from JUDGED_FROM on */
	double was_j, got_j;
};

struct world {
	enum kind kind;
	uint64_t seed;
	struct task tasks[N_TASKS];
	double fan_w, package_j, node_j, second_j;
	struct watt_timeline *tl;
	struct watt_attrib *at;
};

struct result {
	bool was_significant, is_significant;
	double t, first_s, misplaced, given; /* of what was caused */
};

/* About normal: of variance 1. */
static double noise(struct world *w)
{
	double sum = -6;
	int i;

	for (i = 0; i < 12; i++)
		sum += draw_part(&w->seed);
	return sum;
}

static void open_world(struct world *w, enum kind kind, uint64_t seed)
{
	static const uint16_t slots[N_CPUS];
	struct watt_rules rules = { 0 };
	struct watt_attrib_opts opts = { .channels = list,
					 .n_channels = 2,
					 .cpu_slot = slots,
					 .n_cpus = N_CPUS,
					 .n_slots = 1,
					 .horizon_ns = 60000000000ULL,
					 .share_keys = &rules };
	char *word = NULL;
	size_t i;

	*w = (struct world){ .kind = kind, .seed = seed };
	for (i = 0; i < N_TASKS; i++)
		w->tasks[i].watts = 2 + 10 * draw_part(&w->seed);
	must(watt_rules_parse(&rules, &watt_share_key_syntax, "auto", &word));
	must(watt_timeline_new(list, 2, &w->tl));
	must(watt_attrib_new(&opts, &w->at));
	watt_rules_clear(&rules);
}

static void close_world(struct world *w)
{
	watt_attrib_free(w->at);
	watt_timeline_free(w->tl);
}

/* Programs run for 1 to 20 s and sleep for as long; some slices they share with their pauses. */
static void run_tasks(struct world *w, double now_s, size_t slice)
{
	double package_w = IDLE_W, rest_w = REST_W, follow;
	size_t i;

	for (i = 0; i < N_TASKS; i++) {
		struct task *task = &w->tasks[i];

		if (now_s >= task->until_s) {
			task->is_on = !task->is_on;
			task->until_s = now_s + 1 + 19 * draw_part(&w->seed) * draw_part(&w->seed);
		}
		if (!task->is_on)
			continue;
		task->cpu_ns += (uint64_t)(SLICE_NS * (N_CPUS / (double)N_TASKS));
		package_w += task->watts;
		task->loss_w = w->kind == LOSSES         ? LOSS * task->watts :
			       w->kind == FANS           ? FAN_W_PER_W * task->watts :
			       w->kind == CARD && i == 3 ? CARD_W :
							   0;
		rest_w += w->kind == FANS ? 0 : task->loss_w;
		if (slice >= JUDGED_FROM)
			task->true_j += task->loss_w * SLICE_S;
	}
	follow = 1 - exp(-SLICE_S / FAN_S);
	w->fan_w += follow * (FAN_W_PER_W * (package_w - IDLE_W) - w->fan_w);
	if (w->kind == FANS)
		rest_w += w->fan_w;
	if (w->kind == DISKS)
		rest_w += 4 * sin(now_s / 15) + ((int)(now_s / 7) % 3 == 1 ? DISK_W : 0);
	w->package_j += package_w * SLICE_S;
	w->node_j += (package_w + rest_w) * SLICE_S;
}

static void tell(struct world *w, uint64_t t_ns, size_t slice)
{
	struct watt_usage records[N_TASKS];
	struct watt_usage_batch batch = { .t_before_ns = t_ns,
					  .t_after_ns = t_ns,
					  .records = records,
					  .n_records = N_TASKS,
					  .flags = WATT_BATCH_FULL };
	struct watt_sample sample = { t_ns, t_ns, llround(w->package_j * 1e6), 0, 0 };
	size_t i;

	for (i = 0; i < N_TASKS; i++) {
		records[i] = (struct watt_usage){ .t_ns = t_ns,
						  .cpu_ns = w->tasks[i].cpu_ns,
						  .start_ns = 1000,
						  .leader_start_ns = 1000,
						  .cgroup_id = 1,
						  .tid = (uint32_t)(100 + i),
						  .tgid = (uint32_t)(100 + i),
						  .parent_tgid = 1,
						  .kind = WATT_USAGE_TASK };
		snprintf(records[i].comm, sizeof(records[i].comm), "run-%zu", i);
	}
	must(watt_attrib_push_usage(w->at, &batch));
	must(watt_timeline_push(w->tl, &sample));
	if (slice % 2) {
		double power_w = w->node_j - w->second_j + NOISE_W * noise(w);

		sample.channel = 1;
		sample.raw = llround(power_w) * 1000000;
		must(watt_timeline_push(w->tl, &sample));
		w->second_j = w->node_j;
	}
	must(watt_attrib_advance(w->at, w->tl, t_ns));
}

/* What everybody has of the residual, in J. */
static const struct watt_domain_state *look(struct world *w, uint64_t t_ns, bool is_first,
					    struct watt_snapshot **ret)
{
	struct watt_look_opts opts = { .t_ns = t_ns };
	size_t residual = 0, i;

	must(watt_attrib_snapshot(w->at, w->tl, &opts, ret));
	must(watt_snapshot_get_quality(*ret)->check_failures ? -EBADMSG : 0);
	must(watt_snapshot_get_quality(*ret)->sum_failures ? -EBADMSG : 0);
	while (watt_snapshot_get_domain(*ret, residual)->kind != WATT_DOMAIN_RESIDUAL)
		residual++;
	for (i = 0; i < watt_snapshot_get_row_count(*ret); i++) {
		const struct watt_row *row = watt_snapshot_get_row(*ret, i);
		struct task *task;
		double got_j;

		if (row->entity->kind != WATT_ENTITY_PROCESS || !row->entity->identity)
			continue;
		task = &w->tasks[row->entity->identity->pid - 100];
		got_j = (double)watt_energy_to_nj(row->energy[residual]) / 1e9;
		*(is_first ? &task->was_j : &task->got_j) = got_j - (is_first ? 0 : task->was_j);
	}
	return watt_snapshot_get_domain_state(*ret, residual);
}

static struct result try(enum kind kind, uint64_t seed)
{
	struct result result = { 0 };
	struct watt_snapshot *snap = NULL;
	double true_j = 0, off_j = 0, given_j = 0;
	struct world w;
	size_t slice, i;

	open_world(&w, kind, seed);
	for (slice = 0; slice <= N_SLICES; slice++) {
		const struct watt_domain_state *state;

		run_tasks(&w, (double)slice * SLICE_S, slice);
		tell(&w, FIRST_NS + slice * SLICE_NS, slice);
		if (slice % 20 && slice != JUDGED_FROM && slice != N_SLICES)
			continue;
		state = look(&w, FIRST_NS + slice * SLICE_NS, slice <= JUDGED_FROM, &snap);
		result.is_significant = state->is_significant;
		result.t = state->significance_t;
		if (state->is_significant && !result.was_significant)
			result.first_s = (double)slice * SLICE_S;
		result.was_significant |= state->is_significant;
		watt_snapshot_unref(snap);
	}
	for (i = 0; i < N_TASKS; i++) {
		true_j += w.tasks[i].true_j;
		given_j += w.tasks[i].got_j;
		off_j += fmax(w.tasks[i].got_j - w.tasks[i].true_j, 0);
	}
	result.misplaced = given_j > 0 ? off_j / given_j : 0;
	result.given = true_j > 0 ? given_j / true_j : given_j;
	close_world(&w);
	return result;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double middle(double *figures, size_t n)
{
	qsort(figures, n, sizeof(*figures), compare);
	return n ? figures[n / 2] : NAN;
}

static bool show(enum kind kind, size_t n)
{
	double *first_s = calloc(n, sizeof(double)), *t = calloc(n, sizeof(double));
	double *misplaced = calloc(n, sizeof(double)), *given = calloc(n, sizeof(double));
	size_t n_ever = 0, n_end = 0, i;
	double most = 0;
	bool is_good;

	must(first_s && t && misplaced && given ? 0 : -ENOMEM);
	for (i = 0; i < n; i++) {
		struct result r = try(kind, i * 7919 + 17 + kind);

		n_end += r.is_significant;
		t[i] = r.t;
		misplaced[i] = r.misplaced;
		most = fmax(most, r.misplaced);
		given[i] = r.given;
		if (r.was_significant)
			first_s[n_ever++] = r.first_s;
	}
	printf("%-38s %3zu of %zu, %3zu at the end, after %4.0f s, t %5.1f", kinds[kind].name,
	       n_ever, n, n_end, middle(first_s, n_ever), middle(t, n));
	is_good = n_ever <= kinds[kind].most * n && n_end >= kinds[kind].least * n;
	if (kinds[kind].is_caused) {
		printf(", given %3.0f %% of what they caused, misplaced %.0f %%, at most %.0f %%",
		       100 * middle(given, n), 100 * middle(misplaced, n), 100 * most);
		is_good &= most <= MOST_MISPLACED;
	}
	printf("%s\n", is_good ? "" : "  not within its bounds");
	free(first_s);
	free(t);
	free(misplaced);
	free(given);
	return is_good;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : N_SEEDS, bad = 0;
	enum kind kind;

	for (kind = 0; kind < N_KINDS; kind++)
		bad += !show(kind, (size_t)WATT_MAX(n, 1));
	return argc == 1 && bad != 0;
}
