/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Largest remainder with memory: every share is rounded down, and the units that are left go to
 * those whom this division and all earlier ones owe most.
 */
#include "attrib/share.h"

#include "base/util.h"

#define ONE (1LL << 31)

/* Sum of the weights, which are made smaller where it does not fit into 62 bits. */
static uint64_t total_weight(struct watt_share *shares, size_t n)
{
	watt_u128 total = 0;
	unsigned int shift = 0;
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		total += shares[i].weight;
	while (total >> (62 + shift))
		shift++;
	if (!shift)
		return (uint64_t)total;
	for (i = 0; i < n; i++) {
		shares[i].weight >>= shift;
		sum += shares[i].weight;
	}
	return sum;
}

/* Rounds all down; returns what is left. */
static uint64_t split_floor(struct watt_share *shares, size_t n, uint64_t amount, uint64_t total)
{
	uint64_t left = amount;
	size_t i;

	for (i = 0; i < n; i++) {
		watt_u128 product = (watt_u128)amount * shares[i].weight;
		uint64_t rest = (uint64_t)(product % total);

		shares[i].amount = (int64_t)(product / total);
		shares[i].due = *shares[i].carry + (int64_t)(((watt_u128)rest << 31) / total);
		left -= (uint64_t)shares[i].amount;
	}
	return left;
}

/* Shares are ranked by what they are owed in this many steps; inside one the carry evens out. */
#define N_STEPS 1024

static size_t step_of(const struct watt_share *share, int64_t least, int64_t most)
{
	return (size_t)((watt_u128)(uint64_t)(share->due - least) * (N_STEPS - 1) /
			(uint64_t)(most - least + 1));
}

/* Gives one unit each to the `left` shares that are owed most, 0 < left < n. */
static void give_rest(struct watt_share *shares, size_t n, uint64_t left)
{
	uint32_t count[N_STEPS] = { 0 };
	int64_t least = INT64_MAX, most = INT64_MIN;
	size_t i, step = N_STEPS;
	uint64_t above = 0;

	for (i = 0; i < n; i++) {
		least = WATT_MIN(least, shares[i].due);
		most = WATT_MAX(most, shares[i].due);
	}
	for (i = 0; i < n; i++)
		count[step_of(&shares[i], least, most)]++;
	while (above + count[step - 1] < left)
		above += count[--step];
	step--;
	left -= above;
	for (i = 0; i < n; i++) {
		size_t mine = step_of(&shares[i], least, most);

		if (mine < step || (mine == step && left == 0))
			continue;
		left -= mine == step;
		shares[i].amount++;
		shares[i].due -= ONE;
	}
}

void watt_share_split(struct watt_share *shares, size_t n, int64_t amount)
{
	uint64_t left;
	size_t i;

	left = split_floor(shares, n, (uint64_t)amount, total_weight(shares, n));
	if (left)
		give_rest(shares, n, left);
	for (i = 0; i < n; i++)
		*shares[i].carry = shares[i].due;
}
