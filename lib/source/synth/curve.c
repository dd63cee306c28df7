/* SPDX-License-Identifier: Apache-2.0 */
/* Energy under a power that changes in steps. Knows nothing of who takes it. */
#include "source/synth/curve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

static int64_t energy_after(const struct watt_synth_step *step, uint64_t t_us)
{
	return step->energy_nj + (int64_t)(step->power_mw * (t_us - step->t_us));
}

int watt_synth_curve_step(struct watt_synth_curve *curve, uint64_t t_us, uint64_t power_mw)
{
	struct watt_synth_step step = { .t_us = t_us, .power_mw = power_mw };
	int r;

	if (curve->n) {
		struct watt_synth_step *last = &curve->steps[curve->n - 1];

		if (last->power_mw == power_mw)
			return 0;
		if (last->t_us == t_us) {
			last->power_mw = power_mw;
			return 0;
		}
		step.energy_nj = energy_after(last, t_us);
	}
	r = watt_grow((void **)&curve->steps, &curve->cap, curve->n, sizeof(*curve->steps));
	if (r < 0)
		return r;
	curve->steps[curve->n++] = step;
	return 0;
}

/* How many steps are at or before t_us. */
static size_t count_until(const struct watt_synth_curve *curve, uint64_t t_us)
{
	size_t low = 0, high = curve->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (curve->steps[mid].t_us <= t_us)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

int64_t watt_synth_curve_energy_nj(const struct watt_synth_curve *curve, uint64_t t_us)
{
	size_t n = count_until(curve, t_us);

	return n ? energy_after(&curve->steps[n - 1], t_us) : 0;
}

void watt_synth_curve_forget(struct watt_synth_curve *curve, uint64_t t_us)
{
	size_t n = count_until(curve, t_us);

	if (n < 2)
		return;
	curve->n -= n - 1;
	memmove(curve->steps, curve->steps + n - 1, curve->n * sizeof(*curve->steps));
}

void watt_synth_curve_done(struct watt_synth_curve *curve)
{
	free(curve->steps);
	*curve = (struct watt_synth_curve){ 0 };
}
