// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "unit.h"

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "compat.h"

#define NONE (-1)

/* A set of CPUs, or a place for one that has never been online. */
struct unit {
	char name[WATT_UNIT_NAME_MAX];
	int package_id; /* NONE: a place */
	int die_id;
};

static struct unit *units;
static unsigned int n_units; /* places among them */
static unsigned int n_dies;  /* of a package */
static u16 *unit_of;         /* per CPU */
static bool is_one;          /* for all CPUs */
static bool is_by_die;
static int hotplug_state = -1;

static bool is_in_unit(unsigned int cpu, const struct unit *unit)
{
	return unit->package_id == topology_physical_package_id(cpu) &&
	       (!is_by_die || unit->die_id == topology_die_id(cpu));
}

static unsigned int count_dies(int package_id)
{
	unsigned int unit, n = 0;

	for (unit = 0; unit < n_units; unit++)
		n += units[unit].package_id == package_id;
	return n;
}

static void name_unit(struct unit *unit)
{
	if (n_dies > 1 || count_dies(unit->package_id) > 1)
		snprintf(unit->name, sizeof(unit->name), "%d-die-%d", unit->package_id,
			 unit->die_id);
	else
		snprintf(unit->name, sizeof(unit->name), "%d", unit->package_id);
}

/* The unit of a CPU; the first one there takes a place. NULL: none is left. */
static struct unit *take_unit_of(unsigned int cpu)
{
	struct unit *unit;

	for (unit = units; unit < units + n_units && unit->package_id != NONE; unit++)
		if (is_in_unit(cpu, unit))
			return unit;
	if (unit == units + n_units)
		return NULL;
	unit->package_id = topology_physical_package_id(cpu);
	unit->die_id = topology_die_id(cpu);
	return unit;
}

/* Before anybody runs there. */
static int on_online(unsigned int cpu)
{
	struct unit *unit;

	if (is_one)
		return 0;
	unit = take_unit_of(cpu);
	if (unit && !unit->name[0])
		name_unit(unit);
	if (!unit)
		pr_warn_once("no place for the package of CPU %u: it counts for package-%s\n", cpu,
			     units->name);
	WRITE_ONCE(unit_of[cpu], unit ? unit - units : 0);
	return 0;
}

/* Those that were online once too: there may be tasks that slept there ever since. */
static void find_units(void)
{
	unsigned int cpu, i;

	n_dies = 1;
	for (i = 0; i < n_units; i++)
		units[i].package_id = NONE;
	cpus_read_lock();
	for_each_possible_cpu(cpu)
		if (watt_cpu_has_place(cpu))
			unit_of[cpu] = take_unit_of(cpu) - units;
	cpus_read_unlock();
	for (i = 0; i < n_units && units[i].package_id != NONE; i++)
		n_dies = max(n_dies, count_dies(units[i].package_id));
	for (i = 0; i < n_units && units[i].package_id != NONE; i++)
		name_unit(&units[i]);
	/* packages that come have as many dies as those that are known */
	n_units = clamp(watt_max_packages() * n_dies, i, n_units);
}

int watt_units_init(bool is_split, bool is_per_die)
{
	int r;

	is_one = !is_split;
	is_by_die = is_per_die;
	n_units = is_split ? num_possible_cpus() : 1;
	units = kcalloc(n_units, sizeof(*units), GFP_KERNEL);
	unit_of = kcalloc(nr_cpu_ids, sizeof(*unit_of), GFP_KERNEL);
	if (!units || !unit_of) {
		watt_units_done();
		return -ENOMEM;
	}
	if (is_split)
		find_units();
	r = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "wattribute:online", on_online, NULL);
	if (r < 0) {
		watt_units_done();
		return r;
	}
	hotplug_state = r;
	return 0;
}

void watt_units_done(void)
{
	if (hotplug_state >= 0)
		cpuhp_remove_state(hotplug_state);
	hotplug_state = -1;
	kfree(unit_of);
	kfree(units);
	unit_of = NULL;
	units = NULL;
}

unsigned int watt_units_count(void)
{
	return n_units;
}

const char *watt_unit_name(unsigned int unit)
{
	return units[unit].name;
}

unsigned int watt_unit_of_cpu(unsigned int cpu)
{
	return READ_ONCE(unit_of[cpu]);
}

unsigned int watt_unit_online_cpu(unsigned int unit)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		if (watt_unit_of_cpu(cpu) == unit)
			return cpu;
	return nr_cpu_ids;
}

unsigned int watt_unit_n_online(unsigned int unit)
{
	unsigned int cpu, n = 0;

	for_each_online_cpu(cpu)
		n += watt_unit_of_cpu(cpu) == unit;
	return n;
}
