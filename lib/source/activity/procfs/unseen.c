/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates the run time of tasks that nobody saw. It reads no file. */
#include "source/activity/procfs/unseen.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"

void watt_unseen_done(struct watt_unseen *unseen)
{
	free(unseen->cpus);
	*unseen = (struct watt_unseen){ 0 };
}

void watt_unseen_add(struct watt_unseen *unseen, uint64_t seen_ns)
{
	unseen->seen_ns += seen_ns;
}

/*
 * What a CPU spent in tasks. Where the kernel times interrupts they are not in the tasks' time;
 * elsewhere they are, and the column of hard interrupts is never counted up.
 */
static uint64_t cpu_busy(const struct watt_unseen *unseen, const struct watt_cpu_time *cpu)
{
	uint64_t busy_ns = cpu->user_ns + cpu->system_ns;

	return unseen->is_irq_separate ? busy_ns : busy_ns + cpu->irq_ns + cpu->softirq_ns;
}

static int grow(struct watt_unseen *unseen, size_t n_cpus)
{
	struct watt_unseen_cpu *cpus;
	size_t i;

	if (n_cpus <= unseen->n_cpus)
		return 0;
	cpus = reallocarray(unseen->cpus, n_cpus, sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	for (i = unseen->n_cpus; i < n_cpus; i++)
		cpus[i] = (struct watt_unseen_cpu){ 0 };
	unseen->cpus = cpus;
	unseen->n_cpus = n_cpus;
	return 0;
}

/* How far a count came. One that steps back a little must not count that way twice. */
static uint64_t advance(uint64_t *last_ns, uint64_t now_ns)
{
	uint64_t delta_ns = now_ns > *last_ns ? now_ns - *last_ns : 0;

	*last_ns += delta_ns;
	return delta_ns;
}

static void update_cpu(struct watt_unseen *unseen, struct watt_unseen_cpu *cpu,
		       const struct watt_cpu_time *now)
{
	uint64_t busy_ns = cpu_busy(unseen, now);

	if (!cpu->is_known)
		*cpu = (struct watt_unseen_cpu){ busy_ns, now->idle_ns, true };
	unseen->busy_ns += advance(&cpu->busy_ns, busy_ns);
	unseen->idle_ns += advance(&cpu->idle_ns, now->idle_ns);
}

static uint64_t square_root(uint64_t x)
{
	uint64_t root = 0, bit = 1ULL << 62;

	while (bit > x)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		if (x >= root + bit) {
			x -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return root;
}

/*
 * How far the ticks may be off. Each is charged whole to what runs when it fires: n ticks of a
 * CPU that is busy for the part p of the time are off by the root of n * (1 - p). (Kernels tick
 * faster than they count, so that this is one to three standard deviations.) And the tasks' own
 * counts lag by a tick per CPU; those that are told in ticks are off by the difference of two times
 * two roundings each, of which two ticks are more than three standard deviations.
 */
static uint64_t noise(const struct watt_unseen *unseen, uint64_t tick_ns)
{
	uint64_t busy = unseen->busy_ns / tick_ns, idle = unseen->idle_ns / tick_ns;
	uint64_t variance = 0;

	if (busy + idle > 0)
		variance = (uint64_t)((watt_u128)busy * idle / (busy + idle));
	return (2 * unseen->n_online + square_root(variance + 4 * unseen->n_coarse)) * tick_ns;
}

int watt_unseen_update(struct watt_unseen *unseen, const struct watt_cpu_time *cpus, size_t n_cpus,
		       uint64_t tick_ns)
{
	uint64_t known_ns;
	size_t i;
	int r;

	r = grow(unseen, n_cpus);
	if (r < 0)
		return r;
	unseen->n_online = 0;
	for (i = 0; i < n_cpus; i++) {
		if (!cpus[i].online)
			continue;
		unseen->n_online++;
		update_cpu(unseen, &unseen->cpus[i], &cpus[i]);
	}
	known_ns = unseen->seen_ns + noise(unseen, tick_ns);
	if (unseen->busy_ns > known_ns && unseen->busy_ns - known_ns > unseen->unseen_ns)
		unseen->unseen_ns = unseen->busy_ns - known_ns;
	return 0;
}
