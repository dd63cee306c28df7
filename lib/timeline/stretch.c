/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was seen went as it was seen. In the rest, power goes from what it was before to what it is
 * behind in one step, at the instant at which the energy comes out right; where nobody knows the
 * energy, in the middle. Where the energy is more than that or less, something else happened there,
 * and it is spread evenly. It is not smoothed: a GPU's power has edges, and a curve that is smooth
 * puts them where they were not.
 */
#include "timeline/stretch.h"

/* A step of a smaller part of the power is none. */
#define LEAST_STEP 32

static watt_i128 energy_nj(int64_t power_uw, uint64_t length_ns)
{
	return (watt_i128)power_uw * (watt_i128)length_ns / 1000000;
}

static int64_t size_of(int64_t value)
{
	return value < 0 ? -value : value;
}

static bool is_step(const struct watt_stretch *stretch)
{
	watt_i128 step_uw = (watt_i128)stretch->seen_uw - stretch->before_uw;
	int64_t most_uw = WATT_MAX(size_of(stretch->before_uw), size_of(stretch->seen_uw));

	return stretch->has_before && (step_uw < 0 ? -step_uw : step_uw) > most_uw / LEAST_STEP;
}

/* When it happened in the unseen part; false: one step does not explain its energy. */
static bool find_step(const struct watt_stretch *stretch, uint64_t unseen_ns, watt_i128 unseen_nj,
		      struct watt_bend *ret)
{
	watt_i128 before_nj = energy_nj(stretch->before_uw, unseen_ns);
	watt_i128 behind_nj = energy_nj(stretch->seen_uw, unseen_ns);

	if (!is_step(stretch) || before_nj == behind_nj ||
	    unseen_nj < WATT_MIN(before_nj, behind_nj) ||
	    unseen_nj > WATT_MAX(before_nj, behind_nj))
		return false;
	/* energies of GPUs and times of seconds: far from 128 bits */
	ret->at_ns = (uint64_t)((unseen_nj - behind_nj) * (watt_i128)unseen_ns /
				(before_nj - behind_nj));
	ret->energy_nj = energy_nj(stretch->before_uw, ret->at_ns);
	return ret->at_ns && ret->at_ns < unseen_ns;
}

size_t watt_stretch_find_bends(const struct watt_stretch *stretch,
			       struct watt_bend ret[WATT_STRETCH_MAX_BENDS])
{
	uint64_t seen_ns = WATT_MIN(stretch->seen_ns, stretch->length_ns);
	uint64_t unseen_ns = stretch->length_ns - seen_ns;
	watt_i128 seen_nj = energy_nj(stretch->seen_uw, seen_ns), unseen_nj;
	int64_t before_uw = stretch->has_before ? stretch->before_uw : stretch->seen_uw;
	size_t n = 0;

	if (stretch->has_energy)
		unseen_nj = stretch->energy_nj - seen_nj;
	else
		unseen_nj =
			(energy_nj(before_uw, unseen_ns) + energy_nj(stretch->seen_uw, unseen_ns)) /
			2;
	/* what was seen is not of this stretch, then: nothing is known of it but its energy */
	if (stretch->has_energy && unseen_nj < 0)
		unseen_ns = 0;
	if (unseen_ns && find_step(stretch, unseen_ns, unseen_nj, &ret[n]))
		n++;
	if (unseen_ns && seen_ns)
		ret[n++] = (struct watt_bend){ unseen_ns, unseen_nj };
	ret[n++] = (struct watt_bend){ stretch->length_ns, stretch->has_energy ?
								   stretch->energy_nj :
								   unseen_nj + seen_nj };
	return n;
}
