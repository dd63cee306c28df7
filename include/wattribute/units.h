/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file units.h
 * @brief Numbers for people: a quantity with its unit, and never more digits than are known.
 *
 * They don't depend on the locale: scripts read these too. All write into buf, for which
 * WATT_UNITS_SIZE bytes are always enough, and return it; what is not known is "-". Thread-safe.
 */
#ifndef WATTRIBUTE_UNITS_H
#define WATTRIBUTE_UNITS_H

#include <wattribute/types.h>

WATT_BEGIN_DECLS

/** Bytes of a buffer. */
#define WATT_UNITS_SIZE 32

/** Digits that a standard uncertainty leaves; 0 ppm: unknown. */
WATT_API int watt_units_digits(uint32_t uncertainty_ppm);
/** Decimals that leave a value @p digits significant digits: 0 to max_decimals. */
WATT_API int watt_units_decimals(double value, int digits, int max_decimals);
/** "12.3", "0.042": digits significant ones, but at most max_decimals behind the point. */
WATT_API char *watt_units_number(char *buf, double value, int digits, int max_decimals);
/** The same with the point in a fixed column: @p whole columns before it, decimals after it. */
WATT_API char *watt_units_column(char *buf, double value, int digits, int whole, int decimals);
/** As watt_units_column(), with so many decimals: what watt_tally_get_decimals() says. */
WATT_API char *watt_units_fixed(char *buf, double value, int digits_behind, int whole,
				int decimals);
/** "12.3 W", "4.56 mW". */
WATT_API char *watt_units_power(char *buf, double power_w, int digits);
/** "12.3 J", "4.56 kJ". */
WATT_API char *watt_units_energy(char *buf, double energy_j, int digits);
/** "45.2 C", "97 %", "1.3 GHz", "3.2 GiB", "2400 rpm": a value in watt_quantity_unit(). */
WATT_API char *watt_units_quantity(char *buf, enum watt_quantity quantity, double value,
				   int digits);
/** "50 ms", "1.25 s". */
WATT_API char *watt_units_time(char *buf, double time_s, int digits);
/** "+-40 %", with the sign as one character where @p is_utf8; "unknown" for 0. */
WATT_API char *watt_units_uncertainty(char *buf, uint32_t uncertainty_ppm, int is_utf8);
/** "1h 02m", "3m 20s", "12 s": a time that has passed. */
WATT_API char *watt_units_elapsed(char *buf, double time_s);

WATT_END_DECLS

#endif
