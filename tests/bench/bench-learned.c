/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What learning costs beside the rest of attribution: a slice in which processes of 40 programs
 * run, told to a learner of one domain that divides it and learns from it.
 * usage: bench-learned [SLICES]
 */
#include "bench.h"

#include "attrib/learned.h"
#include "base/util.h"

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
	struct watt_learned *learned = watt_learned_new();
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

int main(int argc, char **argv)
{
	static const size_t n_uses[] = { 10, 100, MAX_USES };
	unsigned long n_slices = bench_arg(argc, argv, 2000);
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(n_uses); i++)
		measure(n_uses[i], n_slices);
	return 0;
}
