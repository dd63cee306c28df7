// SPDX-License-Identifier: GPL-2.0-only
/*
 * The model: a sum of uses, each times its weight. CPU time and instructions are weighed where they
 * were used; the rest goes to the units in proportion to CPU time.
 */
#include "score.h"

#include <linux/bits.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/time64.h>

#include "compat.h"
#include "process.h"
#include "unit.h"

/* So that the weights of all processes can be added. */
#define WEIGHT_MAX BIT_ULL(44)

static u64 times(u64 used, u32 weight)
{
	u64 product;

	return check_mul_overflow(used, (u64)weight, &product) ? U64_MAX : product;
}

static u64 plus(u64 a, u64 b)
{
	u64 sum;

	return check_add_overflow(a, b, &sum) ? U64_MAX : sum;
}

/* All but CPU time and instructions. */
static u64 weigh_rest(const struct watt_counts *now, const struct watt_counts *before,
		      const struct watt_weights *weights, u64 time_ns)
{
	u64 sum = 0;

	if (weights->mem_bytes)
		sum = plus(sum, times(watt_mul_div(now->mem_bytes, time_ns, NSEC_PER_SEC),
				      weights->mem_bytes));
	sum = plus(sum, times(now->wakeups - before->wakeups, weights->wakeups));
	sum = plus(sum,
		   times(now->disk_read_bytes - before->disk_read_bytes, weights->disk_read_bytes));
	sum = plus(sum, times(now->disk_write_bytes - before->disk_write_bytes,
			      weights->disk_write_bytes));
	sum = plus(sum, times(now->rx_packets - before->rx_packets, weights->net_rx_packets));
	sum = plus(sum, times(now->tx_packets - before->tx_packets, weights->net_tx_packets));
	return min(sum, WEIGHT_MAX);
}

/* What is known to have been used on one unit. */
static u64 weigh_part(const struct watt_part *part, const struct watt_weights *weights)
{
	u64 sum = plus(times(part->delta_ns, weights->cpu_ns),
		       times(part->n_instructions, weights->instructions));

	return min(sum, WEIGHT_MAX << 4);
}

bool watt_score_weigh(struct watt_process *process, const struct watt_counts *before,
		      const struct watt_weights *weights, u64 time_ns)
{
	u64 rest = weigh_rest(&process->now, before, weights, time_ns);
	unsigned int i, n = watt_units_count();
	u64 cpu_ns = 0, instructions = 0, sum = rest, left = rest;

	for (i = 0; i < n; i++) {
		cpu_ns += process->parts[i].delta_ns;
		instructions += process->parts[i].n_instructions;
	}
	if (!cpu_ns && !instructions && !rest)
		return false;
	for (i = 0; i < n; i++) {
		struct watt_part *part = &process->parts[i];
		u64 share = cpu_ns ? watt_mul_div(rest, part->delta_ns, cpu_ns) : 0;

		part->weight = weigh_part(part, weights) + share;
		sum |= part->weight;
		left -= share;
	}
	process->parts[0].weight += left;
	return sum != 0;
}
