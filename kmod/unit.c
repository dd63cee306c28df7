// SPDX-License-Identifier: GPL-2.0-only
#include "unit.h"

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/slab.h>
#include <linux/topology.h>

struct unit {
	char name[WATT_UNIT_NAME_MAX];
	int package_id, die_id;
};

static struct unit *units;
static unsigned int n_units;
static u16 *unit_of; /* per CPU */
static bool is_by_die;
static int hotplug_state = -1;

static bool is_in_unit(unsigned int cpu, const struct unit *unit)
{
	return unit->package_id < 0 || (unit->package_id == topology_physical_package_id(cpu) &&
					(!is_by_die || unit->die_id == topology_die_id(cpu)));
}

/* A CPU of a package that came after the module is counted with the first one. */
static int find_unit_of(unsigned int cpu)
{
	unsigned int unit;

	for (unit = 0; unit < n_units; unit++) {
		if (is_in_unit(cpu, &units[unit])) {
			WRITE_ONCE(unit_of[cpu], unit);
			break;
		}
	}
	return 0;
}

static bool has_unit(unsigned int cpu)
{
	unsigned int unit;

	for (unit = 0; unit < n_units; unit++)
		if (is_in_unit(cpu, &units[unit]))
			return true;
	return false;
}

static bool has_dies(int package_id)
{
	unsigned int unit, n = 0;

	for (unit = 0; unit < n_units; unit++)
		n += units[unit].package_id == package_id;
	return n > 1;
}

static void name_units(void)
{
	unsigned int i;

	for (i = 0; i < n_units; i++) {
		struct unit *unit = &units[i];

		if (has_dies(unit->package_id))
			snprintf(unit->name, sizeof(unit->name), "%d-die-%d", unit->package_id,
				 unit->die_id);
		else
			snprintf(unit->name, sizeof(unit->name), "%d", unit->package_id);
	}
}

static void find_units(bool is_split)
{
	unsigned int cpu;

	if (!is_split) {
		units[n_units++] = (struct unit){ .package_id = -1, .die_id = -1 };
		return;
	}
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		if (has_unit(cpu))
			continue;
		units[n_units++] = (struct unit){
			.package_id = topology_physical_package_id(cpu),
			.die_id = topology_die_id(cpu),
		};
	}
	cpus_read_unlock();
	name_units();
}

int watt_units_init(bool is_split, bool is_per_die)
{
	int r;

	is_by_die = is_per_die;
	n_units = 0;
	units = kcalloc(num_possible_cpus(), sizeof(*units), GFP_KERNEL);
	unit_of = kcalloc(nr_cpu_ids, sizeof(*unit_of), GFP_KERNEL);
	if (!units || !unit_of) {
		watt_units_done();
		return -ENOMEM;
	}
	find_units(is_split);
	r = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "wattribute:online", find_unit_of, NULL);
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
