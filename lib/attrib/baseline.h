/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a domain takes when nothing runs: the lower envelope of its power against the activity of
 * its CPUs, learned while measuring. Until it is ready there is no answer, never a guess.
 */
#ifndef WATT_ATTRIB_BASELINE_H
#define WATT_ATTRIB_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wattribute/domain.h>

struct watt_words; /* base/words.h */

/* Of activity, 3.1 % each: a slow CPU that does nothing but measure is idle. */
#define WATT_BASELINE_BINS 32
#define WATT_BASELINE_DEPTH 64 /* newest points kept in a bin */

struct watt_baseline_bin {
	uint32_t power_mw[WATT_BASELINE_DEPTH]; /* ring */
	uint32_t n;                             /* points in it */
	uint32_t next;                          /* where the next one goes */
	uint32_t low_mw;                        /* first decile of the points */
};

struct watt_baseline {
	struct watt_baseline_bin *bins; /* allocated with the first point */
	uint64_t min_block_ns; /* set by the owner: how long a point is at least; 0: 50 ms */
	uint64_t block_ns;     /* of the block that is being filled */
	uint64_t block_energy_nj;
	uint64_t block_busy_ns; /* CPU time of all CPUs */
	uint64_t points;
	uint64_t baseline_uw;
	uint64_t doubt_uw; /* standard uncertainty of it, where the machine was never seen idle */
	enum watt_baseline_from from; /* how it is known */
	bool is_ready;
	bool is_given; /* set by the owner with the two above: known, nothing is to be learned */
};

void watt_baseline_done(struct watt_baseline *baseline);
/* Saves what was learned, or loads it. 0 or words->error, and then nothing is known. */
int watt_baseline_visit(struct watt_baseline *baseline, struct watt_words *words);
/*
 * Adds a slice: its length, energy and CPU time on n_cpus CPUs. Slices are joined to blocks long
 * enough for the sensor's noise. 0 or -ENOMEM.
 */
int watt_baseline_add(struct watt_baseline *baseline, uint64_t dt_ns, int64_t energy_nj,
		      uint64_t busy_ns, uint32_t n_cpus);
/* Idle energy of a slice: at most its energy; 0 before the baseline is ready. */
int64_t watt_baseline_idle_nj(const struct watt_baseline *baseline, uint64_t dt_ns,
			      int64_t energy_nj);
/*
 * Standard uncertainty of idle power; before it is ready, of taking it for nothing: by the least
 * power that was seen so far. UINT64_MAX: none was seen.
 */
uint64_t watt_baseline_doubt_uw(const struct watt_baseline *baseline);

#endif
