/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file series.h
 * @brief A series: everything that was measured, window by window, in memory.
 *
 * What each domain used in each window, and each entity that used anything. Bounded: beyond a
 * number of entities of a kind, those that used the least are summed into one, "others", in every
 * window. For each domain, the sum over windows is the whole, and in each window and in the whole
 *
 *     energy = idle + unattributed + sum over processes, kernel threads, exited, irq, softirq
 *
 * in integer nJ. Entities of other kinds (containers, units, users, ...) are sums over those.
 *
 * Immutable once it was read; what is got from it lives as long as it.
 */
#ifndef WATTRIBUTE_SERIES_H
#define WATTRIBUTE_SERIES_H

#include <wattribute/window.h>

WATT_BEGIN_DECLS

struct watt_series;

/** A domain in a window, or in all of them. A plain value; it never grows. */
struct watt_series_energy {
	int64_t energy_nj;
	int64_t idle_nj;         /**< of it */
	int64_t unattributed_nj; /**< of it */
	/** For which energy is known: shorter than the window where a sensor came late or has
	 *  gone; 0: none is known, whatever the numbers. */
	uint64_t known_ns;
	enum watt_status status; /**< at the end */
	uint32_t is_baseline_ready;
};

/** Who used energy. Strings are NULL where they are unknown, or there is none. */
struct watt_series_entity {
	size_t sz;   /**< sizeof(struct watt_series_entity), the library's */
	uint64_t id; /**< of the session; 0: "others" of its kind */
	enum watt_entity_kind kind;
	uint32_t pid;        /**< of a thread, its own; 0: none */
	uint32_t parent_pid; /**< of a thread, that of its process */
	uint32_t count;      /**< processes in it */
	int64_t uid;         /**< -1: none or unknown */
	uint32_t is_others;  /**< the sum of those that are not kept apart */
	uint32_t is_dead;    /**< it has ended */
	char *name;          /**< as the library has it: comm, id, unit, user name */
	char *cmdline;       /**< of a process */
	char *container;     /**< that it is in, by its cgroup */
	char *pod;
	char *job;
	char *unit;
	int64_t *energy_nj; /**< over all windows, per domain */
	int64_t total_nj;   /**< over the partition */
	uint64_t cpu_ns;
	double peak_w; /**< the greatest mean power of a window; NAN: not known */
	/** Standard uncertainty of total_nj by what its key knows of its shares, of all windows as
	 *  one: errors of neighbouring windows are alike. NAN: not known. */
	double uncertainty_j;
};

/** A channel of context, over all windows: nobody is accounted for it. */
struct watt_series_gauge {
	size_t sz;        /**< sizeof(struct watt_series_gauge), the library's */
	const char *name; /**< of the channel */
	enum watt_quantity quantity;
	enum watt_status status; /**< at the end */
	double mean;       /**< over the known time, in watt_quantity_unit(); NAN: not known */
	double least;      /**< of the means of windows; NAN: not known */
	double greatest;   /**< the same */
	uint64_t known_ns; /**< for which it is known */
};

/** One window. Of the arrays of n_cells, those that used nothing are not there. */
struct watt_series_window {
	size_t sz;      /**< sizeof(struct watt_series_window), the library's */
	uint64_t t0_ns; /**< CLOCK_MONOTONIC */
	uint64_t t1_ns;
	size_t mark_index; /**< of the mark that began its phase, or WATT_NO_MARK */
	struct watt_series_energy *domains; /**< one each */
	size_t n_cells;
	uint32_t *entity_index; /**< of each in the series */
	uint64_t *cpu_ns;       /**< of each */
	int64_t *total_nj;      /**< of each, over the partition */
	int64_t *energy_nj;     /**< n_cells times the number of domains */
	double *uncertainty_j;  /**< of each total_nj, in this window alone; NAN: not known */
};

/** What the series is as a whole. */
struct watt_series_info {
	size_t sz; /**< sizeof(struct watt_series_info), the library's */
	size_t n_domains;
	size_t n_windows;
	size_t n_entities;
	uint64_t start_ns; /**< of the first window, CLOCK_MONOTONIC */
	uint64_t end_ns;
	uint64_t window_ns;        /**< that was asked or chosen */
	int64_t start_realtime_ns; /**< CLOCK_REALTIME at start_ns */
	size_t n_folded;           /**< entities that are in "others" */
	size_t n_checks;           /**< of the equation above, for each domain of each window */
	size_t n_failures;
	/** In "others", of those that used more than one that is kept apart: they came late. */
	size_t n_misplaced;
};

/**
 * Reads all windows of a session that has been started; it must outlive the series.
 *
 * @param n_kept  of each kind that are kept apart; 0: 1,000.
 * @return 0; -EOVERFLOW: there is more energy than int64 nJ hold, 9.2e9 J in all domains together;
 * another negative errno as watt_windows_next(): whatever came before is in *ret: it is
 * set in any case but -EINVAL and -ENOMEM.
 */
WATT_API int watt_series_read(struct watt_session *ses, const struct watt_windows_opts *opts,
			      size_t n_kept, struct watt_series **ret);
/**
 * The same windows again, of another session of the same recording, where @p first has somebody
 * misplaced: as it is known now who used the most, these are kept apart from the beginning.
 */
WATT_API int watt_series_read_again(struct watt_session *ses, const struct watt_windows_opts *opts,
				    const struct watt_series *first, struct watt_series **ret);
/** NULL is allowed. Always returns NULL. */
WATT_API struct watt_series *watt_series_free(struct watt_series *series);

WATT_API const struct watt_series_info *watt_series_get_info(const struct watt_series *series);
/** All of these: NULL if @p index is out of range. */
WATT_API const struct watt_domain *watt_series_get_domain(const struct watt_series *series,
							  size_t index);
/** At the end of the last window. */
WATT_API const struct watt_domain_state *watt_series_get_state(const struct watt_series *series,
							       size_t index);
/** At the end of the last window; NULL: there is none. */
WATT_API const struct watt_quality *watt_series_get_quality(const struct watt_series *series);
/** A domain over all windows. */
WATT_API const struct watt_series_energy *watt_series_get_total(const struct watt_series *series,
								size_t index);
WATT_API const struct watt_series_window *watt_series_get_window(const struct watt_series *series,
								 size_t index);
/** A channel of context, in the order of channels. NULL: no more. */
WATT_API const struct watt_series_gauge *watt_series_get_gauge(const struct watt_series *series,
							       size_t index);
/**
 * Its mean in a window, in watt_quantity_unit(), or what was read last where none of its readings
 * fell into it (watt_gauge_get_now()); NAN: not known, or there is no such thing.
 */
WATT_API double watt_series_get_gauge_mean(const struct watt_series *series, size_t gauge_index,
					   size_t window_index);
WATT_API const struct watt_series_entity *watt_series_get_entity(const struct watt_series *series,
								 size_t index);
/** Mean power in the time for which energy is known; NAN: none is. */
WATT_API double watt_series_power_w(const struct watt_series_energy *energy, int64_t energy_nj);
/**
 * Mean power that a domain has in the machine's: of one whose whole has a residual, in the time for
 * which that is known, as it has what the domain did not tell. These add up, as energies do.
 *
 * @param domains of a window or a phase, all of them.
 * @return NAN: it is not added, or none of its energy is known.
 */
WATT_API double watt_series_added_w(const struct watt_series *series,
				    const struct watt_series_energy *domains, size_t domain_index,
				    int64_t energy_nj);

WATT_END_DECLS

#endif
