/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Features of programs: what counters say of how they run, for each second of CPU time and beside
 * the mean of all. Of the programs that were seen of late, a bounded number. Plain values but for
 * no memory; one thread per object.
 */
#ifndef WATT_ATTRIB_FEATURES_H
#define WATT_ATTRIB_FEATURES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/activity.h"

struct watt_words; /* base/words.h */

enum {
	WATT_FEATURE_CYCLES = 0,       /* how much faster than the mean */
	WATT_FEATURE_INSTRUCTIONS = 1, /* how many more than the mean */
	WATT_FEATURE_IRQ = 2,          /* how much more of its time in handlers of interrupts */
	WATT_N_COUNTED,
	WATT_FEATURE_ONE =
		WATT_N_COUNTED, /* 1: what all have in common, whose mean is not known yet */
	WATT_N_FEATURES
};

/* Places for programs, in sets of WATT_FEATURE_WAYS. */
#define WATT_FEATURE_PROGRAMS 512
#define WATT_FEATURE_WAYS 8

struct watt_feature_sums {
	double amount[WATT_N_COUNTED];
	double cpu_s[WATT_N_COUNTED]; /* in which that was counted */
};

struct watt_features {
	struct watt_feature_sums all;
	struct {
		uint64_t program;
		uint64_t newest; /* slice */
		struct watt_feature_sums sums;
	} list[WATT_FEATURE_PROGRAMS];
	uint64_t n_slices;
};

/* Begins a slice. */
void watt_features_begin(struct watt_features *features);
/* CPU time of a program in it, while these activities were counted: WATT_KEY_BIT() of each. */
void watt_features_add_time(struct watt_features *features, uint64_t program, double cpu_s,
			    uint32_t kinds);
/* And what it did meanwhile. */
void watt_features_add(struct watt_features *features, uint64_t program,
		       enum watt_activity_kind kind, double amount);
/*
 * What is known of a program: 0 for what is not counted here. False: it has not run for long enough,
 * or all together have not.
 */
bool watt_features_get(const struct watt_features *features, uint64_t program, double *ret);

/*
 * Saves them, or loads them into *features, which is made where it is needed and there is none; of a
 * save, NULL: there are none. 0 or words->error.
 */
int watt_features_visit(struct watt_features **features, struct watt_words *words);

#endif
