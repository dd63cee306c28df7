/* SPDX-License-Identifier: Apache-2.0 */
/* The time of a clock as one number. */
#ifndef WATT_AGENT_CLOCK_H
#define WATT_AGENT_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#endif
