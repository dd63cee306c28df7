/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file view.h
 * @brief A view: a snapshot laid open as arrays.
 *
 * What is computed from a view can be computed from made-up data too. Everything in it is borrowed
 * from the snapshot, which must outlive it. One thread per object.
 */
#ifndef WATTRIBUTE_VIEW_H
#define WATTRIBUTE_VIEW_H

#include <wattribute/snapshot.h>

WATT_BEGIN_DECLS

/** What a snapshot holds. The library makes it, and it may grow. */
struct watt_view {
	size_t sz; /**< sizeof(struct watt_view), the library's */
	const struct watt_domain **domains;
	const struct watt_domain_state **states; /**< one for each domain */
	size_t n_domains;
	const struct watt_row **rows;
	size_t n_rows;
	const struct watt_quality *quality;
	enum watt_idle_policy idle_policy;
	uint64_t t_ns;      /**< of the snapshot, CLOCK_MONOTONIC */
	uint64_t start_ns;  /**< of the session */
	uint64_t window_ns; /**< length of the window that ends at t_ns */
	const struct watt_gauge **gauges;
	size_t n_gauges;
};

/** 0 or -ENOMEM. */
WATT_API int watt_view_new(const struct watt_snapshot *snap, struct watt_view **ret);
/** NULL is allowed. Always returns NULL. */
WATT_API struct watt_view *watt_view_free(struct watt_view *view);

/** 1: a domain has any energy at all, be it 0; 0: none is known. */
WATT_API int watt_view_has_energy(const struct watt_domain_state *state);
/** Power of an energy in the window of its domain; NAN where that is not known. */
WATT_API double watt_view_power_w(const struct watt_domain_state *state, int64_t window_nj);
/** Standard uncertainty, in watts, of a row's power over the partition in the window, as to who used
 *  it; domains know nothing of each other, so that their variances add up, but for errors of idle
 *  power, which have one sign. NAN: of some of what the row used nobody knows. */
WATT_API double watt_view_uncertainty_w(const struct watt_view *view, const struct watt_row *row);
/** 1: one of those that the energy is divided among; 0: a sum of others, or nobody. */
WATT_API int watt_view_is_user(enum watt_entity_kind kind);
/** The same for kernel threads and interrupts alone. */
WATT_API int watt_view_is_kernel(enum watt_entity_kind kind);
/** 1: a domain is of a GPU: a card, an instance of one, or the graphics in a CPU where processes are
 *  known by their time on it. */
WATT_API int watt_view_is_gpu(const struct watt_domain *domain);
/** 1: the same of the view's domain of that index, and it lies in no other one. */
WATT_API int watt_view_is_whole_gpu(const struct watt_view *view, size_t index);

WATT_END_DECLS

#endif
