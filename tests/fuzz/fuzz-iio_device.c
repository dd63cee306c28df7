/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as the name of an IIO attribute, as its value, and two lines as scale and offset. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/power/iio/iio_device.h"
#include "source/power/iio/iio_scale.h"
#include "source/power/sensor/sensor_read.h"

static void try_name(const char *text)
{
	enum watt_sysfs_type type;
	const char *suffix;
	uint32_t index;

	if (!watt_sysfs_sensor_parse(&watt_iio_naming, text, &type, &index, &suffix))
		return;
	if (type > WATT_SYSFS_POWER || *suffix != '_' || suffix <= text ||
	    (index > 9999 && index != WATT_SYSFS_NO_INDEX))
		abort();
	if ((index == WATT_SYSFS_NO_INDEX) == (suffix[-1] >= '0' && suffix[-1] <= '9'))
		abort();
}

static void try_scale(const char *scale, const char *offset)
{
	struct watt_iio_scale s = { .num = 77 };

	if (watt_iio_scale_parse(scale, offset, &s) < 0) {
		if (s.num != 77 || s.den != 0)
			abort();
	} else if (s.num == 0 || s.den == 0 || s.mul <= 0) {
		abort();
	}
}

/* More decimals only add digits. */
static void try_decimal(const char *text)
{
	int64_t whole = 0, thousandths = 0;

	if (watt_sensor_parse_decimal(text, 3, &thousandths) < 0)
		return;
	if (watt_sensor_parse_decimal(text, 0, &whole) < 0 || whole != thousandths / 1000)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size), *second;

	if (!text)
		return 0;
	try_name(text);
	try_decimal(text);
	second = strchr(text, '\n');
	if (second)
		*second++ = '\0';
	try_scale(text, second);
	try_scale(NULL, text);
	free(text);
	return 0;
}
