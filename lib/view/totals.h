/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What everybody had used by one instant, and what one entity had. Energies of a stretch of time
 * are differences of two of them, so stretches add up to the whole.
 */
#ifndef WATT_VIEW_TOTALS_H
#define WATT_VIEW_TOTALS_H

#include <stdbool.h>

#include <wattribute/balance.h>
#include <wattribute/cursor.h>
#include <wattribute/view.h>

/* All zero: none was taken. */
struct watt_totals {
	struct watt_snapshot *snap;
	struct watt_view *view; /* of it */
	struct watt_balance balance;
	const struct watt_row *row; /* of the entity; NULL: it is not in the snapshot */
	uint64_t t_ns;              /* CLOCK_MONOTONIC */
	bool is_start;              /* what the entity had used by then is of what follows */
};

/* Of the newest attributed state. entity_id 0: none. Replaces *ret on success only. */
int watt_totals_take(struct watt_cursor *cursor, uint64_t entity_id, struct watt_totals *ret);
/* As watt_cursor_snapshot_at(): -ETIMEDOUT: ask again. */
int watt_totals_take_at(struct watt_cursor *cursor, uint64_t entity_id, uint64_t t_ns,
			uint32_t timeout_ms, struct watt_totals *ret);
void watt_totals_done(struct watt_totals *totals);
/*
 * From there on all is counted that the entity ever used, and with it the machine's energy that
 * this was: a command uses some before it is let go.
 */
void watt_totals_start(struct watt_totals *totals);

/* Of the entity; 0 where it is not in the snapshot, or starts there. */
struct watt_energy watt_totals_get_energy(const struct watt_totals *totals);
struct watt_energy watt_totals_get_domain_energy(const struct watt_totals *totals, size_t domain);
uint64_t watt_totals_get_cpu_ns(const struct watt_totals *totals);
/* Of the machine; 0 where none was taken. */
struct watt_energy watt_totals_get_machine_energy(const struct watt_totals *totals, size_t domain);
/*
 * Up to when the snapshot knows what was used: what was waited for at the end of a run is in it,
 * and must not be divided by the time of the run alone.
 */
uint64_t watt_totals_get_known_ns(const struct watt_totals *totals);

/* What was used from one to the other. */
int64_t watt_totals_between_nj(struct watt_energy from, struct watt_energy to);
/*
 * The machine's mean power from one to the other, of the domains that told; NAN: none did. And what
 * is measured from outside in that time, beside it. -ENOMEM.
 */
int watt_totals_find_power(const struct watt_totals *from, const struct watt_totals *to,
			   double *ret_machine_w, struct watt_balance *balance);

#endif
