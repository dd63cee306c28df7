// SPDX-License-Identifier: GPL-2.0-only
/*
 * A list of registers that is read under RCU, from wherever the kernel reads its own.
 */
#include "msr_register.h"

#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/topology.h>

#define REGISTERS_MAX 128

static LIST_HEAD(registers); /* changed under the simulator's mutex, read under RCU */
static unsigned int n_registers;

/* ---- reading ---- */

/* The register as a CPU sees it; NULL: not one of ours. Under RCU. */
static struct sim_register *find_for_cpu(u32 number, unsigned int cpu)
{
	int package_id = topology_physical_package_id(cpu);
	struct sim_register *found;

	list_for_each_entry_rcu(found, &registers, node, true)
		if (found->number == number &&
		    (found->package_id == SIM_ANY_PACKAGE || found->package_id == package_id))
			return found;
	return NULL;
}

bool sim_register_is_ours(u32 number, unsigned int cpu)
{
	bool is_found;

	rcu_read_lock();
	is_found = find_for_cpu(number, cpu);
	rcu_read_unlock();
	return is_found;
}

int sim_register_read(u32 number, unsigned int cpu, u64 *ret)
{
	struct sim_register *found;
	int r = -EIO;

	*ret = 0;
	rcu_read_lock();
	found = find_for_cpu(number, cpu);
	if (found && found->is_counter) {
		r = sim_counter_read(&found->counter, ret);
	} else if (found) {
		r = READ_ONCE(found->error);
		*ret = r ? 0 : READ_ONCE(found->value);
	}
	rcu_read_unlock();
	return r;
}

/* ---- adding and removing ---- */

static int parse_target(const char *target, u32 *ret)
{
	return kstrtou32(target, 0, ret) ?
		       sim_fail(-EINVAL, "'%s' is not the number of a register", target) :
		       0;
}

static struct sim_register *find_register(u32 number, int package_id)
{
	struct sim_register *found;

	list_for_each_entry(found, &registers, node)
		if (found->number == number && found->package_id == package_id)
			return found;
	return NULL;
}

int sim_register_get(const char *target, int package_id, struct sim_register **ret)
{
	u32 number;
	int r = parse_target(target, &number);

	if (r)
		return r;
	*ret = find_register(number, package_id);
	return *ret ? 0 :
		      sim_fail(-ENOENT, "register %s is not simulated (for that package)", target);
}

int sim_register_new(const char *target, int package_id, struct sim_register **ret)
{
	struct sim_register *added;
	u32 number;
	int r = parse_target(target, &number);

	if (r)
		return r;
	if (find_register(number, package_id))
		return sim_fail(-EEXIST, "register %s is simulated already", target);
	if (n_registers == REGISTERS_MAX)
		return sim_fail(-ENOSPC, "there are %d registers already", REGISTERS_MAX);
	added = kzalloc(sizeof(*added), GFP_KERNEL);
	if (!added)
		return sim_fail(-ENOMEM, "out of memory");
	added->number = number;
	added->package_id = package_id;
	*ret = added;
	return 0;
}

void sim_register_add(struct sim_register *added)
{
	list_add_tail_rcu(&added->node, &registers);
	n_registers++;
}

void sim_register_free(struct sim_register *removed)
{
	list_del_rcu(&removed->node);
	n_registers--;
	synchronize_rcu();
	if (removed->is_counter)
		sim_counter_done(&removed->counter);
	kfree(removed);
}

void sim_registers_free(void)
{
	struct sim_register *found, *next;

	list_for_each_entry_safe(found, next, &registers, node)
		sim_register_free(found);
}

struct sim_register *sim_register_next(const struct sim_register *found)
{
	const struct list_head *next = found ? found->node.next : registers.next;

	return next == &registers ? NULL : list_entry(next, struct sim_register, node);
}
