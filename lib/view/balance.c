/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over the partition: the domains that cover the machine's energy exactly once. */
#include <wattribute/balance.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "base/sized.h"

static void add_key(struct watt_balance *sum, enum watt_share_key key)
{
	const char *name = watt_share_key_name(key);
	size_t used = strlen(sum->keys);

	if (!strstr(sum->keys, name))
		snprintf(sum->keys + used, sizeof(sum->keys) - used, "%s%s", used ? ", " : "",
			 name);
}

static void add_power(struct watt_balance *sum, const struct watt_domain_state *state)
{
	if (isnan(watt_view_power_w(state, 0)))
		return;
	sum->has_power = 1;
	sum->power_w += watt_view_power_w(state, state->window_nj);
	sum->idle_w += watt_view_power_w(state, state->window_idle_nj);
	sum->unattributed_w += watt_view_power_w(state, state->window_unattributed_nj);
}

static void add_missing(struct watt_balance *sum, const char *path)
{
	static const char more[] = ", ...";
	size_t used = strlen(sum->missing), room = sizeof(sum->missing) - sizeof(more) + 1;

	if (used >= room)
		return;
	if (used + strlen(path) + 2 < room)
		snprintf(sum->missing + used, room - used, "%s%s", used ? ", " : "", path);
	else
		snprintf(sum->missing + used, sizeof(sum->missing) - used, "%s",
			 used ? more : more + 2);
}

static void add_domain(struct watt_balance *sum, const struct watt_domain *domain,
		       const struct watt_domain_state *state)
{
	if (watt_domain_is_missing(domain, state))
		add_missing(sum, domain->path);
	if (!watt_view_has_energy(state))
		return;
	sum->is_known = 1;
	sum->energy = watt_energy_add(sum->energy, state->energy);
	sum->idle = watt_energy_add(sum->idle, state->idle);
	sum->unattributed = watt_energy_add(sum->unattributed, state->unattributed);
	sum->shared_idle = watt_energy_add(sum->shared_idle, state->shared_idle);
	/* Where nothing can be shared, nobody needs to know what idle is. */
	if (state->key != WATT_KEY_NONE) {
		sum->has_baseline = 1;
		sum->is_baseline_ready = sum->is_baseline_ready && state->baseline_ready;
	}
	sum->baseline_w += (double)state->baseline_uw / 1e6;
	if (domain->origin > sum->origin)
		sum->origin = domain->origin;
	if (domain->uncertainty_ppm > sum->uncertainty_ppm)
		sum->uncertainty_ppm = domain->uncertainty_ppm;
	add_key(sum, state->key);
	add_power(sum, state);
}

/* A supply that nothing contains is where the machine's power comes in, or into a battery. */
static void add_supply(struct watt_balance *sum, const struct watt_domain *domain,
		       const struct watt_domain_state *state)
{
	double power_w = watt_view_power_w(state, state->window_nj);
	size_t used = strlen(sum->outside);

	if (domain->kind != WATT_DOMAIN_SUPPLY || domain->parent >= 0 || domain->is_partition ||
	    domain->origin == WATT_ORIGIN_ESTIMATED || isnan(power_w) || power_w == 0)
		return;
	sum->outside_w += power_w;
	snprintf(sum->outside + used, sizeof(sum->outside) - used, "%s%s%s", used ? ", " : "",
		 power_w < 0 ? "less " : "", domain->path);
}

/* It must be more than what is known of the inside, or it is not all of the machine. */
static void judge_outside(struct watt_balance *sum)
{
	sum->has_outside = sum->outside_w > 0 &&
			   (!sum->has_power || sum->outside_w >= sum->power_w);
	if (sum->has_outside)
		return;
	sum->outside_w = 0;
	sum->outside[0] = '\0';
}

static void add_row(struct watt_balance *sum, const struct watt_view *view,
		    const struct watt_row *row)
{
	size_t i;

	for (i = 0; i < view->n_domains; i++) {
		double power_w = watt_view_power_w(view->states[i], row->window_nj[i]);

		if (!view->domains[i]->is_partition)
			continue;
		sum->attributed = watt_energy_add(sum->attributed, row->energy[i]);
		if (!isnan(power_w))
			sum->attributed_w += power_w;
	}
}

int watt_balance_draw(const struct watt_view *view, struct watt_balance *ret)
{
	struct watt_balance sum = { .is_baseline_ready = 1, .idle_policy = view->idle_policy };
	struct watt_energy parts;
	size_t i;

	if (!watt_sized_is_valid(ret))
		return -EINVAL;
	for (i = 0; i < view->n_domains; i++)
		if (view->domains[i]->is_partition)
			add_domain(&sum, view->domains[i], view->states[i]);
	for (i = 0; i < view->n_domains; i++)
		add_supply(&sum, view->domains[i], view->states[i]);
	judge_outside(&sum);
	for (i = 0; i < view->n_rows; i++)
		if (watt_view_is_user(view->rows[i]->entity->kind))
			add_row(&sum, view, view->rows[i]);
	sum.is_baseline_ready = sum.is_baseline_ready && sum.has_baseline;
	parts = watt_energy_add(watt_energy_add(sum.attributed, sum.idle), sum.unattributed);
	sum.is_exact = watt_energy_compare(sum.energy, parts) == 0;
	watt_sized_give(&sum, sizeof(sum), ret);
	return 0;
}
