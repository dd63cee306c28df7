/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file statistics.h
 * @brief Mean, spread and confidence of a few repeated measurements.
 */
#ifndef WATTRIBUTE_STATISTICS_H
#define WATTRIBUTE_STATISTICS_H

#include <wattribute/types.h>

WATT_BEGIN_DECLS

/** Of values that do not depend on each other. A plain value; it never grows. */
struct watt_statistics {
	size_t n;    /**< values that are numbers */
	double mean; /**< NAN for n = 0 */
	double sd;   /**< of the sample; NAN for n < 2 */
	double ci95; /**< half width of the 95 % interval of the mean, by Student's t; NAN for n < 2 */
};

/** Values that are not numbers are left out. Thread-safe. */
WATT_API struct watt_statistics watt_statistics_of(const double *values, size_t n);

WATT_END_DECLS

#endif
