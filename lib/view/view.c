/* SPDX-License-Identifier: Apache-2.0 */
/* A snapshot as arrays. It copies pointers only. */
#include "view/view.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

int watt_view_init(struct watt_view *view, const struct watt_snapshot *snap)
{
	struct watt_view v = { .sz = sizeof(v),
			       .n_domains = watt_snapshot_get_domain_count(snap),
			       .n_rows = watt_snapshot_get_row_count(snap),
			       .n_gauges = watt_snapshot_get_gauge_count(snap) };
	size_t i;

	v.domains = calloc(v.n_domains + 1, sizeof(*v.domains));
	v.states = calloc(v.n_domains + 1, sizeof(*v.states));
	v.rows = calloc(v.n_rows + 1, sizeof(*v.rows));
	v.gauges = calloc(v.n_gauges + 1, sizeof(*v.gauges));
	if (!v.domains || !v.states || !v.rows || !v.gauges) {
		watt_view_done(&v);
		return -ENOMEM;
	}
	for (i = 0; i < v.n_domains; i++) {
		v.domains[i] = watt_snapshot_get_domain(snap, i);
		v.states[i] = watt_snapshot_get_domain_state(snap, i);
	}
	for (i = 0; i < v.n_rows; i++)
		v.rows[i] = watt_snapshot_get_row(snap, i);
	for (i = 0; i < v.n_gauges; i++)
		v.gauges[i] = watt_snapshot_get_gauge(snap, i);
	v.quality = watt_snapshot_get_quality(snap);
	v.idle_policy = watt_snapshot_get_idle_policy(snap);
	v.t_ns = watt_snapshot_get_time_ns(snap);
	v.start_ns = watt_snapshot_get_start_ns(snap);
	v.window_ns = v.t_ns - watt_snapshot_get_window_start_ns(snap);
	*view = v;
	return 0;
}

void watt_view_done(struct watt_view *view)
{
	free(view->domains);
	free(view->states);
	free(view->rows);
	free(view->gauges);
	*view = (struct watt_view){ 0 };
}

int watt_view_new(const struct watt_snapshot *snap, struct watt_view **ret)
{
	struct watt_view *view = calloc(1, sizeof(*view));
	int r;

	if (!view)
		return -ENOMEM;
	r = watt_view_init(view, snap);
	if (r < 0) {
		free(view);
		return r;
	}
	*ret = view;
	return 0;
}

struct watt_view *watt_view_free(struct watt_view *view)
{
	if (view)
		watt_view_done(view);
	free(view);
	return NULL;
}

int watt_view_has_energy(const struct watt_domain_state *state)
{
	return state->status == WATT_STATUS_OK || !watt_energy_is_zero(state->energy);
}

bool watt_view_is_known(const struct watt_domain_state *state)
{
	return watt_view_has_energy(state) && state->window_ns > 0;
}

double watt_view_power_w(const struct watt_domain_state *state, int64_t window_nj)
{
	/* nJ per ns are watts. */
	if (state->status != WATT_STATUS_OK || state->window_ns == 0)
		return NAN;
	return (double)window_nj / (double)state->window_ns;
}

double watt_view_row_w(const struct watt_view *view, const struct watt_row *row)
{
	double sum_w = 0;
	bool is_known = false;
	size_t i;

	for (i = 0; i < view->n_domains; i++) {
		double power_w;

		if (!view->domains[i]->is_partition)
			continue;
		power_w = watt_view_power_w(view->states[i], row->window_nj[i]);
		if (isnan(power_w))
			continue;
		sum_w += power_w;
		is_known = true;
	}
	return is_known ? sum_w : NAN;
}

double watt_view_uncertainty_w(const struct watt_view *view, const struct watt_row *row)
{
	const double *idle_j = row->window_idle_uncertainty_j;
	double variance_w2 = 0, idle_w = 0;
	size_t i;

	for (i = 0; i < view->n_domains; i++) {
		uint64_t window_ns = view->states[i]->window_ns;
		double part_w, part_idle_w;

		if (!view->domains[i]->is_partition || window_ns == 0 || row->window_nj[i] == 0)
			continue;
		part_w = row->window_uncertainty_j[i] * 1e9 / (double)window_ns;
		part_idle_w = idle_j ? idle_j[i] * 1e9 / (double)window_ns : 0;
		variance_w2 += part_w * part_w - part_idle_w * part_idle_w;
		idle_w += part_idle_w;
	}
	return sqrt((variance_w2 < 0 ? 0 : variance_w2) + idle_w * idle_w);
}

bool watt_view_has_used(const struct watt_view *view, const struct watt_row *row)
{
	size_t i;

	if (row->window_cpu_ns)
		return true;
	for (i = 0; i < view->n_domains; i++)
		if (row->window_nj[i])
			return true;
	return false;
}

int watt_view_is_kernel(enum watt_entity_kind kind)
{
	return kind == WATT_ENTITY_KTHREAD || kind == WATT_ENTITY_IRQ ||
	       kind == WATT_ENTITY_SOFTIRQ;
}

int watt_view_is_gpu(const struct watt_domain *domain)
{
	return domain->kind == WATT_DOMAIN_GPU || domain->kind == WATT_DOMAIN_GPU_INSTANCE ||
	       (domain->kind == WATT_DOMAIN_UNCORE && domain->key == WATT_KEY_GPU_TIME);
}

int watt_view_is_whole_gpu(const struct watt_view *view, size_t index)
{
	int32_t parent = view->domains[index]->parent;

	if (!watt_view_is_gpu(view->domains[index]))
		return 0;
	for (; parent >= 0; parent = view->domains[parent]->parent)
		if (watt_view_is_gpu(view->domains[parent]))
			return 0;
	return 1;
}

int watt_view_is_user(enum watt_entity_kind kind)
{
	return kind == WATT_ENTITY_PROCESS || kind == WATT_ENTITY_VM ||
	       kind == WATT_ENTITY_EXITED || watt_view_is_kernel(kind);
}
