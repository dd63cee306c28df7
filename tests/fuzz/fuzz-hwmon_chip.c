/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as the name of an attribute, a label, a power meter's info, and links of sysfs: names
 * that come out are clean, fit, and mean what went in.
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/utf8.h"
#include "source/power/sensor/device_name.h"
#include "source/power/hwmon/hwmon_chip.h"
#include "source/power/hwmon/hwmon_place.h"

static void try_attribute(const char *text)
{
	enum watt_sysfs_type type;
	const char *suffix;
	char again[64];
	uint32_t index;

	if (!watt_sysfs_sensor_parse(&watt_hwmon_naming, text, &type, &index, &suffix))
		return;
	check(suffix > text && suffix <= text + strlen(text) && *suffix == '_');
	/* what was understood is the whole of it */
	snprintf(again, sizeof(again), "%s%u", watt_hwmon_naming.prefix[type], index);
	check(strlen(again) == (size_t)(suffix - text) && !strncmp(again, text, strlen(again)));
}

static void try_label(const char *text)
{
	enum watt_grace_level level;
	uint32_t socket;
	char clean[64];
	size_t n;

	n = watt_clean_name(text, clean, sizeof(clean));
	check(n < sizeof(clean) && strlen(clean) == n);
	check(watt_utf8_is_printable(clean, n));
	check(!strpbrk(clean, " /\"\\{}=,ABCDEFGHIJKLMNOPQRSTUVWXYZ"));
	watt_rail_kind_of_label(clean);
	if (watt_grace_parse(text, &level, &socket) == 0)
		check(level <= WATT_GRACE_SYSIO && socket < 1024);
}

static void try_links(const char *self, const char *device)
{
	char name[32];

	if (watt_device_name_from_links(self, device, name, sizeof(name)) == 0)
		check(name[0] && strlen(name) < sizeof(name) && !strchr(name, '/') &&
		      strcmp(name, "..") != 0);
	watt_device_i2c_address(device);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size), *second;

	if (!text)
		return 0;
	try_attribute(text);
	try_label(text);
	second = strchr(text, '\n');
	if (second)
		*second++ = '\0';
	else
		second = text;
	try_attribute(second);
	try_links(text, second);
	try_links(NULL, text);
	free(text);
	return 0;
}
