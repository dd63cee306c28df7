/* SPDX-License-Identifier: Apache-2.0 */
/* One word of sysfs. On the way into sleep a device counts as asleep. */
#include "base/device_sleep.h"

#include <string.h>

static bool says_asleep(const char *runtime_status)
{
	return !strcmp(runtime_status, "suspended") || !strcmp(runtime_status, "suspending");
}

bool watt_device_is_asleep(const struct watt_root *sysfs, const char *dir)
{
	char text[32];

	return watt_root_readf(sysfs, text, sizeof(text), "%s/power/runtime_status", dir) > 0 &&
	       says_asleep(text);
}

bool watt_runtime_is_asleep(struct watt_file *runtime)
{
	char text[32];

	return runtime->path && watt_file_read(runtime, text, sizeof(text)) > 0 &&
	       says_asleep(text);
}
