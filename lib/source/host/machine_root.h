/* SPDX-License-Identifier: Apache-2.0 */
/* The root directory of the machine whose procfs is known: files beside "proc". */
#ifndef WATT_SOURCE_HOST_MACHINE_ROOT_H
#define WATT_SOURCE_HOST_MACHINE_ROOT_H

#include "base/fs.h"

/* What holds procfs: "/proc" gives "/", "/host/proc" gives "/host". Close it by watt_root_close. */
int watt_machine_root_open(const struct watt_root *procfs, struct watt_root *ret);

#endif
