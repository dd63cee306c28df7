// SPDX-License-Identifier: GPL-2.0-only
#include "share.h"

#include <linux/bits.h>
#include <linux/limits.h>
#include <linux/minmax.h>

#include "compat.h"
#include "process.h"

/* What is owed, in this part of a nJ. */
#define ONE_BITS 31
#define ONE ((s64)BIT_ULL(ONE_BITS))

/* Those who are owed are ranked in this many steps; inside a step the list's order decides. */
#define N_STEPS 1024

struct ranks {
	s64 least, most;
	u32 n[N_STEPS];
};

/* The sampler's own; too large for its stack. */
static struct ranks ranks;

/* Sum of the weights, which are made smaller where it does not fit into 62 bits. */
static u64 total_weight(struct watt_process *active, unsigned int unit)
{
	struct watt_process *process;
	unsigned int shift = 0;
	__uint128_t total = 0;
	u64 sum = 0;

	for (process = active; process; process = watt_process_next_active(process))
		total += process->parts[unit].weight;
	while (total >> (62 + shift))
		shift++;
	for (process = active; process; process = watt_process_next_active(process)) {
		process->parts[unit].weight >>= shift;
		sum += process->parts[unit].weight;
	}
	return sum;
}

/* Rounds all down; returns what is left, less than there are weights. */
static u64 split_floor(struct watt_process *active, unsigned int unit, u64 amount_nj, u64 total)
{
	struct watt_process *process;
	u64 left_nj = amount_nj;

	for (process = active; process; process = watt_process_next_active(process)) {
		struct watt_part *part = &process->parts[unit];
		u64 weight = part->weight, rest;

		part->share_nj = watt_mul_div(amount_nj, weight, total);
		/* less than total: what was lost above 64 bits in both products is the same */
		rest = amount_nj * weight - part->share_nj * total;
		part->due = part->carry + (s64)watt_mul_div(rest, ONE, total);
		left_nj -= part->share_nj;
	}
	return left_nj;
}

static unsigned int step_of(const struct watt_part *part)
{
	return watt_mul_div(part->due - ranks.least, N_STEPS - 1, ranks.most - ranks.least + 1);
}

static void rank(const struct watt_process *active, unsigned int unit)
{
	const struct watt_process *process;

	ranks = (struct ranks){ .least = S64_MAX, .most = S64_MIN };
	for (process = active; process; process = watt_process_next_active(process)) {
		if (!process->parts[unit].weight)
			continue;
		ranks.least = min(ranks.least, process->parts[unit].due);
		ranks.most = max(ranks.most, process->parts[unit].due);
	}
	for (process = active; process; process = watt_process_next_active(process))
		if (process->parts[unit].weight)
			ranks.n[step_of(&process->parts[unit])]++;
}

/* One nJ each to the left_nj of those with a weight that are owed most. */
static void give_rest(struct watt_process *active, unsigned int unit, u64 left_nj)
{
	struct watt_process *process;
	unsigned int step = N_STEPS;
	u64 above = 0;

	rank(active, unit);
	while (above + ranks.n[step - 1] < left_nj)
		above += ranks.n[--step];
	step--;
	left_nj -= above;
	for (process = active; process; process = watt_process_next_active(process)) {
		struct watt_part *part = &process->parts[unit];
		unsigned int mine;

		if (!part->weight)
			continue;
		mine = step_of(part);
		if (mine < step || (mine == step && !left_nj))
			continue;
		left_nj -= mine == step;
		part->share_nj++;
		part->due -= ONE;
	}
}

bool watt_share_split(struct watt_process *active, unsigned int unit, u64 amount_nj)
{
	u64 total = total_weight(active, unit);
	struct watt_process *process;
	u64 left_nj;

	if (!total)
		return false;
	left_nj = split_floor(active, unit, amount_nj, total);
	if (left_nj)
		give_rest(active, unit, left_nj);
	for (process = active; process; process = watt_process_next_active(process))
		process->parts[unit].carry = process->parts[unit].due;
	return true;
}
