/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/cpuinfo, and the choice of a model by it. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "source/power/estimate/cpu_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct watt_config no_config;
	char *text = strndup((const char *)data, size);
	const char *cursor = text, *before = text;
	struct watt_cpu_model model;
	struct watt_cpuinfo info;

	if (!text)
		return 0;
	while (watt_cpuinfo_next(&cursor, &info) == 0) {
		check(cursor > before && cursor <= text + strlen(text));
		before = cursor;
		check(strlen(info.vendor) < sizeof(info.vendor));
		check(strlen(info.name) < sizeof(info.name));
		watt_cpu_model_find(&info, &no_config, &model);
		check(model.name && model.idle_uw <= model.full_uw && model.full_uw > 0);
	}
	free(text);
	return 0;
}
