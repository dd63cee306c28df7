/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file balance.h
 * @brief A balance: what became of the machine's energy.
 *
 *     measured = attributed + idle + unattributed
 *
 * Sums over the partition: the domains that cover the machine's energy exactly once. The
 * attributed part is summed from the rows, not computed as the rest, so that the equation can
 * fail. A plain value.
 */
#ifndef WATTRIBUTE_BALANCE_H
#define WATTRIBUTE_BALANCE_H

#include <wattribute/view.h>

WATT_BEGIN_DECLS

/** Sums of a view. Energies are since the session began, powers of the window. */
struct watt_balance {
	size_t sz;                  /**< sizeof(struct watt_balance), the caller's */
	uint32_t is_known;          /**< there is some energy */
	uint32_t has_power;         /**< and it is known for the window */
	uint32_t is_exact;          /**< the equation holds to the nJ */
	uint32_t has_baseline;      /**< some domain can be shared, so idle matters */
	uint32_t is_baseline_ready; /**< and is known in every such domain */
	enum watt_origin origin;    /**< the least certain one */
	uint32_t uncertainty_ppm;   /**< the greatest; 0: unknown */
	enum watt_idle_policy idle_policy;
	struct watt_energy energy, attributed, idle, unattributed;
	struct watt_energy shared_idle; /**< idle energy in attributed */
	double power_w, attributed_w, idle_w, unattributed_w;
	double baseline_w;
	char keys[64]; /**< by what it was shared: "cpu_time" */
	/** What the sum should have and nobody could read: "package-1, dram-1"; "": nothing. */
	char missing[128];
	/**
	 * What supplies measure from outside: batteries, adapters and power supply units together,
	 * less what charges a battery. All of the machine, where the sum above is of what lies
	 * inside; 0 and "" where nothing measures it, or no more than what is inside.
	 */
	uint32_t has_outside;
	double outside_w;
	/** "supply-bat0, supply-bat1"; one that does not answer: "without supply-1-0058" */
	char outside[128];
	/** The energy over the time since the session began, in watts; NaN: there is none, or no time
	 *  has passed. */
	double mean_w;
	enum watt_baseline_from baseline_from; /**< of the domain that knows least */
	/** Standard uncertainty of baseline_w; where it is not ready, of taking it for nothing. NaN:
	 *  not known. */
	double baseline_uncertainty_w;
};

/** 0; -EINVAL: a size that is not valid. Thread-safe. */
WATT_API int watt_balance_draw(const struct watt_view *view, struct watt_balance *ret);
/**
 * What is measured from outside in other windows than a snapshot's: those of the view's states,
 * beside which @p inside_w of the partition must be no more. Rows are not looked at, and the other
 * members stay as they are. 0; -EINVAL: no view, or a size that is not valid. Thread-safe.
 */
WATT_API int watt_balance_look_outside(const struct watt_view *view, double inside_w,
				       struct watt_balance *balance);

WATT_END_DECLS

#endif
