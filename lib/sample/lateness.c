/* SPDX-License-Identifier: Apache-2.0 */
/* A log-linear histogram of lateness, in ns. It must not allocate: the reading thread fills it. */
#include "sample/lateness.h"

#define SUB_COUNT (1u << WATT_LATENESS_SUB_BITS)

/* Below SUB_COUNT ns each value has a bucket; above, the leading bits after the first choose. */
static uint32_t bucket_of(uint64_t late_ns)
{
	uint32_t shift;

	if (late_ns < SUB_COUNT)
		return (uint32_t)late_ns;
	if (late_ns >> WATT_LATENESS_TOP_BITS)
		return WATT_LATENESS_BUCKETS - 1;
	shift = 63u - (uint32_t)__builtin_clzll(late_ns) - WATT_LATENESS_SUB_BITS;
	return (shift << WATT_LATENESS_SUB_BITS) + (uint32_t)(late_ns >> shift);
}

/* The largest value that falls into a bucket. */
static uint64_t bucket_end_ns(uint32_t bucket)
{
	uint32_t shift;

	if (bucket < SUB_COUNT)
		return bucket;
	shift = (bucket >> WATT_LATENESS_SUB_BITS) - 1;
	return ((uint64_t)(SUB_COUNT + (bucket & (SUB_COUNT - 1)) + 1) << shift) - 1;
}

void watt_lateness_add(struct watt_lateness *lateness, uint64_t late_ns)
{
	watt_counter_add(&lateness->buckets[bucket_of(late_ns)], 1);
	watt_counter_raise(&lateness->max_ns, late_ns);
}

uint64_t watt_lateness_max_ns(const struct watt_lateness *lateness)
{
	return watt_counter_get(&lateness->max_ns);
}

uint64_t watt_lateness_percentile_ns(const struct watt_lateness *lateness, uint32_t permille)
{
	uint64_t max_ns = watt_lateness_max_ns(lateness);
	uint64_t total = 0, sum = 0, rank;
	uint32_t i;

	for (i = 0; i < WATT_LATENESS_BUCKETS; i++)
		total += watt_counter_get(&lateness->buckets[i]);
	if (total == 0)
		return 0;
	rank = total / 1000 * permille + (total % 1000 * permille + 999) / 1000;
	for (i = 0; i < WATT_LATENESS_BUCKETS - 1; i++) {
		sum += watt_counter_get(&lateness->buckets[i]);
		if (sum >= rank && sum > 0)
			return bucket_end_ns(i) < max_ns ? bucket_end_ns(i) : max_ns;
	}
	return max_ns;
}
