/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes there are, from the names in procfs. */
#ifndef WATT_SOURCE_ACTIVITY_PROCLIST_H
#define WATT_SOURCE_ACTIVITY_PROCLIST_H

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fs.h"

/*
 * The inode number of a process' directory is made anew for every process, and for the same one
 * only if the kernel had to forget it: unchanged, it is the same process for sure.
 */
struct watt_proclist_entry {
	uint32_t pid;
	uint64_t inode;
};

/* One thread per object. */
struct watt_proclist {
	DIR *dir;
	struct watt_proclist_entry *entries; /* by pid, ascending */
	size_t n;
	size_t cap;
};

int watt_proclist_open(struct watt_proclist *list, const struct watt_root *procfs);
/* Accepts one that is all zero. */
void watt_proclist_close(struct watt_proclist *list);
/* Looks again. 0, -ENOMEM, or what readdir says; then the list is not to be used. */
int watt_proclist_read(struct watt_proclist *list);
/* A name of digits and no more, 1 to 2^32 - 1: its number; else 0. */
uint32_t watt_proclist_pid(const char *name);

#endif
