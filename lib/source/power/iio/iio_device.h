/* SPDX-License-Identifier: Apache-2.0 */
/* An IIO device as sysfs shows it: which channels tell of power. One thread per object. */
#ifndef WATT_SOURCE_POWER_IIO_IIO_DEVICE_H
#define WATT_SOURCE_POWER_IIO_IIO_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "source/power/sensor/sysfs_sensors.h"
#include "source/source.h"

/* An _input is in mV, mA or mW; of a _raw, (raw + offset) * scale is. */
extern const struct watt_sysfs_naming watt_iio_naming;

struct watt_iio_device {
	char dir[128];
	char name[64];
	char device[96];    /* stable name */
	char label[64];     /* of the whole device; empty: none */
	uint64_t period_ns; /* 0: not said */
	struct watt_sysfs_sensors sensors;
};

/* Looks at iio:deviceN. 0 also if nothing tells of power (no sensors); -ENOMEM. */
int watt_iio_device_read(const struct watt_env *env, const char *entry,
			 struct watt_iio_device *ret);
/* Accepts a zeroed one. */
void watt_iio_device_done(struct watt_iio_device *device);
/* Text of an attribute of a channel such as "_scale", or else that of all of its type. */
int watt_iio_device_attribute(const struct watt_env *env, const struct watt_iio_device *device,
			      const struct watt_sysfs_sensor *sensor, const char *suffix, char *buf,
			      size_t size);
/* Path of the file that holds the value. */
void watt_iio_value_path(const struct watt_iio_device *device,
			 const struct watt_sysfs_sensor *sensor, char *buf, size_t size);

#endif
