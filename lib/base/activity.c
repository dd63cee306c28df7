/* SPDX-License-Identifier: Apache-2.0 */
/* The names of places of CPUs. */
#include "base/activity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "cpus-"

void watt_activity_cpus_path(uint32_t slot, char *ret)
{
	snprintf(ret, WATT_CPUS_PATH, PREFIX "%u", slot);
}

int watt_activity_cpus_slot(const char *path, uint32_t *ret)
{
	char same[WATT_CPUS_PATH];
	unsigned long slot;

	if (strncmp(path, PREFIX, strlen(PREFIX)))
		return -EINVAL;
	slot = strtoul(path + strlen(PREFIX), NULL, 10);
	if (slot > UINT32_MAX)
		return -EINVAL;
	watt_activity_cpus_path((uint32_t)slot, same);
	if (strcmp(path, same))
		return -EINVAL;
	*ret = (uint32_t)slot;
	return 0;
}
