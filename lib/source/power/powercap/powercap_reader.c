/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the value of a powercap zone. After the driver was unloaded and loaded again, the zone of
 * the same name may have another number: one that was removed is never read again from here.
 */
#include "source/power/powercap/powercap_reader.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void value_path(const char *id, const struct watt_powercap_zone *zone, char *buf,
		       size_t size)
{
	snprintf(buf, size, WATT_POWERCAP_CLASS "/%s/%s", id,
		 zone->is_energy ? "energy_uj" : "power_uw");
}

int watt_powercap_reader_open(struct watt_powercap_reader *reader, const struct watt_env *env,
			      const struct watt_powercap_zone *zone)
{
	uint64_t value = 1;
	char path[256];
	int r;

	*reader = (struct watt_powercap_reader){ .env = env, .zone = zone };
	value_path(zone->id, zone, path, sizeof(path));
	r = watt_file_open(&reader->file, &env->sysfs, path);
	if (r == 0)
		r = watt_powercap_reader_read(reader, &value);
	if (r == -EAGAIN || r == -ENODATA)
		r = 0;
	if (r == 0 && zone->is_nameless)
		r = -EBADMSG; /* whatever it counts */
	reader->is_zero = r == 0 && zone->is_energy && value == 0;
	reader->is_unread = r < 0;
	return r;
}

void watt_powercap_reader_close(struct watt_powercap_reader *reader)
{
	watt_file_close(&reader->file);
}

int watt_powercap_reader_read(struct watt_powercap_reader *reader, uint64_t *ret)
{
	uint64_t value;
	int r;

	if (reader->is_gone)
		return -ENODEV;
	if (reader->zone->is_nameless)
		return -EBADMSG;
	r = watt_file_read_u64(&reader->file, &value);
	if (r == -ENODEV)
		reader->is_gone = true;
	if (r == 0 && value > INT64_MAX)
		r = -ERANGE;
	if (r == 0)
		*ret = value;
	return r;
}
