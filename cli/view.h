/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot laid open as arrays, so that what is computed from it can be computed from made-up
 * data too. Everything in it is borrowed from the snapshot.
 */
#ifndef WATT_CLI_VIEW_H
#define WATT_CLI_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include <wattribute/snapshot.h>

struct view {
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

void view_init(struct view *view, const struct watt_snapshot *snap);
void view_done(struct view *view);

/* Whether a domain has any energy at all, as opposed to an energy of 0. */
bool view_has_energy(const struct watt_domain_state *state);
/* Power of an energy in the window of its domain; NAN where that is not known. */
double view_power_w(const struct watt_domain_state *state, int64_t window_nj);
/* Whether an entity is one of those that the energy is divided among (not a sum of others). */
bool view_is_user(enum watt_entity_kind kind);
/* The same for kernel threads and interrupts alone. */
bool view_is_kernel(enum watt_entity_kind kind);

#endif
