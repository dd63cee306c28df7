/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of sensors that are files, with the channels that they make: how they are named, where
 * they belong, which are read together. It must not know how sensors are found or read.
 */
#include "source/power/sensor/sensor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include "base/util.h"
#include "source/power/sensor/sensor_read.h"

void watt_sensor_set_read(struct watt_power *power, uint32_t group, struct watt_sample *ret)
{
	struct watt_sensor_set *set = watt_container_of(power, struct watt_sensor_set, power);
	const struct watt_power_group *g = &set->groups[group];
	uint32_t i;

	for (i = 0; i < g->n; i++) {
		const struct watt_channel *channel = &set->channels[g->first + i];
		int64_t raw = 0;
		int r;

		ret[i].t_before_ns = watt_now_ns();
		r = watt_sensor_read(&set->sensors[g->first + i], &raw);
		ret[i].t_after_ns = watt_now_ns();
		if (r == 0 && raw < 0 && !(channel->flags & WATT_CHANNEL_SIGNED))
			r = -ERANGE;
		ret[i].raw = r < 0 ? 0 : raw;
		ret[i].status = watt_sensor_status(r);
	}
}

int watt_sensor_set_new(const struct watt_env *env, const struct watt_power_ops *ops,
			struct watt_sensor_set **ret)
{
	struct watt_sensor_set *set = calloc(1, sizeof(*set));

	if (!set)
		return -ENOMEM;
	set->env = env;
	set->power.ops = ops;
	*ret = set;
	return 0;
}

static void channel_done(struct watt_channel *channel)
{
	free((char *)channel->name);
	free((char *)channel->domain);
	free((char *)channel->label);
	free((char *)channel->path);
}

void watt_sensor_set_close(struct watt_power *power)
{
	struct watt_sensor_set *set;
	uint32_t i;

	if (!power)
		return;
	set = watt_container_of(power, struct watt_sensor_set, power);
	for (i = 0; i < power->n_channels; i++) {
		watt_sensor_done(&set->sensors[i]);
		channel_done(&set->channels[i]);
	}
	free(set->channels);
	free(set->sensors);
	free(set->groups);
	free(set);
}

/* Keeps readable text: a label goes to every output as it is. */
static char *copy_label(const char *label)
{
	char *copy = strdup(label), *p;

	for (p = copy; p && *p; p++)
		if ((unsigned char)*p < ' ' || (unsigned char)*p >= 0x7f)
			*p = '_';
	return copy;
}

static bool domain_is_taken(const struct watt_sensor_set *set, const char *domain)
{
	uint32_t i;

	for (i = 0; i < set->power.n_channels; i++)
		if (!strcmp(set->channels[i].domain, domain))
			return true;
	return false;
}

/*
 * Two sensors of one source are two things. If both claim the same place, the later one gets a
 * place of its own, and how they overlap is not known.
 */
static char *make_domain(const struct watt_sensor_set *set, const struct watt_place *place,
			 uint32_t *flags)
{
	char domain[WATT_PLACE_PATH_SIZE + 16];
	unsigned int n = 1;

	snprintf(domain, sizeof(domain), "%s", place->path);
	while (domain_is_taken(set, domain))
		snprintf(domain, sizeof(domain), "%s-%u", place->path, ++n);
	if (n > 1 && !(*flags & WATT_CHANNEL_OVERLAP_UNKNOWN))
		watt_log(&set->env->log, WATT_LOG_WARNING,
			 "%s: two sensors claim domain %s: the second is %s, and is not added",
			 set->power.ops->name, place->path, domain);
	if (n > 1)
		*flags |= WATT_CHANNEL_OVERLAP_UNKNOWN;
	return strdup(domain);
}

static bool name_is_taken(const struct watt_sensor_set *set, const char *name)
{
	uint32_t i;

	for (i = 0; i < set->power.n_channels; i++)
		if (!strcmp(set->channels[i].name, name))
			return true;
	return false;
}

/* "hwmon/1-0040/vdd_in"; a second one of that name gets "-2". */
static char *make_name(const struct watt_sensor_set *set, const struct watt_sensor_spec *spec)
{
	const char *source = set->power.ops->name;
	char chip[96], part[96], name[256];
	unsigned int n = 1;

	if (watt_clean_name(spec->chip, chip, sizeof(chip)) == 0)
		watt_strlcpy(chip, "unnamed", sizeof(chip));
	if (watt_clean_name(spec->part, part, sizeof(part)) == 0)
		watt_strlcpy(part, "power", sizeof(part));
	snprintf(name, sizeof(name), "%s/%s/%s", source, chip, part);
	while (name_is_taken(set, name))
		snprintf(name, sizeof(name), "%s/%s/%s-%u", source, chip, part, ++n);
	return strdup(name);
}

static char *make_path(const struct watt_sensor_set *set, const struct watt_sensor_spec *spec)
{
	const char *root = set->env->sysfs.path;
	const char *second = spec->factor[1].path;
	char *path = NULL;
	int n;

	if (second)
		n = asprintf(&path, "%s/%s x %s", root, spec->factor[0].path,
			     strrchr(second, '/') ? strrchr(second, '/') + 1 : second);
	else
		n = asprintf(&path, "%s/%s", root, spec->factor[0].path);
	return n < 0 ? NULL : path;
}

static int channel_fill(struct watt_channel *channel, const struct watt_sensor_set *set,
			const struct watt_sensor_spec *spec)
{
	*channel = spec->channel;
	channel->source = set->power.ops->name;
	channel->kind = spec->place.kind;
	channel->flags |= spec->place.flags;
	channel->package_id = spec->place.package_id;
	channel->die_id = spec->place.die_id;
	channel->core_id = spec->place.core_id;
	channel->origin = WATT_ORIGIN_MEASURED;
	channel->group = set->power.n_groups;
	channel->name = make_name(set, spec);
	channel->domain = make_domain(set, &spec->place, &channel->flags);
	channel->path = make_path(set, spec);
	channel->label = spec->label ? copy_label(spec->label) : NULL;
	if (!channel->name || !channel->domain || !channel->path ||
	    (spec->label && !channel->label)) {
		channel_done(channel);
		return -ENOMEM;
	}
	return 0;
}

static void leave_out(struct watt_sensor_set *set, const struct watt_sensor_spec *spec, int error)
{
	if (error == -EACCES)
		set->n_forbidden++;
	else
		set->n_broken++;
	watt_log(&set->env->log, WATT_LOG_WARNING, "%s: %s/%s left out: %s", set->power.ops->name,
		 set->env->sysfs.path, spec->factor[0].path, watt_sensor_reason(error));
}

int watt_sensor_set_add(struct watt_sensor_set *set, const struct watt_sensor_spec *spec)
{
	uint32_t n = set->power.n_channels;
	struct watt_sensor sensor;
	int64_t raw = 0;
	int r;

	r = watt_grow((void **)&set->channels, &set->channels_cap, n, sizeof(*set->channels));
	if (r == 0)
		r = watt_grow((void **)&set->sensors, &set->sensors_cap, n, sizeof(*set->sensors));
	if (r < 0)
		return r;
	r = watt_sensor_open(&sensor, &set->env->sysfs, spec);
	if (r == 0)
		r = watt_sensor_read(&sensor, &raw);
	if (r == -ENODEV && spec->is_moody)
		r = -ENODATA;
	if (r < 0 && watt_sensor_status(r) != WATT_STATUS_NODATA) {
		watt_sensor_done(&sensor);
		if (r == -ENOMEM)
			return r;
		leave_out(set, spec, r);
		return 0;
	}
	r = channel_fill(&set->channels[n], set, spec);
	if (r < 0) {
		watt_sensor_done(&sensor);
		return r;
	}
	if (raw < 0)
		set->channels[n].flags |= WATT_CHANNEL_SIGNED;
	set->sensors[n] = sensor;
	set->power.channels = set->channels;
	set->power.n_channels++;
	return 1;
}

int watt_sensor_set_end_group(struct watt_sensor_set *set, uint64_t period_ns)
{
	uint32_t n = set->power.n_groups, first = 0;
	int r;

	if (n)
		first = set->groups[n - 1].first + set->groups[n - 1].n;
	if (first == set->power.n_channels)
		return 0;
	r = watt_grow((void **)&set->groups, &set->groups_cap, n, sizeof(*set->groups));
	if (r < 0)
		return r;
	set->groups[n] = (struct watt_power_group){ .first = first,
						    .n = set->power.n_channels - first,
						    .period_ns = period_ns };
	set->power.groups = set->groups;
	set->power.n_groups++;
	return 0;
}

/* Keeps those of a group that are not known, from place n on; returns the place behind them. */
static uint32_t keep_unknown(struct watt_sensor_set *set, const struct watt_power_group *group,
			     const struct watt_known *known, uint32_t n, uint32_t index)
{
	uint32_t i;

	for (i = group->first; i < group->first + group->n; i++) {
		if (watt_known_has(known, set->channels[i].name)) {
			watt_sensor_done(&set->sensors[i]);
			channel_done(&set->channels[i]);
			continue;
		}
		set->sensors[n] = set->sensors[i];
		set->channels[n] = set->channels[i];
		set->channels[n++].group = index;
	}
	return n;
}

void watt_sensor_set_drop_known(struct watt_sensor_set *set, const struct watt_known *known)
{
	uint32_t i, n = 0, end, n_groups = 0;

	for (i = 0; i < set->power.n_groups; i++) {
		struct watt_power_group group = set->groups[i];

		end = keep_unknown(set, &group, known, n, n_groups);
		if (end == n)
			continue;
		group.first = n;
		group.n = end - n;
		set->groups[n_groups++] = group;
		n = end;
	}
	set->power.n_groups = n_groups;
	set->power.n_channels = n;
}
