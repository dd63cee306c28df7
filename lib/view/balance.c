/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over the partition: the domains that cover the machine's energy exactly once. */
#include <wattribute/balance.h>

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/sized.h"
#include "base/util.h"
#include "view/total.h"

static void add_key(struct watt_balance *sum, enum watt_share_key key)
{
	const char *name = watt_share_key_name(key);
	size_t used = strlen(sum->keys);

	if (!strstr(sum->keys, name))
		snprintf(sum->keys + used, sizeof(sum->keys) - used, "%s%s", used ? ", " : "",
			 name);
}

static void take_total(struct watt_balance *sum, const struct watt_total *total)
{
	sum->is_known = total->n_known > 0;
	sum->has_power = total->n_powers > 0;
	sum->has_baseline = total->has_baseline;
	sum->is_baseline_ready = total->is_baseline_ready;
	sum->origin = total->origin;
	sum->uncertainty_ppm = total->uncertainty_ppm;
	sum->energy = total->energy;
	sum->idle = total->idle;
	sum->unattributed = total->unattributed;
	sum->shared_idle = total->shared_idle;
	sum->baseline_w = total->baseline_w;
	sum->baseline_from = total->baseline_from;
	sum->baseline_uncertainty_w = total->baseline_uncertainty_w;
	if (sum->has_power) {
		sum->power_w = total->power_w;
		sum->idle_w = total->idle_w;
		sum->unattributed_w = total->unattributed_w;
	}
	watt_strlcpy(sum->missing, total->missing, sizeof(sum->missing));
}

/* It is there and does not answer: what the others measure is not all of the machine. */
static bool is_lost(const struct watt_domain_state *state)
{
	return state->status == WATT_STATUS_BROKEN || state->status == WATT_STATUS_FORBIDDEN ||
	       state->status == WATT_STATUS_STALE;
}

/* A supply that nothing contains is where the machine's power comes in, or into a battery. */
static void add_supply(struct watt_balance *sum, const struct watt_domain *domain,
		       const struct watt_domain_state *state)
{
	double power_w = watt_view_power_w(state, state->window_nj);
	bool is_without = isnan(power_w) && is_lost(state);
	size_t used = strlen(sum->outside);

	if (domain->kind != WATT_DOMAIN_SUPPLY || domain->parent >= 0 || domain->is_partition ||
	    domain->origin == WATT_ORIGIN_ESTIMATED)
		return;
	if (!is_without && (isnan(power_w) || power_w == 0))
		return;
	if (!is_without)
		sum->outside_w += power_w;
	snprintf(sum->outside + used, sizeof(sum->outside) - used, "%s%s%s", used ? ", " : "",
		 is_without  ? "without " :
		 power_w < 0 ? "less " :
			       "",
		 domain->path);
}

static void clear_outside(struct watt_balance *sum)
{
	sum->has_outside = false;
	sum->outside_w = 0;
	sum->outside[0] = '\0';
}

/* It must be more than what is known of the inside, or it is not all of the machine. */
static void judge_outside(struct watt_balance *sum, double inside_w)
{
	sum->has_outside = sum->outside_w > 0 && (isnan(inside_w) || sum->outside_w >= inside_w);
	if (!sum->has_outside)
		clear_outside(sum);
}

static void look_outside(struct watt_balance *sum, const struct watt_view *view, double inside_w)
{
	size_t i;

	clear_outside(sum);
	for (i = 0; i < view->n_domains; i++)
		add_supply(sum, view->domains[i], view->states[i]);
	judge_outside(sum, inside_w);
}

int watt_balance_look_outside(const struct watt_view *view, double inside_w,
			      struct watt_balance *balance)
{
	struct watt_balance sum;
	int r;

	if (!view)
		return -EINVAL;
	r = watt_sized_take(balance, &sum, sizeof(sum));
	if (r < 0)
		return r;
	look_outside(&sum, view, inside_w);
	watt_sized_give(&sum, sizeof(sum), balance);
	return 0;
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

static double mean_w(const struct watt_balance *sum, const struct watt_view *view)
{
	uint64_t elapsed_ns = view->t_ns - view->start_ns;

	if (!sum->is_known || !elapsed_ns)
		return NAN;
	return watt_energy_to_j(sum->energy) / ((double)elapsed_ns / 1e9);
}

int watt_balance_draw(const struct watt_view *view, struct watt_balance *ret)
{
	struct watt_balance sum = { .idle_policy = view->idle_policy };
	struct watt_total total = { .sz = sizeof(total) };
	struct watt_energy parts;
	size_t i;

	if (!watt_sized_is_valid(ret))
		return -EINVAL;
	watt_total_draw(view, &total);
	take_total(&sum, &total);
	sum.mean_w = mean_w(&sum, view);
	for (i = 0; i < view->n_domains; i++)
		if (view->domains[i]->is_partition && watt_view_has_energy(view->states[i]))
			add_key(&sum, view->states[i]->key);
	look_outside(&sum, view, sum.has_power ? sum.power_w : NAN);
	for (i = 0; i < view->n_rows; i++)
		if (watt_view_is_user(view->rows[i]->entity->kind))
			add_row(&sum, view, view->rows[i]);
	parts = watt_energy_add(watt_energy_add(sum.attributed, sum.idle), sum.unattributed);
	sum.is_exact = watt_energy_compare(sum.energy, parts) == 0;
	watt_sized_give(&sum, sizeof(sum), ret);
	return 0;
}
