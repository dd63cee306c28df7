// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the powercap core asks about a zone, which it answers by the zone's counter.
 */
#include "powercap_view.h"

#include <linux/err.h>
#include <linux/powercap.h>
#include <linux/slab.h>

#include "powercap_control.h"

/* What is registered: lives until the last user of the device has gone. */
struct sim_view {
	struct powercap_zone powercap;
	struct sim_zone *zone;
	bool is_enabled;
	u64 limit_uw;
	u64 window_us;
};

static struct sim_view *to_view(struct powercap_zone *powercap)
{
	return container_of(powercap, struct sim_view, powercap);
}

static int zone_energy_uj(struct powercap_zone *powercap, u64 *ret)
{
	return sim_zone_energy_uj(to_view(powercap)->zone, ret);
}

static int zone_max_energy_range_uj(struct powercap_zone *powercap, u64 *ret)
{
	*ret = sim_zone_max_uj(to_view(powercap)->zone);
	return 0;
}

static int zone_set_enable(struct powercap_zone *powercap, bool is_enabled)
{
	to_view(powercap)->is_enabled = is_enabled;
	return 0;
}

static int zone_get_enable(struct powercap_zone *powercap, bool *ret)
{
	*ret = to_view(powercap)->is_enabled;
	return 0;
}

/* Which one is just being registered, until it is released; under the simulator's mutex. */
static struct sim_view *fresh;

static int zone_release(struct powercap_zone *powercap)
{
	if (READ_ONCE(fresh) == to_view(powercap))
		WRITE_ONCE(fresh, NULL);
	kfree(to_view(powercap));
	return 0;
}

static const struct powercap_zone_ops zone_ops = {
	.get_energy_uj = zone_energy_uj,
	.get_max_energy_range_uj = zone_max_energy_range_uj,
	.set_enable = zone_set_enable,
	.get_enable = zone_get_enable,
	.release = zone_release,
};

static int set_limit_uw(struct powercap_zone *powercap, int id, u64 limit_uw)
{
	to_view(powercap)->limit_uw = limit_uw;
	return 0;
}

static int get_limit_uw(struct powercap_zone *powercap, int id, u64 *ret)
{
	*ret = to_view(powercap)->limit_uw;
	return 0;
}

static int set_window_us(struct powercap_zone *powercap, int id, u64 window_us)
{
	to_view(powercap)->window_us = window_us;
	return 0;
}

static int get_window_us(struct powercap_zone *powercap, int id, u64 *ret)
{
	*ret = to_view(powercap)->window_us;
	return 0;
}

static int get_max_power_uw(struct powercap_zone *powercap, int id, u64 *ret)
{
	*ret = to_view(powercap)->zone->limit_uw;
	return 0;
}

static const char *get_constraint_name(struct powercap_zone *powercap, int id)
{
	return "long_term";
}

static const struct powercap_zone_constraint_ops constraint_ops = {
	.set_power_limit_uw = set_limit_uw,
	.get_power_limit_uw = get_limit_uw,
	.set_time_window_us = set_window_us,
	.get_time_window_us = get_window_us,
	.get_max_power_uw = get_max_power_uw,
	.get_name = get_constraint_name,
};

int sim_view_show(struct sim_zone *zone)
{
	struct powercap_zone *added;
	struct sim_view *view;

	if (zone->view)
		return sim_fail(-EALREADY, "zone '%s' is shown already", zone->id);
	if (zone->parent && !zone->parent->view)
		return sim_fail(-ENODEV, "zone '%s' is hidden: show it first", zone->parent->id);
	view = kzalloc(sizeof(*view), GFP_KERNEL);
	if (!view)
		return sim_fail(-ENOMEM, "out of memory");
	view->zone = zone;
	view->is_enabled = true;
	view->limit_uw = zone->limit_uw;
	view->window_us = 1000000;
	WRITE_ONCE(fresh, view);
	added = powercap_register_zone(&view->powercap, zone->control->type, sim_zone_name(zone),
				       zone->parent ? &zone->parent->view->powercap : NULL,
				       &zone_ops, zone->limit_uw ? 1 : 0, &constraint_ops);
	/* on failure the core has released the view, or it never became a device of its */
	if (IS_ERR(added) && READ_ONCE(fresh) && !view->powercap.dev.kobj.state_initialized)
		kfree(view);
	WRITE_ONCE(fresh, NULL);
	if (IS_ERR(added))
		return sim_fail(PTR_ERR(added), "zone '%s': the powercap core refuses it",
				zone->id);
	zone->view = view;
	return 0;
}

void sim_view_hide(struct sim_zone *zone)
{
	struct sim_zone *inner;

	if (!zone->view)
		return;
	for (inner = sim_zone_next(zone); inner; inner = sim_zone_next(inner))
		if (inner->parent == zone)
			sim_view_hide(inner);
	powercap_unregister_zone(zone->control->type, &zone->view->powercap);
	zone->view = NULL;
}

const char *sim_view_name(const struct sim_view *view)
{
	return dev_name(&view->powercap.dev);
}
