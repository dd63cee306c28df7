/* SPDX-License-Identifier: Apache-2.0 */
/* A sequence of pseudo-random numbers that its seed decides, the same on every machine. */
#ifndef WATT_SOURCE_SYNTH_RNG_H
#define WATT_SOURCE_SYNTH_RNG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"

struct watt_synth_rng {
	uint64_t state;
};

static inline uint64_t watt_synth_rng_next(struct watt_synth_rng *rng)
{
	rng->state += 0x9e3779b97f4a7c15ULL;
	return watt_hash_u64(rng->state);
}

/* From 0 to n - 1; n is not 0. */
static inline uint64_t watt_synth_rng_below(struct watt_synth_rng *rng, uint64_t n)
{
	return (uint64_t)(((watt_u128)watt_synth_rng_next(rng) * n) >> 64);
}

static inline bool watt_synth_rng_chance(struct watt_synth_rng *rng, uint32_t ppm)
{
	return watt_synth_rng_below(rng, 1000000) < ppm;
}

#endif
