/* SPDX-License-Identifier: Apache-2.0 */
/* Finds who did what in a slice at places of a domain. It must not know what a key makes of it. */
#include "attrib/parts.h"

#include "base/util.h"

bool watt_parts_are_told(const struct watt_ledger *ledger, uint32_t needs)
{
	uint32_t kind, i;

	for (kind = 0; kind < WATT_N_ACTIVITIES; kind++) {
		if (!(needs & WATT_KEY_BIT(kind)))
			continue;
		for (i = 0; i < ledger->n_places[kind] && !ledger->has_place[kind][i]; i++)
			;
		if (i == ledger->n_places[kind])
			return false;
	}
	return true;
}

enum watt_status watt_parts_status(const struct watt_attrib *at, const struct watt_ledger *ledger)
{
	uint32_t needs = ledger->chain.keys[0].ops->needs, kind, i;
	enum watt_status status;

	if (!needs)
		return WATT_STATUS_ABSENT;
	if (!watt_parts_are_told(ledger, needs))
		return WATT_STATUS_PENDING;
	for (kind = 0; kind < WATT_N_ACTIVITIES; kind++) {
		if (!(needs & WATT_KEY_BIT(kind)) || kind == WATT_ACTIVITY_CPU_TIME)
			continue;
		for (i = 0; i < ledger->n_places[kind]; i++) {
			if (!ledger->has_place[kind][i])
				continue;
			status = watt_activities_status(at, kind, i, ledger->cursor_ns);
			if (status != WATT_STATUS_OK && status != WATT_STATUS_ABSENT)
				return status;
		}
	}
	return WATT_STATUS_OK;
}

enum watt_status watt_attrib_users_status(const struct watt_attrib *at, size_t index)
{
	return watt_parts_status(at, watt_ledger_get_divider(at, &at->ledgers[index]));
}

/* Whether the domain has a sensor, whose energy is divided by what is done at the place. */
static bool is_divided_by(const struct watt_ledger *ledger, enum watt_activity_kind kind,
			  size_t place)
{
	return ledger->domain->channel >= 0 &&
	       (ledger->chain.keys[0].ops->needs & WATT_KEY_BIT(kind)) &&
	       place < ledger->n_places[kind] && ledger->has_place[kind][place];
}

bool watt_parts_are_gone(const struct watt_attrib *at, enum watt_activity_kind kind, size_t place)
{
	bool is_found = false;
	size_t i;

	for (i = 0; i < at->tree.n_domains; i++) {
		if (!is_divided_by(&at->ledgers[i], kind, place))
			continue;
		if (watt_ledger_status(at, &at->ledgers[i], at->timeline) != WATT_STATUS_ABSENT)
			return false;
		is_found = true;
	}
	return is_found;
}

/* All that a key needs, and of what it can do without, what somebody tells of. */
static uint32_t kinds_of(const struct watt_ledger *ledger, const struct watt_key_ops *ops)
{
	uint32_t kinds = ops->needs, kind;

	for (kind = 0; kind < WATT_N_ACTIVITIES && ops->likes; kind++)
		if ((ops->likes & WATT_KEY_BIT(kind)) &&
		    watt_parts_are_told(ledger, WATT_KEY_BIT(kind)))
			kinds |= WATT_KEY_BIT(kind);
	return kinds;
}

static bool is_complete(const struct watt_slice *slice, uint32_t needs)
{
	uint32_t kind;

	for (kind = 0; kind < WATT_N_ACTIVITIES; kind++)
		if ((needs & WATT_KEY_BIT(kind)) && !slice->uses[kind].is_complete)
			return false;
	return true;
}

bool watt_parts_have_come(const struct watt_ledger *ledger, const struct watt_slice *slice)
{
	size_t i;

	for (i = 0; i < ledger->chain.n; i++) {
		const struct watt_key_ops *ops = ledger->chain.keys[i].ops;

		if (watt_parts_are_told(ledger, ops->needs) &&
		    !is_complete(slice, kinds_of(ledger, ops)))
			return false;
	}
	return true;
}

static int add_part(struct watt_attrib *at, struct watt_key_slice *view, const struct watt_use *use,
		    enum watt_activity_kind kind)
{
	int r = watt_grow((void **)&at->parts, &at->cap_parts, view->n_parts, sizeof(*at->parts));

	if (r == 0)
		at->parts[view->n_parts++] = (struct watt_part){ .use = use, .kind = kind };
	return r;
}

/* Everybody who did something of one kind at a place of the domain. */
static int collect_kind(struct watt_attrib *at, const struct watt_ledger *ledger,
			const struct watt_uses *uses, enum watt_activity_kind kind,
			struct watt_key_slice *view)
{
	uint32_t n = WATT_MIN(ledger->n_places[kind], uses->n_places), place, i;
	bool is_first = !view->n_units;
	int r = 0;

	for (place = 0; place < n && r == 0; place++) {
		if (!ledger->has_place[kind][place])
			continue;
		if (uses->n_units[place] == WATT_UNITS_UNKNOWN)
			view->is_complete = false;
		else if (is_first)
			view->n_units += uses->n_units[place];
		for (i = uses->first[place]; i && r == 0; i = uses->list[i - 1].next_in_place) {
			const struct watt_use *use = &uses->list[i - 1];

			if (!use->amount)
				continue;
			if (is_first)
				view->busy += WATT_MIN(use->amount, UINT64_MAX - view->busy);
			r = add_part(at, view, use, kind);
		}
	}
	return r;
}

/* Where the key weighs it, behind all others. */
static int add_nobody(struct watt_attrib *at, const struct watt_key_ops *ops,
		      struct watt_key_slice *view)
{
	static const struct watt_use nobody;
	int r;

	view->nobody = NULL;
	if (!ops->weighs_nobody || !view->n_parts)
		return 0;
	r = add_part(at, view, &nobody, WATT_N_ACTIVITIES);
	if (r == 0)
		view->nobody = &at->parts[view->n_parts - 1];
	return r;
}

int watt_parts_collect(struct watt_attrib *at, const struct watt_ledger *ledger,
		       const struct watt_slice *slice, const struct watt_key_ops *ops,
		       struct watt_key_slice *view)
{
	uint32_t likes = kinds_of(ledger, ops) & ~ops->needs;
	enum watt_activity_kind kind;
	bool is_all;
	int r = 0;

	view->busy = view->n_units = 0;
	view->n_parts = 0;
	view->is_complete = is_complete(slice, ops->needs);
	for (kind = 0; kind < WATT_N_ACTIVITIES && r == 0; kind++)
		if (ops->needs & WATT_KEY_BIT(kind))
			r = collect_kind(at, ledger, &slice->uses[kind], kind, view);
	view->n_needed = view->n_parts;
	view->likes = 0;
	is_all = view->is_complete;
	for (kind = 0; kind < WATT_N_ACTIVITIES && r == 0; kind++) {
		if (!(likes & WATT_KEY_BIT(kind)) || !slice->uses[kind].is_complete)
			continue;
		view->is_complete = true;
		r = collect_kind(at, ledger, &slice->uses[kind], kind, view);
		if (view->is_complete)
			view->likes |= WATT_KEY_BIT(kind);
	}
	view->is_complete = is_all;
	if (r == 0)
		r = add_nobody(at, ops, view);
	view->parts = at->parts;
	return r;
}
