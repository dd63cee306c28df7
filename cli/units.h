/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers for people: a quantity with its unit, and never more digits than are known.
 * All write into buf (UNITS_SIZE bytes are always enough) and return it.
 */
#ifndef WATT_CLI_UNITS_H
#define WATT_CLI_UNITS_H

#include <stddef.h>
#include <stdint.h>

#define UNITS_SIZE 32

/* Digits that a standard uncertainty leaves; 0 ppm: unknown. */
int units_digits(uint32_t uncertainty_ppm);
/* "12.3", "0.042": digits significant ones, but at most max_decimals behind the point. */
char *units_number(char *buf, double value, int digits, int max_decimals);
/* The same with the point in a fixed column: `whole` columns before it, decimals after it. */
char *units_column(char *buf, double value, int digits, int whole, int decimals);
/* "12.3 W", "4.56 mW" */
char *units_power(char *buf, double power_w, int digits);
/* "12.3 J", "4.56 kJ" */
char *units_energy(char *buf, double energy_j, int digits);
/* "50 ms", "1.25 s" */
char *units_time(char *buf, double time_s, int digits);
/* "+-40 %"; "unknown" for 0 */
char *units_uncertainty(char *buf, uint32_t uncertainty_ppm);
/* "1h 02m", "3m 20s", "12 s": a time that has passed */
char *units_elapsed(char *buf, double time_s);

#endif
