/* SPDX-License-Identifier: Apache-2.0 */
/* What experiments have in common: they end where something can't be, and draw the same each time. */
#ifndef WATT_TESTS_EXPERIMENT_H
#define WATT_TESTS_EXPERIMENT_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* Ends the program where r is an error. */
static inline void must(int r)
{
	if (r >= 0)
		return;
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, strerror(-r));
	exit(1);
}

/* The next number of a sequence. */
static inline uint64_t draw_u64(uint64_t *seed)
{
	*seed = watt_hash_u64(*seed + 0x9e3779b97f4a7c15ULL);
	return *seed;
}

/* From 0 up to 1, evenly. */
static inline double draw_part(uint64_t *seed)
{
	return (double)(draw_u64(seed) >> 11) / (double)(1ULL << 53);
}

#endif
