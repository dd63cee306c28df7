/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mean of a series of measurements that depend on each other, and how sure it is.
 *
 * Neighbouring windows resemble each other, so that n of them tell less than n independent values
 * would. They are joined into batches, as long as needed for batches to be uncorrelated (batch
 * means), at least 8 of them; what correlation is left widens the interval. It is never narrower
 * than a process of first order with the series' own correlation would have it. Where there are
 * fewer than 16 values, or they are worth fewer than 12 independent ones, there is no interval.
 */
#ifndef WATT_VIEW_CONFIDENCE_H
#define WATT_VIEW_CONFIDENCE_H

#include <stdbool.h>
#include <stddef.h>

struct watt_confidence {
	size_t n;         /* values */
	size_t n_batches; /* 0: no interval */
	double mean;      /* weighted; NAN: no value */
	double se;        /* standard error of the mean; NAN: not known */
	double df;        /* its degrees of freedom */
	double ci95;      /* half width of the interval of 95 %; NAN: not known */
};

/* From one mean to another. */
struct watt_confidence_difference {
	double delta; /* to - from; NAN: one is missing */
	double ci95;  /* half width by Welch's t; NAN: not known */
	double ratio; /* delta / from; NAN where from is 0 */
	double ratio_ci95;
	bool is_known;       /* the interval is */
	bool is_significant; /* and 0 lies outside of it */
};

/* values in the order of time, each with its weight (its duration), above 0. */
struct watt_confidence watt_confidence_mean(const double *values, const double *weights, size_t n);
struct watt_confidence_difference watt_confidence_compare(const struct watt_confidence *from,
							  const struct watt_confidence *to);

#endif
