/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of the views: what people ask of snapshots. A sink sees snapshots through them.
 *
 * A view is a snapshot laid open as arrays, so that what is computed from it can be computed from
 * made-up data too. Everything in it is borrowed from the snapshot. One thread per object.
 */
#ifndef WATT_VIEW_VIEW_H
#define WATT_VIEW_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include <wattribute/snapshot.h>

struct watt_view {
	const struct watt_domain **domains;
	const struct watt_domain_state **states;
	size_t n_domains;
	const struct watt_row **rows;
	size_t n_rows;
	const struct watt_quality *quality;
	enum watt_idle_policy idle_policy;
	uint64_t t_ns;
	uint64_t start_ns;
	uint64_t window_ns;
};

/* 0 or -ENOMEM. */
int watt_view_init(struct watt_view *view, const struct watt_snapshot *snap);
void watt_view_done(struct watt_view *view);

/* Whether a domain has any energy at all, as opposed to an energy of 0. */
bool watt_view_has_energy(const struct watt_domain_state *state);
/* The same of its window. */
bool watt_view_is_known(const struct watt_domain_state *state);
/* Power of an energy in the window of its domain; NAN where that is not known. */
double watt_view_power_w(const struct watt_domain_state *state, int64_t window_nj);
/* Power of a row over the partition in the window; NAN: not known. */
double watt_view_row_w(const struct watt_view *view, const struct watt_row *row);
/* Whether a row used anything in the window. */
bool watt_view_has_used(const struct watt_view *view, const struct watt_row *row);
/* Whether an entity is one of those that the energy is divided among (not a sum of others). */
bool watt_view_is_user(enum watt_entity_kind kind);
/* The same for kernel threads and interrupts alone. */
bool watt_view_is_kernel(enum watt_entity_kind kind);

#endif
