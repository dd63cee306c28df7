/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a device is suspended, by power/runtime_status of its folder in sysfs, which does not wake
 * it: whoever asks it anything else would. Thread-safe.
 */
#ifndef WATT_BASE_DEVICE_SLEEP_H
#define WATT_BASE_DEVICE_SLEEP_H

#include <stdbool.h>

#include "base/fs.h"

/* By its folder; one that does not say so is awake. */
bool watt_device_is_asleep(const struct watt_root *sysfs, const char *dir);
/* By that file, which is kept; one that is not open says no. */
bool watt_runtime_is_asleep(struct watt_file *runtime);

#endif
