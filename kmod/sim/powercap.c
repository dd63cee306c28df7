// SPDX-License-Identifier: GPL-2.0-only
/*
 * What scripts can say of zones of powercap, which are as the driver of RAPL makes them, through
 * the kernel's own powercap core.
 */
#include <linux/module.h>

#include "powercap_view.h"
#include "powercap_zone.h"

#define UNIT_NJ 61035 /* 2^-14 J, in whole nanojoules as the driver of RAPL has it */
#define UPDATE_US 1000
#define BITS 32
#define SHOWN_MAX_UJ 1000000000000000ull /* in nJ it fits in 64 bits */

enum add_key {
	ADD_METER,
	ADD_UNIT,
	ADD_BITS,
	ADD_UPDATE,
	ADD_SHOWN,
	ADD_LIMIT
};

static int run_add(const char *target, const struct sim_value *values)
{
	struct sim_zone_spec spec = {
		.meter = values[ADD_METER].text,
		.unit_nj = sim_number_or(&values[ADD_UNIT], UNIT_NJ),
		.bits = (unsigned int)sim_number_or(&values[ADD_BITS], BITS),
		.update_ns = sim_number_or(&values[ADD_UPDATE], UPDATE_US) * NSEC_PER_USEC,
		.shown_uj = values[ADD_SHOWN].number,
		.limit_uw = values[ADD_LIMIT].number,
	};

	return sim_zone_add(target, &spec);
}

static int run_remove(const char *target, const struct sim_value *values)
{
	struct sim_zone *zone;
	int r = sim_zone_get(target, &zone);

	return r ?: sim_zone_remove(zone);
}

static int run_show(const char *target, const struct sim_value *values)
{
	struct sim_zone *zone;
	int r = sim_zone_get(target, &zone);

	return r ?: sim_view_show(zone);
}

static int run_hide(const char *target, const struct sim_value *values)
{
	struct sim_zone *zone;
	int r = sim_zone_get(target, &zone);

	if (r)
		return r;
	if (!zone->view)
		return sim_fail(-EALREADY, "zone '%s' is hidden already", target);
	sim_view_hide(zone);
	return 0;
}

static int run_reset(const char *target, const struct sim_value *values)
{
	struct sim_zone *zone;
	int r = sim_zone_get(target, &zone);

	if (!r)
		sim_zone_set_uj(zone, 0);
	return r;
}

static int run_set(const char *target, const struct sim_value *values)
{
	struct sim_zone *zone;
	int r = sim_zone_get(target, &zone);

	if (!r)
		sim_zone_set_uj(zone, values[0].number);
	return r;
}

static int run_fail(const char *target, const struct sim_value *values)
{
	struct sim_zone *zone;
	int r = sim_zone_get(target, &zone);

	if (!r)
		sim_counter_fail(&zone->counter, -(int)values[0].number);
	return r;
}

static void show_zones(struct seq_file *file)
{
	struct sim_zone *zone;

	for (zone = sim_zone_next(NULL); zone; zone = sim_zone_next(zone)) {
		struct sim_energy origin;
		u64 energy_uj = 0;
		int r = sim_zone_energy_uj(zone, &energy_uj);

		seq_printf(file, "zone %s %s%s%s meter=%s", zone->id,
			   zone->view ? "shown as " : "hidden",
			   zone->view ? sim_view_name(zone->view) : "",
			   zone->limit_uw ? " limited" : "", sim_meter_name(zone->counter.meter));
		sim_counter_origin(&zone->counter, &origin);
		seq_printf(file, " origin_nj=%llu.%06u", origin.nj, origin.fj);
		if (r)
			seq_printf(file, " errno=%d\n", -r);
		else
			seq_printf(file, " energy_uj=%llu\n", energy_uj);
	}
}

#define ADD_KEYS \
	{ \
		[ADD_UNIT] = { "unit_nj", SIM_NUMBER, false, 1, 65535 }, \
		[ADD_BITS] = { "bits", SIM_NUMBER, false, 8, 48 }, \
		[ADD_UPDATE] = { "update_us", SIM_NUMBER, false, 0, 1000000 }, \
		[ADD_SHOWN] = { "shown_uj", SIM_NUMBER, false, 0, SHOWN_MAX_UJ }, \
		[ADD_LIMIT] = { "limit_uw", SIM_NUMBER, false, 1, SIM_POWER_MAX_UW }, \
		[ADD_METER] = SIM_KEY_METER, \
	}
#define SET_KEYS \
	{ \
		{ \
			"shown_uj", SIM_NUMBER, true, 0, SHOWN_MAX_UJ \
		} \
	}
#define FAIL_KEYS \
	{ \
		SIM_KEY_ERRNO \
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
	sim_noun_unregister(&zone_noun);
	sim_lock();
	sim_zones_free();
	sim_unlock();
}

module_init(zones_init);
module_exit(zones_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Wattribute's simulator: powercap zones, for tests only");
