/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's total: a sum over the partition that says what it lacks. */
#include "view/total.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/sized.h"
#include "base/util.h"

void watt_total_init(struct watt_total *total)
{
	*total = (struct watt_total){ .sz = sizeof(*total),
				      .status = WATT_STATUS_ABSENT,
				      .is_baseline_ready = 0,
				      .baseline_from = WATT_BASELINE_GIVEN,
				      .power_w = NAN,
				      .idle_w = NAN,
				      .unattributed_w = NAN };
}

/* "a, b, ..." */
static void add_path(char *list, size_t size, const char *path)
{
	static const char more[] = ", ...";
	size_t used = strlen(list), room = size - sizeof(more) + 1;

	if (used >= room || (used >= 3 && !strcmp(list + used - 3, "...")))
		return;
	if (used + strlen(path) + 2 < room)
		snprintf(list + used, room - used, "%s%s", used ? ", " : "", path);
	else
		snprintf(list + used, size - used, "%s", used ? more : more + 2);
}

static void add_missing(struct watt_total *total, const char *path)
{
	total->n_missing++;
	add_path(total->missing, sizeof(total->missing), path);
	snprintf(total->why, sizeof(total->why), "incomplete: no energy of %s is known",
		 total->missing);
}

static void add_energy(struct watt_total *total, const struct watt_domain_state *state)
{
	total->energy = watt_energy_add(total->energy, state->energy);
	total->idle = watt_energy_add(total->idle, state->idle);
	total->unattributed = watt_energy_add(total->unattributed, state->unattributed);
	total->shared_idle = watt_energy_add(total->shared_idle, state->shared_idle);
	total->window_nj += state->window_nj;
	total->window_idle_nj += state->window_idle_nj;
	total->window_unattributed_nj += state->window_unattributed_nj;
	total->window_shared_idle_nj += state->window_shared_idle_nj;
}

static void add_power(struct watt_total *total, const struct watt_domain_state *state)
{
	if (isnan(watt_view_power_w(state, 0)))
		return;
	if (!total->n_powers++)
		total->power_w = total->idle_w = total->unattributed_w = 0;
	total->power_w += watt_view_power_w(state, state->window_nj);
	total->idle_w += watt_view_power_w(state, state->window_idle_nj);
	total->unattributed_w += watt_view_power_w(state, state->window_unattributed_nj);
}

/* How much a domain knows of its idle power. */
static int knowledge_of(enum watt_baseline_from from)
{
	static const int known[] = { [WATT_BASELINE_UNKNOWN] = 0,
				     [WATT_BASELINE_EXTRAPOLATED] = 1,
				     [WATT_BASELINE_SEEN] = 2,
				     [WATT_BASELINE_GIVEN] = 3 };

	return known[from];
}

/* Where nothing can be shared, nobody needs to know what idle is. */
static void add_baseline(struct watt_total *total, const struct watt_domain_state *state)
{
	total->baseline_w += (double)state->baseline_uw / 1e6;
	if (state->key == WATT_KEY_NONE)
		return;
	total->is_baseline_ready = (total->is_baseline_ready || !total->has_baseline) &&
				   state->baseline_ready;
	total->has_baseline = 1;
	if (knowledge_of(state->baseline_from) < knowledge_of(total->baseline_from))
		total->baseline_from = state->baseline_from;
	total->baseline_uncertainty_w += state->baseline_uncertainty_uw == UINT64_MAX ?
						 NAN :
						 (double)state->baseline_uncertainty_uw / 1e6;
}

/* The first domain that has not told says why the sum is not complete. */
static void add_status(struct watt_total *total, const struct watt_domain_state *state,
		       bool is_complete)
{
	enum watt_status status = is_complete ? WATT_STATUS_OK : state->status;

	if (total->n_domains == 1 || (total->status == WATT_STATUS_OK && !is_complete))
		total->status = status;
}

void watt_total_add(struct watt_total *total, const struct watt_domain *domain,
		    const struct watt_domain_state *state)
{
	bool is_missing = watt_domain_is_missing(domain, state);
	bool is_known = watt_view_has_energy(state);

	if (!domain->is_partition)
		return;
	total->n_domains++;
	add_status(total, state, is_known && !is_missing);
	if (is_missing)
		add_missing(total, domain->path);
	if (!is_known)
		return;
	total->n_known++;
	add_path(total->domains, sizeof(total->domains), domain->path);
	add_energy(total, state);
	add_power(total, state);
	add_baseline(total, state);
	if (domain->origin > total->origin)
		total->origin = domain->origin;
	if (domain->uncertainty_ppm > total->uncertainty_ppm)
		total->uncertainty_ppm = domain->uncertainty_ppm;
}

/* What a total is of: a view, or a snapshot as it is. */
struct parts {
	const struct watt_view *view; /* NULL: of the snapshot */
	const struct watt_snapshot *snap;
	size_t n;
};

static const struct watt_domain *domain_of(const struct parts *parts, size_t i)
{
	return parts->view ? parts->view->domains[i] : watt_snapshot_get_domain(parts->snap, i);
}

static const struct watt_domain_state *state_of(const struct parts *parts, size_t i)
{
	return parts->view ? parts->view->states[i] :
			     watt_snapshot_get_domain_state(parts->snap, i);
}

/* The domain that is what is left of a whole that has this part, and so what the part didn't tell. */
static int find_rest(const struct parts *parts, size_t part)
{
	int32_t whole = domain_of(parts, part)->parent;
	size_t i;

	for (i = 0; i < parts->n; i++) {
		const struct watt_domain *domain = domain_of(parts, i);

		if (i != part && domain->kind == WATT_DOMAIN_RESIDUAL && domain->is_partition &&
		    domain->parent == whole)
			return (int)i;
	}
	return -1;
}

int watt_total_find_rest(const struct watt_view *view, size_t part)
{
	const struct parts parts = { .view = view, .n = view->n_domains };

	return find_rest(&parts, part);
}

/*
 * The window to which a part's energy in it belongs. The rest waits for its parts; where it has gone
 * on without one, the time since is its: it has what the part took then, and the sum of powers is
 * that of the whole. A part that has come back has a window that began where it fell silent.
 */
static uint64_t window_beside_ns(const struct watt_domain_state *part,
				 const struct watt_domain_state *rest)
{
	uint64_t from_ns = part->t_ns - part->window_ns, to_ns = WATT_MAX(part->t_ns, rest->t_ns);
	uint64_t rest_from_ns = rest->t_ns - rest->window_ns;

	if (rest_from_ns > from_ns && part->unknown_ns >= rest_from_ns - from_ns)
		from_ns = rest_from_ns;
	return to_ns - from_ns;
}

static void add_all(struct watt_total *total, const struct parts *parts)
{
	struct watt_domain_state state;
	size_t i;
	int rest;

	for (i = 0; i < parts->n; i++) {
		state = *state_of(parts, i);
		rest = find_rest(parts, i);
		if (rest >= 0 && state.window_ns)
			state.window_ns = window_beside_ns(&state, state_of(parts, (size_t)rest));
		watt_total_add(total, domain_of(parts, i), &state);
	}
}

int watt_total_draw(const struct watt_view *view, struct watt_total *ret)
{
	struct watt_total total;

	if (!view || !watt_sized_is_valid(ret))
		return -EINVAL;
	watt_total_init(&total);
	add_all(&total, &(struct parts){ .view = view, .n = view->n_domains });
	watt_sized_give(&total, sizeof(total), ret);
	return 0;
}

int watt_snapshot_get_total(const struct watt_snapshot *snap, struct watt_total *ret)
{
	struct watt_total total;

	if (!snap || !watt_sized_is_valid(ret))
		return -EINVAL;
	watt_total_init(&total);
	add_all(&total, &(struct parts){ .snap = snap, .n = watt_snapshot_get_domain_count(snap) });
	watt_sized_give(&total, sizeof(total), ret);
	return 0;
}
