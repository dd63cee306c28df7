/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of power sources need: an environment on a fixture, log lines kept, channels found. */
#ifndef WATT_TESTS_POWER_H
#define WATT_TESTS_POWER_H

#include "unit.h"

#include "source/config/config.h"
#include "source/source.h"

struct power_world {
	struct watt_env env;
	unsigned int n_warnings;
	char text[4096]; /* all log lines, one after the other */
};

static inline void world_log(void *data, enum watt_log_level level, const char *text)
{
	struct power_world *world = data;
	size_t len = strlen(world->text);

	world->n_warnings += level <= WATT_LOG_WARNING;
	snprintf(world->text + len, sizeof(world->text) - len, "%s\n", text);
}

/* dir has sys/ and may have proc/. */
static inline void world_open(struct power_world *world, const char *dir)
{
	static const struct watt_config no_config;
	char path[PATH_MAX + 8];

	*world = (struct power_world){ 0 };
	world->env.config = &no_config;
	world->env.log = (struct watt_log){ world_log, world };
	world->env.sysfs = world->env.procfs = (struct watt_root)WATT_ROOT_INIT;
	snprintf(path, sizeof(path), "%s/sys", dir);
	assert_int_equal(watt_root_open(&world->env.sysfs, path), 0);
	snprintf(path, sizeof(path), "%s/proc", dir);
	watt_root_open(&world->env.procfs, path);
}

static inline void world_open_fixture(struct power_world *world, const char *machine)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", getenv("WATT_FIXTURES"), machine);
	world_open(world, path);
}

static inline void world_close(struct power_world *world)
{
	watt_root_close(&world->env.sysfs);
	watt_root_close(&world->env.procfs);
}

/* A copy of a fixture that a test may change; remove it with scratch_remove(). */
static inline char *fixture_copy(const char *machine)
{
	char command[2 * PATH_MAX];
	char *dir = scratch_new();

	snprintf(command, sizeof(command), "cp -a '%s/%s/.' '%s'", getenv("WATT_FIXTURES"), machine,
		 dir);
	assert_int_equal(system(command), 0);
	return dir;
}

/* The channel of that name; fails the test if there is none. */
static inline const struct watt_channel *channel_named(const struct watt_power *power,
						       const char *name)
{
	uint32_t i;

	for (i = 0; i < power->n_channels; i++)
		if (!strcmp(power->channels[i].name, name))
			return &power->channels[i];
	fail_msg("no channel %s", name);
	return NULL;
}

/* Reads every group; ret has room for all channels. */
static inline void read_all_groups(struct watt_power *power, struct watt_sample *ret)
{
	uint32_t i;

	for (i = 0; i < power->n_groups; i++)
		power->ops->read(power, i, ret + power->groups[i].first);
}

/* What has come since, with the channels of power known but for those that are gone. */
static inline int world_rescan(const struct power_world *world, const struct watt_power *power,
			       const struct watt_sample *samples, struct watt_power **ret)
{
	const char **names = calloc(power->n_channels, sizeof(*names));
	struct watt_known known = { names, 0 };
	uint32_t i;
	int r;

	assert_non_null(names);
	for (i = 0; i < power->n_channels; i++)
		if (samples[i].status != WATT_STATUS_ABSENT)
			names[known.n++] = power->channels[i].name;
	r = power->ops->rescan(&world->env, &known, ret);
	free(names);
	return r;
}

/* What every source owes: groups that cover the channels in order, names that are unique. */
static inline void check_power(const struct watt_power *power)
{
	uint32_t i, k, next = 0;

	for (i = 0; i < power->n_groups; i++) {
		assert_int_equal(power->groups[i].first, next);
		assert_true(power->groups[i].n > 0);
		for (k = 0; k < power->groups[i].n; k++)
			assert_int_equal(power->channels[next + k].group, i);
		next += power->groups[i].n;
	}
	assert_int_equal(next, power->n_channels);
	for (i = 0; i < power->n_channels; i++) {
		const struct watt_channel *ch = &power->channels[i];

		assert_string_equal(ch->source, power->ops->name);
		assert_non_null(ch->domain);
		assert_true(ch->scale_num > 0 && ch->scale_den > 0);
		for (k = 0; k < i; k++)
			assert_string_not_equal(power->channels[k].name, ch->name);
	}
}

#endif
