/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks, in ns. */
#ifndef WATT_BASE_CLOCK_H
#define WATT_BASE_CLOCK_H

#include <errno.h>
#include <stdint.h>
#include <time.h>

#define WATT_NSEC_PER_SEC 1000000000ULL
#define WATT_NSEC_PER_MSEC 1000000ULL
#define WATT_NSEC_PER_USEC 1000ULL

static inline uint64_t watt_timespec_to_ns(const struct timespec *ts)
{
	return (uint64_t)ts->tv_sec * WATT_NSEC_PER_SEC + (uint64_t)ts->tv_nsec;
}

static inline struct timespec watt_timespec_from_ns(uint64_t t_ns)
{
	return (struct timespec){ .tv_sec = (time_t)(t_ns / WATT_NSEC_PER_SEC),
				  .tv_nsec = (long)(t_ns % WATT_NSEC_PER_SEC) };
}

static inline uint64_t watt_clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return watt_timespec_to_ns(&ts);
}

/* Clock ticks (USER_HZ) to ns: 0, -ERANGE, or -EINVAL if hz is not positive. */
static inline int watt_ticks_to_ns(uint64_t ticks, long hz, uint64_t *ret_ns)
{
	uint64_t rate = (uint64_t)hz, ns;

	if (hz <= 0)
		return -EINVAL;
	if (__builtin_mul_overflow(ticks / rate, WATT_NSEC_PER_SEC, &ns) ||
	    __builtin_add_overflow(ns, ticks % rate * WATT_NSEC_PER_SEC / rate, &ns))
		return -ERANGE;
	*ret_ns = ns;
	return 0;
}

/* CLOCK_MONOTONIC */
static inline uint64_t watt_now_ns(void)
{
	return watt_clock_ns(CLOCK_MONOTONIC);
}

#endif
