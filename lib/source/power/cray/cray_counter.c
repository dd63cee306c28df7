/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a value with its unit. Its time is that of the controller's clock, and is not needed. */
#include "source/power/cray/cray_counter.h"

#include <errno.h>
#include <string.h>

#include "base/parse.h"

/* a MW, and what that counts in thirty years */
#define MAX_POWER_W 1000000ULL
#define MAX_ENERGY_J 1000000000000ULL

static const char *skip_spaces(const char *at)
{
	return at + strspn(at, " \t");
}

int watt_cray_counter_parse(const char *text, char unit, int64_t *ret)
{
	uint64_t value, time_us;
	int r;

	r = watt_scan_digits(&text, &value);
	if (r < 0)
		return r;
	if (*text != ' ' && *text != '\t')
		return -EBADMSG;
	text = skip_spaces(text);
	if (*text != unit)
		return -EBADMSG;
	text = skip_spaces(text + 1);
	if (*text) {
		if (watt_scan_u64(&text, &time_us) < 0 || strcmp(skip_spaces(text), "us"))
			return -EBADMSG;
	}
	if (value > (unit == 'J' ? MAX_ENERGY_J : MAX_POWER_W))
		return -ERANGE;
	*ret = (int64_t)value * 1000000;
	return 0;
}
