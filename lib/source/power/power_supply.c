/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The power_supply source: what batteries give and adapters bring, from class/power_supply.
 * Discharging is positive: the machine uses it. They show the machine from outside, so they are
 * never added to what is measured inside. It must not control charging.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/parse.h"
#include "base/util.h"
#include "source/power/sensor/sensor.h"
#include "source/registry.h"

#define CLASS "class/power_supply"
#define PATH_SIZE 256
/* Firmware and fuel gauges have a new value every 1 to 30 s, and do not say when. */
#define PERIOD_NS WATT_NSEC_PER_SEC
#define UWH_IN_NJ 3600000

struct supply {
	const struct watt_env *env;
	const char *name; /* BAT0 */
	bool is_battery;  /* its status tells the sign */
};

/* How power can be had, best first: the first whose files are there is taken. */
static const struct way {
	const char *first;
	const char *second; /* NULL: one file */
	enum watt_quantity quantity;
	enum watt_semantics semantics;
	uint64_t scale_num;
	uint64_t scale_den;
	bool only_battery;
	const char *constant_uv; /* a voltage that the scale is multiplied by */
} ways[] = {
	{ "power_now", NULL, WATT_QUANTITY_POWER, WATT_SEMANTICS_INSTANT, 1, 1 },
	/* uA x uV is pW */
	{ "current_now", "voltage_now", WATT_QUANTITY_POWER, WATT_SEMANTICS_INSTANT, 1, 1000000 },
	{ "power_avg", NULL, WATT_QUANTITY_POWER, WATT_SEMANTICS_AVERAGE, 1, 1 },
	{ "energy_now", NULL, WATT_QUANTITY_ENERGY, WATT_SEMANTICS_COUNTER, UWH_IN_NJ, 1, true },
	/* uAh x uV is 3.6 nJ, at the voltage that the battery is rated for */
	{ "charge_now", NULL, WATT_QUANTITY_ENERGY, WATT_SEMANTICS_COUNTER, 18, 5, true,
	  "voltage_min_design" },
};

static int read_text(const struct supply *supply, const char *file, char *buf, size_t size)
{
	return watt_root_readf(&supply->env->sysfs, buf, size, CLASS "/%s/%s", supply->name, file);
}

static bool says(const struct supply *supply, const char *file, const char *text)
{
	char buf[64];

	return read_text(supply, file, buf, sizeof(buf)) >= 0 && !strcmp(buf, text);
}

static bool has(const struct supply *supply, const char *file)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), CLASS "/%.96s/%s", supply->name, file);
	return watt_root_exists(&supply->env->sysfs, path);
}

/* Ports of USB-PD tell the current that may be taken, as it was negotiated: no measurement. */
static bool is_negotiated(const char *name)
{
	static const char *const ports[] = { "ucsi-source-psy", "tcpm-source-psy" };
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(ports); i++)
		if (!strncmp(name, ports[i], strlen(ports[i])))
			return true;
	return false;
}

/* Not of a mouse or another device with a battery of its own, and not an empty slot. */
static bool is_wanted(struct supply *supply)
{
	char type[32];

	if (says(supply, "scope", "Device") || says(supply, "present", "0") ||
	    is_negotiated(supply->name))
		return false;
	if (read_text(supply, "type", type, sizeof(type)) < 0)
		return false;
	supply->is_battery = !strcmp(type, "Battery") || !strcmp(type, "UPS");
	return supply->is_battery || !strcmp(type, "Mains") || !strncmp(type, "USB", 3) ||
	       !strcmp(type, "Wireless");
}

static bool is_possible(const struct supply *supply, const struct way *way)
{
	if (way->only_battery && !supply->is_battery)
		return false;
	return has(supply, way->first) && (!way->second || has(supply, way->second)) &&
	       (!way->constant_uv || has(supply, way->constant_uv));
}

static const struct way *choose_way(const struct supply *supply)
{
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(ways); i++)
		if (is_possible(supply, &ways[i]))
			return &ways[i];
	return NULL;
}

static enum watt_sensor_sign choose_sign(const struct supply *supply, const struct way *way)
{
	if (supply->is_battery && has(supply, "status"))
		return way->quantity == WATT_QUANTITY_ENERGY ? WATT_SENSOR_FALLING :
							       WATT_SENSOR_BY_STATUS;
	if (!supply->is_battery && has(supply, "online"))
		return WATT_SENSOR_BY_ONLINE;
	return supply->is_battery ? WATT_SENSOR_SIGN_UNKNOWN : WATT_SENSOR_AS_READ;
}

/* A voltage in uV; 0: it makes no sense. */
static uint64_t read_constant_uv(const struct supply *supply, const char *file)
{
	uint64_t voltage_uv;
	char text[32];

	if (read_text(supply, file, text, sizeof(text)) < 0 ||
	    watt_parse_u64(text, &voltage_uv) < 0 || voltage_uv > 1000000000)
		return 0;
	return voltage_uv;
}

static void place_supply(const struct supply *supply, struct watt_place *ret)
{
	char clean[96];

	if (watt_clean_name(supply->name, clean, sizeof(clean)) == 0)
		watt_strlcpy(clean, "unnamed", sizeof(clean));
	*ret = (struct watt_place)WATT_PLACE_INIT;
	ret->kind = WATT_DOMAIN_SUPPLY;
	snprintf(ret->path, sizeof(ret->path), "supply-%s", clean);
}

static int add_way(struct watt_sensor_set *set, const struct supply *supply, const struct way *way)
{
	char first[PATH_SIZE], second[PATH_SIZE], status[PATH_SIZE];
	struct watt_sensor_spec spec = {
		.chip = supply->name,
		.part = way->quantity == WATT_QUANTITY_ENERGY ? "energy" : "power",
		.factor = { { .path = first }, { .path = way->second ? second : NULL } },
		.sign = choose_sign(supply, way),
		.is_moody = true,
		.status_path = status,
		.channel = { .quantity = way->quantity,
			     .semantics = way->semantics,
			     .flags = WATT_CHANNEL_SIGNED,
			     .scale_num = way->scale_num,
			     .scale_den = way->scale_den,
			     .period_ns = PERIOD_NS },
	};
	uint64_t voltage_uv = 1;
	int r;

	if (way->constant_uv)
		voltage_uv = read_constant_uv(supply, way->constant_uv);
	if (voltage_uv == 0 ||
	    (way->quantity == WATT_QUANTITY_ENERGY && spec.sign != WATT_SENSOR_FALLING))
		return 0;
	spec.channel.scale_num *= voltage_uv;
	snprintf(first, sizeof(first), CLASS "/%.96s/%s", supply->name, way->first);
	snprintf(second, sizeof(second), CLASS "/%.96s/%s", supply->name,
		 way->second ? way->second : "");
	snprintf(status, sizeof(status), CLASS "/%.96s/%s", supply->name,
		 supply->is_battery ? "status" : "online");
	place_supply(supply, &spec.place);
	if (spec.sign == WATT_SENSOR_SIGN_UNKNOWN)
		watt_log(&set->env->log, WATT_LOG_WARNING,
			 "power_supply: %s has no status: whether it is charged or discharged is "
			 "not known, and its power has no value but 0",
			 supply->name);
	r = watt_sensor_set_add(set, &spec);
	return r < 0 ? r : watt_sensor_set_end_group(set, PERIOD_NS);
}

static int load(struct watt_sensor_set *set, size_t *ret_n_devices)
{
	struct watt_names names = WATT_NAMES_INIT;
	int r;
	size_t i;

	r = watt_root_list(&set->env->sysfs, CLASS, "", &names);
	if (r < 0)
		return r == -ENOENT || r == -ENOTDIR ? -ENODEV : r;
	*ret_n_devices = names.n;
	for (i = 0; i < names.n && r == 0; i++) {
		struct supply supply = { .env = set->env, .name = names.name[i] };
		const struct way *way = is_wanted(&supply) ? choose_way(&supply) : NULL;

		if (way)
			r = add_way(set, &supply, way);
	}
	watt_names_free(&names);
	return r;
}

static const char *const watched[] = { CLASS, NULL };

static int power_supply_rescan(const struct watt_env *env, const struct watt_known *known,
			       struct watt_power **ret)
{
	return watt_sensor_source_rescan(env, &watt_power_power_supply, load, known, ret);
}

static int power_supply_open(const struct watt_env *env, struct watt_power **ret)
{
	return watt_sensor_source_open(env, &watt_power_power_supply, load, ret);
}

static int power_supply_probe(const struct watt_env *env, struct watt_diag *diag)
{
	return watt_sensor_source_probe(env, &watt_power_power_supply, load, CLASS, "power supply",
					diag);
}

const struct watt_power_ops watt_power_power_supply = {
	.name = "power_supply",
	.summary = "batteries and adapters",
	.flags = WATT_POWER_BLOCKING,
	.probe = power_supply_probe,
	.open = power_supply_open,
	.rescan = power_supply_rescan,
	.watched = watched,
	.read = watt_sensor_set_read,
	.close = watt_sensor_set_close,
};
