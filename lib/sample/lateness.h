/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How late the reads of a group begin: a histogram of fixed size, 32 buckets to each power of
 * two, so that a percentile is right to 1/32. One thread adds, any thread asks; it never
 * allocates.
 */
#ifndef WATT_SAMPLE_LATENESS_H
#define WATT_SAMPLE_LATENESS_H

#include "base/ring.h"

#define WATT_LATENESS_SUB_BITS 5
#define WATT_LATENESS_TOP_BITS 36 /* 69 s; what is later than that goes to the last bucket */
#define WATT_LATENESS_BUCKETS \
	((WATT_LATENESS_TOP_BITS - WATT_LATENESS_SUB_BITS + 1) << WATT_LATENESS_SUB_BITS)

/* All zero is an empty one. */
struct watt_lateness {
	struct watt_counter buckets[WATT_LATENESS_BUCKETS];
	struct watt_counter max_ns;
};

void watt_lateness_add(struct watt_lateness *lateness, uint64_t late_ns);
/*
 * The smallest bound that `permille` of 1,000 reads did not exceed, rounded up to the end of its
 * bucket but never above the maximum. 0 if there are none.
 */
uint64_t watt_lateness_percentile_ns(const struct watt_lateness *lateness, uint32_t permille);
uint64_t watt_lateness_max_ns(const struct watt_lateness *lateness);

#endif
