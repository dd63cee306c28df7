/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as fdinfo of a GPU: terminated names, no engine of no name, nothing of what is refused. */
#include "fuzz.h"

#include <string.h>

#include "source/activity/drm/fdinfo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct watt_fdinfo info, before;
	char *text = strndup((const char *)data, size);
	uint64_t bytes;
	uint32_t i;

	if (!text)
		return 0;
	memset(&info, 0xa5, sizeof(info));
	memcpy(&before, &info, sizeof(info));
	if (watt_fdinfo_parse(text, &info) < 0) {
		check(memcmp(&info, &before, sizeof(info)) == 0);
		free(text);
		return 0;
	}
	check(info.driver[0] && memchr(info.driver, '\0', sizeof(info.driver)));
	check(memchr(info.pdev, '\0', sizeof(info.pdev)) != NULL);
	check(info.n_engines <= WATT_FDINFO_ENGINES);
	for (i = 0; i < info.n_engines; i++)
		check(info.engines[i].name[0] &&
		      memchr(info.engines[i].name, '\0', WATT_FDINFO_NAME));
	check(info.n_regions <= WATT_FDINFO_REGIONS);
	for (i = 0; i < info.n_regions; i++)
		check(info.regions[i].name[0] &&
		      memchr(info.regions[i].name, '\0', WATT_FDINFO_NAME));
	check((watt_fdinfo_memory(&info, &bytes) == 0) == (info.n_regions > 0));
	free(text);
	return 0;
}
