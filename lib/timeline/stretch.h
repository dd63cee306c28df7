/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stretch: the time between two values of a sensor that looks at a part of it, its end. How its
 * energy lies in time follows from what is known of it: the power that was seen before it and at its
 * end, and its whole energy, if somebody counts that. Integers throughout, so that every machine
 * finds the same. Pure.
 */
#ifndef WATT_TIMELINE_STRETCH_H
#define WATT_TIMELINE_STRETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"

struct watt_stretch {
	uint64_t length_ns; /* never 0 */
	uint64_t seen_ns;   /* so much of its end was seen */
	int64_t seen_uw;    /* the mean of that */
	int64_t before_uw;  /* that of what was seen before it */
	bool has_before;
	bool has_energy;
	watt_i128 energy_nj; /* of all of it */
};

/* From here on its power is another one. */
struct watt_bend {
	uint64_t at_ns;      /* since its beginning */
	watt_i128 energy_nj; /* until then */
};

#define WATT_STRETCH_MAX_BENDS 3

/*
 * In order; the last one is the end of the stretch, with all of its energy. Where energy is known,
 * never below 0, and the power is not, it is exact; energy never goes back where no power is below
 * 0. Returns how many.
 */
size_t watt_stretch_find_bends(const struct watt_stretch *stretch,
			       struct watt_bend ret[WATT_STRETCH_MAX_BENDS]);

#endif
