// SPDX-License-Identifier: GPL-2.0-only
/*
 * The model: a sum of uses, each times its weight. CPU time and instructions are weighed where they
 * were used; the rest goes to the units in proportion to CPU time.
 */
#include "score.h"

#include <linux/time64.h>

#include "compat.h"
#include "process.h"
#include "unit.h"

/* Has as many bits as are wanted: no weight and no use that a machine has needs all of them. */
static __uint128_t times(u64 used, u64 weight)
{
	return (__uint128_t)used * weight;
}

/* All but CPU time and instructions. */
static __uint128_t weigh_rest(const struct watt_counts *now, const struct watt_counts *before,
			      const struct watt_weights *weights, u64 time_ns)
{
	__uint128_t sum = 0;

	if (weights->mem_bytes)
		sum += times(watt_mul_div(now->mem_bytes, time_ns, NSEC_PER_SEC),
			     weights->mem_bytes);
	sum += times(now->wakeups - before->wakeups, weights->wakeups);
	sum += times(now->disk_read_bytes - before->disk_read_bytes, weights->disk_read_bytes);
	sum += times(now->disk_write_bytes - before->disk_write_bytes, weights->disk_write_bytes);
	sum += times(now->rx_packets - before->rx_packets, weights->net_rx_packets);
	sum += times(now->tx_packets - before->tx_packets, weights->net_tx_packets);
	return sum;
}

/* What is known to have been used on one unit. */
static __uint128_t weigh_part(const struct watt_part *part, const struct watt_weights *weights)
{
	return times(part->delta_ns, weights->cpu_ns) +
	       times(part->n_instructions, weights->instructions);
}

/* sum * part / whole for a part of the whole, rounded down. */
static __uint128_t portion(__uint128_t sum, u64 part, u64 whole)
{
	unsigned int shift = 0;

	while (sum >> (64 + shift))
		shift++;
	return (__uint128_t)watt_mul_div(sum >> shift, part, whole) << shift;
}

bool watt_score_weigh(struct watt_process *process, const struct watt_counts *before,
		      const struct watt_weights *weights, u64 time_ns)
{
	__uint128_t rest = weigh_rest(&process->now, before, weights, time_ns);
	__uint128_t sum = rest, left = rest;
	unsigned int i, n = watt_units_count();
	u64 cpu_ns = 0, instructions = 0;

	for (i = 0; i < n; i++) {
		cpu_ns += process->parts[i].delta_ns;
		instructions += process->parts[i].n_instructions;
	}
	if (!cpu_ns && !instructions && !rest)
		return false;
	for (i = 0; i < n; i++) {
		struct watt_part *part = &process->parts[i];
		__uint128_t share = cpu_ns ? portion(rest, part->delta_ns, cpu_ns) : 0;

		part->weight = weigh_part(part, weights) + share;
		sum |= part->weight;
		left -= share;
	}
	process->parts[0].weight += left;
	return sum != 0;
}
