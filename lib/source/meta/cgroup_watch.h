/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers what cgroups are called that came after it was opened, for when they are gone before
 * anybody asks: a container may live for less than a slice. One thread per object.
 */
#ifndef WATT_SOURCE_META_CGROUP_WATCH_H
#define WATT_SOURCE_META_CGROUP_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fs.h"

struct watt_cgroup_watch;

/* Watches below this directory of sysfs; the root must outlive it. 0, -ENOENT, -EMFILE, -ENOMEM. */
int watt_cgroup_watch_open(const struct watt_root *sysfs, const char *place,
			   struct watt_cgroup_watch **ret);
/* Accepts NULL; returns NULL. */
struct watt_cgroup_watch *watt_cgroup_watch_close(struct watt_cgroup_watch *watch);
/* Readable when something happened. */
int watt_cgroup_watch_get_fd(const struct watt_cgroup_watch *watch);
/* Takes in what happened. */
void watt_cgroup_watch_read(struct watt_cgroup_watch *watch);
/* Path of a cgroup that it saw come, "/" first: 0, -ENOENT, -ENAMETOOLONG. */
int watt_cgroup_watch_find(const struct watt_cgroup_watch *watch, uint64_t id, char *buf,
			   size_t size);

/* So many directories are watched, and so many that came are remembered, the newest. */
#define WATT_CGROUP_WATCH_MAX 20000
#define WATT_CGROUP_WATCH_KEPT 4096

#endif
