/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A counter of 32 bits that wraps, and that may begin again at zero. Pure. One thread per object.
 */
#ifndef WATTRIBUTE_COUNTER_H
#define WATTRIBUTE_COUNTER_H

#include <linux/types.h>

struct watt_counter {
	u64 total_raw;
	u64 read_ns; /* when last; 0: it begins with the next reading */
	u32 last_raw;
};

/*
 * Adds what it grew by. Growth that takes more than raw_per_s is no wrap: the counter began again,
 * what it shows now has been counted since, and what it had counted before that and nobody read is
 * not known. True: it did.
 */
bool watt_counter_read(struct watt_counter *counter, u32 raw, u64 now_ns, u64 raw_per_s);

/* Nobody can tell what it counts until its next reading: that begins anew. */
void watt_counter_forget(struct watt_counter *counter);

#endif
