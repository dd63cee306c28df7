/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describes a powercap zone as a channel: its modulus from max_energy_range_uj, its bound from
 * the constraints. Must not read the value itself.
 */
#include "source/power/powercap/powercap_channel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/util.h"
#include "source/host/status.h"
#include "source/power/powercap/rapl_zone.h"

#define N_CONSTRAINTS 4 /* long term, short term, peak, and one to spare */

void watt_powercap_value_path(const struct watt_powercap_zone *zone, char *buf, size_t size)
{
	snprintf(buf, size, WATT_POWERCAP_CLASS "/%s/%s", zone->id,
		 zone->is_energy ? "energy_uj" : "power_uw");
}

static int read_attribute(const struct watt_env *env, const struct watt_powercap_zone *zone,
			  const char *file, uint64_t *ret)
{
	char path[256];

	snprintf(path, sizeof(path), WATT_POWERCAP_CLASS "/%s/%s", zone->id, file);
	return watt_root_read_u64(&env->sysfs, path, ret);
}

/* A power of a constraint, if it is there and plausible; else 0. */
static uint64_t read_constraint_uw(const struct watt_env *env,
				   const struct watt_powercap_zone *zone, int constraint,
				   const char *what, uint64_t bound_uw)
{
	uint64_t value_uw;
	char file[64];

	snprintf(file, sizeof(file), "constraint_%d_%s", constraint, what);
	if (read_attribute(env, zone, file, &value_uw) < 0 || value_uw > bound_uw)
		return 0;
	return value_uw;
}

/*
 * The largest power that the hardware states for a zone. power_limit_uw can be raised by an
 * administrator at any time: it counts only beside a fixed maximum, never alone.
 */
static uint64_t read_limit_uw(const struct watt_env *env, const struct watt_powercap_zone *zone)
{
	uint64_t bound_uw = watt_rapl_max_power_uw(zone->rapl.kind, 0) / 4;
	uint64_t fixed_uw = 0, limit_uw = 0, value_uw;
	int i;

	for (i = 0; i < N_CONSTRAINTS; i++) {
		value_uw = read_constraint_uw(env, zone, i, "max_power_uw", bound_uw);
		fixed_uw = WATT_MAX(fixed_uw, value_uw);
		value_uw = read_constraint_uw(env, zone, i, "power_limit_uw", bound_uw);
		limit_uw = WATT_MAX(limit_uw, value_uw);
	}
	return fixed_uw ? WATT_MAX(fixed_uw, limit_uw) : 0;
}

static uint64_t read_modulus_nj(const struct watt_env *env, const struct watt_powercap_zone *zone)
{
	uint64_t range_uj, modulus_nj = 0;
	int r;

	r = read_attribute(env, zone, "max_energy_range_uj", &range_uj);
	if (r == 0)
		r = watt_rapl_modulus_nj(range_uj, &modulus_nj);
	if (r < 0)
		watt_log(
			&env->log, WATT_LOG_WARNING,
			"powercap: %s (%s): max_energy_range_uj: %s: a wrap will look like a reset",
			zone->id, zone->name, watt_error_text(r));
	return modulus_nj;
}

static void describe_energy(const struct watt_env *env, const struct watt_powercap_zone *zone,
			    bool is_amd, struct watt_channel *channel)
{
	channel->quantity = WATT_QUANTITY_ENERGY;
	channel->semantics = WATT_SEMANTICS_COUNTER;
	channel->scale_num = 1000;
	channel->scale_den = 1;
	channel->wrap_nj = read_modulus_nj(env, zone);
	if (!zone->is_rapl)
		return;
	channel->max_power_uw = watt_rapl_max_power_uw(zone->rapl.kind, read_limit_uw(env, zone));
	channel->period_ns = WATT_NSEC_PER_MSEC;
	channel->uncertainty_ppm = watt_rapl_uncertainty_ppm(zone->rapl.kind, is_amd);
}

/* SCMI states the averaging interval of its power where powercap has the window of a limit. */
static void describe_power(const struct watt_env *env, const struct watt_powercap_zone *zone,
			   struct watt_channel *channel)
{
	uint64_t window_us = 0;

	channel->quantity = WATT_QUANTITY_POWER;
	channel->scale_num = 1;
	channel->scale_den = 1;
	read_attribute(env, zone, "constraint_0_time_window_us", &window_us);
	if (window_us > 0 && window_us <= 60 * 1000000ULL) {
		channel->semantics = WATT_SEMANTICS_AVERAGE;
		channel->window_ns = window_us * WATT_NSEC_PER_USEC;
	} else {
		channel->semantics = WATT_SEMANTICS_INSTANT;
	}
}

static void describe_place(const struct watt_powercap_zone *zone, struct watt_channel *channel)
{
	if (zone->is_rapl) {
		channel->domain = zone->rapl.domain;
		channel->kind = zone->rapl.kind;
		/* a second platform counter may be a part of the first, or the same again */
		if (zone->rapl.kind == WATT_DOMAIN_TOTAL && zone->rapl.package_id >= 0)
			channel->flags |= WATT_CHANNEL_OVERLAP_UNKNOWN;
		if (zone->rapl.kind != WATT_DOMAIN_TOTAL) {
			channel->package_id = zone->rapl.package_id;
			channel->die_id = zone->rapl.die_id;
		}
		return;
	}
	channel->kind = WATT_DOMAIN_RAIL;
	if (!zone->is_nameless)
		channel->flags |= WATT_CHANNEL_OVERLAP_UNKNOWN;
	/* the kernel computes dtpm's power from an energy model */
	if (!strcmp(zone->control, "dtpm"))
		channel->origin = WATT_ORIGIN_ESTIMATED;
}

void watt_powercap_channel_name(const struct watt_powercap_zone *zone, char *buf, size_t size)
{
	if (!strcmp(zone->control, "intel-rapl"))
		snprintf(buf, size, "powercap/%s", zone->name);
	else
		snprintf(buf, size, "powercap/%s/%s", zone->control, zone->name);
}

int watt_powercap_channel_add(const struct watt_env *env, const struct watt_powercap_zone *zone,
			      uint32_t group, bool is_amd, bool is_unread,
			      struct watt_channels *list)
{
	char name[256], path[512], file[256], domain[256];
	struct watt_channel channel = {
		.name = name,
		.source = "powercap",
		.domain = domain,
		.label = zone->name,
		.path = path,
		.origin = WATT_ORIGIN_MEASURED,
		.group = group,
		.package_id = -1,
		.die_id = -1,
		.core_id = -1,
	};

	snprintf(domain, sizeof(domain), "%s/%s", zone->control, zone->name);
	watt_powercap_channel_name(zone, name, sizeof(name));
	watt_powercap_value_path(zone, file, sizeof(file));
	snprintf(path, sizeof(path), "%s/%s", env->sysfs.path, file);
	describe_place(zone, &channel);
	if (is_unread)
		channel.flags |= WATT_CHANNEL_UNREAD;
	if (zone->is_energy)
		describe_energy(env, zone, is_amd, &channel);
	else
		describe_power(env, zone, &channel);
	return watt_channels_add(list, &channel);
}
