/* SPDX-License-Identifier: Apache-2.0 */
/* Differences of the kernel's counts per CPU. Knows nothing of tasks. */
#include "attrib/cpus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

static int make_room(struct watt_cpus *cpus, size_t n)
{
	struct watt_cpu_state *states;
	struct watt_cpu_time *newest;

	if (n <= cpus->n)
		return 0;
	newest = reallocarray(cpus->newest, n, sizeof(*newest));
	if (!newest)
		return -ENOMEM;
	cpus->newest = newest;
	states = reallocarray(cpus->states, n, sizeof(*states));
	if (!states)
		return -ENOMEM;
	cpus->states = states;
	memset(newest + cpus->n, 0, (n - cpus->n) * sizeof(*newest));
	memset(states + cpus->n, 0, (n - cpus->n) * sizeof(*states));
	for (; cpus->n < n; cpus->n++) {
		states[cpus->n].sz = sizeof(*states);
		states[cpus->n].cpu = (uint32_t)cpus->n;
	}
	return 0;
}

static void add_step(uint64_t *sum, uint64_t now, uint64_t was)
{
	*sum += now > was ? now - was : 0;
}

static uint32_t share_ppm(uint64_t part_ns, uint64_t whole_ns)
{
	return whole_ns ? (uint32_t)((watt_u128)part_ns * 1000000 / whole_ns) : 0;
}

static void push_cpu(struct watt_cpu_state *state, const struct watt_cpu_time *now,
		     const struct watt_cpu_time *was, uint64_t dt_ns)
{
	state->online = now->online;
	if (!now->online || !was->online)
		return;
	add_step(&state->user_ns, now->user_ns, was->user_ns);
	add_step(&state->system_ns, now->system_ns, was->system_ns);
	add_step(&state->idle_ns, now->idle_ns, was->idle_ns);
	add_step(&state->irq_ns, now->irq_ns, was->irq_ns);
	add_step(&state->softirq_ns, now->softirq_ns, was->softirq_ns);
	add_step(&state->steal_ns, now->steal_ns, was->steal_ns);
	state->wall_ns += dt_ns;
	state->coverage_ppm = share_ppm(state->user_ns + state->system_ns + state->idle_ns +
						state->irq_ns + state->softirq_ns + state->steal_ns,
					state->wall_ns);
}

int watt_cpus_push(struct watt_cpus *cpus, const struct watt_usage_batch *batch, uint64_t dt_ns)
{
	static const struct watt_cpu_time offline;
	size_t i;
	int r;

	r = make_room(cpus, batch->n_cpus);
	if (r < 0)
		return r;
	for (i = 0; i < cpus->n; i++) {
		const struct watt_cpu_time *now = i < batch->n_cpus ? &batch->cpus[i] : &offline;

		push_cpu(&cpus->states[i], now, &cpus->newest[i], dt_ns);
		cpus->newest[i] = *now;
	}
	return 0;
}

void watt_cpus_done(struct watt_cpus *cpus)
{
	free(cpus->newest);
	free(cpus->states);
	*cpus = (struct watt_cpus){ 0 };
}

void watt_cpus_fill_quality(const struct watt_cpus *cpus, struct watt_quality *quality)
{
	size_t i;

	for (i = 0; i < cpus->n; i++) {
		const struct watt_cpu_state *state = &cpus->states[i];

		quality->idle_ns += state->idle_ns;
		quality->steal_ns += state->steal_ns;
		quality->wall_ns += state->wall_ns;
		if (quality->usage_flags & WATT_BATCH_IRQ_SEPARATE)
			quality->irq_ns += state->irq_ns + state->softirq_ns;
	}
	quality->coverage_ppm =
		share_ppm(quality->busy_ns + quality->idle_ns + quality->irq_ns + quality->steal_ns,
			  quality->wall_ns);
}
