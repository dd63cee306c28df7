/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the stable name of a sensor's device in the links of sysfs: numbers such as hwmon3 change
 * with every boot, bus addresses do not. It must not follow links out of the root.
 */
#include "source/power/sensor/device_name.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* "0003:1B1C:1C04.0001": its last part counts how often something was plugged in. */
static bool is_hid_name(const char *name, size_t len)
{
	static const char form[] = "xxxx:xxxx:xxxx.xxxx";
	size_t i;

	if (len != sizeof(form) - 1)
		return false;
	for (i = 0; i < len; i++)
		if (form[i] == 'x' ? !is_hex(name[i]) : name[i] != form[i])
			return false;
	return true;
}

/* The last component before end; *ret_len 0: there is none. Moves end before it. */
static const char *last_component(const char *text, size_t *end, size_t *ret_len)
{
	size_t stop, start;

	while (*end > 0 && text[*end - 1] == '/')
		(*end)--;
	stop = *end;
	for (start = stop; start > 0 && text[start - 1] != '/'; start--)
		;
	*ret_len = stop - start;
	*end = start;
	return text + start;
}

static int copy_name(const char *name, size_t len, char *buf, size_t size)
{
	if (len == 0 || !strncmp(name, "..", len))
		return -ENOENT;
	if (len >= size)
		return -ENAMETOOLONG;
	memcpy(buf, name, len);
	buf[len] = '\0';
	return 0;
}

/* ".../1-0040/hwmon/hwmon3" and ".../1-0040/iio:device0": the device that has this class device */
static const char *owner_in_path(const char *self, size_t *end, size_t *ret_len)
{
	const char *name;

	last_component(self, end, ret_len);
	name = last_component(self, end, ret_len);
	if (*ret_len == strlen("hwmon") && !strncmp(name, "hwmon", *ret_len))
		name = last_component(self, end, ret_len);
	return name;
}

int watt_device_name_from_links(const char *self, const char *device, char *buf, size_t size)
{
	size_t self_end = self ? strlen(self) : 0, device_end = device ? strlen(device) : 0;
	const char *owner = NULL, *name = NULL;
	size_t owner_len = 0, len = 0;

	if (self)
		owner = owner_in_path(self, &self_end, &owner_len);
	if (device)
		name = last_component(device, &device_end, &len);
	/* "../..": the link of a plain copy, which names nothing */
	if (owner && (device ? len == 2 && !strncmp(name, "..", 2) : !strstr(self, "/virtual/")))
		name = owner, len = owner_len;
	if (!name)
		return -ENOENT;
	if (is_hid_name(name, len) && owner && owner_len == len && !strncmp(owner, name, len))
		name = last_component(self, &self_end, &len);
	return copy_name(name, len, buf, size);
}

int watt_device_name(const struct watt_root *root, const char *path, char *buf, size_t size)
{
	char self[PATH_MAX], device[PATH_MAX], link[PATH_MAX];
	bool has_self, has_device = false;

	has_self = watt_root_readlink(root, path, self, sizeof(self)) > 0;
	if ((size_t)snprintf(link, sizeof(link), "%s/device", path) < sizeof(link))
		has_device = watt_root_readlink(root, link, device, sizeof(device)) > 0;
	return watt_device_name_from_links(has_self ? self : NULL, has_device ? device : NULL, buf,
					   size);
}

const char *watt_device_i2c_address(const char *device)
{
	const char *p = device;

	while (*p >= '0' && *p <= '9')
		p++;
	if (p == device || *p != '-' || strlen(p + 1) != 4)
		return NULL;
	if (!is_hex(p[1]) || !is_hex(p[2]) || !is_hex(p[3]) || !is_hex(p[4]))
		return NULL;
	return p + 1;
}
