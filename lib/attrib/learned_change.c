/* SPDX-License-Identifier: Apache-2.0 */
/* How fast watts change, so that what is known of them grows old. Built with -ffp-contract=off. */
#include "attrib/learned_state.h"

#include "base/util.h"

#define CHANGE_LEAST 0.2 /* of how fast watts may change, where slices fit */
#define CHANGE_MOST 5    /* and where they don't */

/* How far watts may come to lie from what is expected of them, in squared means. */
static double spread_of(const struct watt_learned *l, const struct learner *one)
{
	return one->is_common ? 0 : l->spread[one->is_process];
}

double watt_learned_growth(const struct watt_learned *l, size_t row)
{
	double mean = watt_learned_mean_w(l);

	return 2 * spread_of(l, &l->list[row]) * squared(mean) / l->habit.drift_s;
}

void watt_learned_grow(struct watt_learned *l, double dt_s, double squared_sigmas)
{
	double seen = WATT_MAX(WATT_MIN(squared_sigmas, CHANGE_MOST), CHANGE_LEAST);
	double mean = watt_learned_mean_w(l), back = WATT_MIN(dt_s / l->habit.drift_s, 1.0);
	size_t i;

	for (i = 0; i < l->n; i++)
		*cov_at(l, i, i) += (l->h[i] > 0 ? seen : 1) * 2 * back *
				    spread_of(l, &l->list[i]) * squared(mean);
}
