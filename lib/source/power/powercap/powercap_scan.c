/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the zones of /sys/class/powercap and what each is, by its name and not by its number.
 * Must not read values.
 */
#include "source/power/powercap/powercap_scan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/util.h"
#include "source/power/cpu_vendor.h"
#include "source/host/status.h"

#define CONTROL_RAPL "intel-rapl"

static bool is_index(const char *text, size_t len)
{
	return len > 0 && len <= 6 && strspn(text, "0123456789abcdef") >= len;
}

/* Length of the name up to the colon after `from`, or of all of it. */
static size_t prefix_len(const char *id, const char *from)
{
	const char *colon = strchr(from, ':');

	return colon ? (size_t)(colon - id) : strlen(id);
}

int watt_powercap_id_parse(const char *id, struct watt_powercap_id *ret)
{
	struct watt_powercap_id parsed = { 0 };
	const char *colon = strchr(id, ':');

	if (!colon)
		return -ENOENT;
	if (colon == id || (size_t)(colon - id) >= sizeof(parsed.control) || strlen(id) >= 64)
		return -EBADMSG;
	memcpy(parsed.control, id, (size_t)(colon - id));
	for (; *colon; colon = id + prefix_len(id, colon + 1)) {
		if (!is_index(colon + 1, prefix_len(id, colon + 1) - (size_t)(colon + 1 - id)))
			return -EBADMSG;
		parsed.depth++;
	}
	*ret = parsed;
	return 0;
}

/* What a zone calls itself, usable as one component of a path. */
static int read_name(const struct watt_env *env, const char *id, size_t len, char *buf, size_t size)
{
	char label[128];
	int r;

	r = watt_root_readf(&env->sysfs, label, sizeof(label), WATT_POWERCAP_CLASS "/%.*s/name",
			    (int)len, id);
	if (r < 0)
		return r;
	return watt_clean_name(label, buf, size) ? 0 : -EBADMSG;
}

/* Puts the names from the top-level zone down into zone->name; ret_parent: the last but one. */
static int read_names(const struct watt_env *env, struct watt_powercap_zone *zone, char *ret_parent,
		      char *ret_name, size_t size)
{
	const char *colon = strchr(zone->id, ':');
	size_t len = 0;
	int r, n;

	ret_name[0] = '\0';
	for (; *colon; colon = zone->id + prefix_len(zone->id, colon + 1)) {
		watt_strlcpy(ret_parent, ret_name, size);
		r = read_name(env, zone->id, prefix_len(zone->id, colon + 1), ret_name, size);
		if (r < 0)
			return r;
		n = snprintf(zone->name + len, sizeof(zone->name) - len, "%s%s", len ? "/" : "",
			     ret_name);
		if (n < 0 || (size_t)n >= sizeof(zone->name) - len)
			return -ENAMETOOLONG;
		len += (size_t)n;
	}
	return 0;
}

static bool has_file(const struct watt_env *env, const char *id, const char *file)
{
	char path[256];

	snprintf(path, sizeof(path), WATT_POWERCAP_CLASS "/%s/%s", id, file);
	return watt_root_exists(&env->sysfs, path);
}

/* Which of the two files there is to read; -ENODEV: none. */
static int find_quantity(const struct watt_env *env, struct watt_powercap_zone *zone)
{
	zone->is_energy = has_file(env, zone->id, "energy_uj");
	return zone->is_energy || has_file(env, zone->id, "power_uw") ? 0 : -ENODEV;
}

static int describe_zone(const struct watt_env *env, const char *id,
			 const struct watt_powercap_id *parsed, struct watt_powercap_zone *ret)
{
	struct watt_powercap_zone zone = { 0 };
	char parent[64] = "", name[64];
	int r;

	watt_strlcpy(zone.id, id, sizeof(zone.id));
	watt_strlcpy(zone.control, parsed->control, sizeof(zone.control));
	r = read_names(env, &zone, parent, name, sizeof(name));
	if (r < 0)
		return r;
	r = find_quantity(env, &zone);
	if (r < 0)
		return r;
	if (!strncmp(zone.control, CONTROL_RAPL, strlen(CONTROL_RAPL)) && parsed->depth <= 2)
		zone.is_rapl = watt_rapl_zone_parse(parsed->depth == 2 ? parent : NULL, name,
						    &zone.rapl) == 0;
	*ret = zone;
	return 0;
}

/* By the control type, then by the numbers, that are hexadecimal: "intel-rapl:a" follows ":9". */
static int compare_ids(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	size_t x_len = prefix_len(x, x), y_len = prefix_len(y, y);
	int r = strncmp(x, y, WATT_MIN(x_len, y_len));

	if (r || x_len != y_len)
		return r ? r : x_len < y_len ? -1 : 1;
	for (x += x_len, y += y_len; *x && *y; x += x_len, y += y_len) {
		x_len = prefix_len(x, x + 1);
		y_len = prefix_len(y, y + 1);
		r = x_len != y_len ? (x_len < y_len ? -1 : 1) : strncmp(x, y, x_len);
		if (r)
			return r;
	}
	return !!*x - !!*y;
}

/* What could be a package is not forgotten: without it, a total is not complete. */
static int describe_nameless(const struct watt_env *env, const char *id,
			     const struct watt_powercap_id *parsed, struct watt_powercap_zone *ret)
{
	struct watt_powercap_zone zone = { .is_nameless = true };

	if (parsed->depth != 1 || strcmp(parsed->control, CONTROL_RAPL))
		return -ENOENT;
	watt_strlcpy(zone.id, id, sizeof(zone.id));
	watt_strlcpy(zone.control, parsed->control, sizeof(zone.control));
	watt_strlcpy(zone.name, id, sizeof(zone.name));
	if (find_quantity(env, &zone) < 0)
		return -ENOENT;
	*ret = zone;
	return 0;
}

static const struct watt_powercap_zone *find_same_name(const struct watt_powercap_zones *zones,
						       const struct watt_powercap_zone *zone)
{
	size_t i;

	for (i = 0; i < zones->n; i++)
		if (!strcmp(zones->zone[i].control, zone->control) &&
		    !strcmp(zones->zone[i].name, zone->name))
			return &zones->zone[i];
	return NULL;
}

static bool is_measured_already(const struct watt_powercap_zones *zones,
				const struct watt_powercap_zone *zone)
{
	size_t i;

	for (i = 0; zone->is_rapl && i < zones->n; i++)
		if (zones->zone[i].is_rapl &&
		    !strcmp(zones->zone[i].rapl.domain, zone->rapl.domain))
			return true;
	return false;
}

/* Adds a zone, unless it is one that must not be used. */
static int add_zone(const struct watt_env *env, struct watt_powercap_zones *zones,
		    struct watt_powercap_zone *zone, bool is_amd)
{
	const struct watt_powercap_zone *same = find_same_name(zones, zone);
	int r;

	if (same) {
		watt_log(&env->log, WATT_LOG_WARNING,
			 "powercap: %s and %s are both \"%s\": only the first is used", same->id,
			 zone->id, zone->name);
		return 0;
	}
	if (is_amd && zone->is_rapl && zone->rapl.kind == WATT_DOMAIN_CORES) {
		watt_log(&env->log, WATT_LOG_DEBUG,
			 "powercap: %s (%s) left out: on AMD it counts one core only", zone->id,
			 zone->name);
		return 0;
	}
	zone->is_duplicate = is_measured_already(zones, zone);
	r = watt_grow((void **)&zones->zone, &zones->cap, zones->n, sizeof(*zones->zone));
	if (r < 0)
		return r;
	zones->zone[zones->n++] = *zone;
	return 0;
}

/* One name of the class directory; is_first: the pass for the zones of intel-rapl proper. */
static int scan_name(const struct watt_env *env, const char *id, bool is_first, bool is_amd,
		     struct watt_powercap_zones *zones)
{
	struct watt_powercap_id parsed;
	struct watt_powercap_zone zone;
	int r;

	r = watt_powercap_id_parse(id, &parsed);
	if (r == 0 && is_first != !strcmp(parsed.control, CONTROL_RAPL))
		return 0;
	if (r == -EBADMSG && is_first)
		watt_log(&env->log, WATT_LOG_WARNING, "powercap: %s: not the name of a zone", id);
	if (r < 0)
		return 0;
	r = describe_zone(env, id, &parsed, &zone);
	if (r == -ENOENT && !has_file(env, id, "")) {
		zones->n_hidden++;
		return 0;
	}
	if (r == -ENODEV)
		return 0;
	if (r < 0) {
		watt_log(&env->log, WATT_LOG_WARNING, "powercap: %s left out: name: %s", id,
			 watt_error_text(r));
		if (describe_nameless(env, id, &parsed, &zone) < 0)
			return 0;
	}
	return add_zone(env, zones, &zone, is_amd);
}

int watt_powercap_scan(const struct watt_env *env, struct watt_powercap_zones *ret)
{
	struct watt_powercap_zones zones = WATT_POWERCAP_ZONES_INIT;
	struct watt_names names = WATT_NAMES_INIT;
	bool is_amd = watt_cpu_is_amd(env);
	size_t i;
	int r;

	r = watt_root_list(&env->sysfs, WATT_POWERCAP_CLASS, "", &names);
	if (r < 0)
		return r;
	if (names.n)
		qsort(names.name, names.n, sizeof(*names.name), compare_ids);
	for (i = 0; r == 0 && i < names.n; i++)
		r = scan_name(env, names.name[i], true, is_amd, &zones);
	for (i = 0; r == 0 && i < names.n; i++)
		r = scan_name(env, names.name[i], false, is_amd, &zones);
	watt_names_free(&names);
	if (r < 0)
		watt_powercap_zones_done(&zones);
	else
		*ret = zones;
	return r;
}

void watt_powercap_zones_done(struct watt_powercap_zones *zones)
{
	free(zones->zone);
	*zones = (struct watt_powercap_zones)WATT_POWERCAP_ZONES_INIT;
}
