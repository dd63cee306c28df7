/* SPDX-License-Identifier: Apache-2.0 */
/* A snapshot laid open, with one entity's row. */
#include "view/totals.h"

#include <errno.h>
#include <math.h>

#include <wattribute/total.h>

#include "base/cleanup.h"
#include "base/clock.h"

static int open_snapshot(struct watt_snapshot *snap, uint64_t entity_id, uint64_t t_ns,
			 struct watt_totals *ret)
{
	struct watt_totals totals = { .snap = snap,
				      .t_ns = t_ns,
				      .balance.sz = sizeof(totals.balance) };
	int r;

	r = watt_view_new(snap, &totals.view);
	if (r < 0) {
		watt_snapshot_unref(snap);
		return r;
	}
	watt_balance_draw(totals.view, &totals.balance);
	totals.row = entity_id ? watt_snapshot_find_row(snap, entity_id) : NULL;
	watt_totals_done(ret);
	*ret = totals;
	return 0;
}

int watt_totals_take(struct watt_cursor *cursor, uint64_t entity_id, struct watt_totals *ret)
{
	struct watt_snapshot *snap;
	int r;

	r = watt_cursor_snapshot(cursor, &snap);
	return r < 0 ? r : open_snapshot(snap, entity_id, watt_now_ns(), ret);
}

int watt_totals_take_at(struct watt_cursor *cursor, uint64_t entity_id, uint64_t t_ns,
			uint32_t timeout_ms, struct watt_totals *ret)
{
	struct watt_snapshot *snap;
	int r;

	r = watt_cursor_snapshot_at(cursor, t_ns, timeout_ms, &snap);
	return r < 0 ? r : open_snapshot(snap, entity_id, watt_snapshot_get_time_ns(snap), ret);
}

void watt_totals_done(struct watt_totals *totals)
{
	watt_view_free(totals->view);
	watt_snapshot_unref(totals->snap);
	*totals = (struct watt_totals){ 0 };
}

void watt_totals_start(struct watt_totals *totals)
{
	if (totals->row && !totals->is_start)
		totals->balance.energy =
			watt_energy_sub(totals->balance.energy, totals->row->total);
	totals->is_start = true;
}

struct watt_energy watt_totals_get_energy(const struct watt_totals *totals)
{
	return totals->row && !totals->is_start ? totals->row->total : (struct watt_energy){ 0 };
}

struct watt_energy watt_totals_get_domain_energy(const struct watt_totals *totals, size_t domain)
{
	return totals->row && !totals->is_start ? totals->row->energy[domain] :
						  (struct watt_energy){ 0 };
}

uint64_t watt_totals_get_cpu_ns(const struct watt_totals *totals)
{
	return totals->row && !totals->is_start ? totals->row->cpu_ns : 0;
}

struct watt_energy watt_totals_get_machine_energy(const struct watt_totals *totals, size_t domain)
{
	struct watt_energy energy = { 0 };

	if (!totals->view || domain >= totals->view->n_domains)
		return energy;
	energy = totals->view->states[domain]->energy;
	return totals->row && totals->is_start ?
		       watt_energy_sub(energy, totals->row->energy[domain]) :
		       energy;
}

uint64_t watt_totals_get_known_ns(const struct watt_totals *totals)
{
	const struct watt_view *view = totals->view;
	uint64_t t_ns = 0;
	size_t i;

	for (i = 0; i < view->n_domains; i++)
		if (view->domains[i]->is_partition && view->states[i]->t_ns > t_ns)
			t_ns = view->states[i]->t_ns;
	return t_ns ? t_ns : totals->t_ns;
}

int64_t watt_totals_between_nj(struct watt_energy from, struct watt_energy to)
{
	return watt_energy_to_nj(watt_energy_sub(to, from));
}

/* A domain's state with the window that lies between; no window: it told of nothing there. */
static struct watt_domain_state state_between(const struct watt_totals *from,
					      const struct watt_totals *to, size_t domain)
{
	struct watt_domain_state state = *to->view->states[domain];
	const struct watt_domain_state *before =
		domain < from->view->n_domains ? from->view->states[domain] : NULL;

	state.status = WATT_STATUS_OK; /* whatever it is by now */
	state.window_ns = 0;
	/* slow sensors may begin to tell in the middle: of how long that energy is, nobody knows */
	if (!before || !before->t_ns || state.t_ns <= before->t_ns)
		return state;
	state.window_ns = state.t_ns - before->t_ns;
	state.window_nj = watt_totals_between_nj(before->energy, state.energy);
	return state;
}

int watt_totals_find_power(const struct watt_totals *from, const struct watt_totals *to,
			   double *ret_machine_w, struct watt_balance *balance)
{
	size_t n = to->view->n_domains, i;
	_cleanup_free_ struct watt_domain_state *between = calloc(n + 1, sizeof(*between));
	_cleanup_free_ const struct watt_domain_state **states = calloc(n + 1, sizeof(*states));
	const struct watt_view view = {
		.sz = sizeof(view), .domains = to->view->domains, .states = states, .n_domains = n
	};
	struct watt_total total = { .sz = sizeof(total), .power_w = NAN };

	if (!between || !states)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		between[i] = state_between(from, to, i);
		states[i] = &between[i];
	}
	watt_total_draw(&view, &total);
	*ret_machine_w = total.power_w;
	/* Supplies are slow: what began to tell in the middle has its newest window alone. */
	for (i = 0; i < n; i++)
		states[i] = between[i].window_ns ? &between[i] : to->view->states[i];
	watt_balance_look_outside(&view, total.power_w, balance);
	return 0;
}
