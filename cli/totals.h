/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What everybody had used by one instant, and what one entity had. Energies of a stretch of time
 * are differences of two of them, so stretches add up to the whole.
 */
#ifndef WATT_CLI_TOTALS_H
#define WATT_CLI_TOTALS_H

#include <stdbool.h>

#include <wattribute/balance.h>
#include <wattribute/session.h>
#include <wattribute/total.h>
#include <wattribute/view.h>

/* All zero: none was taken. */
struct totals {
	struct watt_snapshot *snap;
	struct watt_view *view; /* of it */
	struct watt_balance balance;
	const struct watt_row *row; /* of the entity; NULL: it is not in the snapshot */
	uint64_t t_ns;              /* CLOCK_MONOTONIC */
	bool is_start;              /* what the entity had used by then is of what follows */
};

/* Of the newest attributed state. entity_id 0: none. Replaces *ret on success only. */
int totals_take(struct watt_session *ses, uint64_t entity_id, struct totals *ret);
/* As watt_session_snapshot_at(): -ETIMEDOUT: ask again. */
int totals_take_at(struct watt_session *ses, uint64_t entity_id, uint64_t t_ns, uint32_t timeout_ms,
		   struct totals *ret);
void totals_done(struct totals *totals);
/*
 * From there on all is counted that the entity ever used, and with it the machine's energy that
 * this was: a command uses some before it is let go.
 */
void totals_start(struct totals *totals);

/* Of the entity; 0 where it is not in the snapshot, or starts there. */
struct watt_energy totals_get_energy(const struct totals *totals);
struct watt_energy totals_get_domain_energy(const struct totals *totals, size_t domain);
uint64_t totals_get_cpu_ns(const struct totals *totals);
/* Of the machine; 0 where none was taken. */
struct watt_energy totals_get_machine_energy(const struct totals *totals, size_t domain);
/* "incomplete: no energy of package-1 is known"; "": nothing is missing. Returns buf. */
const char *totals_missing_text(const struct watt_balance *balance, char *buf, size_t size);
/* Whether anything told who used some of it; if not, that somebody used 0 is not known either. */
bool totals_is_shared(const struct watt_balance *balance);
/* The machine's mean power from one to the other, of the domains that told; NAN: none did. */
double totals_get_machine_w(const struct totals *from, const struct totals *to);
/* What is measured from outside in that time, beside inside_w of the machine's domains. */
void totals_look_outside(const struct totals *from, const struct totals *to, double inside_w,
			 struct watt_balance *balance);
/* What was used from one to the other. */
int64_t totals_difference_nj(struct watt_energy from, struct watt_energy to);

#endif
