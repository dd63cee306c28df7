/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file phase.h
 * @brief Phases: the windows of a series from one mark to the next, summed.
 *
 * Immutable; what is got from them lives as long as they, and they as long as the series.
 */
#ifndef WATTRIBUTE_PHASE_H
#define WATTRIBUTE_PHASE_H

#include <wattribute/series.h>

WATT_BEGIN_DECLS

struct watt_phases;

/** A phase, several of one label, or the whole; energies are of the partition. */
struct watt_phase {
	size_t sz;          /**< sizeof(struct watt_phase), the library's */
	const char *label;  /**< "": no phase; borrowed from the mark */
	size_t mark_index;  /**< of the mark that began it; WATT_NO_MARK: before the first one */
	size_t first_index; /**< of its first window */
	size_t end_index;   /**< of the one behind its last; first_index: too short for a window */
	uint64_t t0_ns;     /**< CLOCK_MONOTONIC */
	uint64_t t1_ns;
	size_t count; /**< phases in it */
	uint64_t elapsed_ns;
	int64_t energy_nj;
	int64_t idle_nj;
	int64_t unattributed_nj;
	double power_w;       /**< mean, each domain by its own time; NAN: not known */
	uint32_t has_command; /**< 1: a command was followed with all its descendants, */
	int64_t command_nj;   /**< who used this of energy_nj */
	uint64_t command_cpu_ns;
	struct watt_series_energy *domains; /**< one each */
};

/** 0 or -ENOMEM. Marks in the order of time, those of the windows; they must outlive *ret. */
WATT_API int watt_phases_find(const struct watt_series *series, const struct watt_mark *marks,
			      size_t n_marks, struct watt_phases **ret);
/** NULL is allowed. Always returns NULL. */
WATT_API struct watt_phases *watt_phases_free(struct watt_phases *phases);
/** In the order of time; NULL if @p index is out of range. */
WATT_API const struct watt_phase *watt_phases_get(const struct watt_phases *phases, size_t index);
/** Those of one label summed, in the order of their first ones; NULL if out of range. */
WATT_API const struct watt_phase *watt_phases_get_label(const struct watt_phases *phases,
							size_t index);
/** All windows. */
WATT_API const struct watt_phase *watt_phases_get_whole(const struct watt_phases *phases);

WATT_END_DECLS

#endif
