/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for people: significant digits, prefixes, columns. */
#include <wattribute/units.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"

int watt_units_digits(uint32_t uncertainty_ppm)
{
	if (uncertainty_ppm == 0)
		return 3;
	return uncertainty_ppm >= 100000 ? 2 : uncertainty_ppm >= 2000 ? 3 : 4;
}

/* A value that rounds up keeps its digits. */
int watt_units_decimals(double value, int digits, int max_decimals)
{
	double size = fabs(value);
	int decimals, power;

	if (size == 0)
		return 0;
	power = (int)floor(log10(size));
	if (size >= pow(10, power + 1) - 0.5 * pow(10, power + 1 - digits))
		power++;
	decimals = digits - 1 - power;
	return decimals < 0 ? 0 : decimals > max_decimals ? max_decimals : decimals;
}

char *watt_units_number(char *buf, double value, int digits, int max_decimals)
{
	if (!isfinite(value))
		return strcpy(buf, "-");
	snprintf(buf, WATT_UNITS_SIZE, "%.*f", watt_units_decimals(value, digits, max_decimals),
		 value);
	if (strcmp(buf, "-0") == 0)
		strcpy(buf, "0");
	return buf;
}

/* Puts the point of a number into a fixed column. */
static char *align(char *buf, const char *number, int whole, int decimals)
{
	const char *point = strchr(number, '.');
	int before = (int)(point ? (size_t)(point - number) : strlen(number));
	int after = point ? (int)strlen(point) : 0;

	snprintf(buf, WATT_UNITS_SIZE, "%*s%s%*s", before < whole ? whole - before : 0, "", number,
		 decimals > 0 && after < decimals + 1 ? decimals + 1 - after : 0, "");
	return buf;
}

char *watt_units_column(char *buf, double value, int digits, int whole, int decimals)
{
	char number[WATT_UNITS_SIZE];

	return align(buf, watt_units_number(number, value, digits, decimals), whole, decimals);
}

char *watt_units_fixed(char *buf, double value, int digits_behind, int whole, int decimals)
{
	char number[WATT_UNITS_SIZE] = "-";

	if (isfinite(value))
		snprintf(number, sizeof(number), "%.*f", digits_behind, value);
	return align(buf, number, whole, decimals);
}

/* Exact values have no need for zeros at their end. */
static char *trim(char *number)
{
	char *end = number + strlen(number);

	if (!strchr(number, '.'))
		return number;
	while (end[-1] == '0')
		*--end = '\0';
	if (end[-1] == '.')
		end[-1] = '\0';
	return number;
}

struct prefix {
	double factor;
	const char *name;
};

static char *with_prefix(char *buf, double value, int digits, const struct prefix *prefixes,
			 size_t n, const char *unit)
{
	char number[WATT_UNITS_SIZE - 8];
	double size = fabs(value);
	size_t i;

	if (!isfinite(value))
		return strcpy(buf, "-");
	if (value == 0) {
		snprintf(buf, WATT_UNITS_SIZE, "0 %s", unit);
		return buf;
	}
	for (i = 0; i + 1 < n; i++)
		if (size >= prefixes[i].factor * (1 - 0.5 * pow(10, -digits)))
			break;
	value /= prefixes[i].factor;
	snprintf(number, sizeof(number), "%.*f", watt_units_decimals(value, digits, 3), value);
	snprintf(buf, WATT_UNITS_SIZE, "%s %s%s", number, prefixes[i].name, unit);
	return buf;
}

static const struct prefix prefixes_si[] = {
	{ 1e9, "G" },  { 1e6, "M" },  { 1e3, "k" },  { 1, "" },
	{ 1e-3, "m" }, { 1e-6, "u" }, { 1e-9, "n" },
};

char *watt_units_power(char *buf, double power_w, int digits)
{
	return with_prefix(buf, power_w, digits, prefixes_si, WATT_ARRAY_SIZE(prefixes_si), "W");
}

char *watt_units_energy(char *buf, double energy_j, int digits)
{
	return with_prefix(buf, energy_j, digits, prefixes_si, WATT_ARRAY_SIZE(prefixes_si), "J");
}

static const struct prefix prefixes_binary[] = {
	{ 1099511627776.0, "Ti" },
	{ 1073741824, "Gi" },
	{ 1048576, "Mi" },
	{ 1024, "Ki" },
	{ 1, "" },
};

static char *plain(char *buf, double value, int digits, const char *unit)
{
	char number[WATT_UNITS_SIZE / 2];

	if (!isfinite(value))
		return strcpy(buf, "-");
	snprintf(number, sizeof(number), "%.*f", watt_units_decimals(value, digits, 1), value);
	snprintf(buf, WATT_UNITS_SIZE, "%s %s", number, unit);
	return buf;
}

char *watt_units_quantity(char *buf, enum watt_quantity quantity, double value, int digits)
{
	switch (quantity) {
	case WATT_QUANTITY_ENERGY:
		return watt_units_energy(buf, value, digits);
	case WATT_QUANTITY_POWER:
	case WATT_QUANTITY_LIMIT:
		return watt_units_power(buf, value, digits);
	case WATT_QUANTITY_RATIO:
		return plain(buf, 100 * value, digits, "%");
	case WATT_QUANTITY_FREQUENCY:
		return with_prefix(buf, value, digits, prefixes_si, WATT_ARRAY_SIZE(prefixes_si),
				   "Hz");
	case WATT_QUANTITY_MEMORY:
		return with_prefix(buf, value, digits, prefixes_binary,
				   WATT_ARRAY_SIZE(prefixes_binary), "B");
	default:
		return plain(buf, value, digits, watt_quantity_unit(quantity));
	}
}

char *watt_units_time(char *buf, double time_s, int digits)
{
	char text[WATT_UNITS_SIZE], *unit;

	/* Nobody reads kiloseconds. */
	with_prefix(text, time_s, digits, prefixes_si + 3, WATT_ARRAY_SIZE(prefixes_si) - 3, "s");
	unit = strchr(text, ' ');
	if (!unit)
		return strcpy(buf, text);
	*unit = '\0';
	snprintf(buf, WATT_UNITS_SIZE, "%.15s %.8s", trim(text), unit + 1);
	return buf;
}

char *watt_units_uncertainty(char *buf, uint32_t uncertainty_ppm, int is_utf8)
{
	char number[WATT_UNITS_SIZE - 8];

	if (uncertainty_ppm == 0)
		return strcpy(buf, "unknown");
	snprintf(number, sizeof(number), "%.*f", watt_units_decimals(uncertainty_ppm / 1e4, 2, 2),
		 uncertainty_ppm / 1e4);
	snprintf(buf, WATT_UNITS_SIZE, "%s%s %%", is_utf8 ? "\u00b1" : "+-", trim(number));
	return buf;
}

char *watt_units_elapsed(char *buf, double time_s)
{
	unsigned long long s = time_s > 0 ? (unsigned long long)time_s : 0;

	if (time_s < 10)
		snprintf(buf, WATT_UNITS_SIZE, "%.1f s", time_s > 0 ? time_s : 0);
	else if (s < 60)
		snprintf(buf, WATT_UNITS_SIZE, "%llu s", s);
	else if (s < 3600)
		snprintf(buf, WATT_UNITS_SIZE, "%llum %02llus", s / 60, s % 60);
	else
		snprintf(buf, WATT_UNITS_SIZE, "%lluh %02llum", s / 3600, s / 60 % 60);
	return buf;
}
