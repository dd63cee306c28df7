/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as /proc/PID/stat: no crash, a terminated name, nothing written when it is refused. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "source/host/pidstat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct watt_pidstat stat, before;
	char *text = strndup((const char *)data, size);

	if (!text)
		return 0;
	memset(&stat, 0xa5, sizeof(stat));
	memcpy(&before, &stat, sizeof(stat));
	if (watt_pidstat_parse(text, &stat) < 0) {
		if (memcmp(&stat, &before, sizeof(stat)) != 0)
			abort();
	} else if (!memchr(stat.comm, '\0', sizeof(stat.comm))) {
		abort();
	}
	free(text);
	return 0;
}
