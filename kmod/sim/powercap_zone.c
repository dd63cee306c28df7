// SPDX-License-Identifier: GPL-2.0-only
/*
 * The zones and what they count. What the powercap core sees of them is their views'.
 */
#include "powercap_zone.h"

#include <linux/slab.h>
#include <linux/string.h>

#include "powercap_control.h"
#include "powercap_view.h"

#define ZONES_MAX 128

static LIST_HEAD(zones);
static unsigned int n_zones;

/* ---- names ---- */

static struct sim_zone *find_zone(const char *id)
{
	struct sim_zone *zone;

	list_for_each_entry(zone, &zones, node)
		if (!strcmp(zone->id, id))
			return zone;
	return NULL;
}

int sim_zone_get(const char *id, struct sim_zone **ret)
{
	*ret = find_zone(id);
	return *ret ? 0 : sim_fail(-ENOENT, "there is no zone '%s'", id);
}

struct sim_zone *sim_zone_next(const struct sim_zone *zone)
{
	const struct list_head *next = zone ? zone->node.next : zones.next;

	return next == &zones ? NULL : list_entry(next, struct sim_zone, node);
}

const char *sim_zone_name(const struct sim_zone *zone)
{
	const char *name = strrchr(zone->id, '/') ?: strchr(zone->id, ':');

	return name ? name + 1 : zone->id;
}

/* ---- values ---- */

static u64 uj_from_raw(const struct sim_counter *counter, u64 raw)
{
	return div_u64(raw * counter->unit_num, 1000);
}

int sim_zone_energy_uj(struct sim_zone *zone, u64 *ret)
{
	u64 raw;
	int r = sim_counter_read(&zone->counter, &raw);

	if (!r)
		*ret = uj_from_raw(&zone->counter, raw);
	return r;
}

u64 sim_zone_max_uj(const struct sim_zone *zone)
{
	return uj_from_raw(&zone->counter, sim_counter_max(&zone->counter));
}

void sim_zone_set_uj(struct sim_zone *zone, u64 shown_uj)
{
	u64 unit_nj = zone->counter.unit_num;

	sim_counter_set(&zone->counter, div64_u64(shown_uj * 1000 + unit_nj - 1, unit_nj) &
						sim_counter_max(&zone->counter));
}

/* ---- added and removed ---- */

/* Finds the parent by the path, and the control type. */
static int place_zone(struct sim_zone *zone)
{
	char text[SIM_TEXT_MAX];
	char *slash, *colon;

	strscpy(text, zone->id, sizeof(text));
	slash = strrchr(text, '/');
	colon = strchr(text, ':');
	if (!*sim_zone_name(zone) || colon == text || slash == text || (slash && colon > slash))
		return sim_fail(-EINVAL, "'%s' is not of the form [CONTROL:]NAME[/NAME]...",
				zone->id);
	if (slash) {
		*slash = '\0';
		zone->parent = find_zone(text);
		if (!zone->parent)
			return sim_fail(-ENOENT, "there is no zone '%s' to be in", text);
		zone->control = zone->parent->control;
		zone->control->users++;
		return 0;
	}
	if (colon)
		*colon = '\0';
	return sim_control_get(colon ? text : "", &zone->control);
}

static int init_zone(struct sim_zone *zone, const char *id, const struct sim_zone_spec *spec)
{
	struct sim_meter *meter;
	int r;

	strscpy(zone->id, id, sizeof(zone->id));
	r = sim_meter_get(spec->meter, &meter);
	if (r)
		return r;
	sim_counter_init(&zone->counter, meter, spec->unit_nj, 1, spec->bits, spec->update_ns);
	sim_zone_set_uj(zone, spec->shown_uj);
	zone->limit_uw = spec->limit_uw;
	r = place_zone(zone);
	if (r)
		sim_counter_done(&zone->counter);
	return r;
}

/* Nothing is in it. */
static void free_zone(struct sim_zone *zone)
{
	sim_view_hide(zone);
	list_del(&zone->node);
	n_zones--;
	sim_control_put(zone->control);
	sim_counter_done(&zone->counter);
	kfree(zone);
}

int sim_zone_add(const char *id, const struct sim_zone_spec *spec)
{
	struct sim_zone *zone;
	int r;

	if (find_zone(id))
		return sim_fail(-EEXIST, "there is a zone '%s' already", id);
	if (n_zones == ZONES_MAX)
		return sim_fail(-ENOSPC, "there are %d zones already", ZONES_MAX);
	zone = kzalloc(sizeof(*zone), GFP_KERNEL);
	if (!zone)
		return sim_fail(-ENOMEM, "out of memory");
	r = init_zone(zone, id, spec);
	if (r) {
		kfree(zone);
		return r;
	}
	list_add_tail(&zone->node, &zones);
	n_zones++;
	r = sim_view_show(zone);
	if (r)
		free_zone(zone);
	return r;
}

int sim_zone_remove(struct sim_zone *zone)
{
	struct sim_zone *inner;

	list_for_each_entry(inner, &zones, node)
		if (inner->parent == zone)
			return sim_fail(-EBUSY, "zone '%s' is in it: remove that first", inner->id);
	free_zone(zone);
	return 0;
}

void sim_zones_free(void)
{
	struct sim_zone *zone, *next;

	list_for_each_entry_safe_reverse(zone, next, &zones, node)
		free_zone(zone);
}
