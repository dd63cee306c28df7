/* SPDX-License-Identifier: Apache-2.0 */
/* A snapshot as arrays. It copies pointers only. */
#include "view.h"

#include <math.h>
#include <stdlib.h>

#include "xalloc.h"

void view_init(struct view *view, const struct watt_snapshot *snap)
{
	size_t i;

	view->n_domains = watt_snapshot_get_domain_count(snap);
	view->domains = xcalloc(view->n_domains, sizeof(*view->domains));
	view->states = xcalloc(view->n_domains, sizeof(*view->states));
	for (i = 0; i < view->n_domains; i++) {
		view->domains[i] = watt_snapshot_get_domain(snap, i);
		view->states[i] = watt_snapshot_get_domain_state(snap, i);
	}
	view->n_rows = watt_snapshot_get_row_count(snap);
	view->rows = xcalloc(view->n_rows, sizeof(*view->rows));
	for (i = 0; i < view->n_rows; i++)
		view->rows[i] = watt_snapshot_get_row(snap, i);
	view->quality = watt_snapshot_get_quality(snap);
	view->idle_policy = watt_snapshot_get_idle_policy(snap);
	view->t_ns = watt_snapshot_get_time_ns(snap);
	view->start_ns = watt_snapshot_get_start_ns(snap);
	view->window_ns = view->t_ns - watt_snapshot_get_window_start_ns(snap);
}

void view_done(struct view *view)
{
	free(view->domains);
	free(view->states);
	free(view->rows);
	*view = (struct view){ 0 };
}

bool view_has_energy(const struct watt_domain_state *state)
{
	return state->status == WATT_STATUS_OK || !watt_energy_is_zero(state->energy);
}

double view_power_w(const struct watt_domain_state *state, int64_t window_nj)
{
	/* nJ per ns are watts. */
	if (state->status != WATT_STATUS_OK || state->window_ns == 0)
		return NAN;
	return (double)window_nj / (double)state->window_ns;
}

bool view_is_kernel(enum watt_entity_kind kind)
{
	return kind == WATT_ENTITY_KTHREAD || kind == WATT_ENTITY_IRQ ||
	       kind == WATT_ENTITY_SOFTIRQ;
}

bool view_is_user(enum watt_entity_kind kind)
{
	return kind == WATT_ENTITY_PROCESS || kind == WATT_ENTITY_VM ||
	       kind == WATT_ENTITY_EXITED || view_is_kernel(kind);
}
