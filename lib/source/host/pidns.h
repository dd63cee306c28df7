/* SPDX-License-Identifier: Apache-2.0 */
/*
 * By whose numbers a procfs calls processes: those of the pid namespace that it was mounted in,
 * which is not always that of this process. Knows nothing of usage.
 */
#ifndef WATT_SOURCE_HOST_PIDNS_H
#define WATT_SOURCE_HOST_PIDNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fs.h"

/* Whether procfs and this process call processes by the same numbers. */
bool watt_pidns_is_own(const struct watt_root *procfs);
/*
 * Whether the numbers of procfs are those of the kernel's first namespace, by which BPF calls
 * tasks. A captured tree has none.
 */
bool watt_pidns_is_first(const struct watt_root *procfs);
/*
 * Whether procfs calls processes by the numbers that a driver has for them, which knows of no
 * namespace: those of the first one. A captured tree does, unless it says something else.
 */
bool watt_pidns_has_machine_pids(const struct watt_root *procfs);
/*
 * The inode number of the namespace whose numbers procfs has: in no two namespaces the same. 0; or
 * a negative errno: it does not tell who reads.
 */
int watt_pidns_get_inum(const struct watt_root *procfs, uint32_t *ret);
/*
 * What procfs calls the process that is `pid` to us. 0; -ESRCH: there is none; -EXDEV: it is not
 * in that namespace; a captured tree calls it as we do.
 */
int watt_pidns_translate(const struct watt_root *procfs, uint32_t pid, uint32_t *ret);
/* What it calls this process, if the kernel gives it the orphans among its descendants; else 0. */
uint32_t watt_pidns_orphans_pid(const struct watt_root *procfs);

#endif
