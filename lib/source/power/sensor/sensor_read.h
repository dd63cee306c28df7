/* SPDX-License-Identifier: Apache-2.0 */
/* One sensor that is one file, or two whose numbers are multiplied. One thread per object. */
#ifndef WATT_SOURCE_POWER_SENSOR_SENSOR_READ_H
#define WATT_SOURCE_POWER_SENSOR_SENSOR_READ_H

#include "source/power/sensor/sensor.h"

/* An open struct watt_sensor_factor. */
struct watt_sensor_input {
	struct watt_file file;
	int64_t mul;
	int64_t add;
	uint32_t decimals;
	const char *field; /* as in its spec: never freed */
};

struct watt_sensor {
	struct watt_sensor_input factor[2];
	uint32_t n_factors;
	enum watt_sensor_sign sign;
	struct watt_file status;
	int64_t unknown_raw;
	unsigned int failed; /* index of the factor that gave no value last; n_factors: the status */
	bool is_ratio;
	bool is_opened_anew;
	bool is_of_reader; /* and no file: as in its spec */
	uint32_t index;
	bool is_counter;
	bool is_zero; /* of a counter: it has never shown anything but 0 */
};

/*
 * Opens its files below root, which must outlive it. 0, or the first failure; the object has to be
 * closed in any case.
 */
int watt_sensor_open(struct watt_sensor *sensor, const struct watt_root *root,
		     const struct watt_sensor_spec *spec);
void watt_sensor_done(struct watt_sensor *sensor);
/*
 * "-12.5" with three decimals is -12500; further digits are cut off. Without a point a number is
 * whole. -EBADMSG, -ERANGE.
 */
int watt_sensor_parse_decimal(const char *text, uint32_t decimals, int64_t *ret);
/* 0, or why there is no value (watt_sensor_status). */
int watt_sensor_read(struct watt_sensor *sensor, int64_t *ret);

#endif
