/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What learning costs: a slice in which processes of 40 programs run, told to a learner of one
 * domain that divides it and learns from it; and what that is of a whole refresh at 1,000
 * processes, from a sweep to a snapshot, beside one by CPU time. And the memory of a domain.
 * usage: bench-learned [SLICES]
 */
#include <malloc.h>

#include "bench.h"

#include "attrib/attrib.h"
#include "attrib/learned.h"
#include "base/util.h"
#include "world.h"

#define MAX_USES 1000
#define N_PROGRAMS 40
#define SLICE_S 0.05
#define WARM_UP 100

static uint64_t seed;

static double draw(void)
{
	seed = watt_hash_u64(seed + 0x9e3779b97f4a7c15ULL);
	return (double)(seed >> 11) / (double)(1ULL << 53);
}

static void make_slice(struct watt_learned_slice *slice, size_t n_uses)
{
	size_t i;

	slice->energy_j = 0;
	slice->n_uses = n_uses;
	for (i = 0; i < n_uses; i++) {
		slice->uses[i] =
			(struct watt_learned_use){ .program = 1 + i % N_PROGRAMS,
						   .process = 1 + i,
						   .cpu_s = 1e-6 + draw() * SLICE_S / 100 };
		slice->energy_j += slice->uses[i].cpu_s * (double)(2 + i % 10);
	}
}

static void measure(size_t n_uses, unsigned long n_slices)
{
	static struct watt_learned_use uses[MAX_USES];
	struct watt_learned_slice slice = { .dt_s = SLICE_S, .n_cpus = 32, .uses = uses };
	struct watt_learned *learned = watt_learned_new(false);
	struct bench_series costs = { 0 };
	unsigned long i;

	if (!learned)
		bench_exit(1, "out of memory");
	for (i = 0; i < WARM_UP + n_slices; i++) {
		uint64_t start_ns;

		make_slice(&slice, n_uses);
		start_ns = bench_thread_cpu_ns();
		watt_learned_estimate(learned, &slice);
		if (watt_learned_update(learned, &slice) < 0)
			bench_exit(1, "out of memory");
		if (i >= WARM_UP)
			bench_add(&costs, bench_thread_cpu_ns() - start_ns);
	}
	bench_report("learning, a slice of a domain", (double)bench_percentile(&costs, 500) / 1e3,
		     "us", BENCH_NO_BAR, 0, "%zu active processes of %d programs, %zu learners",
		     n_uses, N_PROGRAMS, watt_learned_count(learned));
	bench_series_done(&costs);
	watt_learned_free(learned);
}

static size_t allocated_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* More programs and processes than have learners: it is bounded. */
static void measure_memory(void)
{
	static struct watt_learned_use uses[MAX_USES];
	struct watt_learned_slice slice = { .dt_s = SLICE_S, .n_cpus = 32, .uses = uses };
	size_t before = allocated_bytes(), i, k;
	struct watt_learned *learned = watt_learned_new(false);

	if (!learned)
		bench_exit(1, "out of memory");
	for (i = 0; i < WARM_UP; i++) {
		make_slice(&slice, MAX_USES);
		for (k = 0; k < MAX_USES; k++) {
			uses[k].program = 1 + (i * MAX_USES + k) % 5000;
			uses[k].process = 1 + i * MAX_USES + k;
		}
		if (watt_learned_update(learned, &slice) < 0)
			bench_exit(1, "out of memory");
	}
	bench_report("learning, memory of a domain", (double)(allocated_bytes() - before) / 1024,
		     "KiB", BENCH_AT_MOST, 512,
		     "%zu learners, after 100,000 processes of 5,000 programs",
		     watt_learned_count(learned));
	watt_learned_free(learned);
}

struct meter {
	struct watt_timeline *tl;
	struct watt_attrib *at;
	struct bench_series costs;
};

static void open_meter(struct meter *meter, const char *key, uint32_t n_cpus)
{
	static const struct watt_channel *const channels[] = { &world_channel };
	uint16_t slots[WORLD_MAX_CPUS] = { 0 };
	struct watt_rules rules = { 0 };
	struct watt_attrib_opts opts = { .channels = channels,
					 .n_channels = 1,
					 .cpu_slot = slots,
					 .n_cpus = n_cpus,
					 .n_slots = 1,
					 .share_keys = &rules };
	char *word = NULL;

	if (watt_rules_parse(&rules, &watt_share_key_syntax, key, &word) < 0 ||
	    watt_timeline_new(channels, 1, &meter->tl) < 0 ||
	    watt_attrib_new(&opts, &meter->at) < 0)
		bench_exit(1, "no meter by '%s'", key);
	watt_rules_clear(&rules);
}

static void close_meter(struct meter *meter)
{
	bench_series_done(&meter->costs);
	watt_attrib_free(meter->at);
	watt_timeline_free(meter->tl);
}

static void refresh(struct meter *meter, const struct watt_usage_batch *batch,
		    const struct watt_sample *sample, bool is_counted)
{
	struct watt_look_opts opts = { .t_ns = sample->t_after_ns };
	uint64_t start_ns = bench_thread_cpu_ns();
	struct watt_snapshot *snap = NULL;

	if (watt_attrib_push_usage(meter->at, batch) < 0 ||
	    watt_timeline_push(meter->tl, sample) < 0 ||
	    watt_attrib_advance(meter->at, meter->tl, sample->t_after_ns) < 0 ||
	    watt_attrib_snapshot(meter->at, meter->tl, &opts, &snap) < 0)
		bench_exit(1, "a refresh failed");
	watt_snapshot_unref(snap);
	if (is_counted)
		bench_add(&meter->costs, bench_thread_cpu_ns() - start_ns);
}

/* Both keys get the same slices in turn, so that what else the machine does hits both. */
static void measure_refresh(unsigned long n_slices)
{
	struct world_opts opts = { .n_tasks = 1000,
				   .n_cpus = WORLD_MAX_CPUS,
				   .n_programs = N_PROGRAMS,
				   .seed = 1,
				   .is_rare = true };
	struct world *world = world_new(&opts);
	struct meter by_time = { 0 }, by_learned = { 0 };
	double time_us, learned_us;
	unsigned long i;

	open_meter(&by_time, "cpu_time", opts.n_cpus);
	open_meter(&by_learned, "learned", opts.n_cpus);
	for (i = 0; i < WARM_UP + n_slices; i++) {
		const struct watt_usage_batch *batch = world_run(world);
		struct watt_sample sample = { .t_before_ns = world_now_ns(world),
					      .t_after_ns = world_now_ns(world),
					      .raw = world_read(world) };

		refresh(&by_time, batch, &sample, i >= WARM_UP);
		refresh(&by_learned, batch, &sample, i >= WARM_UP);
	}
	time_us = (double)bench_percentile(&by_time.costs, 500) / 1e3;
	learned_us = (double)bench_percentile(&by_learned.costs, 500) / 1e3;
	bench_report("a refresh by CPU time", time_us, "us", BENCH_NO_BAR, 0,
		     "1,000 processes of %d programs on %d CPUs, sweep to snapshot", N_PROGRAMS,
		     WORLD_MAX_CPUS);
	bench_report("a refresh by learned watts", learned_us / time_us, "times", BENCH_AT_MOST,
		     1.1, "the same: %.0f us; %.2f times as a mean of all but 1 %%", learned_us,
		     bench_mean(&by_learned.costs, 990) / bench_mean(&by_time.costs, 990));
	close_meter(&by_time);
	close_meter(&by_learned);
	world_free(world);
}

int main(int argc, char **argv)
{
	static const size_t n_uses[] = { 10, 100, MAX_USES };
	unsigned long n_slices = bench_arg(argc, argv, 2000);
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(n_uses); i++)
		measure(n_uses[i], n_slices);
	measure_memory();
	measure_refresh(n_slices);
	return 0;
}
