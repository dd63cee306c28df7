/* SPDX-License-Identifier: Apache-2.0 */
/* What everybody had used by one instant, and what one entity had; what is said of it. */
#ifndef WATT_CLI_TOTALS_H
#define WATT_CLI_TOTALS_H

#include <stdbool.h>

#include <wattribute/balance.h>
#include <wattribute/session.h>
#include <wattribute/view.h>

/* All zero: none was taken. */
struct totals {
	struct watt_snapshot *snap;
	struct watt_view *view; /* of it */
	struct watt_balance balance;
	const struct watt_row *row; /* of the entity; NULL: it is not in the snapshot */
	uint64_t t_ns;              /* CLOCK_MONOTONIC */
};

/* Of the newest attributed state. entity_id 0: none. Replaces *ret on success only. */
int totals_take(struct watt_session *ses, uint64_t entity_id, struct totals *ret);
/* As watt_session_snapshot_at(): -ETIMEDOUT: ask again. */
int totals_take_at(struct watt_session *ses, uint64_t entity_id, uint64_t t_ns, uint32_t timeout_ms,
		   struct totals *ret);
void totals_done(struct totals *totals);

/* "incomplete: no energy of package-1 is known"; "": nothing is missing. Returns buf. */
const char *totals_missing_text(const struct watt_balance *balance, char *buf, size_t size);
/*
 * What is to be known of idle power where it was not seen: "idle power is not known yet: all is
 * shared", "idle power is extrapolated, as the machine was never seen idle: 12 W +- 2.9 W". "" where
 * it is known, or does not matter. Returns buf.
 */
const char *totals_idle_text(const struct watt_balance *balance, char *buf, size_t size);
/* Whether anything told who used some of it; if not, that somebody used 0 is not known either. */
bool totals_is_shared(const struct watt_balance *balance);

#endif
