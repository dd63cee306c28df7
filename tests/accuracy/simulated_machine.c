/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far attribution is from the truth, on a simulated machine whose energy per task is known to
 * the nJ. Each scenario runs the simulator's sensors (quantised, refreshed every ms, read with
 * jitter) and its usage records through the timeline and the ledger, and compares what every
 * process got with what it took. Everything is a function of the seed: the figures are the same
 * on every machine, and the test fails when one gets worse than the bound beside it.
 */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attrib/attrib.h"
#include "base/util.h"
#include "source/synth/machine.h"
#include "experiment.h"

#define MS 1000000ULL
#define SLICE_NS (50 * MS)
#define WARM_UP_NS (20000 * MS) /* the baseline is learned in it */
#define RUN_NS (40000 * MS)
#define MAX_DOMAINS 16
#define LSB_NJ 61035 /* 2^-14 J, the usual unit of RAPL */

struct scenario {
	const char *name;
	struct watt_synth_machine_opts opts;
	const char *keys; /* as in the options; NULL: automatic */
	/* Bounds in 1e-3 of the dynamic energy: of the worst process, and of all together. */
	double worst_bound;
	double total_bound;
	bool has_threads; /* each thread is compared, not each process */
};

static const struct scenario scenarios[] = {
	{ "equal tasks, one package", { .seed = 1, .n_cpus = 4, .n_processes = 12 }, NULL, 5, 20 },
	{ "equal tasks, two packages",
	  { .seed = 2, .n_cpus = 8, .n_packages = 2, .n_processes = 24, .migrate_ppm = 300000 },
	  NULL,
	  5,
	  20 },
	{ "short lives: births and deaths",
	  { .seed = 3, .n_cpus = 4, .n_processes = 8, .fork_ppm = 100000, .exit_ppm = 100000 },
	  NULL,
	  50,
	  60 },
	{ "threads, exec and pids that recur",
	  { .seed = 4,
	    .n_cpus = 4,
	    .n_processes = 6,
	    .fork_ppm = 60000,
	    .exit_ppm = 60000,
	    .exec_ppm = 50000,
	    .thread_ppm = 400000,
	    .pid_max = 300 },
	  NULL,
	  50,
	  60 },
	{ "threads, each by itself",
	  { .seed = 7,
	    .n_cpus = 4,
	    .n_processes = 4,
	    .fork_ppm = 10000,
	    .exit_ppm = 8000,
	    .thread_ppm = 800000 },
	  NULL,
	  50,
	  60,
	  true },
	{ "threads, each by itself, learned",
	  { .seed = 7,
	    .n_cpus = 4,
	    .n_processes = 4,
	    .fork_ppm = 10000,
	    .exit_ppm = 8000,
	    .thread_ppm = 800000 },
	  "learned",
	  50,
	  60,
	  true },
	{ "a counter for each core",
	  { .seed = 5, .n_cpus = 4, .n_processes = 12, .migrate_ppm = 200000, .has_cores = true },
	  NULL,
	  5,
	  20 },
	{ "equal tasks, learned", { .seed = 1, .n_cpus = 4, .n_processes = 12 }, "learned", 5, 20 },
	{ "tasks of 1 to 6 W, learned",
	  { .seed = 6, .n_cpus = 4, .n_processes = 12, .task_min_mw = 1000, .task_max_mw = 6000 },
	  "learned",
	  10,
	  40 },
	{ "tasks of 1 to 6 W (time can't tell)",
	  { .seed = 6, .n_cpus = 4, .n_processes = 12, .task_min_mw = 1000, .task_max_mw = 6000 },
	  NULL,
	  200,
	  1000 },
};

struct rig {
	bool has_threads;
	struct watt_synth_machine *machine;
	size_t n_domains;
	struct watt_channel channels[MAX_DOMAINS];
	const struct watt_channel *list[MAX_DOMAINS];
	struct watt_timeline *tl;
	struct watt_attrib *at;
	uint64_t seed;
	uint64_t t_ns;
};

/* What a process took and what it got, since the warm-up, summed over packages and dram. */
struct tally {
	uint32_t pid; /* or tid, where threads are compared */
	uint64_t start_ns;
	int64_t true_nj;
	int64_t got_nj;
};

struct tallies {
	struct tally *list;
	size_t n, cap;
};

static uint64_t rnd(struct rig *rig, uint64_t n)
{
	return draw_u64(&rig->seed) % n;
}

static void open_channels(struct rig *rig)
{
	size_t i;

	rig->n_domains = watt_synth_machine_domain_count(rig->machine);
	assert(rig->n_domains <= MAX_DOMAINS);
	for (i = 0; i < rig->n_domains; i++) {
		const struct watt_synth_domain *d = watt_synth_machine_domain(rig->machine, i);

		rig->channels[i] = (struct watt_channel){
			.name = d->path,
			.source = "synth",
			.domain = d->path,
			.kind = d->kind,
			.quantity = WATT_QUANTITY_ENERGY,
			.origin = WATT_ORIGIN_SIMULATED,
			.scale_num = LSB_NJ,
			.scale_den = 1,
			.wrap_nj = (1ULL << 32) * LSB_NJ,
			.package_id = d->package_id,
			.die_id = -1,
			.core_id = d->core_id,
		};
		rig->list[i] = &rig->channels[i];
	}
}

static void open_places(const struct rig *rig, struct watt_cpu_place *places, bool by_core)
{
	uint32_t n_slots, cpu;
	const uint16_t *slots = watt_synth_machine_cpu_slots(rig->machine, &n_slots);

	for (cpu = 0; cpu < watt_synth_machine_cpu_count(rig->machine); cpu++)
		places[slots[cpu]] = (struct watt_cpu_place){
			.package_id = by_core ? 0 : (int32_t)slots[cpu],
			.die_id = -1,
			.core_id = by_core ? (int32_t)cpu : -1,
		};
}

static void open_rig(struct rig *rig, const struct scenario *scenario)
{
	struct watt_cpu_place places[64];
	struct watt_attrib_opts opts = { 0 };
	struct watt_rules keys = { 0 };
	char *word = NULL;

	memset(rig, 0, sizeof(*rig));
	rig->seed = scenario->opts.seed;
	must(watt_synth_machine_new(&scenario->opts, &rig->machine));
	open_channels(rig);
	open_places(rig, places, scenario->opts.has_cores);
	opts.channels = rig->list;
	opts.n_channels = rig->n_domains;
	opts.cpu_slot = watt_synth_machine_cpu_slots(rig->machine, &opts.n_slots);
	opts.n_cpus = watt_synth_machine_cpu_count(rig->machine);
	opts.places = places;
	if (scenario->keys)
		must(watt_rules_parse(&keys, &watt_share_key_syntax, scenario->keys, &word));
	opts.share_keys = &keys;
	must(watt_timeline_new(rig->list, rig->n_domains, &rig->tl));
	must(watt_attrib_new(&opts, &rig->at));
	watt_rules_clear(&keys);
	rig->has_threads = scenario->has_threads;
	if (rig->has_threads)
		must(watt_attrib_show_threads(rig->at));
	rig->t_ns = watt_synth_machine_now_ns(rig->machine);
}

static void close_rig(struct rig *rig)
{
	watt_attrib_free(rig->at);
	watt_timeline_free(rig->tl);
	watt_synth_machine_free(rig->machine);
}

/* The register moves every ms and is read a little later, each time another little. */
static void read_sensors(struct rig *rig)
{
	uint64_t t_ns = rig->t_ns + rnd(rig, 200000);
	uint32_t i;

	must(watt_synth_machine_run(rig->machine, t_ns));
	for (i = 0; i < rig->n_domains; i++) {
		int64_t e_nj = watt_synth_machine_energy_nj(rig->machine, i, t_ns - t_ns % MS);
		struct watt_sample sample = { .t_before_ns = t_ns,
					      .t_after_ns = t_ns + 1000,
					      .raw = (int64_t)((uint64_t)(e_nj / LSB_NJ) &
							       0xffffffff),
					      .channel = i };

		must(watt_timeline_push(rig->tl, &sample));
	}
}

static void step(struct rig *rig)
{
	struct watt_usage_batch batch;

	must(watt_synth_machine_run(rig->machine, rig->t_ns));
	must(watt_synth_machine_sweep(rig->machine, false, &batch));
	must(watt_attrib_push_usage(rig->at, &batch));
	read_sensors(rig);
	must(watt_attrib_advance(rig->at, rig->tl, rig->t_ns));
	rig->t_ns += SLICE_NS;
}

static void run_until(struct rig *rig, uint64_t t_ns)
{
	while (rig->t_ns < t_ns)
		step(rig);
}

static struct tally *tally_of(struct tallies *t, uint32_t pid, uint64_t start_ns)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (t->list[i].pid == pid && t->list[i].start_ns == start_ns)
			return &t->list[i];
	must(watt_grow((void **)&t->list, &t->cap, t->n, sizeof(*t->list)));
	t->list[t->n] = (struct tally){ .pid = pid, .start_ns = start_ns };
	return &t->list[t->n++];
}

static bool is_package_or_dram(enum watt_domain_kind kind)
{
	return kind == WATT_DOMAIN_PACKAGE || kind == WATT_DOMAIN_DRAM;
}

static void add_truth(struct rig *rig, struct tallies *t, int sign)
{
	size_t i, d;

	for (i = 0; i < watt_synth_machine_task_count(rig->machine); i++) {
		const struct watt_synth_task *task = watt_synth_machine_task(rig->machine, i);
		struct tally *tally = rig->has_threads ?
					      tally_of(t, task->tid, task->start_ns) :
					      tally_of(t, task->tgid, task->leader_start_ns);

		for (d = 0; d < rig->n_domains; d++)
			if (is_package_or_dram(rig->channels[d].kind))
				tally->true_nj += sign * task->energy_nj[d];
	}
}

/* Whether the row is of those that are compared, and of whom. */
static bool is_compared(const struct rig *rig, const struct watt_entity *entity, uint32_t *ret_id,
			uint64_t *ret_start_ns)
{
	const struct watt_identity *who = entity->identity;

	if (entity->kind > WATT_ENTITY_EXITED && entity->kind != WATT_ENTITY_THREAD)
		return false;
	if (rig->has_threads && entity->kind == WATT_ENTITY_PROCESS)
		return false;
	*ret_id = who ? (rig->has_threads && who->tid ? who->tid : who->pid) : 0;
	*ret_start_ns = who ? who->start_ns : 0;
	return true;
}

/* Rows of one snapshot; what exited is compared as a whole, under pid 0. */
static void add_got(struct rig *rig, struct tallies *t, const struct watt_snapshot *snap, int sign)
{
	size_t i, d;

	for (i = 0; i < watt_snapshot_get_row_count(snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(snap, i);
		struct tally *tally;
		uint64_t start_ns;
		uint32_t id;

		if (!is_compared(rig, row->entity, &id, &start_ns))
			continue;
		tally = tally_of(t, id, start_ns);
		for (d = 0; d < watt_snapshot_get_domain_count(snap); d++)
			if (is_package_or_dram(watt_snapshot_get_domain(snap, d)->kind))
				tally->got_nj += sign * watt_energy_to_nj(row->energy[d]);
	}
}

static struct watt_snapshot *snapshot(struct rig *rig)
{
	struct watt_look_opts opts = { .t_ns = rig->t_ns };
	struct watt_snapshot *snap;

	must(watt_attrib_snapshot(rig->at, rig->tl, &opts, &snap));
	if (watt_snapshot_get_quality(snap)->check_failures ||
	    watt_snapshot_get_quality(snap)->sum_failures) {
		fprintf(stderr, "simulated_machine: energy is not conserved\n");
		exit(1);
	}
	return snap;
}

/* Processes that the last snapshot does not name have exited: their truth goes to pid 0 too. */
static void add_exited(const struct rig *rig, struct tallies *t, const struct watt_snapshot *snap)
{
	size_t i, j;

	for (i = 0; i < t->n; i++) {
		bool is_named = t->list[i].pid == 0;

		for (j = 0; j < watt_snapshot_get_row_count(snap) && !is_named; j++) {
			uint64_t start_ns;
			uint32_t id;

			is_named = is_compared(rig, watt_snapshot_get_row(snap, j)->entity, &id,
					       &start_ns) &&
				   id == t->list[i].pid && start_ns == t->list[i].start_ns;
		}
		if (is_named)
			continue;
		tally_of(t, 0, 0)->true_nj += t->list[i].true_nj;
		tally_of(t, 0, 0)->got_nj += t->list[i].got_nj;
		t->list[i].true_nj = t->list[i].got_nj = 0;
	}
}

struct verdict {
	double dynamic_j;
	double worst; /* of one process, in 1e-3 of the dynamic energy */
	double total; /* sum of all differences, in the same */
	double idle;  /* learned against true idle power, in 1e-3 */
	bool has_idle;
};

static struct verdict judge(const struct rig *rig, const struct tallies *t,
			    const struct scenario *scenario, const struct watt_snapshot *snap)
{
	const struct watt_domain_state *package = watt_snapshot_get_domain_state(snap, 0);
	double idle_mw = scenario->opts.idle_mw ? scenario->opts.idle_mw : 10000;
	struct verdict v = { 0 };
	size_t i;

	(void)rig;
	for (i = 0; i < t->n; i++)
		v.dynamic_j += (double)t->list[i].true_nj / 1e9;
	for (i = 0; i < t->n; i++) {
		double off = fabs((double)(t->list[i].got_nj - t->list[i].true_nj)) / 1e9;

		v.worst = fmax(v.worst, off / v.dynamic_j * 1e3);
		v.total += off / v.dynamic_j * 1e3;
	}
	v.has_idle = package->baseline_ready;
	v.idle = ((double)package->baseline_uw / 1e3 - idle_mw) / idle_mw * 1e3;
	return v;
}

static bool run(const struct scenario *scenario)
{
	struct tallies tallies = { 0 };
	struct watt_snapshot *snap;
	struct verdict v;
	struct rig rig;
	bool is_good;

	open_rig(&rig, scenario);
	run_until(&rig, rig.t_ns + WARM_UP_NS);
	snap = snapshot(&rig);
	add_truth(&rig, &tallies, -1);
	add_got(&rig, &tallies, snap, -1);
	watt_snapshot_unref(snap);
	run_until(&rig, rig.t_ns + RUN_NS);
	snap = snapshot(&rig);
	add_truth(&rig, &tallies, 1);
	add_got(&rig, &tallies, snap, 1);
	add_exited(&rig, &tallies, snap);
	v = judge(&rig, &tallies, scenario, snap);
	is_good = v.has_idle && v.worst <= scenario->worst_bound &&
		  v.total <= scenario->total_bound;
	printf("%-36s %8.1f %9.2f %9.2f %+9.1f  %s\n", scenario->name, v.dynamic_j, v.worst,
	       v.total, v.idle,
	       !v.has_idle ? "no baseline" :
	       is_good     ? "ok" :
			     "TOO FAR OFF");
	watt_snapshot_unref(snap);
	free(tallies.list);
	close_rig(&rig);
	return is_good;
}

int main(void)
{
	bool is_good = true;
	size_t i;

	printf("%-36s %8s %9s %9s %9s\n", "differences in 1e-3 of dynamic energy", "J dynamic",
	       "worst", "all", "idle");
	for (i = 0; i < WATT_ARRAY_SIZE(scenarios); i++)
		is_good &= run(&scenarios[i]);
	return is_good ? 0 : 1;
}
