/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file run.h
 * @brief A run: a command, or a stretch of the life of a process, and what it used.
 *
 * A stopwatch (<wattribute/stopwatch.h>) measures them, and whoever measures otherwise can fill them
 * in; several of them are one document. All but watt_run and watt_runs are plain values that never
 * grow. Energies are of the command and all its descendants unless a name says machine.
 */
#ifndef WATTRIBUTE_RUN_H
#define WATTRIBUTE_RUN_H

#include <wattribute/balance.h>
#include <wattribute/mark.h>
#include <wattribute/session.h>

WATT_BEGIN_DECLS

/** What was used in one interval of a run. It never grows. */
struct watt_run_interval {
	uint64_t end_ns; /**< since the beginning of the run */
	uint64_t elapsed_ns;
	int64_t energy_nj;
	int64_t machine_nj;
	uint64_t cpu_ns;
};

/** What is missing in a domain's energy. It never grows. */
struct watt_run_loss {
	uint64_t errors; /**< readings without a value */
	uint64_t resets; /**< of its counter */
	uint64_t gap_ns; /**< time for which no energy is known */
	uint64_t ambiguous;
};

/** A phase, as the marks cut a run: all stretches of one label. Together they are the run. It never
 *  grows. */
struct watt_run_phase {
	char label[WATT_MARK_SIZE]; /**< "": in no phase */
	uint64_t count;             /**< of stretches */
	uint32_t is_known;          /**< the energy is; without it only times are */
	uint32_t reserved;
	uint64_t elapsed_ns;
	int64_t energy_nj;
	int64_t machine_nj; /**< in that time */
	uint64_t cpu_ns;
	size_t n_domains;
	int64_t *domain_nj;         /**< one each */
	int64_t *domain_machine_nj; /**< one each */
};

/** A thread, or all that were not seen, together: the sum of them is the run's. It never grows. */
struct watt_run_thread {
	uint64_t id; /**< of the entity; 0: threads that were not seen */
	char *name;  /**< as the library has it */
	uint32_t pid;
	uint32_t tid;   /**< 0: threads that were not seen */
	uint32_t count; /**< threads in it; 0: not known */
	uint32_t reserved;
	int64_t energy_nj;
	uint64_t cpu_ns;
};

/** One run. Arrays are NULL where they have no elements. */
struct watt_run {
	size_t sz;           /**< sizeof(struct watt_run) */
	uint32_t is_known;   /**< the energy is; without it only times are */
	int32_t exit_status; /**< as the shell has it: 128 + n for signal n */
	int64_t energy_nj;
	int64_t machine_nj; /**< in that time */
	int64_t idle_nj;
	int64_t unattributed_nj;
	int64_t shared_idle_nj; /**< idle energy that was shared by all who ran */
	double machine_w;       /**< NAN: not known */
	uint64_t cpu_ns;        /**< as accounted */
	double rusage_s;        /**< as the kernel tells the parent; NAN: not a child */
	uint64_t elapsed_ns;
	size_t n_domains;
	uint8_t *domain_known;             /**< per domain: whether it has any energy */
	int64_t *domain_nj;                /**< per domain */
	int64_t *domain_machine_nj;        /**< per domain */
	struct watt_run_loss *domain_loss; /**< per domain */
	struct watt_run_interval *intervals;
	size_t n_intervals;
	struct watt_run_phase *phases; /**< in the order in which they first began */
	size_t n_phases;
	struct watt_run_thread *threads; /**< none, if nobody asked for them */
	size_t n_threads;
	/** It failed or was interrupted, and others did not: no part of means and deviations. */
	uint32_t is_left_out;
	uint32_t reserved;
	/** What supplies measured of all of the machine, of which machine_w is a part; NAN: nothing
	 *  does, or no more than that. Their paths are in the balance. */
	double outside_w;
	/** Standard uncertainty of energy_nj as to who used it, in joules; what the sensors may be
	 *  wrong by comes on top. NAN or 0: not known. */
	double uncertainty_j;
	/** Per domain: enum watt_status, whether it was told who used it, as in struct
	 *  watt_domain_state at the end of the run. */
	uint8_t *domain_users;
};

/** What can be told of a run or a phase as one number. */
enum watt_run_measure {
	WATT_RUN_ENERGY_J = 0,
	WATT_RUN_MACHINE_J = 1,
	WATT_RUN_IDLE_J = 2,
	WATT_RUN_UNATTRIBUTED_J = 3,
	WATT_RUN_OTHERS_J = 4, /**< the machine's, that all others who ran used */
	WATT_RUN_SHARED_IDLE_J = 5,
	WATT_RUN_SHARE = 6, /**< of the machine's energy, 0 to 1 */
	WATT_RUN_POWER_W = 7,
	WATT_RUN_MACHINE_W = 8,
	WATT_RUN_OUTSIDE_W = 9,
	WATT_RUN_CPU_S = 10,
	WATT_RUN_RUSAGE_S = 11,
	WATT_RUN_ELAPSED_S = 12,
};

/**
 * One number of a run, for means and tables; NAN: not known. The power of who ran and used less than
 * the sensors resolve is not known.
 */
WATT_API double watt_run_get(const struct watt_run *run, enum watt_run_measure measure);
/** The same of a phase; what only a run has is not known of it. */
WATT_API double watt_run_phase_get(const struct watt_run_phase *phase,
				   enum watt_run_measure measure);
/** The same of an interval. */
WATT_API double watt_run_interval_get(const struct watt_run_interval *interval,
				      enum watt_run_measure measure);

/**
 * The phases of several runs: each label once, in the order in which runs had it first. One thread
 * per object; the runs must outlive it.
 */
struct watt_run_phases;

/** 0; -EINVAL: a pointer is missing; -ENOMEM. Free it with watt_run_phases_free(). */
WATT_API int watt_run_phases_new(const struct watt_run *const *runs, size_t n_runs,
				 struct watt_run_phases **ret);
/** NULL is allowed. Always returns NULL. */
WATT_API struct watt_run_phases *watt_run_phases_free(struct watt_run_phases *phases);
/** "": in no phase; NULL: there are no more. */
WATT_API const char *watt_run_phases_get_label(const struct watt_run_phases *phases, size_t index);
/** Of label @p index in run @p run_index, both from 0; NULL: the run did not have it. It is the run's. */
WATT_API const struct watt_run_phase *watt_run_phases_get(const struct watt_run_phases *phases,
							  size_t index, size_t run_index);

/** Frees what watt_stopwatch_finish() gave. NULL is allowed. Always returns NULL. */
WATT_API struct watt_run *watt_run_free(struct watt_run *run);

/** Runs of one command, and what they have in common. */
struct watt_runs {
	size_t sz;                          /**< sizeof(struct watt_runs) */
	const struct watt_session *ses;     /**< that measured them */
	const char *const *argv;            /**< the command, ends with NULL; NULL: a process */
	uint32_t pid;                       /**< of the process */
	uint32_t has_threads;               /**< threads were asked for */
	const struct watt_balance *balance; /**< of the newest snapshot */
	const struct watt_quality *quality; /**< of it */
	const struct watt_run *const *runs;
	size_t n_runs;
};

/** By docs/schema/wattribute-stat-1.json. As the functions of <wattribute/json.h>. */
WATT_API int watt_runs_to_json(const struct watt_runs *runs, uint32_t flags, char **ret);

WATT_END_DECLS

#endif
