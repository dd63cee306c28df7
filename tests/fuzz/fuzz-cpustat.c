/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as /proc/stat: no crash, and nothing written when it is refused. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "source/host/cpustat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct watt_cpu_time cpus[8], before[8];
	char *text = strndup((const char *)data, size);
	size_t n = 0;

	if (!text)
		return 0;
	memset(cpus, 0xa5, sizeof(cpus));
	memcpy(before, cpus, sizeof(cpus));
	if (watt_cpustat_parse(text, 100, cpus, 8, &n) < 0) {
		if (n != 0 || memcmp(cpus, before, sizeof(cpus)) != 0)
			abort();
	} else if (n == 0) {
		abort();
	}
	free(text);
	return 0;
}
