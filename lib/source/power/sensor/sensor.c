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
#include "base/utf8.h"
#include "base/util.h"
#include "source/power/sensor/sensor_read.h"

/* More than this is no power of one sensor of the kind: registers that read all ones. */
static uint64_t kind_bound_uw(enum watt_domain_kind kind)
{
	switch (kind) {
	case WATT_DOMAIN_TOTAL:
	case WATT_DOMAIN_SUPPLY:
		return 100000000000;
	case WATT_DOMAIN_CORE:
		return 1000000000;
	default:
		return 20000000000;
	}
}

static bool is_plausible(const struct watt_channel *channel, int64_t raw)
{
	watt_i128 value;

	if (raw < 0 && !(channel->flags & WATT_CHANNEL_SIGNED))
		return false;
	if (channel->quantity != WATT_QUANTITY_POWER || !channel->max_power_uw)
		return true;
	value = (watt_i128)raw * (watt_i128)channel->scale_num / (watt_i128)channel->scale_den;
	return (value < 0 ? -value : value) <= (watt_i128)channel->max_power_uw;
}

/* A counter that has never moved from 0 says nothing. */
static bool is_stuck(struct watt_sensor *sensor, int64_t raw)
{
	sensor->is_zero = sensor->is_zero && raw == 0;
	return sensor->is_zero;
}

static void read_by_reader(struct watt_sensor_set *set, const struct watt_power_group *group,
			   struct watt_sample *ret)
{
	uint32_t i;

	set->reader->look(set->reader);
	for (i = 0; i < group->n; i++)
		set->reader->get(set->reader, set->sensors[group->first + i].index, &ret[i]);
}

void watt_sensor_set_read(struct watt_power *power, uint32_t group, struct watt_sample *ret)
{
	struct watt_sensor_set *set = watt_container_of(power, struct watt_sensor_set, power);
	const struct watt_power_group *g = &set->groups[group];
	uint32_t i;

	if (set->sensors[g->first].is_of_reader) {
		read_by_reader(set, g, ret);
		return;
	}
	for (i = 0; i < g->n; i++) {
		const struct watt_channel *channel = &set->channels[g->first + i];
		int64_t raw = 0;
		int r;

		ret[i].t_before_ns = watt_now_ns();
		r = watt_sensor_read(&set->sensors[g->first + i], &raw);
		ret[i].t_after_ns = watt_now_ns();
		if (r == 0 && !is_plausible(channel, raw))
			r = -ERANGE;
		ret[i].raw = r < 0 ? 0 : raw;
		ret[i].status = watt_sensor_status(r);
		if (r == 0 && is_stuck(&set->sensors[g->first + i], raw))
			ret[i].status = WATT_STATUS_STUCK;
	}
}

int watt_sensor_set_new(const struct watt_env *env, const struct watt_power_ops *ops,
			struct watt_sensor_set **ret)
{
	struct watt_sensor_set *set = calloc(1, sizeof(*set));

	if (!set)
		return -ENOMEM;
	if (watt_htab_init(&set->names) < 0) {
		free(set);
		return -ENOMEM;
	}
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

/* A name that is taken. */
struct taken {
	struct watt_hnode node;
	unsigned int next; /* the number behind it to try next */
	bool is_still;     /* a place: the counter that claims it has never moved */
	char text[];
};

static struct taken *find_taken(const struct watt_htab *names, const char *text, uint64_t *ret_hash)
{
	struct watt_hnode *node;
	uint64_t hash = 0;
	const char *p;

	for (p = text; *p; p++)
		hash = hash * 31 + (unsigned char)*p;
	*ret_hash = watt_hash_u64(hash);
	for (node = watt_htab_first(names, *ret_hash); node; node = watt_htab_next(node)) {
		struct taken *taken = watt_container_of(node, struct taken, node);

		if (!strcmp(taken->text, text))
			return taken;
	}
	return NULL;
}

static int take_name(struct watt_htab *names, const char *text, uint64_t hash)
{
	struct taken *taken = malloc(sizeof(*taken) + strlen(text) + 1);

	if (!taken)
		return -ENOMEM;
	taken->next = 2;
	taken->is_still = false;
	strcpy(taken->text, text);
	watt_htab_insert(names, &taken->node, hash);
	return 0;
}

static void free_names(struct watt_htab *names)
{
	struct watt_htab_iter it = { 0 };
	struct watt_hnode *node;

	while ((node = watt_htab_iterate(names, &it)))
		free(watt_container_of(node, struct taken, node));
	watt_htab_done(names);
}

/* The text, or with the first number behind it under which nobody is. NULL: no memory. */
static char *make_unique(struct watt_htab *names, const char *text, bool *ret_is_second)
{
	struct taken *first, *taken;
	char *unique = NULL;
	uint64_t hash;

	first = taken = find_taken(names, text, &hash);
	*ret_is_second = first != NULL;
	unique = strdup(text);
	while (unique && taken) {
		free(unique);
		if (asprintf(&unique, "%s-%u", text, first->next++) < 0)
			return NULL;
		taken = find_taken(names, unique, &hash);
	}
	if (unique && take_name(names, unique, hash) < 0) {
		free(unique);
		return NULL;
	}
	return unique;
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
	if (set->reader)
		set->reader->free(set->reader);
	free_names(&set->names);
	free(set->channels);
	free(set->sensors);
	free(set->groups);
	free(set);
}

/* Keeps readable text, in whatever language: a label goes to every output as it is. */
static char *copy_label(const char *label)
{
	char *copy = strdup(label), *p;

	if (watt_utf8_is_printable(label, strlen(label)))
		return copy;
	for (p = copy; p && *p; p++)
		if ((unsigned char)*p < ' ' || (unsigned char)*p >= 0x7f)
			*p = '_';
	return copy;
}

/*
 * Two sensors of one source are two things. If both claim the same place, the later one gets a
 * place of its own, and how they overlap is not known; but a counter that never moved tells
 * nothing of its place, and the first that moves, or that is no counter, measures it.
 */
static char *make_domain(struct watt_sensor_set *set, const struct watt_sensor_spec *spec,
			 bool is_still, uint32_t *flags)
{
	char text[WATT_PLACE_PATH_SIZE + 8], *domain;
	struct taken *taken;
	uint64_t hash;
	bool is_second;

	/* of its own among the names, that begin with the source's */
	snprintf(text, sizeof(text), "/%s", spec->place.path);
	taken = find_taken(&set->names, text, &hash);
	if (taken && taken->is_still && !is_still && !(*flags & WATT_CHANNEL_OVERLAP_UNKNOWN)) {
		taken->is_still = false;
		return strdup(spec->place.path);
	}
	domain = make_unique(&set->names, text, &is_second);
	if (!domain)
		return NULL;
	taken = find_taken(&set->names, domain, &hash);
	if (taken)
		taken->is_still = is_still;
	memmove(domain, domain + 1, strlen(domain));
	if (is_second && !(*flags & WATT_CHANNEL_OVERLAP_UNKNOWN))
		watt_log(&set->env->log, WATT_LOG_WARNING,
			 "%s: two sensors claim domain %s: the second (%s) is %s, and is not added",
			 set->power.ops->name, spec->place.path, spec->chip, domain);
	if (is_second)
		*flags |= WATT_CHANNEL_OVERLAP_UNKNOWN;
	return domain;
}

/* "hwmon/1-0040/vdd_in"; a second one of that name gets "-2". */
static char *make_name(struct watt_sensor_set *set, const struct watt_sensor_spec *spec)
{
	char chip[96], part[96], name[256];
	bool is_second;

	if (watt_clean_name(spec->chip, chip, sizeof(chip)) == 0)
		watt_strlcpy(chip, "unnamed", sizeof(chip));
	if (watt_clean_name(spec->part, part, sizeof(part)) == 0)
		watt_strlcpy(part, "power", sizeof(part));
	snprintf(name, sizeof(name), "%s/%s/%s", set->power.ops->name, chip, part);
	return make_unique(&set->names, name, &is_second);
}

static const struct watt_root *root_of(const struct watt_sensor_set *set,
				       const struct watt_sensor_spec *spec)
{
	return spec->root ? spec->root : &set->env->sysfs;
}

static char *make_path(const struct watt_sensor_set *set, const struct watt_sensor_spec *spec)
{
	const char *root = root_of(set, spec)->path;
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

static int channel_fill(struct watt_channel *channel, struct watt_sensor_set *set,
			const struct watt_sensor_spec *spec, bool is_still)
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
	if (channel->quantity == WATT_QUANTITY_POWER)
		channel->max_power_uw =
			channel->max_power_uw ?
				WATT_MIN(channel->max_power_uw, kind_bound_uw(channel->kind)) :
				kind_bound_uw(channel->kind);
	channel->name = make_name(set, spec);
	channel->domain = make_domain(set, spec, is_still, &channel->flags);
	channel->path = make_path(set, spec);
	channel->label = spec->label ? copy_label(spec->label) : NULL;
	if (!channel->name || !channel->domain || !channel->path ||
	    (spec->label && !channel->label)) {
		channel_done(channel);
		return -ENOMEM;
	}
	return 0;
}

/* Others keep the names that they have, when it can be read one day. */
static void leave_out(struct watt_sensor_set *set, const struct watt_sensor_spec *spec,
		      const struct watt_sensor *sensor, int error)
{
	const char *path = sensor->failed < sensor->n_factors ? spec->factor[sensor->failed].path :
								spec->status_path;

	if (error == -EACCES)
		set->n_forbidden++;
	else
		set->n_broken++;
	set->power.n_refused++;
	/* nobody else gets its name */
	free(make_name(set, spec));
	/* the numbers of a class change from boot to boot: the device tells which one it is */
	watt_log(&set->env->log, WATT_LOG_WARNING, "%s: %s: %s/%s left out: %s",
		 set->power.ops->name, spec->chip, root_of(set, spec)->path,
		 path ? path : spec->factor[0].path, watt_sensor_reason(error));
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
	r = watt_sensor_open(&sensor, root_of(set, spec), spec);
	if (r == 0 && !spec->is_of_reader)
		r = watt_sensor_read(&sensor, &raw);
	if (r == -ENODEV && spec->is_moody)
		r = -ENODATA;
	if (r < 0 && watt_sensor_status(r) != WATT_STATUS_NODATA) {
		watt_sensor_done(&sensor);
		if (r == -ENOMEM)
			return r;
		leave_out(set, spec, &sensor, r);
		return 0;
	}
	sensor.is_zero = r == 0 && sensor.is_counter && raw == 0;
	r = channel_fill(&set->channels[n], set, spec, sensor.is_zero);
	if (r < 0) {
		watt_sensor_done(&sensor);
		return r;
	}
	if (raw < 0)
		set->channels[n].flags |= WATT_CHANNEL_SIGNED;
	/* a counter that moves is preferred */
	if (sensor.is_zero)
		set->channels[n].flags |= WATT_CHANNEL_UNREAD;
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
