/* SPDX-License-Identifier: Apache-2.0 */
/* Mean, spread and confidence of a few repeated measurements. */
#ifndef WATT_CLI_STATISTICS_H
#define WATT_CLI_STATISTICS_H

#include <stddef.h>

struct statistics {
	size_t n;
	double mean;
	double sd;   /* of the sample; NAN for n < 2 */
	double ci95; /* half width of the 95 % interval of the mean; NAN for n < 2 */
};

/* Values that are not numbers are left out of n. */
struct statistics statistics_of(const double *values, size_t n);
/* Student's t for a two-sided interval of 95 %. */
double statistics_t95(size_t degrees_of_freedom);

#endif
