/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers from the command line. It must not accept what a person did not mean. */
#include "number.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "xalloc.h"

static int take_digits(const char *text, int base, uint64_t least, uint64_t most, uint64_t *ret)
{
	unsigned long long value;
	char *end;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, base);
	if (*end)
		return -EINVAL;
	if (errno || value < least || value > most)
		return -ERANGE;
	*ret = value;
	return 0;
}

int number_count(const char *text, uint64_t least, uint64_t most, uint64_t *ret)
{
	return take_digits(text, 10, least, most, ret);
}

int number_octal(const char *text, uint64_t most, uint64_t *ret)
{
	return take_digits(text, 8, 0, most, ret);
}

int number_duration(const char *text, uint64_t unit_ns, uint64_t *ret_ns)
{
	static const struct {
		const char *name;
		double factor_ns;
	} units[] = {
		{ "us", 1e3 },   { "ms", 1e6 },   { "s", 1e9 },     { "m", 60e9 },
		{ "min", 60e9 }, { "h", 3600e9 }, { "d", 86400e9 },
	};
	size_t len = strspn(text, "0123456789.");
	double value, factor_ns = (double)unit_ns;
	char *end;
	size_t i;

	value = strtod(text, &end);
	if (len == 0 || end != text + len)
		return -EINVAL;
	if (*end) {
		for (i = 0; i < ARRAY_SIZE(units) && strcmp(units[i].name, end); i++)
			continue;
		if (i == ARRAY_SIZE(units))
			return -EINVAL;
		factor_ns = units[i].factor_ns;
	}
	value *= factor_ns;
	if (!(value >= 1e3 && value <= 365.0 * 86400e9))
		return -ERANGE;
	*ret_ns = (uint64_t)(value + 0.5);
	return 0;
}

int number_size(const char *text, uint64_t *ret_bytes)
{
	static const char units[] = "kMGT";
	size_t len = strspn(text, "0123456789.");
	double value, factor = 1;
	const char *unit;
	char *end;

	value = strtod(text, &end);
	if (len == 0 || end != text + len)
		return -EINVAL;
	if (*end && *end != 'B') {
		unit = strchr(units, *end == 'K' ? 'k' : *end);
		if (!unit)
			return -EINVAL;
		for (end++; unit >= units; unit--)
			factor *= 1024;
	}
	if (strcmp(end, "") != 0 && strcmp(end, "B") != 0 && strcmp(end, "iB") != 0)
		return -EINVAL;
	value *= factor;
	if (!(value >= 1 && value <= 1e18))
		return -ERANGE;
	*ret_bytes = (uint64_t)value;
	return 0;
}
