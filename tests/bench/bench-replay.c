/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast a recording replays: 16 channels at 1 kHz and 200 processes of which some run in each
 * slice of 50 ms, a million samples in all, told to the calculating stages with a recorder as a
 * live session tells them. Then the file alone: the snapshots of the live run, their JSON, and
 * windows that are cut anew.
 * usage: bench-replay [SECONDS]  (of recorded time)
 */
#include "bench.h"

#include <wattribute/wattribute.h>

#include "base/util.h"
#include "executor.h"

#define N_CHANNELS 16
#define N_TASKS 200
#define RATE_HZ 1000
#define SLICE_NS (50 * WATT_NSEC_PER_MSEC)
#define SAMPLES_PER_SLICE (RATE_HZ / 20)
#define START_NS (1000 * WATT_NSEC_PER_SEC)

struct world {
	struct watt_executor *executor;
	struct watt_recorder *recorder;
	uint64_t seed;
	uint64_t t_ns;
	int64_t raw[N_CHANNELS];
	struct watt_usage tasks[N_TASKS];
	uint64_t json_bytes;
};

static struct watt_channel channels[N_CHANNELS];
static const struct watt_channel *channel_list[N_CHANNELS];
static char names[N_CHANNELS][32], paths[N_CHANNELS][32];

static uint64_t rnd(struct world *w, uint64_t n)
{
	w->seed = watt_hash_u64(w->seed + 0x9e3779b97f4a7c15ULL);
	return w->seed % n;
}

/* Two packages that count energy in steps of 61 uJ, and rails that tell their power in mW. */
static void make_channels(void)
{
	int i;

	for (i = 0; i < N_CHANNELS; i++) {
		bool is_package = i < 2;

		snprintf(names[i], sizeof(names[i]), "bench/%s%d", is_package ? "package-" : "rail",
			 i);
		snprintf(paths[i], sizeof(paths[i]), "%s%d", is_package ? "package-" : "rail", i);
		channels[i] = (struct watt_channel){
			.name = names[i],
			.source = "bench",
			.domain = paths[i],
			.kind = is_package ? WATT_DOMAIN_PACKAGE : WATT_DOMAIN_RAIL,
			.quantity = is_package ? WATT_QUANTITY_ENERGY : WATT_QUANTITY_POWER,
			.semantics = is_package ? WATT_SEMANTICS_COUNTER : WATT_SEMANTICS_INSTANT,
			.scale_num = is_package ? 61035 : 1000,
			.scale_den = 1,
			.package_id = is_package ? i : -1,
			.die_id = -1,
			.core_id = -1,
			.max_power_uw = 500000000,
		};
		channel_list[i] = &channels[i];
	}
}

static void apply(struct world *w, const struct watt_op *op, union watt_executor_result *result)
{
	int r = watt_executor_apply(w->executor, op, result);

	if (r < 0)
		bench_exit(1, "op %d: %s", (int)op->kind, strerror(-r));
}

static void tell_samples(struct world *w)
{
	static struct watt_sample samples[N_CHANNELS * SAMPLES_PER_SLICE];
	struct watt_op op = { .kind = WATT_OP_SAMPLES,
			      .samples = { samples, WATT_ARRAY_SIZE(samples) } };
	struct watt_sample *s = samples;
	uint32_t i, c;

	for (i = 0; i < SAMPLES_PER_SLICE; i++) {
		uint64_t t_ns = w->t_ns + (i + 1) * WATT_NSEC_PER_MSEC + rnd(w, 80000);

		for (c = 0; c < N_CHANNELS; c++, s++) {
			w->raw[c] = c < 2 ? w->raw[c] + (int64_t)(400 + rnd(w, 300)) :
					    (int64_t)(3000 + c * 100 + rnd(w, 200));
			*s = (struct watt_sample){ t_ns, t_ns + 900 + rnd(w, 300), w->raw[c], c,
						   WATT_STATUS_OK };
			t_ns = s->t_after_ns;
		}
	}
	apply(w, &op, NULL);
}

static void tell_usage(struct world *w, bool full)
{
	static struct watt_usage records[N_TASKS];
	struct watt_op op = { .kind = WATT_OP_USAGE,
			      .usage = { .t_before_ns = w->t_ns,
					 .t_after_ns = w->t_ns + 150000,
					 .records = records,
					 .flags = WATT_BATCH_DEATHS |
						  (full ? WATT_BATCH_FULL : 0) } };
	size_t i;

	for (i = 0; i < N_TASKS; i++) {
		struct watt_usage *task = &w->tasks[i];
		bool ran = rnd(w, 4) == 0;

		if (ran)
			task->cpu_ns += rnd(w, 4 * WATT_NSEC_PER_MSEC);
		task->t_ns = w->t_ns;
		if (ran || full)
			records[op.usage.n_records++] = *task;
	}
	apply(w, &op, NULL);
}

static void tell_names(struct world *w)
{
	struct watt_identity identity = { 0 };
	struct watt_cgroup cgroup = { .path = "/system.slice/bench.service",
				      .unit = "bench.service" };
	struct watt_op op;
	size_t i;

	for (i = 0; i < N_TASKS; i++) {
		char cmdline[64];

		snprintf(cmdline, sizeof(cmdline), "/usr/bin/program --number=%zu --verbose", i);
		identity.pid = w->tasks[i].tgid;
		identity.start_ns = w->tasks[i].leader_start_ns;
		identity.exe = "/usr/bin/program";
		identity.cmdline = cmdline;
		snprintf(identity.comm, sizeof(identity.comm), "program-%zu", i);
		op = (struct watt_op){ .kind = WATT_OP_IDENTITY, .identity = &identity };
		apply(w, &op, NULL);
	}
	for (i = 0; i < 8; i++) {
		cgroup.id = i + 1;
		op = (struct watt_op){ .kind = WATT_OP_CGROUP, .cgroup = &cgroup };
		apply(w, &op, NULL);
	}
}

static void advance(struct world *w)
{
	const struct watt_op op = { .kind = WATT_OP_ADVANCE, .advance_ns = w->t_ns + 200000 };

	apply(w, &op, NULL);
}

static void snapshot(struct world *w)
{
	struct watt_op hold = { .kind = WATT_OP_BARRIER, .barrier_ns = w->t_ns };
	struct watt_op op = { .kind = WATT_OP_SNAPSHOT };
	union watt_executor_result result;
	char *text;

	apply(w, &hold, NULL);
	op.snapshot.t_ns = w->t_ns;
	op.snapshot.realtime_ns = w->t_ns;
	apply(w, &op, &result);
	if (watt_snapshot_to_json(result.snapshot, 0, &text) == 0) {
		w->json_bytes += strlen(text);
		free(text);
	}
	watt_snapshot_unref(result.snapshot);
	hold.barrier_ns = 0;
	apply(w, &hold, NULL);
}

/* The disk must keep up with a clock that runs as fast as we do. */
static void wait_for_disk(const struct world *w, uint64_t samples)
{
	struct watt_record_stats stats;

	do {
		watt_recorder_get_stats(w->recorder, &stats);
		if (stats.error)
			bench_exit(1, "recording: %s", strerror(-stats.error));
		if (stats.samples + 4 * N_CHANNELS * RATE_HZ >= samples)
			return;
		bench_sleep_ns(WATT_NSEC_PER_MSEC);
	} while (true);
}

static void open_world(struct world *w, const char *path)
{
	static const uint16_t slots[4] = { 0, 0, 1, 1 };
	static const struct watt_cpu_place places[2] = { { 0, -1, -1 }, { 1, -1, -1 } };
	static const struct watt_machine machine;
	static struct watt_setup setup;
	const struct watt_record_opts opts = { .sz = sizeof(opts) };
	const struct watt_domain *domains[N_CHANNELS * 2];
	size_t i, n;
	int r;

	*w = (struct world){ .seed = 1, .t_ns = START_NS };
	setup = (struct watt_setup){ .channels = channel_list,
				     .n_channels = N_CHANNELS,
				     .cpu_slot = slots,
				     .n_cpus = 4,
				     .n_slots = 2,
				     .places = places,
				     .slice_ns = SLICE_NS,
				     .usage = "bench" };
	for (i = 0; i < N_TASKS; i++)
		w->tasks[i] = (struct watt_usage){ .tid = 1000 + (uint32_t)i,
						   .tgid = 1000 + (uint32_t)i,
						   .start_ns = i + 1,
						   .leader_start_ns = i + 1,
						   .cgroup_id = i % 8 + 1,
						   .uid = (uint32_t)i % 3,
						   .cpu = (uint32_t)i % 4,
						   .comm = "program" };
	r = watt_executor_new(&setup, NULL, &w->executor);
	if (r < 0)
		bench_exit(1, "executor: %s", strerror(-r));
	n = watt_attrib_domain_count(watt_executor_attrib(w->executor));
	for (i = 0; i < n; i++)
		domains[i] = watt_attrib_domain(watt_executor_attrib(w->executor), i);
	r = watt_recorder_new(path, &opts, &setup, &machine, domains, n, NULL, &w->recorder);
	if (r == -EOPNOTSUPP)
		bench_exit(BENCH_SKIP, "built without recordings");
	if (r < 0)
		bench_exit(1, "%s: %s", path, strerror(-r));
	watt_executor_record(w->executor, w->recorder);
}

/* Returns the number of samples. */
static uint64_t record(const char *path, unsigned long seconds)
{
	struct watt_record_stats stats;
	uint64_t samples = 0;
	unsigned long i;
	struct world w;

	open_world(&w, path);
	tell_usage(&w, true);
	tell_samples(&w);
	advance(&w);
	tell_names(&w);
	for (i = 1; i <= seconds * 20; i++) {
		w.t_ns += SLICE_NS;
		tell_usage(&w, i % 200 == 0);
		tell_samples(&w);
		samples += N_CHANNELS * SAMPLES_PER_SLICE;
		advance(&w);
		if (i % 20 == 0) {
			snapshot(&w);
			wait_for_disk(&w, samples);
		}
	}
	watt_recorder_get_stats(w.recorder, &stats);
	if (stats.lost_ns)
		bench_exit(1, "the disk did not keep up: %.1f s are lost",
			   (double)stats.lost_ns / 1e9);
	bench_report("recording: encoding and writing", (double)stats.cost_ns / (double)samples,
		     "ns", BENCH_NO_BAR, 0, "CPU time per sample, usage of %d processes included",
		     N_TASKS);
	watt_recorder_close(w.recorder);
	watt_executor_free(w.executor);
	return samples;
}

struct cost {
	uint64_t wall_ns;
	uint64_t cpu_ns;
	uint64_t snapshots;
	uint64_t bytes;
};

static struct watt_session *open_recording(const char *path)
{
	struct watt_session *ses;
	int r;

	r = watt_session_open_recording(path, NULL, &ses);
	if (r == 0)
		r = watt_session_start(ses);
	if (r < 0)
		bench_exit(1, "%s: %s", path, strerror(-r));
	return ses;
}

static void take(struct watt_snapshot *snap, bool has_json, struct cost *cost)
{
	char *text;

	cost->snapshots++;
	if (has_json && watt_snapshot_to_json(snap, 0, &text) == 0) {
		cost->bytes += strlen(text);
		free(text);
	}
	watt_snapshot_unref(snap);
}

/* window_ns 0: the snapshots of the live run. */
static struct cost replay(const char *path, uint64_t window_ns, bool has_json)
{
	struct cost cost = { .wall_ns = watt_now_ns(), .cpu_ns = bench_cpu_ns() };
	struct watt_session *ses = open_recording(path);
	uint64_t t_ns = watt_session_get_time_ns(ses);
	struct watt_snapshot *snap;
	int r;

	do {
		t_ns += window_ns;
		r = window_ns ? watt_session_snapshot_at(ses, t_ns, 0, &snap) :
				watt_session_next_snapshot(ses, &snap);
		if (r == 0)
			take(snap, has_json, &cost);
	} while (r == 0);
	if (r < 0 && r != -ENODATA)
		bench_exit(1, "replay: %s", strerror(-r));
	watt_session_close(ses);
	cost.wall_ns = watt_now_ns() - cost.wall_ns;
	cost.cpu_ns = bench_cpu_ns() - cost.cpu_ns;
	return cost;
}

static void measure(const char *what, const char *path, uint64_t samples, uint64_t window_ns,
		    bool has_json)
{
	double real_ns = (double)samples / N_CHANNELS / RATE_HZ * 1e9;
	struct bench_series wall_ns = { 0 }, cpu_ns = { 0 };
	struct cost cost;
	double median_ns;
	int i;

	for (i = 0; i < 3; i++) {
		cost = replay(path, window_ns, has_json);
		bench_add(&wall_ns, cost.wall_ns);
		bench_add(&cpu_ns, cost.cpu_ns);
	}
	median_ns = (double)bench_percentile(&cpu_ns, 500);
	bench_report(
		what, real_ns / median_ns, "x", BENCH_AT_LEAST, 200,
		"real time, by CPU time; %llu samples, %.0f ns each, %llu snapshots, median of "
		"3; by the clock %.0f x",
		(unsigned long long)samples, median_ns / (double)samples,
		(unsigned long long)cost.snapshots,
		real_ns / (double)bench_percentile(&wall_ns, 500));
	bench_series_done(&cpu_ns);
	bench_series_done(&wall_ns);
}

int main(int argc, char **argv)
{
	unsigned long seconds = bench_arg(argc, argv, 63);
	char *dir = bench_tree_new(), *path;
	uint64_t samples;
	struct stat st;

	if (asprintf(&path, "%s/bench.watt", dir) < 0)
		return 1;
	make_channels();
	samples = record(path, seconds);
	if (stat(path, &st) == 0)
		bench_report("recording: size", (double)st.st_size / (double)samples, "B",
			     BENCH_NO_BAR, 0,
			     "per sample, usage of %d processes included; %.1f MiB", N_TASKS,
			     (double)st.st_size / 1048576);
	measure("replay: speed", path, samples, 0, false);
	measure("replay: speed with JSON", path, samples, 0, true);
	measure("replay: speed, windows of 100 ms", path, samples, 100 * WATT_NSEC_PER_MSEC, false);
	bench_report("replay: peak memory", (double)bench_memory_bytes(getpid(), "Rss") / 1048576,
		     "MiB", BENCH_NO_BAR, 0, "resident, at the end");
	unlink(path);
	free(path);
	bench_tree_remove(dir);
	return 0;
}
