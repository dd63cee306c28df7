/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notices what CLOCK_MONOTONIC does not tell: that the machine slept, and that the clock on the
 * wall was set. Both are seen by how far the clocks are apart, which nothing else changes. It reads
 * no clock itself.
 */
#ifndef WATT_BASE_CLOCK_WATCH_H
#define WATT_BASE_CLOCK_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/* The three clocks at one time, in ns. */
struct watt_clock_reading {
	uint64_t t_before_ns; /* CLOCK_MONOTONIC before the others were read */
	uint64_t t_after_ns;  /* and after */
	uint64_t realtime_ns;
	uint64_t boottime_ns;
};

struct watt_clock_watch {
	bool is_begun;
	uint64_t looked_ns;      /* CLOCK_MONOTONIC of the newest look */
	int64_t realtime_off_ns; /* CLOCK_REALTIME minus CLOCK_MONOTONIC */
	int64_t boottime_off_ns;
};

/* What happened between two looks. */
struct watt_clock_news {
	uint64_t from_ns; /* CLOCK_MONOTONIC: the look before */
	uint64_t to_ns;
	uint64_t slept_ns;       /* 0: it did not */
	int64_t set_ns;          /* how far the clock on the wall was set; 0: it was not */
	int64_t realtime_off_ns; /* CLOCK_REALTIME minus CLOCK_MONOTONIC from now on */
};

void watt_clock_read(struct watt_clock_reading *ret);
/* Whether it was read at one time: nobody was interrupted meanwhile. */
bool watt_clock_is_exact(const struct watt_clock_reading *reading);
/*
 * Whether something happened. A reading that took too long tells nothing, and the next one is
 * compared with the one before it.
 */
bool watt_clock_watch_look(struct watt_clock_watch *watch, const struct watt_clock_reading *now,
			   struct watt_clock_news *ret);

#endif
