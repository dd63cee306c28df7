/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sample looks at all processes, of which there may be very many: it lets others run after each
 * few of them, and measures how long it did not. For the sampler alone.
 */
#ifndef WATTRIBUTE_PAUSE_H
#define WATTRIBUTE_PAUSE_H

#include <linux/types.h>

/* How many may be looked at without a pause. */
#define WATT_PAUSE_EVERY 128

/* The current thread takes all samples but the first. */
void watt_pause_thread(void);
/* It takes none any more; who unloads the module frees what is left. */
void watt_pause_thread_ends(void);
/* A sample begins. */
void watt_pause_begin(void);
/* What was done since the last pause may sleep, and counts for none. */
void watt_pause_resume(void);
/* Where nothing is held. */
void watt_pause(void);
/* With RCU's lock alone, which is given back meanwhile. */
void watt_pause_rcu(void);
/* The sample is over. */
void watt_pause_end(void);

/* One has been looked at, with nothing held: a pause if those before it were enough. */
void watt_pause_after_one(void);

/* The longest time without one. */
u64 watt_pause_section_max_ns(void);

#endif
