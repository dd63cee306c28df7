/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the value of a powercap zone, also after the driver was unloaded and loaded again, when
 * the zone of the same name may have another number. Must not read that of another zone.
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
	reader->is_zero = zone->is_energy && value == 0;
	if (r < 0)
		watt_file_close(&reader->file);
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
	r = watt_file_read_u64(&reader->file, &value);
	if (r == -ENODEV)
		reader->is_gone = true;
	if (r == 0 && value > INT64_MAX)
		r = -ERANGE;
	if (r == 0)
		*ret = value;
	return r;
}

static const struct watt_powercap_zone *find_zone(const struct watt_powercap_zones *zones,
						  const struct watt_powercap_zone *wanted)
{
	size_t i;

	for (i = 0; i < zones->n; i++)
		if (!strcmp(zones->zone[i].control, wanted->control) &&
		    !strcmp(zones->zone[i].name, wanted->name))
			return &zones->zone[i];
	return NULL;
}

void watt_powercap_reader_find_again(struct watt_powercap_reader *reader,
				     const struct watt_powercap_zones *zones)
{
	const struct watt_powercap_zone *found = find_zone(zones, reader->zone);
	char path[256];

	if (!found)
		return;
	value_path(found->id, reader->zone, path, sizeof(path));
	if (!reader->file.path || strcmp(path, reader->file.path)) {
		watt_file_close(&reader->file);
		if (watt_file_open(&reader->file, &reader->env->sysfs, path) < 0)
			return;
		watt_log(&reader->env->log, WATT_LOG_INFO, "powercap: %s is back as %s",
			 reader->zone->name, found->id);
	}
	reader->is_gone = false;
}
