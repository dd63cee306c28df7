/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file snapshot.h
 * @brief A snapshot: who had used how much of which domain at one instant. Immutable.
 *
 * For each domain, from the start of the session (the totals) and since its reader's snapshot
 * before (the window):
 *
 *     energy = idle + unattributed + sum over processes, kernel threads, exited, irq, softirq
 *
 * in integer nJ, exactly. Cgroups, containers, units, users and tracked sets are sums over the
 * same processes seen in another way: never add them to the processes.
 *
 * Reference counted; any thread may read one. What its accessors return lives as long as it.
 */
#ifndef WATTRIBUTE_SNAPSHOT_H
#define WATTRIBUTE_SNAPSHOT_H

#include <wattribute/domain.h>
#include <wattribute/entity.h>

WATT_BEGIN_DECLS

struct watt_snapshot;

/** One entity and what it used. */
struct watt_row {
	size_t sz;                        /**< sizeof(struct watt_row), the library's */
	const struct watt_entity *entity; /**< never NULL; of the snapshot, and lives as long */
	uint64_t cpu_ns;                  /**< CPU time since the start of the session */
	uint64_t window_cpu_ns;           /**< in the window */
	const struct watt_energy *energy; /**< per domain, since the start of the session */
	const int64_t *window_nj;         /**< per domain, in the window */
	struct watt_energy total;         /**< sum over the partition domains, since the start */
	int64_t window_total_nj;          /**< the same in the window */
	/**
	 * Standard uncertainty of its share, in joules, for each of the four above: how far the
	 * true energy may be from the one told because a key has to guess who used it. What the
	 * sensor may be wrong by comes on top (watt_domain.uncertainty_ppm), and is the same for
	 * all. NAN: not known, as where CPU time alone was chosen. Of a sum it is that of the sum,
	 * not the sum of its members': programs that always run together are unsure, and what they
	 * use together is not.
	 */
	const double *uncertainty_j;        /**< per domain, since the start of the session */
	const double *window_uncertainty_j; /**< per domain, in the window */
	double total_uncertainty_j;         /**< of total */
	double window_total_uncertainty_j;  /**< of window_total_nj */
	/** Of a thread that is tracked: what of total its set (watt_entity.tracked_id) has. The rest
	 *  it used before, or of slices that began before. Else zero. */
	struct watt_energy tracked;
	uint64_t tracked_cpu_ns; /**< the same of cpu_ns */
	/** Of window_uncertainty_j, per domain of the partition, what comes of idle power that nobody has
	 *  seen: it has one sign in all domains, and is added as it is. NULL: none does. */
	const double *window_idle_uncertainty_j;
};

/** One domain and what became of its energy. */
struct watt_domain_state {
	size_t sz;               /**< sizeof(struct watt_domain_state), the library's */
	enum watt_status status; /**< PENDING until two samples are in; STALE: none for too long */
	uint64_t t_ns;           /**< attributed up to here, CLOCK_MONOTONIC */
	struct watt_energy energy; /**< since the start of the session */
	int64_t window_nj;
	uint64_t window_ns;      /**< length of the domain's own window */
	struct watt_energy idle; /**< of energy */
	int64_t window_idle_nj;
	struct watt_energy unattributed; /**< of energy */
	int64_t window_unattributed_nj;
	uint32_t baseline_ready; /**< 0: idle is not known yet, all energy counts as dynamic */
	/** Of a total and its residual: 0 when the total has fallen behind its parts for good. The
	 *  residual is 0 then, never negative, and the parts alone are the machine's energy. */
	uint32_t is_usable;
	uint64_t baseline_uw;    /**< idle power, when ready */
	uint64_t samples;        /**< good samples so far */
	uint64_t errors;         /**< samples without a value */
	uint64_t wraps;          /**< of the counter */
	uint64_t resets;         /**< of the counter */
	uint64_t gaps;           /**< times without data longer than allowed */
	uint64_t gap_ns;         /**< time in them; of a residual, in those of its parts, too */
	struct watt_energy late; /**< came after its slices had to go: in unattributed */
	/** Idle energy that the policy gave to who ran: not in idle. */
	struct watt_energy shared_idle;
	int64_t window_shared_idle_nj;
	/** Pairs of readings so far apart that the counter may have wrapped unseen between them:
	 *  some multiple of its range may be missing. */
	uint64_t ambiguous;
	enum watt_share_key key;    /**< by which the newest slice was shared */
	uint32_t key_readiness_ppm; /**< of the domain's own key, in 1e-6; 0: it can't share yet */
	uint32_t key_uncertainty_ppm; /**< standard uncertainty of its weights; 0: not known */
	/** How old its sensor's values are when they can be read, as it was found while they came:
	 *  where nobody tells it (WATT_CHANNEL_AGE_UNKNOWN). */
	uint64_t found_delay_ns;
	uint64_t found_delay_uncertainty_ns; /**< standard; 0: no age was found (yet) */
	/** Of a domain of which nobody knows whether programs cause it, as a residual: t value of what
	 *  they are expected to take against what it takes, by changes and before it is learned from
	 *  them. Programs get its energy from 5 on until below 3. NAN: it is not asked. */
	double significance_t;
	uint32_t is_significant; /**< and whether it does by now */
	/** Whether it is told who used it, as its key needs it. OK too where that is the CPUs' time.
	 *  FORBIDDEN: by numbers of another pid namespace, which can't be translated, and all that they
	 *  used is unattributed; PENDING, STALE: nothing is told, yet or any more; ABSENT: its key
	 *  needs nothing, and it is nobody's. */
	enum watt_status users_status;
	uint64_t clamped_ns; /**< of a residual: its parts were more than the total, and it was cut at 0 */
	uint64_t window_clamped_ns; /**< the same, in the window: the total has yet to follow them */
	/** Of a residual: its parts changed faster than the readings of the total can show, or it did
	 *  and no part tells when. Right in the sum, it may be off at each instant of that time. */
	uint64_t transient_ns;
	uint64_t window_transient_ns; /**< the same, in the window */
	/** Of gap_ns, the time for which it has no energy: all of it, but of a residual only the gaps
	 *  of its whole. What nobody told of a part is in the residual. */
	uint64_t unknown_ns;
	enum watt_baseline_from baseline_from; /**< how idle power is known */
	/** Standard uncertainty of idle power: 0 where it was seen. Where it was never seen and is
	 *  extrapolated, two fifths of the way from there to the least power that was seen, or half of
	 *  itself by the part of the CPUs that was busy at the least, whichever is more. While it is not
	 *  known, of taking it for nothing: 0.577 of that least power, as the truth may lie anywhere
	 *  between. UINT64_MAX: not even that was seen. It is in the uncertainty of every row. */
	uint64_t baseline_uncertainty_uw;
};

/** What one CPU did since the start of the session, as the kernel counts it. */
struct watt_cpu_state {
	size_t sz; /**< sizeof(struct watt_cpu_state), the library's */
	uint32_t cpu;
	uint32_t online;
	uint64_t wall_ns; /**< time that it was online */
	uint64_t user_ns;
	uint64_t system_ns; /**< the kernel's own */
	uint64_t idle_ns;
	uint64_t irq_ns;
	uint64_t softirq_ns;
	uint64_t steal_ns;
	/** Sum of the above against wall_ns, in 1e-6: 1,000,000 says that no time is missing and
	 *  none is counted twice. 0: not known yet. */
	uint32_t coverage_ppm;
	uint32_t reserved;
};

/**
 * What a channel of context told in the window: a load, a temperature, a clock, ... Nobody is
 * accounted for it, and it is part of no sum.
 */
struct watt_gauge {
	size_t sz;         /**< sizeof(struct watt_gauge), the library's */
	const char *name;  /**< of the channel */
	const char *label; /**< what the sensor calls itself; NULL if it does not */
	enum watt_quantity quantity;
	enum watt_status status; /**< of the newest reading; PENDING: there was none yet */
	double value;            /**< the newest one, in watt_quantity_unit(); NAN: none is known */
	double mean;             /**< over what is known of the window; NAN: less than 0.5 ms */
	uint64_t known_ns;       /**< how long that is */
	uint64_t samples;        /**< good readings since the start of the session */
	uint64_t errors;         /**< readings without a value */
};

/** Bits of watt_quality.usage_flags: what is known of who used the CPUs. */
enum watt_usage_batch_flag {
	/** The sweep told every live task; without it only those that had run. */
	WATT_BATCH_FULL = 1u << 0,
	/** The kernel keeps irq and softirq time out of the tasks' time, and counts it per CPU. */
	WATT_BATCH_IRQ_SEPARATE = 1u << 1,
	/** Deaths are seen; without it, what tasks that died had run is estimated. */
	WATT_BATCH_DEATHS = 1u << 2,
	/** Task times may lag by a tick or more (no extrapolation, coarse clock). */
	WATT_BATCH_COARSE = 1u << 3,
	/** The times of CPUs are exact to the ns; without it, to a clock tick. */
	WATT_BATCH_CPU_NS = 1u << 4,
};

/** The health of the measurement, cumulative since the start of the session. */
struct watt_quality {
	size_t sz;               /**< sizeof(struct watt_quality), the library's */
	uint64_t checks;         /**< conservation checks made */
	uint64_t check_failures; /**< and failed: anything but 0 is a bug */
	/** Checks made that a cgroup, container, pod, unit, user, tracked set or process is the sum
	 *  of its members, per domain. */
	uint64_t sum_checks;
	uint64_t sum_failures;  /**< and failed: anything but 0 is a bug */
	uint64_t sweeps;        /**< usage sweeps */
	uint64_t sweep_cost_ns; /**< time in them */
	uint64_t lost_records;  /**< usage records lost */
	uint64_t unseen_cpu_ns; /**< CPU time of tasks that nobody saw, estimated */
	uint64_t late_cpu_ns;   /**< CPU time that arrived after its slice had to go */
	uint64_t missed_reads;  /**< sensor reads skipped because their time had passed */
	uint64_t lost_samples;  /**< sensor samples lost because nobody fetched them */
	uint64_t busy_ns;       /**< CPU time accounted to tasks, all CPUs */
	uint64_t idle_ns;       /**< idle time of all CPUs as the kernel counts it */
	uint64_t irq_ns;        /**< irq and softirq, where the kernel keeps them apart */
	uint64_t steal_ns;      /**< taken by the hypervisor */
	uint64_t wall_ns;       /**< elapsed time times online CPUs */
	uint32_t usage_flags;   /**< enum watt_usage_batch_flag of the last sweep */
	/** busy + idle + irq + steal against wall, in 1e-6: how much of the CPUs' time is accounted
	 *  for, the tasks' by their own counts. 0: not known yet. */
	uint32_t coverage_ppm;
	/** Usage records that can't be true, more CPU time than there was: left out. */
	uint64_t damaged_records;
};

/** One more owner; returns @p snap. Thread-safe. */
WATT_API struct watt_snapshot *watt_snapshot_ref(struct watt_snapshot *snap);
/** One owner less; NULL is allowed. Always returns NULL. Thread-safe. */
WATT_API struct watt_snapshot *watt_snapshot_unref(struct watt_snapshot *snap);

/** CLOCK_MONOTONIC and CLOCK_REALTIME of the snapshot, in ns. */
WATT_API uint64_t watt_snapshot_get_time_ns(const struct watt_snapshot *snap);
WATT_API uint64_t watt_snapshot_get_realtime_ns(const struct watt_snapshot *snap);
/** Start of the session and of the window, CLOCK_MONOTONIC, in ns. */
WATT_API uint64_t watt_snapshot_get_start_ns(const struct watt_snapshot *snap);
WATT_API uint64_t watt_snapshot_get_window_start_ns(const struct watt_snapshot *snap);
/** Number of the snapshot among those of its reader (a session, or a cursor of it), from 1. */
WATT_API uint64_t watt_snapshot_get_sequence(const struct watt_snapshot *snap);

/** What became of idle energy; the same in all snapshots of a session. */
WATT_API enum watt_idle_policy watt_snapshot_get_idle_policy(const struct watt_snapshot *snap);

/** Label of the newest mark at or before the start of the window; NULL: no phase. */
WATT_API const char *watt_snapshot_get_phase(const struct watt_snapshot *snap);

WATT_API size_t watt_snapshot_get_domain_count(const struct watt_snapshot *snap);
/** NULL if @p index is out of range. */
WATT_API const struct watt_domain *watt_snapshot_get_domain(const struct watt_snapshot *snap,
							    size_t index);
WATT_API const struct watt_domain_state *
watt_snapshot_get_domain_state(const struct watt_snapshot *snap, size_t index);

/**
 * 1: the machine's energy is a sum that lacks this domain, whose sensor is there and can't be
 * read. Thread-safe.
 */
WATT_API int watt_domain_is_missing(const struct watt_domain *domain,
				    const struct watt_domain_state *state);

/** Rows are ordered by kind, then by id. */
WATT_API size_t watt_snapshot_get_row_count(const struct watt_snapshot *snap);
/** NULL if @p index is out of range. */
WATT_API const struct watt_row *watt_snapshot_get_row(const struct watt_snapshot *snap,
						      size_t index);
/** The row of an entity; NULL if it is not in the snapshot. */
WATT_API const struct watt_row *watt_snapshot_find_row(const struct watt_snapshot *snap,
						       uint64_t entity_id);

WATT_API size_t watt_snapshot_get_cpu_count(const struct watt_snapshot *snap);
/** By position, not by CPU number; NULL if @p index is out of range. */
WATT_API const struct watt_cpu_state *watt_snapshot_get_cpu(const struct watt_snapshot *snap,
							    size_t index);

WATT_API size_t watt_snapshot_get_gauge_count(const struct watt_snapshot *snap);
/** In the order of the session's channels; NULL if @p index is out of range. */
WATT_API const struct watt_gauge *watt_snapshot_get_gauge(const struct watt_snapshot *snap,
							  size_t index);

/**
 * What to show of it now: its mean in the window, or the newest reading where the window is shorter
 * than the time between readings and none fell into it. NAN: it is not known.
 */
WATT_API double watt_gauge_get_now(const struct watt_gauge *gauge);

WATT_API const struct watt_quality *watt_snapshot_get_quality(const struct watt_snapshot *snap);

WATT_END_DECLS

#endif
