/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A GPU's power by weighted least squares with smoothness, the other way to put readings together:
 * what the library does is held against it. Bins of one length; each reading says what the mean of
 * some of them is, and neighbours are held together by their second differences. The whole of it is
 * solved at once, with what came later, too. Plain values, one thread per object.
 */
#ifndef WATT_TESTS_SMOOTH_CURVE_H
#define WATT_TESTS_SMOOTH_CURVE_H

#include <stddef.h>
#include <stdint.h>

struct smooth_curve;

/* lambda: the weight of the second differences. Aborts without memory, as all of these. */
struct smooth_curve *smooth_curve_new(uint64_t from_ns, uint64_t to_ns, uint64_t bin_ns,
				      double lambda);
/* Accepts NULL. */
void smooth_curve_free(struct smooth_curve *curve);
/* The mean power between two instants was this, W, with this weight. */
void smooth_curve_add(struct smooth_curve *curve, uint64_t from_ns, uint64_t to_ns, double power_w,
		      double weight);
/* Once, behind all of them. */
void smooth_curve_solve(struct smooth_curve *curve);
double smooth_curve_energy_j(const struct smooth_curve *curve, uint64_t from_ns, uint64_t to_ns);
/* Between the middles of two bins, a straight line. */
double smooth_curve_power_w(const struct smooth_curve *curve, uint64_t t_ns);

#endif
