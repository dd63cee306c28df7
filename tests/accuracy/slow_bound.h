/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What some readings of a total can tell of their age at the very most: what is left to find for
 * whoever knows how the parts went, how much the rest changes, and in what steps it is counted.
 */
#ifndef SLOW_BOUND_H
#define SLOW_BOUND_H

#include <stddef.h>

#define SLOW_BOUND_PARTS 3
#define SLOW_BOUND_MAX 64

struct slow_seen {
	/* The mean of a part, over so long until some instant. */
	double (*get_w)(const void *machine, size_t part, double end_s, double window_s);
	const void *machine;
	const double *factors; /* the true ones */
	double t_s[SLOW_BOUND_MAX];
	double power_w[SLOW_BOUND_MAX];
	size_t n;
	double quantum_w;
	double age_s; /* the true one, of the middle */
	double window_s;
};

struct slow_bound {
	double least_ms; /* Cramer-Rao: no unbiased estimate has a lesser deviation; INFINITY: none can be */
	double off_ms;       /* of the mean of all ages, each by its true likelihood */
	double deviation_ms; /* of that: ages that the readings can't tell apart */
};

struct slow_bound slow_bound_find(const struct slow_seen *seen);

#endif
