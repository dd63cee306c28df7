/* SPDX-License-Identifier: Apache-2.0 */
/* A snapshot laid open, with one entity's row. */
#include "totals.h"

#include <stdio.h>
#include <string.h>

#include <wattribute/units.h>

#include "events.h"
#include "text.h"

static int open_snapshot(struct watt_snapshot *snap, uint64_t entity_id, uint64_t t_ns,
			 struct totals *ret)
{
	struct totals totals = { .snap = snap, .t_ns = t_ns, .balance.sz = sizeof(totals.balance) };
	int r;

	r = watt_view_new(snap, &totals.view);
	if (r < 0) {
		watt_snapshot_unref(snap);
		return r;
	}
	watt_balance_draw(totals.view, &totals.balance);
	totals.row = entity_id ? watt_snapshot_find_row(snap, entity_id) : NULL;
	totals_done(ret);
	*ret = totals;
	return 0;
}

int totals_take(struct watt_session *ses, uint64_t entity_id, struct totals *ret)
{
	struct watt_snapshot *snap;
	int r;

	r = watt_session_snapshot(ses, &snap);
	return r < 0 ? r : open_snapshot(snap, entity_id, events_now_ns(), ret);
}

int totals_take_at(struct watt_session *ses, uint64_t entity_id, uint64_t t_ns, uint32_t timeout_ms,
		   struct totals *ret)
{
	struct watt_snapshot *snap;
	int r;

	r = watt_session_snapshot_at(ses, t_ns, timeout_ms, &snap);
	return r < 0 ? r : open_snapshot(snap, entity_id, watt_snapshot_get_time_ns(snap), ret);
}

void totals_done(struct totals *totals)
{
	watt_view_free(totals->view);
	watt_snapshot_unref(totals->snap);
	*totals = (struct totals){ 0 };
}

bool totals_is_shared(const struct watt_balance *balance)
{
	return strcmp(balance->keys, watt_share_key_name(WATT_KEY_NONE)) != 0;
}

const char *totals_idle_text(const struct watt_balance *balance, char *buf, size_t size)
{
	char watts[WATT_UNITS_SIZE], doubt[WATT_UNITS_SIZE];

	buf[0] = '\0';
	if (!balance->has_baseline)
		return buf;
	if (!balance->is_baseline_ready)
		snprintf(buf, size, "idle power is not known yet: all is shared");
	else if (balance->baseline_from == WATT_BASELINE_EXTRAPOLATED)
		snprintf(buf, size,
			 "idle power is extrapolated, as the machine was never seen idle: %s %s %s",
			 watt_units_power(watts, balance->baseline_w, 2),
			 text_is_utf8() ? "\u00b1" : "+-",
			 watt_units_power(doubt, balance->baseline_uncertainty_w, 2));
	return buf;
}

const char *totals_missing_text(const struct watt_balance *balance, char *buf, size_t size)
{
	buf[0] = '\0';
	if (*balance->missing)
		snprintf(buf, size, "incomplete: no energy of %s is known", balance->missing);
	return buf;
}
