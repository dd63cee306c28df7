/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What it costs to ask NVIDIA's driver, by one that is not there (tests/fake): power and what each
 * GPU is like, and who used it. The time in the fake is in it; a real driver takes longer, and its
 * calls are counted. The same of those of AMD and Intel, by files. And how punctual everybody else is while 16 GPUs hang for 10 s.
 * usage: bench-gpu [SECONDS OF THE STALL]
 */
#include "bench.h"

#include <dlfcn.h>

#include "../fake/nvml.h"
#include "base/fs.h"
#include "base/util.h"
#include "sample/sample.h"
#include "source/config/config.h"
#include "source/registry.h"

#define N_GPUS 16
#define N_READS 200
#define N_ACTIVITY_READS 8
#define N_PROCESSES 4 /* on each GPU */
/* Of groups that leave it to the session. */
#define USUAL_PERIOD_NS (50 * WATT_NSEC_PER_MSEC)
/* Long enough for all counters to be checked, and for the first readings. */
#define BEFORE_STALL_S 3

struct driver {
	fake_nvml_load_fn load;
	fake_nvml_calls_fn calls;
	struct watt_env env;
	char *tree;
};

static void *find(void *library, const char *name)
{
	void *symbol = dlsym(library, name);

	if (!symbol)
		bench_exit(1, "%s", dlerror());
	return symbol;
}

static void driver_open(struct driver *driver)
{
	static const struct watt_config config;
	void *library = dlopen(WATT_FAKE_NVML, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		bench_exit(BENCH_SKIP, "%s", dlerror());
	driver->load = (fake_nvml_load_fn)find(library, "fake_nvml_load");
	driver->calls = (fake_nvml_calls_fn)find(library, "fake_nvml_calls");
	driver->tree = bench_tree_new();
	driver->env = (struct watt_env){ .sysfs = WATT_ROOT_INIT,
					 .procfs = WATT_ROOT_INIT,
					 .config = &config,
					 .state_dir = driver->tree,
					 .nvml_lib = WATT_FAKE_NVML };
	if (watt_root_open(&driver->env.sysfs, driver->tree) < 0 ||
	    watt_root_open(&driver->env.procfs, "/proc") < 0)
		bench_exit(1, "no trees of files");
}

static void driver_close(struct driver *driver)
{
	watt_root_close(&driver->env.sysfs);
	watt_root_close(&driver->env.procfs);
	bench_tree_remove(driver->tree);
}

/* So many GPUs from now on, whose processes nobody knows; fault: a line of the script, or "". */
static void driver_load(struct driver *driver, unsigned int n_gpus, const char *fault)
{
	static char script[16384];
	unsigned int i, k;
	size_t n = (size_t)snprintf(script, sizeof(script), "%sage 30000\n", fault);

	for (i = 0; i < n_gpus; i++) {
		n += (size_t)snprintf(script + n, sizeof(script) - n,
				      "gpu GPU-%u 00000000:%02X:00.0 H100\npower 0 300000\n"
				      "temperature 61 74\nclock 1755 2619\nlimit 700000\n"
				      "card_mb 80000\nheld 0 4\n",
				      i, i + 1);
		for (k = 0; k < N_PROCESSES; k++)
			n += (size_t)snprintf(script + n, sizeof(script) - n, "process %u 0 20\n",
					      4194305 + i * N_PROCESSES + k);
	}
	if (driver->load(script))
		bench_exit(1, "the fake driver does not know its script");
}

/* ---- what a look costs ---- */

static struct watt_power *open_power(const struct watt_env *env, const struct watt_power_ops *ops)
{
	struct watt_power *power;
	int r = ops->open(env, &power);

	if (r < 0)
		bench_exit(1, "%s: %s", ops->name, strerror(-r));
	return power;
}

struct cost {
	double second_ns; /* of CPU time, for what a second of measuring takes */
	double calls;     /* of the driver's in it */
	uint64_t slowest_ns;
	uint32_t n_channels;
};

/* CPU time of one look at each group; what a second of measuring takes is the sum of all looks. */
static void add_cost(const struct driver *driver, struct watt_power *power, struct cost *cost)
{
	struct watt_sample samples[64];
	uint32_t i, k;

	for (i = 0; i < power->n_groups; i++) {
		const struct watt_power_group *group = &power->groups[i];
		uint64_t period_ns = group->period_ns ? group->period_ns : USUAL_PERIOD_NS, look_ns;
		double rate = (double)WATT_NSEC_PER_SEC / (double)period_ns;
		struct bench_series cost_ns = { 0 };
		uint64_t calls_before = driver->calls();

		if (group->n > WATT_ARRAY_SIZE(samples))
			bench_exit(1, "%s: a group of %u channels", power->ops->name, group->n);
		for (k = 0; k < N_READS; k++) {
			uint64_t cpu_ns = bench_thread_cpu_ns();

			power->ops->read(power, i, samples);
			bench_add(&cost_ns, bench_thread_cpu_ns() - cpu_ns);
		}
		look_ns = bench_percentile(&cost_ns, 500);
		cost->calls += rate * (double)(driver->calls() - calls_before) / N_READS;
		cost->second_ns += rate * (double)look_ns;
		cost->slowest_ns = WATT_MAX(cost->slowest_ns, look_ns);
		bench_series_done(&cost_ns);
	}
	cost->n_channels += power->n_channels;
}

static void measure_power(struct driver *driver, unsigned int n_gpus)
{
	struct cost cost = { 0 };
	struct watt_power *power;

	driver_load(driver, n_gpus, "");
	power = open_power(&driver->env, &watt_power_nvml);
	add_cost(driver, power, &cost);
	bench_report(
		"gpu: power and context, CPU of one core", cost.second_ns / 1e7, "%", BENCH_AT_MOST,
		1, "%u GPUs, %u channels: %.0f calls of the driver a second; slowest group %.1f us",
		n_gpus, cost.n_channels, cost.calls, (double)cost.slowest_ns / 1e3);
	power->ops->close(power);
}

/* GPUs that tell by files, as a machine's was captured: two of AMD's, and one of Intel's. */
static void measure_files(struct driver *driver)
{
	static const struct watt_power_ops *const all[] = { &watt_power_hwmon, &watt_power_amdgpu,
							    &watt_power_intel_gpu };
	struct watt_env env = driver->env;
	struct cost cost = { 0 };
	size_t i;

	env.sysfs = (struct watt_root)WATT_ROOT_INIT;
	if (watt_root_open(&env.sysfs, WATT_FIXTURES "/desktop-amdgpu/sys") < 0)
		bench_exit(BENCH_SKIP, "the fixtures are not there");
	env.sysfs.look_ns = WATT_ROOT_LOOK_NS; /* as a session has it */
	for (i = 0; i < WATT_ARRAY_SIZE(all); i++) {
		struct watt_power *power = open_power(&env, all[i]);

		add_cost(driver, power, &cost);
		power->ops->close(power);
	}
	bench_report(
		"gpu: power and context by files, CPU of one core", cost.second_ns / 1e7, "%",
		BENCH_AT_MOST, 1,
		"3 GPUs of AMD and Intel and a power supply, %u channels; slowest group %.1f us, "
		"of files: a driver's firmware takes longer",
		cost.n_channels, (double)cost.slowest_ns / 1e3);
	watt_root_close(&env.sysfs);
}

static void measure_activity(struct driver *driver, unsigned int n_gpus)
{
	struct watt_activity_source *source;
	struct watt_activity_batch batch;
	struct bench_series series = { 0 };
	uint64_t calls;
	double period_s;
	int k, r;

	driver_load(driver, n_gpus, "");
	r = watt_activity_nvml.open(&driver->env, NULL, &source);
	if (r < 0)
		bench_exit(1, "%s: %s", watt_activity_nvml.name, strerror(-r));
	/* the first tells of all the time before */
	if (source->ops->read(source, &batch) < 0)
		bench_exit(1, "who used the GPUs can't be read");
	calls = driver->calls();
	for (k = 0; k < N_ACTIVITY_READS; k++) {
		uint64_t cpu_ns;

		bench_sleep_ns(watt_activity_nvml.period_ns);
		cpu_ns = bench_thread_cpu_ns();
		if (source->ops->read(source, &batch) == 0)
			bench_add(&series, bench_thread_cpu_ns() - cpu_ns);
	}
	calls = driver->calls() - calls;
	period_s = (double)watt_activity_nvml.period_ns / 1e9;
	bench_report("gpu: who used it, CPU of one core",
		     (double)bench_percentile(&series, 500) / period_s / 1e7, "%", BENCH_AT_MOST, 1,
		     "%u GPUs, %u processes: %.0f calls of the driver a second; a look %.0f us",
		     n_gpus, n_gpus * N_PROCESSES, (double)calls / N_ACTIVITY_READS / period_s,
		     (double)bench_percentile(&series, 500) / 1e3);
	bench_series_done(&series);
	source->ops->close(source);
}

/* ---- what others notice of a driver that hangs ---- */

static void fetch_for(struct watt_engine *engine, unsigned long seconds)
{
	static struct watt_sample samples[4096];
	unsigned long i;

	for (i = 0; i < seconds * 10; i++) {
		bench_sleep_ns(100 * WATT_NSEC_PER_MSEC);
		watt_engine_poll(engine, watt_now_ns());
		while (watt_engine_fetch(engine, samples, WATT_ARRAY_SIZE(samples)) > 0)
			;
	}
}

static struct watt_engine *start_engine(struct driver *driver, bool has_gpus)
{
	struct watt_engine_opts opts = { .quantum_ns = WATT_NSEC_PER_MSEC };
	struct watt_power *sources[2];
	struct watt_engine *engine;
	int r;

	sources[0] = open_power(&driver->env, &watt_power_null);
	if (has_gpus)
		sources[1] = open_power(&driver->env, &watt_power_nvml);
	r = watt_engine_new(&opts, sources, has_gpus ? 2 : 1, &engine);
	if (r < 0 || (r = watt_engine_start(engine)) < 0)
		bench_exit(1, "engine: %s", strerror(-r));
	return engine;
}

/* What the reader at 1 kHz did in the time that is the driver's stall, or would be. */
static void measure_beside(struct driver *driver, const char *what, bool has_gpus, bool hangs,
			   unsigned long seconds)
{
	struct watt_reader_stats before, stats;
	struct watt_engine *engine;
	char fault[64];

	snprintf(fault, sizeof(fault), "hang * %d %lu\n", 30 + BEFORE_STALL_S, seconds);
	driver_load(driver, N_GPUS, hangs ? fault : "");
	engine = start_engine(driver, has_gpus);
	fetch_for(engine, BEFORE_STALL_S);
	watt_engine_stats(engine, 0, &before);
	fetch_for(engine, seconds);
	watt_engine_stats(engine, 0, &stats);
	if (hangs && watt_engine_channel_status(engine, 1) != WATT_STATUS_STALE)
		bench_exit(1, "the driver did not hang");
	bench_report(
		"gpu: others' deadlines missed", (double)(stats.missed - before.missed), "",
		BENCH_NO_BAR, 0, "%s: of %llu at 1 kHz; lateness p50 %.0f us, p99 %.0f us", what,
		(unsigned long long)(stats.reads - before.reads + stats.missed - before.missed),
		(double)stats.lateness_p50_ns / 1e3, (double)stats.lateness_p99_ns / 1e3);
	bench_report("gpu: others' samples lost", (double)(stats.lost - before.lost), "",
		     BENCH_AT_MOST, 0, "%s", what);
	/* whoever hangs comes back before it is told to stop */
	driver_load(driver, N_GPUS, "");
	if (hangs)
		fetch_for(engine, 2);
	watt_engine_free(engine);
}

int main(int argc, char **argv)
{
	unsigned long seconds = bench_arg(argc, argv, 10);
	struct driver driver;

	driver_open(&driver);
	measure_power(&driver, 1);
	measure_power(&driver, N_GPUS);
	measure_files(&driver);
	measure_activity(&driver, 1);
	measure_activity(&driver, N_GPUS);
	measure_beside(&driver, "no GPU", false, false, seconds);
	measure_beside(&driver, "16 GPUs", true, false, seconds);
	measure_beside(&driver, "16 GPUs whose driver hangs", true, true, seconds);
	driver_close(&driver);
	return 0;
}
