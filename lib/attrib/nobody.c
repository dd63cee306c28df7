/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU time that the machine counted and no task explains: of processes that can't be seen, or
 * that came and went between two sweeps. It takes part in each slice like anybody's, so that what
 * it cost is not given to whoever is visible; what it gets stays unattributed.
 */
#include "attrib/state.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"

int watt_nobody_init(struct watt_attrib *at)
{
	at->nobody.n_places = at->n_slots + 1;
	at->nobody.balance_ns = calloc(at->nobody.n_places, sizeof(*at->nobody.balance_ns));
	return at->nobody.balance_ns ? 0 : -ENOMEM;
}

void watt_nobody_done(struct watt_attrib *at)
{
	free(at->nobody.balance_ns);
}

static uint64_t tasks_ns(const struct watt_cpu_time *cpu, uint32_t flags)
{
	uint64_t ns = cpu->user_ns + cpu->system_ns;

	return flags & WATT_BATCH_IRQ_SEPARATE ? ns : ns + cpu->irq_ns + cpu->softirq_ns;
}

/* A place owes so much, either way; what would not fit is no time that anybody spent. */
static void add_balance(struct watt_nobody *nobody, uint32_t place, uint64_t ns, bool is_busy)
{
	int64_t *balance_ns = &nobody->balance_ns[place];

	if (ns > INT64_MAX ||
	    (is_busy ? __builtin_add_overflow(*balance_ns, (int64_t)ns, balance_ns) :
		       __builtin_sub_overflow(*balance_ns, (int64_t)ns, balance_ns)))
		*balance_ns = 0;
}

void watt_nobody_add_seen(struct watt_attrib *at, uint32_t place, uint64_t cpu_ns)
{
	add_balance(&at->nobody, place, cpu_ns, false);
}

void watt_nobody_add_busy(struct watt_attrib *at, const struct watt_usage_batch *batch)
{
	size_t i, n = WATT_MIN(batch->n_cpus, at->cpus.n);

	for (i = 0; i < n; i++) {
		const struct watt_cpu_time *now = &batch->cpus[i], *was = &at->cpus.newest[i];
		uint64_t now_ns = tasks_ns(now, batch->flags), was_ns = tasks_ns(was, batch->flags);
		uint32_t place = i < at->n_cpus ? at->cpu_slot[i] : at->n_slots;

		if (now->online && was->online && now_ns > was_ns)
			add_balance(&at->nobody, place, now_ns - was_ns, true);
	}
}

static int give(struct watt_attrib *at, struct watt_slice *slice, uint32_t place, uint64_t ns,
		uint32_t *use_index)
{
	struct watt_use use = { .amount = ns, .place = place };

	if (!ns)
		return 0;
	add_balance(&at->nobody, place, ns, false);
	return watt_slice_add_use(slice, WATT_ACTIVITY_CPU_TIME, &use, use_index);
}

/*
 * Where it was: where CPUs were busy for longer than those ran who were seen there. The balance is
 * kept from slice to slice, since ticks and clocks agree in the long run only.
 */
static int divide(struct watt_attrib *at, struct watt_slice *slice, uint64_t ns)
{
	struct watt_nobody *nobody = &at->nobody;
	uint64_t sum_ns = 0, passed_ns = 0, given_ns = 0;
	uint32_t i, most = 0, use_index = 0;
	int r = 0;

	for (i = 0; i < nobody->n_places; i++) {
		if (nobody->balance_ns[i] > nobody->balance_ns[most])
			most = i;
		if (nobody->balance_ns[i] > 0)
			sum_ns += (uint64_t)nobody->balance_ns[i];
	}
	if (!sum_ns)
		return give(at, slice, most, ns, &use_index);
	for (i = 0; i < nobody->n_places && r == 0; i++) {
		uint64_t upto_ns;

		if (nobody->balance_ns[i] <= 0)
			continue;
		passed_ns += (uint64_t)nobody->balance_ns[i];
		upto_ns = (uint64_t)((watt_u128)ns * passed_ns / sum_ns);
		r = give(at, slice, i, upto_ns - given_ns, &use_index);
		given_ns = upto_ns;
	}
	return r;
}

int watt_nobody_push(struct watt_attrib *at, struct watt_slice *slice,
		     const struct watt_usage_batch *batch)
{
	uint64_t was_ns = at->nobody.told_ns, ns;

	if (batch->unseen_ns <= was_ns)
		return 0;
	at->nobody.told_ns = batch->unseen_ns;
	ns = batch->unseen_ns - was_ns;
	if (!at->had_sweep)
		return 0;
	if (watt_sweep_is_possible(at, ns))
		return divide(at, slice, ns);
	at->quality.damaged_records++;
	return 0;
}
