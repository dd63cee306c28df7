/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integers printed as decimal fractions: exactly, whatever the locale, without zeros at the end.
 * 1,234,500,000 nJ with nine places are "1.2345" J.
 */
#ifndef WATT_SINK_DECIMAL_H
#define WATT_SINK_DECIMAL_H

#include <stdint.h>

#define WATT_DECIMAL_SIZE 32

/* Writes value / 10^places into buf (WATT_DECIMAL_SIZE bytes); returns buf. places: 0 to 19. */
char *watt_decimal_signed(char *buf, int64_t value, unsigned int places);
char *watt_decimal_unsigned(char *buf, uint64_t value, unsigned int places);
/* The shortest digits that give the same double (or float) again; "null" if it is none. */
char *watt_decimal_double(char *buf, double value);
char *watt_decimal_float(char *buf, float value);

#endif
