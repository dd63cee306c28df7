/* SPDX-License-Identifier: Apache-2.0 */
/* An IIO device as sysfs shows it: which channels tell of power. One thread per object. */
#ifndef WATT_SOURCE_POWER_IIO_DEVICE_H
#define WATT_SOURCE_POWER_IIO_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/source.h"

enum watt_iio_type {
	WATT_IIO_VOLTAGE = 0, /* mV */
	WATT_IIO_CURRENT = 1, /* mA */
	WATT_IIO_POWER = 2,   /* mW */
};

#define WATT_IIO_NO_INDEX UINT32_MAX /* in_power_input: the only one of its type */

struct watt_iio_sensor {
	enum watt_iio_type type;
	uint32_t index;
	bool has_input; /* in mV, mA or mW */
	bool has_raw;   /* (raw + offset) * scale is */
	char label[64]; /* as read; empty: none */
	char clean[64];
};

struct watt_iio_device {
	char dir[128];
	char name[64];
	char device[96];                 /* stable name */
	char label[64];                  /* of the whole device; empty: none */
	uint64_t period_ns;              /* 0: not said */
	struct watt_iio_sensor *sensors; /* by type, then by index */
	size_t n_sensors;
	size_t sensors_cap;
};

/* "in_power2_raw": type, index and "_raw". false: the name of no channel of these types. */
bool watt_iio_attribute_parse(const char *name, enum watt_iio_type *ret_type, uint32_t *ret_index,
			      const char **ret_suffix);
/* Looks at iio:deviceN. 0 also if nothing tells of power (n_sensors 0); -ENOMEM. */
int watt_iio_device_read(const struct watt_env *env, const char *entry,
			 struct watt_iio_device *ret);
/* Accepts a zeroed one. */
void watt_iio_device_done(struct watt_iio_device *device);
const struct watt_iio_sensor *watt_iio_device_get(const struct watt_iio_device *device,
						  enum watt_iio_type type, size_t *ret_n);
/* Text of an attribute of a channel such as "_scale", or else that of all of its type. */
int watt_iio_device_attribute(const struct watt_env *env, const struct watt_iio_device *device,
			      const struct watt_iio_sensor *sensor, const char *suffix, char *buf,
			      size_t size);
/* Path of the file that holds the value. */
void watt_iio_value_path(const struct watt_iio_device *device, const struct watt_iio_sensor *sensor,
			 char *buf, size_t size);

#endif
