/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small files of one process. Everything goes through one descriptor of its directory, so that
 * all of it is of the same process even if it dies and its pid is used again.
 */
#ifndef WATT_SOURCE_HOST_PROCDIR_H
#define WATT_SOURCE_HOST_PROCDIR_H

#include <stddef.h>
#include <stdint.h>

#include "base/fs.h"

/* Opens procfs/PID as a root. Close it with watt_root_close. -ESRCH: there is none. */
int watt_procdir_open(const struct watt_root *procfs, uint32_t pid, struct watt_root *ret);
/* Effective uid, as stat(2) of the directory tells it, or its `status` in a fixture. */
int watt_procdir_uid(const struct watt_root *process, uint32_t *ret);
/* When it started, CLOCK_BOOTTIME; 0: there is none, or that is not known. */
uint64_t watt_procdir_start_ns(const struct watt_root *procfs, uint32_t pid);
/* The second number behind "Uid:". 0, -EBADMSG, -ERANGE. */
int watt_procdir_parse_uid(const char *text, uint32_t *ret);

#endif
