/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that add up as they are shown, for a page; without memory the program ends. */
#ifndef WATT_CLI_TALLY_H
#define WATT_CLI_TALLY_H

#include <wattribute/tally.h>

/* To so many decimals, as it is shown; NAN: it is not known. */
double tally_round(double value, int decimals);
/* Digits of a tally: parts are less than their whole, so one more than that can stand. */
int tally_digits(uint32_t uncertainty_ppm);
/* As many of the whole, or more, as it takes for a part that is asked for not to be 0. */
int tally_digits_for(double whole, double part, int digits, int max_decimals);
struct watt_tally *tally_new(const double *parts, size_t n_parts, int digits, int max_decimals);
/*
 * Of what another tally shows as `shown` where it is `exact`. Parts that are not all of it get the
 * same decimals, and add up to what they are together.
 */
struct watt_tally *tally_within(const double *parts, size_t n_parts, double exact, double shown,
				int decimals);
/* The same of parts that are all of it, whatever their sum. */
struct watt_tally *tally_of_shown(const double *parts, size_t n_parts, double shown, int decimals);

/*
 * "   12.3  ", with `whole` columns before the point and `most` behind it; "   <0.1  " is more than
 * nothing. exact: what is shown so.
 */
char *tally_column(char *buf, double shown, double exact, int decimals, int whole, int most);

/* Frees a local at the end of its scope. */
#define auto_tally __attribute__((cleanup(tally_free)))
void tally_free(struct watt_tally **tally);

#endif
