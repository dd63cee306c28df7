/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How punctual the engine is at 1 kHz with 16 channels, and what that costs: on files in memory
 * and on real sysfs attributes, with SCHED_FIFO and without. The samples are fetched as a
 * recorder would, ten times a second. Beside it, in the same run, what no recorder can do
 * without: a thread that sleeps and preads, and nothing else.
 * usage: bench-lateness [SECONDS]
 */
#include "bench.h"

#include <pthread.h>
#include <math.h>
#include <sched.h>
#include <sys/prctl.h>

#include "base/fs.h"
#include "base/util.h"
#include "sample/sample.h"

#define N_CHANNELS 16
#define PERIOD_NS WATT_NSEC_PER_MSEC

struct file_source {
	struct watt_power power;
	struct watt_channel channels[N_CHANNELS];
	struct watt_power_group group;
	struct watt_root root;
	struct watt_file files[N_CHANNELS];
};

static void source_read(struct watt_power *power, uint32_t group, struct watt_sample *ret)
{
	struct file_source *source = watt_container_of(power, struct file_source, power);
	uint32_t i;

	for (i = 0; i < N_CHANNELS; i++) {
		uint64_t raw = 0;
		int r;

		ret[i].t_before_ns = watt_now_ns();
		r = watt_file_read_u64(&source->files[i], &raw);
		ret[i].t_after_ns = watt_now_ns();
		ret[i].raw = (int64_t)raw;
		ret[i].status = r < 0 ? WATT_STATUS_BROKEN : WATT_STATUS_OK;
	}
}

static void source_close(struct watt_power *power)
{
	struct file_source *source = watt_container_of(power, struct file_source, power);
	uint32_t i;

	for (i = 0; i < N_CHANNELS; i++)
		watt_file_close(&source->files[i]);
	watt_root_close(&source->root);
	free(source);
}

static const struct watt_power_ops source_ops = {
	.name = "files",
	.read = source_read,
	.close = source_close,
};

/* The first 16 files of a directory. */
static struct watt_power *source_open(const char *root, const char *dir)
{
	struct file_source *source = calloc(1, sizeof(*source));
	struct watt_names names = WATT_NAMES_INIT;
	char path[512];
	uint32_t i;

	if (!source || watt_root_open(&source->root, root) < 0 ||
	    watt_root_list(&source->root, dir, "", &names) < 0 || names.n < N_CHANNELS)
		bench_exit(BENCH_SKIP, "%s/%s has no %d files", root, dir, N_CHANNELS);
	source->root.look_ns = WATT_ROOT_LOOK_NS; /* as a session has it */
	for (i = 0; i < N_CHANNELS; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names.name[i]);
		if (watt_file_open(&source->files[i], &source->root, path) < 0)
			bench_exit(BENCH_SKIP, "%s/%s can't be read", root, path);
	}
	watt_names_free(&names);
	source->group = (struct watt_power_group){ .n = N_CHANNELS };
	source->power = (struct watt_power){ .ops = &source_ops,
					     .channels = source->channels,
					     .n_channels = N_CHANNELS,
					     .groups = &source->group,
					     .n_groups = 1 };
	return &source->power;
}

static void fetch_for(struct watt_engine *engine, unsigned long seconds)
{
	static struct watt_sample samples[4096];
	unsigned long i;

	for (i = 0; i < seconds * 10; i++) {
		bench_sleep_ns(100 * WATT_NSEC_PER_MSEC);
		while (watt_engine_fetch(engine, samples, WATT_ARRAY_SIZE(samples)) > 0)
			;
	}
}

static void report(const char *what, const struct watt_reader_stats *stats, double cpu_percent)
{
	bool is_realtime = stats->is_realtime;
	const char *how = is_realtime ? "SCHED_FIFO" : "SCHED_OTHER";
	char name[128];

	snprintf(name, sizeof(name), "1 kHz, 16 channels on %s, %s: ", what, how);
	bench_report("recorder: CPU of one core", cpu_percent, "%", BENCH_NO_BAR, 0, "%s%llu reads",
		     name, (unsigned long long)stats->reads);
	bench_report("recorder: lateness p50", (double)stats->lateness_p50_ns / 1e3, "us",
		     BENCH_NO_BAR, 0, "%s%.1f us a read of all", name,
		     (double)stats->cost_ns / 1e3 / (double)stats->reads);
	bench_report("recorder: lateness p99", (double)stats->lateness_p99_ns / 1e3, "us",
		     is_realtime ? BENCH_AT_MOST : BENCH_NO_BAR, 100, "%smax %.0f us", name,
		     (double)stats->lateness_max_ns / 1e3);
	bench_report("recorder: deadlines missed", (double)stats->missed, "", BENCH_NO_BAR, 0,
		     "%slost %llu, errors %llu", name, (unsigned long long)stats->lost,
		     (unsigned long long)stats->errors);
}

/* ---- the least that it can cost ---- */

struct bare_loop {
	const struct file_source *source;
	unsigned long seconds;
	bool is_realtime;
	struct bench_series late_ns;
	uint64_t cpu_ns;
};

static void *run_bare_loop(void *data)
{
	struct sched_param param = { .sched_priority = 10 };
	struct bare_loop *loop = data;
	uint64_t t_ns = watt_now_ns(), cpu_ns = bench_thread_cpu_ns();
	unsigned long i, n = loop->seconds * WATT_NSEC_PER_SEC / PERIOD_NS;
	char buf[64];
	int k;

	prctl(PR_SET_TIMERSLACK, 1);
	if (loop->is_realtime)
		sched_setscheduler(0, SCHED_FIFO, &param);
	for (i = 0; i < n; i++) {
		struct timespec ts = watt_timespec_from_ns(t_ns += PERIOD_NS);

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		bench_add(&loop->late_ns, watt_now_ns() - t_ns);
		for (k = 0; k < N_CHANNELS; k++)
			if (pread(loop->source->files[k].fd, buf, sizeof(buf), 0) <= 0)
				bench_exit(1, "pread: %s", strerror(errno));
	}
	loop->cpu_ns = bench_thread_cpu_ns() - cpu_ns;
	return NULL;
}

/* CPU time of one read of all, in ns. */
static double measure_bare_loop(const char *what, const char *root, const char *dir,
				bool is_realtime, unsigned long seconds)
{
	struct watt_power *source = source_open(root, dir);
	struct bare_loop loop = {
		.source = watt_container_of(source, struct file_source, power),
		.seconds = seconds,
		.is_realtime = is_realtime,
	};
	pthread_t thread;
	double percent;

	if (pthread_create(&thread, NULL, run_bare_loop, &loop) != 0)
		bench_exit(1, "no thread");
	pthread_join(thread, NULL);
	percent = 100.0 * (double)loop.cpu_ns / (double)(seconds * WATT_NSEC_PER_SEC);
	bench_report(
		"recorder: bare loop of sleep and pread", percent, "%", BENCH_NO_BAR, 0,
		"1 kHz, 16 channels on %s, %s: no recorder can cost less; lateness p50 %.1f us, "
		"p99 %.1f us",
		what, is_realtime ? "SCHED_FIFO" : "SCHED_OTHER",
		(double)bench_percentile(&loop.late_ns, 500) / 1e3,
		(double)bench_percentile(&loop.late_ns, 990) / 1e3);
	bench_series_done(&loop.late_ns);
	source_close(source);
	return (double)loop.cpu_ns * PERIOD_NS / (double)(seconds * WATT_NSEC_PER_SEC);
}

/* ---- the engine ---- */

/* CPU time of one read of all, in ns; NAN: it could not be measured. */
static double measure_engine(const char *what, const char *root, const char *dir, bool is_realtime,
			     unsigned long seconds)
{
	struct watt_engine_opts opts = { .quantum_ns = PERIOD_NS,
					 .period_ns = PERIOD_NS,
					 .is_never_realtime = !is_realtime };
	struct watt_power *source = source_open(root, dir);
	struct watt_reader_stats stats;
	struct watt_engine *engine;
	double each_ns = NAN;
	uint64_t t_ns, cpu_ns;
	int r;

	r = watt_engine_new(&opts, &source, 1, &engine);
	if (r < 0 || (r = watt_engine_start(engine)) < 0)
		bench_exit(1, "engine: %s", strerror(-r));
	fetch_for(engine, 1);
	t_ns = watt_now_ns();
	cpu_ns = bench_cpu_ns();
	fetch_for(engine, seconds);
	cpu_ns = bench_cpu_ns() - cpu_ns;
	t_ns = watt_now_ns() - t_ns;
	watt_engine_stop(engine);
	watt_engine_stats(engine, 0, &stats);
	if (is_realtime && !stats.is_realtime) {
		fprintf(stderr, "SCHED_FIFO is not permitted here\n");
	} else {
		report(what, &stats, 100.0 * (double)cpu_ns / (double)t_ns);
		/* of a second more than was measured */
		each_ns = (double)cpu_ns * (double)(seconds + 1) / (double)seconds /
			  (double)stats.reads;
	}
	watt_engine_free(engine);
	return each_ns;
}

/* One after the other: what the engine adds is told by both in one run, whoever else wants the CPUs. */
static void measure(const char *what, const char *root, const char *dir, bool is_realtime,
		    unsigned long seconds)
{
	double each_ns = measure_engine(what, root, dir, is_realtime, seconds);
	double bare_ns = measure_bare_loop(what, root, dir, is_realtime, seconds);

	if (!isnan(each_ns))
		bench_report("recorder: CPU over the bare loop's", each_ns / bare_ns, "times",
			     is_realtime ? BENCH_AT_MOST : BENCH_NO_BAR, 1.25,
			     "a read of 16 channels on %s, %s: %.1f us", what,
			     is_realtime ? "SCHED_FIFO" : "SCHED_OTHER", each_ns / 1e3);
}

int main(int argc, char **argv)
{
	unsigned long seconds = bench_arg(argc, argv, 10);
	char *tree = bench_tree_new();
	int i;

	for (i = 0; i < N_CHANNELS; i++) {
		char path[64];

		snprintf(path, sizeof(path), "zones/energy%d_uj", i);
		bench_tree_write(tree, path, "262143328850\n");
	}
	for (i = 1; i >= 0; i--) {
		measure("tmpfs", tree, "zones", i, seconds);
		measure("sysfs", "/sys", "class/net/lo/statistics", i, seconds);
	}
	bench_tree_remove(tree);
	return 0;
}
