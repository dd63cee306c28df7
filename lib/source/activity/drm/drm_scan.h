/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which processes have a GPU open, and by which descriptors. Who has none is looked at again after
 * a time that doubles: most processes never have one. One thread per object.
 */
#ifndef WATT_SOURCE_ACTIVITY_DRM_DRM_SCAN_H
#define WATT_SOURCE_ACTIVITY_DRM_DRM_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "base/fs.h"

struct watt_drm_process {
	uint32_t pid;
	uint64_t inode;    /* of its directory: another's is not the same */
	uint64_t start_ns; /* CLOCK_BOOTTIME; 0: not known */
	uint64_t next_ns;  /* when to look at its descriptors again */
	uint64_t pause_ns;
	uint32_t *fds;
	size_t n_fds, cap_fds;
};

struct watt_drm_scan;

int watt_drm_scan_new(const struct watt_root *procfs, struct watt_drm_scan **ret);
/* Accepts NULL; returns NULL. */
struct watt_drm_scan *watt_drm_scan_free(struct watt_drm_scan *scan);
/* Looks for processes, and at the descriptors of those that are due. 0 or a negative errno. */
int watt_drm_scan_run(struct watt_drm_scan *scan, uint64_t now_ns);
/* Those that are there now, by pid; until the next run. */
struct watt_drm_process *watt_drm_scan_get(struct watt_drm_scan *scan, size_t *ret_n);
/* Processes whose descriptors this user may not see. */
size_t watt_drm_scan_forbidden(const struct watt_drm_scan *scan);

#endif
