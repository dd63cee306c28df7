/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for files: nothing may be lost on the way, and every reader must take them. */
#include "sink/decimal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *format(char *buf, const char *sign, uint64_t value, unsigned int places)
{
	char digits[WATT_DECIMAL_SIZE];
	size_t n, whole;

	/* At least one digit stands before the point. */
	n = (size_t)snprintf(digits, sizeof(digits), "%0*" PRIu64, (int)places + 1, value);
	whole = n - places;
	while (n > whole && digits[n - 1] == '0')
		n--;
	snprintf(buf, WATT_DECIMAL_SIZE, "%s%.*s%s%.*s", sign, (int)whole, digits,
		 n > whole ? "." : "", (int)(n - whole), digits + whole);
	return buf;
}

char *watt_decimal_signed(char *buf, int64_t value, unsigned int places)
{
	return format(buf, value < 0 ? "-" : "", value < 0 ? -(uint64_t)value : (uint64_t)value,
		      places);
}

char *watt_decimal_unsigned(char *buf, uint64_t value, unsigned int places)
{
	return format(buf, "", value, places);
}

char *watt_decimal_double(char *buf, double value)
{
	int digits;

	if (!isfinite(value))
		return strcpy(buf, "null");
	for (digits = 15; digits <= 17; digits++) {
		snprintf(buf, WATT_DECIMAL_SIZE, "%.*g", digits, value);
		if (strtod(buf, NULL) == value)
			break;
	}
	return buf;
}

char *watt_decimal_float(char *buf, float value)
{
	int digits;

	if (!isfinite(value))
		return strcpy(buf, "null");
	for (digits = 6; digits <= 9; digits++) {
		snprintf(buf, WATT_DECIMAL_SIZE, "%.*g", digits, (double)value);
		if (strtof(buf, NULL) == value)
			break;
	}
	return buf;
}
