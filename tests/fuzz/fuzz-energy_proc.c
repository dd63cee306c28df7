/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of /proc/energy. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "source/power/kmod/energy_proc.h"

static void try_line(const char *line)
{
	struct watt_energy_record record;
	struct watt_rapl_zone zone;
	uint64_t energy_uj;

	if (watt_energy_rapl_parse(line, &zone, &energy_uj) == 0) {
		check(!strncmp(line, "rapl_package-", 13));
		check(zone.domain[0] && energy_uj <= INT64_MAX);
		check(zone.kind == WATT_DOMAIN_TOTAL || zone.package_id >= 0);
	}
	if (watt_energy_record_parse(line, &record) == 0) {
		check(!strncmp(line, "pid=", 4) && strstr(line, " window_time="));
		check(record.energy_nj <= INT64_MAX);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size), *rest = text, *line;

	if (!text)
		return 0;
	while ((line = strsep(&rest, "\n")))
		try_line(line);
	free(text);
	return 0;
}
