/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file total.h
 * @brief The machine's total: all of its energy that is known, how well, and what is missing.
 *
 *     struct watt_total total = { sizeof(total) };
 *
 *     r = watt_snapshot_get_total(snap, &total);
 *
 * The sum over the partition: the domains that cover the machine's energy exactly once. A plain
 * value.
 */
#ifndef WATTRIBUTE_TOTAL_H
#define WATTRIBUTE_TOTAL_H

#include <wattribute/view.h>

WATT_BEGIN_DECLS

/** Sums over domains. Energies are since the session began, powers of the window. */
struct watt_total {
	size_t sz; /**< sizeof(struct watt_total), the caller's */
	/** OK: every domain of the sum has told its energy. Else that of the first that has not:
	 *  PENDING: it will; FORBIDDEN, BROKEN, ...: its energy is missing. ABSENT: there is no
	 *  domain at all. */
	enum watt_status status;
	enum watt_origin origin;  /**< the least certain of those that were added */
	uint32_t uncertainty_ppm; /**< standard uncertainty of the sum, as if all parts were wrong in
				   *   the same way: the greatest of theirs, in 1e-6; 0: unknown */
	uint32_t n_domains;       /**< that the sum should have */
	uint32_t n_known;         /**< of them, those that told of any energy, be it 0 */
	uint32_t n_missing;       /**< of them, those that can't be read */
	uint32_t n_powers;        /**< of them, those whose power in the window is known */
	struct watt_energy energy;
	struct watt_energy idle;         /**< of energy */
	struct watt_energy unattributed; /**< of energy */
	struct watt_energy shared_idle;  /**< idle energy that the policy gave to who ran */
	int64_t window_nj;               /**< the same in the window */
	int64_t window_idle_nj;
	int64_t window_unattributed_nj;
	int64_t window_shared_idle_nj;
	double power_w; /**< in the window, of the domains that tell; NaN: none does */
	double idle_w;
	double unattributed_w;
	double baseline_w;          /**< learned idle power of the domains that have one */
	uint32_t has_baseline;      /**< some domain can be shared, so idle matters */
	uint32_t is_baseline_ready; /**< and is known in every such domain */
	char domains[256];          /**< that were added: "package-0, dram-0"; cut by ", ..." */
	char missing[128];          /**< that can't be read: "package-1"; "": nothing is missing */
	/** "incomplete: no energy of package-1 is known"; "": nothing is missing */
	char why[192];
	/** How the idle power of those that can be shared is known: of the one that knows least. */
	enum watt_baseline_from baseline_from;
	/** Standard uncertainty of baseline_w, as if all were wrong in the same way; where it is not
	 *  ready, of taking it for nothing. NaN: not known. */
	double baseline_uncertainty_w;
};

/** 0; -EINVAL: no snapshot, or a size that is not valid. Thread-safe. */
WATT_API int watt_snapshot_get_total(const struct watt_snapshot *snap, struct watt_total *ret);
/**
 * The same of a view, whose states may have other windows than those of one snapshot: between two
 * of them, or for each domain the newest in which it told of anything. Rows are not looked at.
 * 0; -EINVAL: no view, or a size that is not valid. Thread-safe.
 */
WATT_API int watt_total_draw(const struct watt_view *view, struct watt_total *ret);

WATT_END_DECLS

#endif
