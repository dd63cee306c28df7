/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of a page, for which there always is memory. */
#include "tally.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <wattribute/units.h>

#include "xalloc.h"

double tally_round(double value, int decimals)
{
	double scale = pow(10, decimals);

	return isfinite(value) ? round(value * scale) / scale : NAN;
}

int tally_digits(uint32_t uncertainty_ppm)
{
	return watt_units_digits(uncertainty_ppm) + 1;
}

int tally_digits_for(double whole, double part, int digits, int max_decimals)
{
	int most = digits + max_decimals;

	while (part > 0 && digits < most && part < whole * pow(10, -digits + 1))
		digits++;
	return digits;
}

struct watt_tally *tally_new(const double *parts, size_t n_parts, int digits, int max_decimals)
{
	struct watt_tally *tally = NULL;

	if (watt_tally_new(parts, n_parts, digits, max_decimals, &tally) < 0)
		xalloc_fail();
	return tally;
}

struct watt_tally *tally_of_shown(const double *parts, size_t n_parts, double shown, int decimals)
{
	struct watt_tally *tally = NULL;

	if (watt_tally_new_within(parts, n_parts, shown, decimals, &tally) < 0)
		xalloc_fail();
	return tally;
}

struct watt_tally *tally_within(const double *parts, size_t n_parts, double exact, double shown,
				int decimals)
{
	double sum = 0, size = 0;
	size_t i;

	for (i = 0; i < n_parts; i++)
		if (isfinite(parts[i])) {
			sum += parts[i];
			size += fabs(parts[i]);
		}
	/* Sums of the same numbers in another order are not the same to the last bit. */
	if (!isfinite(shown) || !(fabs(sum - exact) <= 1e-9 * (size + fabs(exact))))
		shown = sum;
	return tally_of_shown(parts, n_parts, shown, decimals);
}

char *tally_column(char *buf, double shown, double exact, int decimals, int whole, int most)
{
	double step = pow(10, -decimals);
	bool is_below = exact > 0 && shown < step / 2;

	/* Never "-0.0". */
	if (fabs(shown) < step / 2)
		shown = 0;
	watt_units_fixed(buf, is_below ? step : shown, decimals, whole, most);
	if (is_below && *buf == ' ')
		buf[strspn(buf, " ") - 1] = '<';
	return buf;
}

void tally_free(struct watt_tally **tally)
{
	*tally = watt_tally_free(*tally);
}
