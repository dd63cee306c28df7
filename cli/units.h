/* SPDX-License-Identifier: Apache-2.0 */
/* The library's numbers for people, on a terminal whose characters are known. */
#ifndef WATT_CLI_UNITS_H
#define WATT_CLI_UNITS_H

#include <wattribute/units.h>

#include "text.h"

#define UNITS_SIZE WATT_UNITS_SIZE
#define units_digits watt_units_digits
#define units_number watt_units_number
#define units_column watt_units_column
#define units_power watt_units_power
#define units_energy watt_units_energy
#define units_time watt_units_time
#define units_elapsed watt_units_elapsed

static inline char *units_uncertainty(char *buf, uint32_t uncertainty_ppm)
{
	return watt_units_uncertainty(buf, uncertainty_ppm, text_is_utf8());
}

#endif
