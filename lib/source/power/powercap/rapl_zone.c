/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of RAPL zones to places in the domain tree, what is plausible there, and the modulus at
 * which a counter really wraps. Works on names and numbers alone; must not touch a file.
 */
#include "source/power/powercap/rapl_zone.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "base/util.h"

#define WATT_IN_UW 1000000ULL
#define RAW_MAX 0xffffffffULL /* the hardware counter has 32 bits */

/* Reads prefix and a number; returns what is behind it, or NULL. */
static const char *scan_part(const char *text, const char *prefix, int32_t *ret)
{
	size_t len = strlen(prefix);
	uint64_t value;

	if (strncmp(text, prefix, len))
		return NULL;
	text += len;
	if (watt_scan_digits(&text, &value) < 0 || value > 65535)
		return NULL;
	*ret = (int32_t)value;
	return text;
}

/* "package-P" or "package-P-die-D". */
static bool parse_package(const char *name, int32_t *ret_package, int32_t *ret_die)
{
	const char *rest = scan_part(name, "package-", ret_package);

	*ret_die = -1;
	if (rest && *rest)
		rest = scan_part(rest, "-die-", ret_die);
	return rest && !*rest;
}

/* "psys"; the platform counters of further packages are "psys-P". */
static bool parse_psys(const char *name, int32_t *ret_package)
{
	const char *rest;

	*ret_package = -1;
	if (!strcmp(name, "psys"))
		return true;
	rest = scan_part(name, "psys-", ret_package);
	return rest && !*rest;
}

static int parse_part(const char *name, enum watt_domain_kind *ret)
{
	static const struct {
		const char *name;
		enum watt_domain_kind kind;
	} parts[] = {
		{ "core", WATT_DOMAIN_CORES },
		{ "uncore", WATT_DOMAIN_UNCORE },
		{ "dram", WATT_DOMAIN_DRAM },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(parts); i++) {
		if (!strcmp(name, parts[i].name)) {
			*ret = parts[i].kind;
			return 0;
		}
	}
	return -ENOENT;
}

int watt_rapl_zone_parse(const char *parent, const char *name, struct watt_rapl_zone *ret)
{
	struct watt_rapl_zone zone = { .package_id = -1, .die_id = -1, .core_id = -1 };
	int r = 0;

	if (parse_psys(name, &zone.package_id))
		zone.kind = WATT_DOMAIN_TOTAL;
	else if (!parent && parse_package(name, &zone.package_id, &zone.die_id))
		zone.kind = WATT_DOMAIN_PACKAGE;
	else if (parent && parse_package(parent, &zone.package_id, &zone.die_id))
		r = parse_part(name, &zone.kind);
	else
		r = -ENOENT;
	if (r < 0)
		return r;
	r = watt_rapl_zone_place(&zone);
	if (r < 0)
		return r;
	*ret = zone;
	return 0;
}

int watt_rapl_zone_place(struct watt_rapl_zone *zone)
{
	char place[32] = "";

	if (zone->die_id >= 0)
		snprintf(place, sizeof(place), "%d-die-%d", zone->package_id, zone->die_id);
	else if (zone->package_id >= 0)
		snprintf(place, sizeof(place), "%d", zone->package_id);
	if (!*place && zone->kind != WATT_DOMAIN_TOTAL)
		return -EINVAL;
	switch (zone->kind) {
	case WATT_DOMAIN_TOTAL:
		snprintf(zone->domain, sizeof(zone->domain), *place ? "psys-%s" : "psys%s", place);
		return 0;
	case WATT_DOMAIN_PACKAGE:
		snprintf(zone->domain, sizeof(zone->domain), "package-%s", place);
		return 0;
	case WATT_DOMAIN_CORES:
		snprintf(zone->domain, sizeof(zone->domain), "package-%s/core", place);
		return 0;
	case WATT_DOMAIN_UNCORE:
		snprintf(zone->domain, sizeof(zone->domain), "package-%s/uncore", place);
		return 0;
	case WATT_DOMAIN_DRAM:
		/* beside the package, not in it: its energy is not part of the package's */
		snprintf(zone->domain, sizeof(zone->domain), "dram-%s", place);
		return 0;
	case WATT_DOMAIN_CORE:
		if (zone->core_id < 0)
			return -EINVAL;
		snprintf(zone->domain, sizeof(zone->domain), "package-%s/core-%d", place,
			 zone->core_id);
		return 0;
	default:
		return -EINVAL;
	}
}

static uint64_t kind_bound_uw(enum watt_domain_kind kind)
{
	switch (kind) {
	case WATT_DOMAIN_TOTAL:
		return 40000 * WATT_IN_UW;
	case WATT_DOMAIN_UNCORE:
	case WATT_DOMAIN_DRAM:
		return 1000 * WATT_IN_UW;
	case WATT_DOMAIN_CORE:
		return 200 * WATT_IN_UW;
	default:
		return 4000 * WATT_IN_UW;
	}
}

uint64_t watt_rapl_max_power_uw(enum watt_domain_kind kind, uint64_t limit_uw)
{
	uint64_t bound_uw = kind_bound_uw(kind);

	/* firmware that means "no limit" writes 0 or all ones */
	if (limit_uw < 1 * WATT_IN_UW || limit_uw > bound_uw / 4)
		return bound_uw;
	return limit_uw * 4;
}

uint32_t watt_rapl_uncertainty_ppm(enum watt_domain_kind kind, bool is_amd)
{
	if (is_amd)
		return 100000;
	return kind == WATT_DOMAIN_PACKAGE ? 30000 : 50000;
}

/*
 * The kernel prints floor((2^32 - 1) * unit_nj / 1000) with its unit rounded down to whole nJ.
 * One unit more moves that by 4.3 J, so at most one unit explains a given range.
 */
static uint64_t find_unit_nj(uint64_t range_uj)
{
	watt_u128 range_nj = (watt_u128)range_uj * 1000;
	watt_u128 unit_nj = (range_nj + RAW_MAX - 1) / RAW_MAX;

	if (unit_nj > RAW_MAX || unit_nj * RAW_MAX / 1000 != range_uj)
		return 0;
	return (uint64_t)unit_nj;
}

int watt_rapl_modulus_nj(uint64_t range_uj, uint64_t *ret_nj)
{
	uint64_t unit_nj = find_unit_nj(range_uj);
	watt_u128 modulus_nj;

	if (range_uj == 0)
		return -ERANGE;
	if (unit_nj)
		modulus_nj = (watt_u128)unit_nj << 32;
	else
		modulus_nj = ((watt_u128)range_uj + 1) * 1000;
	if (modulus_nj > INT64_MAX)
		return -ERANGE;
	*ret_nj = (uint64_t)modulus_nj;
	return 0;
}
