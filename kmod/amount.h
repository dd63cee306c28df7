/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a process has used: uJ where there is RAPL, points of the score elsewhere, in thousandths.
 * Thousandths of the score do not fit in 64 bits for long, so the two parts are apart.
 */
#ifndef WATTRIBUTE_AMOUNT_H
#define WATTRIBUTE_AMOUNT_H

#include <linux/math64.h>
#include <linux/types.h>

struct watt_amount {
	u64 whole;
	u32 milli; /* less than 1000 */
};

static inline void watt_amount_add(struct watt_amount *to, const struct watt_amount *more)
{
	to->whole += more->whole;
	to->milli += more->milli;
	if (to->milli >= 1000) {
		to->milli -= 1000;
		to->whole++;
	}
}

static inline void watt_amount_add_milli(struct watt_amount *to, u64 milli)
{
	struct watt_amount more;

	more.whole = div_u64_rem(milli, 1000, &more.milli);
	watt_amount_add(to, &more);
}

/* Of the score's; points wrap around at 2^64, so that what was used in a window stays right. */
static inline void watt_amount_add_wide(struct watt_amount *to, __uint128_t milli)
{
	struct watt_amount more = { 0 };
	int shift;

	for (shift = 96; shift >= 0; shift -= 32)
		more.whole = more.whole << 32 |
			     div_u64_rem((u64)more.milli << 32 | (u32)(milli >> shift), 1000,
					 &more.milli);
	watt_amount_add(to, &more);
}

/* a must be at least b. */
static inline struct watt_amount watt_amount_sub(struct watt_amount a, const struct watt_amount *b)
{
	a.whole -= b->whole;
	if (a.milli < b->milli) {
		a.milli += 1000;
		a.whole--;
	}
	a.milli -= b->milli;
	return a;
}

#endif
