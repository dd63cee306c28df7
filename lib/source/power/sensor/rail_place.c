/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places supply rails in the domain tree: the user's rules first, then the user's boards, then the
 * table of boards, else a place of their own. A label that several devices use belongs to one of
 * them only, so that rails never merge by accident. It must not read values.
 */
#include "source/power/sensor/rail_place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "base/util.h"
#include "source/config/config.h"
#include "source/power/sensor/board_choice.h"
#include "source/power/sensor/device_name.h"

/* A label that some device of this machine uses. */
struct claim {
	char device[96];
	char label[96]; /* cleaned */
};

struct watt_rail_map {
	const struct watt_env *env;
	struct watt_board_choice choice;
	struct claim *claims; /* sorted by device */
	size_t n_claims, claims_cap;
};

/* Attributes that give a sensor its name, by how they begin and end. */
static const struct {
	const char *prefix;
	const char *suffix;
} label_files[] = {
	{ "in", "_label" },     { "curr", "_label" }, { "power", "_label" },
	{ "energy", "_label" }, { "rail_name_", "" },
};

static bool is_label_file(const char *name)
{
	size_t i, len = strlen(name);

	for (i = 0; i < WATT_ARRAY_SIZE(label_files); i++) {
		size_t tail = strlen(label_files[i].suffix);

		if (!strncmp(name, label_files[i].prefix, strlen(label_files[i].prefix)) &&
		    len > tail && !strcmp(name + len - tail, label_files[i].suffix))
			return true;
	}
	return false;
}

static int claim_add(struct watt_rail_map *map, const char *device, const char *label)
{
	struct claim *claim;
	int r;

	r = watt_grow((void **)&map->claims, &map->claims_cap, map->n_claims, sizeof(*map->claims));
	if (r < 0)
		return r;
	claim = &map->claims[map->n_claims];
	watt_strlcpy(claim->device, device, sizeof(claim->device));
	if (watt_clean_name(label, claim->label, sizeof(claim->label)) > 0)
		map->n_claims++;
	return 0;
}

static int claims_of_dir(struct watt_rail_map *map, const char *dir, const char *device)
{
	const struct watt_root *sysfs = &map->env->sysfs;
	struct watt_names names = WATT_NAMES_INIT;
	char label[128];
	int r = 0;
	size_t i;

	if (watt_root_list(sysfs, dir, "", &names) < 0)
		return 0;
	for (i = 0; i < names.n && r == 0; i++)
		if (is_label_file(names.name[i]) &&
		    watt_root_readf(sysfs, label, sizeof(label), "%s/%s", dir, names.name[i]) > 0)
			r = claim_add(map, device, label);
	watt_names_free(&names);
	return r;
}

static int claims_of_class(struct watt_rail_map *map, const char *class, const char *prefix)
{
	struct watt_names names = WATT_NAMES_INIT;
	char dir[256], device[96];
	int r = 0;
	size_t i;

	if (watt_root_list(&map->env->sysfs, class, prefix, &names) < 0)
		return 0;
	for (i = 0; i < names.n && r == 0; i++) {
		snprintf(dir, sizeof(dir), "%s/%s", class, names.name[i]);
		if (watt_device_name(&map->env->sysfs, dir, device, sizeof(device)) == 0)
			r = claims_of_dir(map, dir, device);
	}
	watt_names_free(&names);
	return r;
}

static int compare_claims(const void *a, const void *b)
{
	return strverscmp(((const struct claim *)a)->device, ((const struct claim *)b)->device);
}

/* ---- */

int watt_rail_map_new(const struct watt_env *env, struct watt_rail_map **ret)
{
	struct watt_rail_map *map = calloc(1, sizeof(*map));
	int r;

	if (!map)
		return -ENOMEM;
	map->env = env;
	r = watt_board_choose(env, &map->choice);
	if (r == 0)
		r = claims_of_class(map, "class/hwmon", "hwmon");
	if (r == 0)
		r = claims_of_class(map, "bus/iio/devices", "iio:device");
	if (r < 0) {
		watt_rail_map_free(map);
		return r;
	}
	if (map->n_claims)
		qsort(map->claims, map->n_claims, sizeof(*map->claims), compare_claims);
	*ret = map;
	return 0;
}

struct watt_rail_map *watt_rail_map_free(struct watt_rail_map *map)
{
	if (!map)
		return NULL;
	free(map->claims);
	watt_board_choice_done(&map->choice);
	free(map);
	return NULL;
}

const char *watt_rail_map_label_of_chip(const struct watt_rail_map *map, const char *chip)
{
	const struct watt_board_rail *rail = map->choice.board ? map->choice.board->rails : NULL;

	for (; rail && rail->label; rail++)
		if (rail->chip && strcmp(rail->chip, chip) == 0)
			return rail->label;
	return NULL;
}

const struct watt_board *watt_rail_map_board(const struct watt_rail_map *map)
{
	return map->choice.board;
}

bool watt_rail_map_is_configured(const struct watt_rail_map *map)
{
	return watt_board_is_configured(&map->choice);
}

/* Of all devices with this label (at this address), the first one means what the table says. */
static bool owns_label(const struct watt_rail_map *map, const char *device, const char *label,
		       const char *address)
{
	size_t i;

	for (i = 0; i < map->n_claims; i++) {
		const struct claim *claim = &map->claims[i];
		const char *at = watt_device_i2c_address(claim->device);

		if (!strcmp(claim->label, label) && (!address || (at && !strcmp(at, address))))
			return !strcmp(claim->device, device);
	}
	return true;
}

/* A rule names a label, or one of one device: "vdd_in", "1-0040/vdd_in", "1-0040". */
static bool rule_matches(const struct watt_rail_map *map, const struct watt_config_rail *rule,
			 const struct watt_rail *rail, const char *clean)
{
	const char *part = clean[0] ? clean : rail->part;
	char want[192], full[192], text[256];

	if (watt_clean_name(rule->label, want, sizeof(want)) == 0)
		return false;
	if (clean[0] && !strcmp(want, clean)) {
		if (owns_label(map, rail->device, clean, NULL))
			return true;
		watt_log(
			&map->env->log, WATT_LOG_WARNING,
			"rail rule \"%s\": several devices have this label; not used for %s, write %s/%s",
			rule->label, rail->device, rail->device, rule->label);
		return false;
	}
	snprintf(text, sizeof(text), "%s/%s", rail->device, part);
	watt_clean_name(text, full, sizeof(full));
	if (!strcmp(want, full))
		return true;
	watt_clean_name(rail->device, full, sizeof(full));
	return rail->is_alone && !strcmp(want, full);
}

static const struct watt_config_rail *find_rule(const struct watt_rail_map *map,
						const struct watt_rail *rail, const char *clean)
{
	const struct watt_config *config = map->env->config;
	size_t i;

	for (i = 0; i < config->n_rails; i++)
		if (rule_matches(map, &config->rails[i], rail, clean))
			return &config->rails[i];
	return NULL;
}

static const struct watt_board_rail *
find_board_rail(const struct watt_rail_map *map, const struct watt_rail *rail, const char *clean)
{
	const struct watt_board_rail *found;

	if (!map->choice.board || !clean[0])
		return NULL;
	found = watt_board_find_rail(map->choice.board, clean,
				     watt_device_i2c_address(rail->device));
	if (found && owns_label(map, rail->device, clean, found->address))
		return found;
	return NULL;
}

static void clean_label(const struct watt_rail *rail, char *buf, size_t size)
{
	buf[0] = '\0';
	if (rail->label)
		watt_clean_name(rail->label, buf, size);
}

bool watt_rail_map_find(const struct watt_rail_map *map, const struct watt_rail *rail,
			struct watt_place *ret)
{
	const struct watt_config_rail *rule;
	const struct watt_board_rail *known;
	char clean[96];

	clean_label(rail, clean, sizeof(clean));
	rule = find_rule(map, rail, clean);
	known = find_board_rail(map, rail, clean);
	if (!rule && !known)
		return false;
	*ret = (struct watt_place)WATT_PLACE_INIT;
	ret->kind = known ? known->kind : watt_rail_kind_of_label(clean);
	if (rule) {
		watt_strlcpy(ret->path, rule->domain, sizeof(ret->path));
		if (rule->kind >= 0)
			ret->kind = (enum watt_domain_kind)rule->kind;
	} else {
		watt_strlcpy(ret->path, known->path, sizeof(ret->path));
		ret->flags = known->flags;
	}
	return true;
}

void watt_rail_own_path(const struct watt_rail *rail, char *buf, size_t size)
{
	char device[96], part[96] = "";

	if (watt_clean_name(rail->device, device, sizeof(device)) == 0)
		watt_strlcpy(device, "unnamed", sizeof(device));
	if (rail->label)
		watt_clean_name(rail->label, part, sizeof(part));
	/* without its label: the other subsystem may not show it */
	if (rail->is_alone)
		snprintf(buf, size, "%s", device);
	else
		snprintf(buf, size, "%s:%s", device, part[0] ? part : rail->part);
}

void watt_rail_map_place(const struct watt_rail_map *map, const struct watt_rail *rail,
			 struct watt_place *ret)
{
	char clean[96];

	if (watt_rail_map_find(map, rail, ret))
		return;
	clean_label(rail, clean, sizeof(clean));
	*ret = (struct watt_place)WATT_PLACE_INIT;
	ret->kind = watt_rail_kind_of_label(clean);
	ret->flags = WATT_CHANNEL_OVERLAP_UNKNOWN;
	watt_rail_own_path(rail, ret->path, sizeof(ret->path));
}

enum watt_domain_kind watt_rail_kind_of_label(const char *clean)
{
	static const struct {
		const char *word;
		enum watt_domain_kind kind;
	} words[] = {
		/* the first that is found counts: what the CPU shares with others is the CPU's */
		{ "cpu", WATT_DOMAIN_CPU_RAIL }, { "gpu", WATT_DOMAIN_GPU },
		{ "ddr", WATT_DOMAIN_DRAM },     { "dram", WATT_DOMAIN_DRAM },
		{ "vddq", WATT_DOMAIN_DRAM },    { "vddrq", WATT_DOMAIN_DRAM },
	};
	size_t i, len;

	for (i = 0; i < WATT_ARRAY_SIZE(words); i++) {
		const char *p = clean;

		len = strlen(words[i].word);
		while ((p = strstr(p, words[i].word)) != NULL) {
			if ((p == clean || p[-1] == '_') &&
			    (p[len] == '\0' || p[len] == '_' || (p[len] >= '0' && p[len] <= '9')))
				return words[i].kind;
			p += len;
		}
	}
	return WATT_DOMAIN_RAIL;
}
