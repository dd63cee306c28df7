/* SPDX-License-Identifier: Apache-2.0 */
/* Digits to millionths, exactly: nothing of it depends on a locale. */
#include "source/power/meter/meter_line.h"

#include <ctype.h>
#include <errno.h>

/* A MW, and what that counts in thirty years. */
#define MAX_POWER_UW (1000000LL * 1000000)
#define MAX_ENERGY_UJ (1000000000000LL * 1000000)

static const char *skip_spaces(const char *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	return at;
}

/* Millionths; what is finer is cut. */
static int take_number(const char **cursor, int64_t max, int64_t *ret)
{
	const char *at = *cursor;
	int64_t value = 0, unit = 1000000;
	int n_digits = 0;

	for (; isdigit((unsigned char)*at); at++, n_digits++) {
		if (value > max / 10)
			return -ERANGE;
		value = value * 10 + (*at - '0') * 1000000LL;
	}
	if (*at == '.')
		for (at++; isdigit((unsigned char)*at); at++, n_digits++) {
			unit /= 10;
			value += (*at - '0') * unit;
		}
	if (n_digits == 0)
		return -EBADMSG;
	*cursor = at;
	*ret = value;
	return value > max ? -ERANGE : 0;
}

int watt_meter_line_parse(const char *line, struct watt_meter_line *ret)
{
	const char *at = skip_spaces(line);
	enum watt_quantity quantity;
	int64_t value;
	int r;

	if (!*at || *at == '#' || *at == '\r')
		return -ENODATA;
	if (*at != 'W' && *at != 'J')
		return -EBADMSG;
	quantity = *at == 'J' ? WATT_QUANTITY_ENERGY : WATT_QUANTITY_POWER;
	at++;
	if (*at != ' ' && *at != '\t')
		return -EBADMSG;
	at = skip_spaces(at);
	r = take_number(&at, quantity == WATT_QUANTITY_ENERGY ? MAX_ENERGY_UJ : MAX_POWER_UW,
			&value);
	if (r < 0)
		return r;
	at = skip_spaces(at);
	if (*at && *at != '\r')
		return -EBADMSG;
	ret->quantity = quantity;
	ret->value_uw = value;
	return 0;
}
