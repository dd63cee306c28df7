/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of the hierarchies of version 1 tells who is who, where there are some: in BPF a task has
 * an id in one of them only, and an id has to mean the same to who names it.
 */
#ifndef WATT_SOURCE_HOST_CGROUP_V1_H
#define WATT_SOURCE_HOST_CGROUP_V1_H

#include <stdint.h>

#include "base/fs.h"

/*
 * Of the controllers that have a hierarchy of version 1, the one whose directories name containers,
 * pods or jobs; else the one with directories that systemd did not make; of those that tell as
 * much, the one with the most cgroups. A static string; NULL: none is on version 1.
 */
const char *watt_cgroup_v1_choose(const struct watt_root *procfs, const struct watt_root *sysfs);

/* From the text of /proc/cgroups, how many cgroups a controller has in a hierarchy of version 1:
 * 0: it has none. */
uint64_t watt_cgroup_v1_count(const char *text, const char *controller);

/* So deep, and at so many directories, it is looked for names. */
#define WATT_CGROUP_V1_DEPTH 4
#define WATT_CGROUP_V1_LOOKS 4096

#endif
