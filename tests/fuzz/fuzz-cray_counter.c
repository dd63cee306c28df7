/* SPDX-License-Identifier: Apache-2.0 */
/* Values of HPE Cray's pm_counters. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "source/power/cray/cray_counter.h"

static void try_unit(const char *text, char unit, int64_t max)
{
	int64_t value = -1;
	int r = watt_cray_counter_parse(text, unit, &value);

	check(r == 0 || value == -1);
	if (r < 0)
		return;
	check(value >= 0 && value <= max && value % 1000000 == 0);
	check(text[0] >= '0' && text[0] <= '9' && strchr(text, unit));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);

	if (!text)
		return 0;
	try_unit(text, 'J', 1000000000000LL * 1000000);
	try_unit(text, 'W', 1000000LL * 1000000);
	free(text);
	return 0;
}
