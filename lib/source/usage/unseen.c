/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates the run time of tasks that nobody saw. It reads no file. */
#include "source/usage/unseen.h"

#include <errno.h>
#include <stdlib.h>

void watt_unseen_done(struct watt_unseen *unseen)
{
	free(unseen->last_ns);
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
	uint64_t *last_ns;
	size_t i;

	if (n_cpus <= unseen->n_cpus)
		return 0;
	last_ns = reallocarray(unseen->last_ns, n_cpus, sizeof(*last_ns));
	if (!last_ns)
		return -ENOMEM;
	for (i = unseen->n_cpus; i < n_cpus; i++)
		last_ns[i] = UINT64_MAX;
	unseen->last_ns = last_ns;
	unseen->n_cpus = n_cpus;
	return 0;
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
 * How far the ticks may be off. Each is charged whole to whoever runs when it fires: the error
 * of n of them grows with the square root of n; and the tasks' own counts lag by a tick per CPU.
 */
static uint64_t noise(const struct watt_unseen *unseen, uint64_t tick_ns)
{
	uint64_t n_ticks = unseen->busy_ns / tick_ns;

	return (2 * unseen->n_online + square_root(n_ticks)) * tick_ns;
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
		uint64_t busy_ns = cpu_busy(unseen, &cpus[i]);

		if (!cpus[i].online)
			continue;
		unseen->n_online++;
		/* a CPU that was not seen before begins here; a count may step back a little */
		if (unseen->last_ns[i] == UINT64_MAX)
			unseen->last_ns[i] = busy_ns;
		if (busy_ns > unseen->last_ns[i]) {
			unseen->busy_ns += busy_ns - unseen->last_ns[i];
			unseen->last_ns[i] = busy_ns;
		}
	}
	known_ns = unseen->seen_ns + noise(unseen, tick_ns);
	if (unseen->busy_ns > known_ns && unseen->busy_ns - known_ns > unseen->unseen_ns)
		unseen->unseen_ns = unseen->busy_ns - known_ns;
	return 0;
}
