/* SPDX-License-Identifier: Apache-2.0 */
/* Splits an integer amount by weights, exactly. Pure. */
#ifndef WATT_ATTRIB_SHARE_H
#define WATT_ATTRIB_SHARE_H

#include <stddef.h>
#include <stdint.h>

/* One who gets a share. */
struct watt_share {
	uint64_t weight; /* of a sum of 2^62 and more all lose their lowest bits */
	/* What earlier divisions still owe it, in 2^-31 of a unit; may be negative. Kept by the
	 * owner from one division to the next, so that equal weights end up with equal sums. */
	int64_t *carry;
	int64_t amount; /* out */
	int64_t due;    /* scratch */
};

/*
 * Splits amount >= 0 over n shares by the largest remainder, remainders of earlier divisions
 * included. The amounts add up to amount exactly; each is its exact share rounded down or up.
 * The sum of the weights must be above 0. Linear in n.
 */
void watt_share_split(struct watt_share *shares, size_t n, int64_t amount);

#endif
