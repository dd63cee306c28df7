/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of snapshots become steps; a step keeps what a domain took over what is known of it. */
#include "history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

static void widen(struct history *history, size_t n)
{
	size_t i;

	history->energy_nj = xrealloc(history->energy_nj, n, sizeof(*history->energy_nj));
	history->known_ns = xrealloc(history->known_ns, n, sizeof(*history->known_ns));
	for (i = history->n_domains; i < n; i++) {
		history->energy_nj[i] = 0;
		history->known_ns[i] = 0;
	}
	history->n_domains = n;
}

/* An instance is a part of its GPU, and has its watts of the same time: they add up to the GPU's. */
static uint64_t time_of(const struct history *history, const struct watt_snapshot *snap, size_t i)
{
	const struct watt_domain *domain =
		i < watt_snapshot_get_domain_count(snap) ? watt_snapshot_get_domain(snap, i) : NULL;
	bool is_instance = domain && domain->kind == WATT_DOMAIN_GPU_INSTANCE &&
			   domain->parent >= 0;

	return history->known_ns[i] && is_instance ? history->known_ns[domain->parent] :
						     history->known_ns[i];
}

static double power_w(const struct history *history, const struct watt_snapshot *snap, size_t i)
{
	uint64_t time_ns = time_of(history, snap, i);

	return time_ns ? (double)history->energy_nj[i] / (double)time_ns : NAN;
}

static void end_step(struct history *history, const struct watt_snapshot *snap)
{
	size_t at = (history->first + history->n) % HISTORY_POINTS, i;
	struct history_point *point = &history->points[at];

	if (history->n == HISTORY_POINTS)
		history->first = (history->first + 1) % HISTORY_POINTS;
	else
		history->n++;
	point->power_w = xrealloc(point->power_w, history->n_domains, sizeof(*point->power_w));
	point->n_domains = history->n_domains;
	point->realtime_ns = watt_snapshot_get_realtime_ns(snap);
	for (i = 0; i < history->n_domains; i++)
		point->power_w[i] = (float)power_w(history, snap, i);
	for (i = 0; i < history->n_domains; i++) {
		history->energy_nj[i] = 0;
		history->known_ns[i] = 0;
	}
}

bool history_add(struct history *history, const struct watt_snapshot *snap)
{
	uint64_t t_ns = watt_snapshot_get_time_ns(snap);
	size_t n = watt_snapshot_get_domain_count(snap), i;

	if (n > history->n_domains)
		widen(history, n);
	if (!history->begin_ns)
		history->begin_ns = watt_snapshot_get_window_start_ns(snap);
	for (i = 0; i < n; i++) {
		const struct watt_domain_state *state = watt_snapshot_get_domain_state(snap, i);

		if (state->status != WATT_STATUS_OK)
			continue;
		history->energy_nj[i] += state->window_nj;
		history->known_ns[i] += state->window_ns;
	}
	if (t_ns - history->begin_ns < HISTORY_STEP_NS - HISTORY_STEP_NS / 10)
		return false;
	end_step(history, snap);
	history->begin_ns = t_ns;
	return true;
}

const struct history_point *history_get(const struct history *history, size_t index)
{
	return index < history->n ? &history->points[history_slot(history, index)] : NULL;
}

void history_done(struct history *history)
{
	size_t i;

	for (i = 0; i < HISTORY_POINTS; i++)
		free(history->points[i].power_w);
	free(history->energy_nj);
	free(history->known_ns);
	memset(history, 0, sizeof(*history));
}
