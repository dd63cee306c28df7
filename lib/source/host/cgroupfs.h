/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cgroup hierarchies where they are mounted below sysfs: from a path to an inode number and
 * back. The id of a v2 cgroup is the inode number of its directory.
 */
#ifndef WATT_SOURCE_HOST_CGROUPFS_H
#define WATT_SOURCE_HOST_CGROUPFS_H

#include <stddef.h>
#include <stdint.h>

#include "base/fs.h"
#include "source/host/cgroupfile.h"

/* Immutable once it is initialised; the root must outlive it. Thread-safe. */
struct watt_cgroupfs {
	const struct watt_root *sysfs;
	const char *v2; /* where the v2 hierarchy is, below sysfs; NULL: nowhere */
};

void watt_cgroupfs_init(struct watt_cgroupfs *fs, const struct watt_root *sysfs);
/* Of the line's directory: 0, -ENOENT (not mounted there, not visible, gone), -EACCES, ... */
int watt_cgroupfs_inode(const struct watt_cgroupfs *fs, const struct watt_cgroup_line *line,
			uint64_t *ret);
/*
 * Path of the v2 cgroup with this inode number, "/" first: 0, -ENOENT, -ENAMETOOLONG, -ENOSPC
 * (more than WATT_CGROUPFS_WALK_MAX directories: it was not looked through to the end).
 * It may take milliseconds: it asks the kernel first, and walks the hierarchy if that won't tell.
 */
int watt_cgroupfs_find(const struct watt_cgroupfs *fs, uint64_t inode, char *buf, size_t size);

#define WATT_CGROUPFS_WALK_MAX 20000
#define WATT_CGROUPFS_DEPTH_MAX 32

#endif
