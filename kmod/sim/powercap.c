// SPDX-License-Identifier: GPL-2.0-only
/*
 * Powercap zones as the driver of RAPL makes them, through the kernel's own powercap core.
 *
 * A zone is named by the path of names from the top, "package-0/core", after the control type if
 * that is not the usual one, "intel-rapl-mmio:package-0". It is in the class as long as it is
 * shown; its counter goes on while it is hidden.
 */
#include <linux/device.h>
#include <linux/device/class.h>
#include <linux/module.h>
#include <linux/powercap.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "counter.h"
#include "sim.h"

#define ZONES_MAX 128
#define UNIT_NJ 61035 /* 2^-14 J, in whole nanojoules as the driver of RAPL has it */
#define UPDATE_US 1000
#define BITS 32
#define SHOWN_MAX_UJ 1000000000000000ull /* in nJ it fits in 64 bits */

/* A control type that has zones. */
struct sim_control {
	struct list_head node;
	char name[SIM_TEXT_MAX];
	struct powercap_control_type *type;
	unsigned int users;
};

struct sim_zone {
	struct list_head node; /* parents before their children */
	char id[SIM_TEXT_MAX]; /* as the script has it */
	struct sim_zone *parent;
	struct sim_control *control;
	struct sim_counter counter;
	u64 limit_uw;          /* 0: without a constraint */
	struct sim_view *view; /* NULL: hidden */
};

/* What is registered: lives until the last user of the device has gone. */
struct sim_view {
	struct powercap_zone powercap;
	struct sim_zone *zone;
	bool is_enabled;
	u64 limit_uw;
	u64 window_us;
};

static char *control = "";
module_param(control, charp, 0444);
MODULE_PARM_DESC(control, "usual control type; default: intel-rapl, or if taken intel-rapl-sim");

static LIST_HEAD(controls);
static LIST_HEAD(zones);
static unsigned int n_zones;

static struct sim_view *to_view(struct powercap_zone *powercap)
{
	return container_of(powercap, struct sim_view, powercap);
}

static u64 uj_from_raw(const struct sim_counter *counter, u64 raw)
{
	return div_u64(raw * counter->unit_num, 1000);
}

/* ---- what the powercap core asks ---- */

static int zone_energy_uj(struct powercap_zone *powercap, u64 *ret)
{
	struct sim_counter *counter = &to_view(powercap)->zone->counter;
	u64 raw;
	int r = sim_counter_read(counter, &raw);

	if (!r)
		*ret = uj_from_raw(counter, raw);
	return r;
}

static int zone_max_energy_range_uj(struct powercap_zone *powercap, u64 *ret)
{
	struct sim_counter *counter = &to_view(powercap)->zone->counter;

	*ret = uj_from_raw(counter, sim_counter_max(counter));
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

static int zone_release(struct powercap_zone *powercap)
{
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

/* ---- control types ---- */

static int add_control(const char *name, struct sim_control **ret)
{
	struct sim_control *added = kzalloc(sizeof(*added), GFP_KERNEL);

	if (!added)
		return sim_fail(-ENOMEM, "out of memory");
	strscpy(added->name, name, sizeof(added->name));
	added->type = powercap_register_control_type(NULL, name, NULL);
	if (IS_ERR(added->type)) {
		int r = PTR_ERR(added->type);

		kfree(added);
		return sim_fail(r, "control type '%s' can't be made", name);
	}
	list_add_tail(&added->node, &controls);
	*ret = added;
	return 0;
}

static void put_control(struct sim_control *used)
{
	if (--used->users)
		return;
	list_del(&used->node);
	powercap_unregister_control_type(used->type);
	kfree(used);
}

/* Does a device of this name exist in the class? Any control type of ours knows the class. */
static bool is_taken(const struct sim_control *any, const char *name)
{
	struct device *device = class_find_device_by_name(any->type->dev.class, name);

	if (device)
		put_device(device);
	return device;
}

static struct sim_control *find_control(const char *name)
{
	struct sim_control *found;

	list_for_each_entry(found, &controls, node)
		if (!strcmp(found->name, name))
			return found;
	return NULL;
}

/* A name that is taken must not be tried: the driver core would complain aloud. */
static int get_named_control(const char *name, struct sim_control **ret)
{
	struct sim_control *probe, *found = find_control(name);
	bool is_free;
	int r = 0;

	if (!found) {
		r = add_control("wattsim-probe", &probe);
		if (r)
			return r;
		probe->users++;
		is_free = !is_taken(probe, name);
		put_control(probe);
		r = is_free ? add_control(name, &found) : -EEXIST;
	}
	if (r)
		return r;
	found->users++;
	*ret = found;
	return 0;
}

/* name: "" for the usual one */
static int get_control(const char *name, struct sim_control **ret)
{
	const char *wanted = *name ? name : control;
	int r;

	r = get_named_control(*wanted ? wanted : "intel-rapl", ret);
	if (r == -EEXIST && !*wanted)
		r = get_named_control("intel-rapl-sim", ret);
	return r == -EEXIST ? sim_fail(r, "control type '%s' belongs to a driver",
				       *wanted ? wanted : "intel-rapl-sim") :
			      r;
}

/* ---- zones ---- */

static struct sim_zone *find_zone(const char *id)
{
	struct sim_zone *zone;

	list_for_each_entry(zone, &zones, node)
		if (!strcmp(zone->id, id))
			return zone;
	return NULL;
}

static int get_zone(const char *id, struct sim_zone **ret)
{
	*ret = find_zone(id);
	return *ret ? 0 : sim_fail(-ENOENT, "there is no zone '%s'", id);
}

static const char *zone_name(const struct sim_zone *zone)
{
	const char *name = strrchr(zone->id, '/') ?: strchr(zone->id, ':');

	return name ? name + 1 : zone->id;
}

static int show_zone(struct sim_zone *zone)
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
	added = powercap_register_zone(&view->powercap, zone->control->type, zone_name(zone),
				       zone->parent ? &zone->parent->view->powercap : NULL,
				       &zone_ops, zone->limit_uw ? 1 : 0, &constraint_ops);
	/* on failure the core has released the view, or never had it: it can't be told apart */
	if (IS_ERR(added))
		return sim_fail(PTR_ERR(added), "zone '%s': the powercap core refuses it",
				zone->id);
	zone->view = view;
	return 0;
}

/* With all that is in it. When this returns nobody reads its counter any more. */
static void hide_zone(struct sim_zone *zone)
{
	struct sim_zone *inner;

	if (!zone->view)
		return;
	list_for_each_entry(inner, &zones, node)
		if (inner->parent == zone)
			hide_zone(inner);
	powercap_unregister_zone(zone->control->type, &zone->view->powercap);
	zone->view = NULL;
}

static void free_zone(struct sim_zone *zone)
{
	hide_zone(zone);
	list_del(&zone->node);
	n_zones--;
	put_control(zone->control);
	sim_counter_done(&zone->counter);
	kfree(zone);
}

/* Finds the parent by the path, and the control type. */
static int place_zone(struct sim_zone *zone)
{
	char text[SIM_TEXT_MAX];
	char *slash, *colon;

	strscpy(text, zone->id, sizeof(text));
	slash = strrchr(text, '/');
	colon = strchr(text, ':');
	if (!*zone_name(zone) || colon == text || slash == text || (slash && colon > slash))
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
	return get_control(colon ? text : "", &zone->control);
}

/* ---- the noun ---- */

enum add_key {
	ADD_METER,
	ADD_UNIT,
	ADD_BITS,
	ADD_UPDATE,
	ADD_SHOWN,
	ADD_LIMIT
};

static u64 number_or(const struct sim_value *value, u64 otherwise)
{
	return value->is_set ? value->number : otherwise;
}

static void set_shown_uj(struct sim_zone *zone, u64 shown_uj)
{
	sim_counter_set(&zone->counter, div64_u64(shown_uj * 1000 + zone->counter.unit_num - 1,
						  zone->counter.unit_num) &
						sim_counter_max(&zone->counter));
}

static int init_zone(struct sim_zone *zone, const char *id, const struct sim_value *values)
{
	struct sim_meter *meter;
	int r;

	strscpy(zone->id, id, sizeof(zone->id));
	r = sim_meter_get(values[ADD_METER].text, &meter);
	if (r)
		return r;
	sim_counter_init(&zone->counter, meter, number_or(&values[ADD_UNIT], UNIT_NJ), 1,
			 (unsigned int)number_or(&values[ADD_BITS], BITS),
			 number_or(&values[ADD_UPDATE], UPDATE_US) * NSEC_PER_USEC);
	set_shown_uj(zone, values[ADD_SHOWN].number);
	zone->limit_uw = values[ADD_LIMIT].number;
	r = place_zone(zone);
	if (r)
		sim_meter_put(meter);
	return r;
}

static int run_add(const char *target, const struct sim_value *values)
{
	struct sim_zone *zone;
	int r;

	if (find_zone(target))
		return sim_fail(-EEXIST, "there is a zone '%s' already", target);
	if (n_zones == ZONES_MAX)
		return sim_fail(-ENOSPC, "there are %d zones already", ZONES_MAX);
	zone = kzalloc(sizeof(*zone), GFP_KERNEL);
	if (!zone)
		return sim_fail(-ENOMEM, "out of memory");
	r = init_zone(zone, target, values);
	if (r) {
		kfree(zone);
		return r;
	}
	list_add_tail(&zone->node, &zones);
	n_zones++;
	r = show_zone(zone);
	if (r)
		free_zone(zone);
	return r;
}

static int run_remove(const char *target, const struct sim_value *values)
{
	struct sim_zone *zone, *inner;
	int r = get_zone(target, &zone);

	if (r)
		return r;
	list_for_each_entry(inner, &zones, node)
		if (inner->parent == zone)
			return sim_fail(-EBUSY, "zone '%s' is in it: remove that first", inner->id);
	free_zone(zone);
	return 0;
}

static int run_show(const char *target, const struct sim_value *values)
{
	struct sim_zone *zone;
	int r = get_zone(target, &zone);

	return r ?: show_zone(zone);
}

static int run_hide(const char *target, const struct sim_value *values)
{
	struct sim_zone *zone;
	int r = get_zone(target, &zone);

	if (r)
		return r;
	if (!zone->view)
		return sim_fail(-EALREADY, "zone '%s' is hidden already", target);
	hide_zone(zone);
	return 0;
}

static int run_reset(const char *target, const struct sim_value *values)
{
	struct sim_zone *zone;
	int r = get_zone(target, &zone);

	if (!r)
		sim_counter_set(&zone->counter, 0);
	return r;
}

static int run_set(const char *target, const struct sim_value *values)
{
	struct sim_zone *zone;
	int r = get_zone(target, &zone);

	if (!r)
		set_shown_uj(zone, values[0].number);
	return r;
}

static int run_fail(const char *target, const struct sim_value *values)
{
	struct sim_zone *zone;
	int r = get_zone(target, &zone);

	if (!r)
		sim_counter_fail(&zone->counter, -(int)values[0].number);
	return r;
}

static void show_zones(struct seq_file *file)
{
	struct sim_zone *zone;
	u64 raw = 0;

	list_for_each_entry(zone, &zones, node) {
		int r = sim_counter_read(&zone->counter, &raw);

		seq_printf(file, "zone %s %s%s%s meter=%s", zone->id,
			   zone->view ? "shown as " : "hidden",
			   zone->view ? dev_name(&zone->view->powercap.dev) : "",
			   zone->limit_uw ? " limited" : "", sim_meter_name(zone->counter.meter));
		if (r)
			seq_printf(file, " errno=%d\n", -r);
		else
			seq_printf(file, " energy_uj=%llu\n", uj_from_raw(&zone->counter, raw));
	}
}

#define ADD_KEYS \
	{ \
		[ADD_METER] = { "meter", SIM_TEXT, true, 0, SIM_TEXT_MAX - 1 }, \
		[ADD_UNIT] = { "unit_nj", SIM_NUMBER, false, 1, 65535 }, \
		[ADD_BITS] = { "bits", SIM_NUMBER, false, 8, 48 }, \
		[ADD_UPDATE] = { "update_us", SIM_NUMBER, false, 0, 1000000 }, \
		[ADD_SHOWN] = { "shown_uj", SIM_NUMBER, false, 0, SHOWN_MAX_UJ }, \
		[ADD_LIMIT] = { "limit_uw", SIM_NUMBER, false, 1, SIM_POWER_MAX_UW }, \
	}
#define SET_KEYS \
	{ \
		{ \
			"shown_uj", SIM_NUMBER, true, 0, SHOWN_MAX_UJ \
		} \
	}
#define FAIL_KEYS \
	{ \
		{ \
			"errno", SIM_NUMBER, true, 0, 133 \
		} \
	}

static const struct sim_verb zone_verbs[] = {
	{ "add", true, ADD_KEYS, run_add }, { "set", true, SET_KEYS, run_set },
	{ "reset", true, {}, run_reset },   { "fail", true, FAIL_KEYS, run_fail },
	{ "hide", true, {}, run_hide },     { "show", true, {}, run_show },
	{ "remove", true, {}, run_remove },
};

static struct sim_noun zone_noun = {
	.name = "zone",
	.owner = THIS_MODULE,
	.verbs = zone_verbs,
	.n_verbs = ARRAY_SIZE(zone_verbs),
	.show = show_zones,
};

static int __init zones_init(void)
{
	sim_noun_register(&zone_noun);
	return 0;
}

static void __exit zones_exit(void)
{
	struct sim_zone *zone, *next;

	sim_noun_unregister(&zone_noun);
	sim_lock();
	list_for_each_entry_safe_reverse(zone, next, &zones, node)
		free_zone(zone);
	sim_unlock();
}

module_init(zones_init);
module_exit(zones_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Wattribute's simulator: powercap zones, for tests only");
