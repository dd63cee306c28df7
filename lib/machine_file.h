/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A captured machine: an archive that `wattribute capture` wrote, or a folder with the same in it,
 * sys and proc. One thread per object.
 */
#ifndef WATT_MACHINE_FILE_H
#define WATT_MACHINE_FILE_H

#include "base/log.h"

struct watt_machine_file;

/*
 * Unpacks an archive to a folder of its own, which is removed when the machine is closed, or where
 * that never was, by the next one that is opened. A folder whose links lead out of it is refused. Errors
 * are logged, with what is wrong and where: -ENOENT, -EACCES, -EINVAL: it is no machine; -E2BIG:
 * it is larger than any; -EOPNOTSUPP: there is nothing to unpack it by.
 */
int watt_machine_file_open(const char *path, const struct watt_log *log,
			   struct watt_machine_file **ret);
/* Folders for options sysfs-root and procfs-root; they live as long as the machine. */
const char *watt_machine_file_get_sysfs(const struct watt_machine_file *machine);
const char *watt_machine_file_get_procfs(const struct watt_machine_file *machine);
/* NULL is allowed; returns NULL. */
struct watt_machine_file *watt_machine_file_close(struct watt_machine_file *machine);

#endif
