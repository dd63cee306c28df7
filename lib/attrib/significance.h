/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether what programs did tells of a domain's power at all, for one of which nobody knows whether
 * they cause it: fans, disks, losses, a rail without a name. A learner says what it expects of a
 * block of time before it has seen that, and what changes from one block to the next is compared
 * with what changed in truth. Changes, for what drifts for long is no program's; before, for what
 * was learned from may be explained by anything. Pure arithmetic, built with -ffp-contract=off.
 */
#ifndef WATT_ATTRIB_SIGNIFICANCE_H
#define WATT_ATTRIB_SIGNIFICANCE_H

#include <stdbool.h>
#include <stdint.h>

struct watt_words; /* base/words.h */

/* To begin with t must be so large, and then no less than that. */
#define WATT_SIGNIFICANT_BEGIN 5.0
#define WATT_SIGNIFICANT_STAY 3.0

struct watt_significance {
	/* Decaying sums over changes: x that was expected, y that was measured. */
	double x2, xy, x4, x3y, x2y2;
	bool is_significant;
};

/*
 * From one block to the next: the change that was expected of both, before either was learned from,
 * and what it was. No block is in two changes: its error would count twice.
 */
void watt_significance_add(struct watt_significance *significance, double expected_w,
			   double measured_w);
/*
 * t value of the slope of a line through 0, y by x: by how many of its standard errors it is above 0,
 * where errors may be larger for some changes than for others (White). 0 while a few changes are
 * nearly all that x has: they would explain themselves.
 */
double watt_significance_t(const struct watt_significance *significance);
/* Saves it, or loads it. 0 or words->error. */
int watt_significance_visit(struct watt_significance *significance, struct watt_words *words);

#endif
