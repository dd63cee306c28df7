/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hwmon source: every sensor of power, energy, or voltage and current below class/hwmon.
 * Each chip is one group of channels. It must not know single drivers: hwmon_place.c does.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "source/power/hwmon/hwmon_add.h"
#include "source/registry.h"

#define CLASS "class/hwmon"

struct chips {
	struct watt_hwmon_chip *chip;
	size_t n, cap;
};

static void chips_done(struct chips *chips)
{
	size_t i;

	for (i = 0; i < chips->n; i++)
		watt_hwmon_chip_done(&chips->chip[i]);
	free(chips->chip);
}

/* The device's stable name decides the order: hwmonN changes with every boot. */
static int compare_chips(const void *a, const void *b)
{
	const struct watt_hwmon_chip *x = a, *y = b;
	int r = strverscmp(x->device, y->device);

	return r ? r : strverscmp(x->dir, y->dir);
}

/* power_supply shows its devices here too; the source of that name knows them better. */
static bool is_power_supply(const struct watt_env *env, const char *hwmon)
{
	char path[160], link[512];
	const char *base;

	snprintf(path, sizeof(path), CLASS "/%.64s/device/subsystem", hwmon);
	if (watt_root_readlink(&env->sysfs, path, link, sizeof(link)) > 0) {
		base = strrchr(link, '/');
		return !strcmp(base ? base + 1 : link, "power_supply");
	}
	snprintf(path, sizeof(path), CLASS "/%.64s/device/status", hwmon);
	if (!watt_root_exists(&env->sysfs, path))
		return false;
	snprintf(path, sizeof(path), CLASS "/%.64s/device/capacity", hwmon);
	return watt_root_exists(&env->sysfs, path);
}

static int read_chips(const struct watt_env *env, struct chips *ret)
{
	struct watt_names names = WATT_NAMES_INIT;
	int r;
	size_t i;

	r = watt_root_list(&env->sysfs, CLASS, "hwmon", &names);
	if (r < 0)
		return r == -ENOENT || r == -ENOTDIR ? -ENODEV : r;
	for (i = 0; i < names.n && r == 0; i++) {
		if (is_power_supply(env, names.name[i]))
			continue;
		r = watt_grow((void **)&ret->chip, &ret->cap, ret->n, sizeof(*ret->chip));
		if (r == 0)
			r = watt_hwmon_chip_read(env, names.name[i], &ret->chip[ret->n]);
		if (r == 0)
			ret->n++;
	}
	watt_names_free(&names);
	if (r == 0 && ret->n)
		qsort(ret->chip, ret->n, sizeof(*ret->chip), compare_chips);
	return r;
}

/* How many chips of the same name there are among the first n. */
static uint32_t count_same(const struct chips *chips, const char *name, size_t n)
{
	uint32_t same = 0;
	size_t i;

	for (i = 0; i < n; i++)
		same += !strcmp(chips->chip[i].name, name);
	return same;
}

static int add_chips(struct watt_sensor_set *set, const struct watt_env *env,
		     const struct chips *chips)
{
	struct watt_rail_map *rails = NULL;
	struct watt_hwmon_world world = { .env = env };
	int r;
	size_t i;

	r = watt_cpu_ids_read(env, &world.cpus);
	if (r == 0)
		r = watt_rail_map_new(env, &rails);
	world.rails = rails;
	for (i = 0; i < chips->n && r == 0; i++) {
		const struct watt_hwmon_chip *chip = &chips->chip[i];

		r = watt_hwmon_add(set, &world, chip, count_same(chips, chip->name, i),
				   count_same(chips, chip->name, chips->n));
	}
	watt_rail_map_free(rails);
	watt_cpu_ids_done(&world.cpus);
	return r;
}

static int load(struct watt_sensor_set *set, size_t *ret_n_devices)
{
	struct chips chips = { 0 };
	int r;

	r = read_chips(set->env, &chips);
	if (r == 0)
		r = add_chips(set, set->env, &chips);
	*ret_n_devices = chips.n;
	chips_done(&chips);
	return r;
}

static const char *const watched[] = { CLASS, NULL };

static int hwmon_rescan(const struct watt_env *env, const struct watt_known *known,
			struct watt_power **ret)
{
	return watt_sensor_source_rescan(env, &watt_power_hwmon, load, known, ret);
}

static int hwmon_open(const struct watt_env *env, struct watt_power **ret)
{
	return watt_sensor_source_open(env, &watt_power_hwmon, load, ret);
}

static int hwmon_probe(const struct watt_env *env, struct watt_diag *diag)
{
	return watt_sensor_source_probe(env, &watt_power_hwmon, load, CLASS, "hwmon chip", diag);
}

const struct watt_power_ops watt_power_hwmon = {
	.name = "hwmon",
	.summary = "sensors of boards, GPUs, power supplies and meters",
	.flags = WATT_POWER_BLOCKING,
	.probe = hwmon_probe,
	.open = hwmon_open,
	.rescan = hwmon_rescan,
	.watched = watched,
	.read = watt_sensor_set_read,
	.close = watt_sensor_set_close,
};
