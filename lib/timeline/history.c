/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of doubles: of energy that was counted for years, differences are good to a uJ. */
#include "timeline/history.h"

#include <errno.h>
#include <stdlib.h>

int watt_history_reserve(struct watt_history *history, uint64_t n_steps)
{
	double *ring;
	uint64_t step;

	n_steps = WATT_MIN(n_steps, (uint64_t)WATT_HISTORY_MAX_STEPS);
	if (n_steps <= WATT_MAX(history->n_steps, (uint64_t)WATT_HISTORY_STEPS))
		return 0;
	if (history->energy_j) {
		ring = malloc(n_steps * sizeof(*ring));
		if (!ring)
			return -ENOMEM;
		for (step = history->first; step < history->end; step++)
			ring[step % n_steps] = watt_history_get_j(history, step);
		free(history->energy_j);
		history->energy_j = ring;
	}
	history->n_steps = n_steps;
	return 0;
}

int watt_history_add(struct watt_history *history, uint64_t t0_ns, watt_i128 energy0_nj,
		     uint64_t t1_ns, watt_i128 energy1_nj)
{
	uint64_t step = t0_ns / WATT_HISTORY_STEP_NS + 1, last = t1_ns / WATT_HISTORY_STEP_NS;
	double e0_j = (double)energy0_nj / 1e9, rise_j = (double)(energy1_nj - energy0_nj) / 1e9;

	if (!history->energy_j) {
		if (!history->n_steps)
			history->n_steps = WATT_HISTORY_STEPS;
		history->energy_j = malloc(history->n_steps * sizeof(*history->energy_j));
		if (!history->energy_j)
			return -ENOMEM;
		history->first = history->end = step;
	}
	if (step != history->end || last > step + history->n_steps)
		history->first = history->end = WATT_MAX(step, last); /* nobody was looking */
	for (step = history->end; step <= last; step++)
		history->energy_j[step % history->n_steps] =
			e0_j + rise_j * (double)(step * WATT_HISTORY_STEP_NS - t0_ns) /
				       (double)(t1_ns - t0_ns);
	history->end = WATT_MAX(history->end, last + 1);
	if (history->end - history->first > history->n_steps)
		history->first = history->end - history->n_steps;
	return 0;
}

bool watt_history_find_j(const struct watt_history *history, uint64_t t_ns, double *ret_j)
{
	uint64_t step = t_ns / WATT_HISTORY_STEP_NS, part_ns = t_ns % WATT_HISTORY_STEP_NS;
	double e0_j;

	if (!history->energy_j || step < history->first || step + (part_ns > 0) >= history->end)
		return false;
	e0_j = watt_history_get_j(history, step);
	*ret_j = e0_j;
	if (part_ns)
		*ret_j += (watt_history_get_j(history, step + 1) - e0_j) * (double)part_ns /
			  (double)WATT_HISTORY_STEP_NS;
	return true;
}

void watt_history_done(struct watt_history *history)
{
	free(history->energy_j);
	*history = (struct watt_history){ 0 };
}
