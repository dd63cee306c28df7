/* SPDX-License-Identifier: Apache-2.0 */
/* What statistics and confidence share. Thread-safe. */
#ifndef WATT_VIEW_STATISTICS_H
#define WATT_VIEW_STATISTICS_H

#include <wattribute/statistics.h>

/* Student's t for a two-sided interval of 95 %. */
double watt_statistics_t95(size_t degrees_of_freedom);

#endif
