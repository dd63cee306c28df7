/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a PMU. Lines: format, event, scale, unit. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "source/power/perf_rapl/perf_pmu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size), *rest = text;
	struct watt_pmu_field field = { 0, 7 };
	const char *lines[4] = { "", "", "", "" };
	uint64_t config, num, den;
	size_t i;

	if (!text)
		return 0;
	for (i = 0; i < 4 && rest; i++)
		lines[i] = strsep(&rest, "\n");
	if (watt_pmu_field_parse(lines[0], &field) == 0)
		check(field.first_bit <= field.last_bit && field.last_bit < 64);
	if (watt_pmu_config_parse(lines[1], &field, &config) == 0) {
		check((config >> field.first_bit) << field.first_bit == config);
		check(field.last_bit == 63 || config >> (field.last_bit + 1) == 0);
	}
	if (watt_pmu_scale_parse(lines[2], lines[3], &num, &den) == 0)
		check(num > 0 && den > 0);
	free(text);
	return 0;
}
