/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file comparison.h
 * @brief A comparison: two series side by side, with the interval of each difference.
 *
 * The energy, duration and mean power of the machine, the command, each domain, phase and name.
 * Energy is what was saved or not; power alone does not tell. Where both have a phase several
 * times, its runs are repeated measurements, and intervals are from these. Else they are from the
 * windows, and about one run each: neighbouring windows resemble each other, so that intervals
 * are from batch means. That of a difference is by Welch's t. Immutable; it needs the series no
 * more once it was built.
 */
#ifndef WATTRIBUTE_COMPARISON_H
#define WATTRIBUTE_COMPARISON_H

#include <wattribute/phase.h>
#include <wattribute/series.h>

WATT_BEGIN_DECLS

struct watt_comparison;

/** What is compared. */
enum watt_comparison_list {
	WATT_COMPARISON_TOTAL = 0, /**< one row: the machine */
	WATT_COMPARISON_COMMAND =
		1, /**< one row: what was followed; there on no side if nothing was */
	WATT_COMPARISON_DOMAINS = 2, /**< by path */
	WATT_COMPARISON_PHASES = 3,  /**< by label; none where neither has marks */
	/** Processes of one name together, by energy; at most 100. */
	WATT_COMPARISON_NAMES = 4,
};

/** What is known of one thing in one of the two. */
struct watt_comparison_side {
	size_t sz; /**< sizeof(struct watt_comparison_side), the library's */
	uint32_t is_there;
	uint32_t reserved;
	int64_t energy_nj;
	uint64_t elapsed_ns;
	double power_w;      /**< mean; NAN: no value */
	double power_ci95_w; /**< half width of its interval of 95 %; NAN: not known */
	size_t n_windows;    /**< values */
	size_t n_batches;    /**< 0: no interval */
	size_t n_runs;       /**< of a phase: how many times it was there; else 1 */
	double run_j;        /**< mean energy of a run; NAN: no value */
	double run_ci95_j;   /**< half width of its interval of 95 %; NAN: not known */
	double run_s;        /**< mean duration of a run */
};

/** Where the interval of a difference of energies is from. */
enum watt_comparison_basis {
	WATT_COMPARISON_NOTHING = 0, /**< there is too little */
	WATT_COMPARISON_WINDOWS = 1, /**< windows of one run each: runs may differ by more */
	WATT_COMPARISON_RUNS = 2,    /**< runs of both, or of one of them */
};

/** One thing in both. */
struct watt_comparison_row {
	size_t sz; /**< sizeof(struct watt_comparison_row), the library's */
	char *name;
	const struct watt_comparison_side *now;    /**< the series */
	const struct watt_comparison_side *before; /**< the other one */
	double difference_w;          /**< of mean power, from before to now; NAN: one is missing */
	double difference_ci95_w;     /**< half width; NAN: not known */
	double difference_ratio;      /**< of before; NAN where that is 0 */
	double difference_ci95_ratio; /**< NAN: not known */
	uint32_t is_known;            /**< the interval is */
	uint32_t is_significant;      /**< and 0 lies outside of it */
	double energy_j;              /**< difference of the mean energy of a run; NAN: as above */
	double energy_ci95_j;         /**< half width; NAN: not known */
	double energy_ratio;          /**< of before; NAN where that is 0 */
	double energy_ci95_ratio;     /**< NAN: not known */
	enum watt_comparison_basis energy_basis; /**< of the interval */
	uint32_t is_energy_significant;          /**< there is one, and 0 lies outside of it */
};

/** Phases of each series. 0 or -ENOMEM. */
WATT_API int watt_comparison_build(const struct watt_series *now,
				   const struct watt_phases *now_phases,
				   const struct watt_series *before,
				   const struct watt_phases *before_phases,
				   struct watt_comparison **ret);
/** NULL is allowed. Always returns NULL. */
WATT_API struct watt_comparison *watt_comparison_free(struct watt_comparison *comparison);
/** NULL if @p index is out of range. */
WATT_API const struct watt_comparison_row *
watt_comparison_get(const struct watt_comparison *comparison, enum watt_comparison_list list,
		    size_t index);
/** Names beyond those that used the most. */
WATT_API size_t watt_comparison_get_left_out(const struct watt_comparison *comparison);

WATT_END_DECLS

#endif
