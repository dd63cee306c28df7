/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the sensors of a device by the names of its attributes in sysfs, which hwmon and IIO form
 * alike. It must not read values nor decide what they mean.
 */
#include "source/power/sensor/sysfs_sensors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

bool watt_sysfs_sensor_parse(const struct watt_sysfs_naming *naming, const char *name,
			     enum watt_sysfs_type *ret_type, uint32_t *ret_index,
			     const char **ret_suffix)
{
	unsigned int type;

	for (type = 0; type < WATT_SYSFS_TYPES && naming->prefix[type]; type++) {
		const char *p = name + strlen(naming->prefix[type]);
		uint32_t index = 0;
		size_t digits = 0;

		if (strncmp(name, naming->prefix[type], strlen(naming->prefix[type])))
			continue;
		for (; p[digits] >= '0' && p[digits] <= '9' && digits < 5; digits++)
			index = index * 10 + (uint32_t)(p[digits] - '0');
		/* the kernel writes no leading zeros: in01 would be a second in1 */
		if ((digits == 0 && naming->is_numbered) || digits == 5 ||
		    (p[0] == '0' && digits > 1) || p[digits] != '_')
			continue;
		*ret_type = (enum watt_sysfs_type)type;
		*ret_index = digits ? index : WATT_SYSFS_NO_INDEX;
		*ret_suffix = p + digits;
		return true;
	}
	return false;
}

static struct watt_sysfs_sensor *find_sensor(struct watt_sysfs_sensors *sensors,
					     enum watt_sysfs_type type, uint32_t index)
{
	size_t i;

	for (i = 0; i < sensors->n; i++)
		if (sensors->sensor[i].type == type && sensors->sensor[i].index == index)
			return &sensors->sensor[i];
	return NULL;
}

static int note_attribute(struct watt_sysfs_sensors *sensors,
			  const struct watt_sysfs_naming *naming, const char *name)
{
	struct watt_sysfs_sensor *sensor;
	enum watt_sysfs_type type;
	const char *suffix;
	uint32_t index;
	int r;

	if (!watt_sysfs_sensor_parse(naming, name, &type, &index, &suffix))
		return 0;
	if (strcmp(suffix, "_input") && strcmp(suffix, naming->other))
		return 0;
	sensor = find_sensor(sensors, type, index);
	if (!sensor) {
		r = watt_grow((void **)&sensors->sensor, &sensors->cap, sensors->n,
			      sizeof(*sensors->sensor));
		if (r < 0)
			return r;
		sensor = &sensors->sensor[sensors->n++];
		*sensor = (struct watt_sysfs_sensor){ .type = type, .index = index };
	}
	if (!strcmp(suffix, "_input"))
		sensor->has_input = true;
	else
		sensor->has_other = true;
	return 0;
}

static int compare_sensors(const void *a, const void *b)
{
	const struct watt_sysfs_sensor *x = a, *y = b;

	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

int watt_sysfs_sensors_list(struct watt_sysfs_sensors *sensors, const struct watt_env *env,
			    const char *dir, const struct watt_sysfs_naming *naming)
{
	struct watt_names names = WATT_NAMES_INIT;
	int r;
	size_t i;

	r = watt_root_list(&env->sysfs, dir, "", &names);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	for (i = 0; i < names.n && r == 0; i++)
		r = note_attribute(sensors, naming, names.name[i]);
	watt_names_free(&names);
	if (sensors->n)
		qsort(sensors->sensor, sensors->n, sizeof(*sensors->sensor), compare_sensors);
	return r;
}

void watt_sysfs_sensors_done(struct watt_sysfs_sensors *sensors)
{
	free(sensors->sensor);
	*sensors = (struct watt_sysfs_sensors){ 0 };
}

const struct watt_sysfs_sensor *watt_sysfs_sensors_get(const struct watt_sysfs_sensors *sensors,
						       enum watt_sysfs_type type, size_t *ret_n)
{
	const struct watt_sysfs_sensor *first = NULL;
	size_t i;

	*ret_n = 0;
	for (i = 0; i < sensors->n; i++) {
		if (sensors->sensor[i].type != type)
			continue;
		if (!first)
			first = &sensors->sensor[i];
		(*ret_n)++;
	}
	return first;
}
