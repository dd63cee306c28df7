/* SPDX-License-Identifier: Apache-2.0 */
/* The name of the device behind a sensor that stays the same across boots. Thread-safe. */
#ifndef WATT_SOURCE_POWER_SENSOR_DEVICE_NAME_H
#define WATT_SOURCE_POWER_SENSOR_DEVICE_NAME_H

#include "base/fs.h"

/*
 * Name of the device that has the class device at path ("class/hwmon/hwmon3",
 * "bus/iio/devices/iio:device0"): "1-0040", "0000:03:00.0", "ACPI000D:00". -ENOENT: it has none
 * (virtual), -ENAMETOOLONG.
 */
int watt_device_name(const struct watt_root *root, const char *path, char *buf, size_t size);
/*
 * The same from the text of links alone: what `path` and what `path/device` point at. Either may
 * be NULL.
 */
int watt_device_name_from_links(const char *self, const char *device, char *buf, size_t size);
/* The i2c address in a device name: "0040" of "1-0040". NULL: it is not on i2c. */
const char *watt_device_i2c_address(const char *device);

#endif
