// SPDX-License-Identifier: GPL-2.0-only
/*
 * Model-specific registers: what the kernel reads of those that a script names comes from the
 * script. The functions that read registers are taken over at their first instruction, by probes
 * that send a call for one of ours elsewhere; all other calls go on as if nothing was there.
 */
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/topology.h>
#include <asm/msr.h>
#include <asm/paravirt_types.h>

#include "counter.h"
#include "sim.h"

#define REGISTERS_MAX 128
#define ANY_PACKAGE (-1)
#define NJ_PER_J 1000000000u
#define UPDATE_US 1000

struct sim_register {
	struct list_head node;
	u32 number;
	int package_id; /* or ANY_PACKAGE */
	bool is_counter;
	u64 value; /* of one that does not count */
	int error;
	struct sim_counter counter;
};

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
		    (found->package_id == ANY_PACKAGE || found->package_id == package_id))
			return found;
	return NULL;
}

static bool is_ours(u32 number, unsigned int cpu)
{
	bool is_found;

	rcu_read_lock();
	is_found = find_for_cpu(number, cpu);
	rcu_read_unlock();
	return is_found;
}

/* One that was removed just now reads as one that never was. */
static int read_register(u32 number, unsigned int cpu, u64 *ret)
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

/* ---- what is called instead; each with the arguments of the one in whose place it is ---- */

static int instead_q(unsigned int cpu, u32 number, u64 *ret)
{
	return read_register(number, cpu, ret);
}

static int instead_lh(unsigned int cpu, u32 number, u32 *ret_low, u32 *ret_high)
{
	u64 value;
	int r = read_register(number, cpu, &value);

	*ret_low = (u32)value;
	*ret_high = (u32)(value >> 32);
	return r;
}

static u64 instead_here(u32 number)
{
	u64 value;

	read_register(number, raw_smp_processor_id(), &value);
	return value;
}

static u64 instead_here_safe(u32 number, int *ret_error)
{
	u64 value;

	*ret_error = read_register(number, raw_smp_processor_id(), &value);
	return value;
}

/* ---- the probes ---- */

static int enter_on_cpu(struct pt_regs *regs, void *instead)
{
	if (!is_ours((u32)regs->si, (unsigned int)regs->di))
		return 0;
	regs->ip = (unsigned long)instead;
	return 1;
}

static int enter_here(struct pt_regs *regs, void *instead)
{
	if (!is_ours((u32)regs->di, raw_smp_processor_id()))
		return 0;
	regs->ip = (unsigned long)instead;
	return 1;
}

static int enter_q(struct kprobe *probe, struct pt_regs *regs)
{
	return enter_on_cpu(regs, instead_q);
}

static int enter_lh(struct kprobe *probe, struct pt_regs *regs)
{
	return enter_on_cpu(regs, instead_lh);
}

static int enter_read(struct kprobe *probe, struct pt_regs *regs)
{
	return enter_here(regs, instead_here);
}

static int enter_read_safe(struct kprobe *probe, struct pt_regs *regs)
{
	return enter_here(regs, instead_here_safe);
}

/* A probe with this is never turned into a jump, which could not send its caller elsewhere. */
static void stay_a_probe(struct kprobe *probe, struct pt_regs *regs, unsigned long flags)
{
}

#define PROBE(name, enter) \
	{ \
		.symbol_name = name, .pre_handler = enter, .post_handler = stay_a_probe \
	}

static struct kprobe probes[] = {
	PROBE("rdmsrl_safe_on_cpu", enter_q),
	PROBE("rdmsrq_safe_on_cpu", enter_q),
	PROBE("rdmsrl_on_cpu", enter_q),
	PROBE("rdmsrq_on_cpu", enter_q),
	PROBE("rdmsr_safe_on_cpu", enter_lh),
	PROBE("rdmsr_on_cpu", enter_lh),
	PROBE(NULL, enter_read),
	PROBE(NULL, enter_read_safe),
};

#define N_NAMED 6

static bool is_placed[ARRAY_SIZE(probes)];

/* What inline reads call where the kernel can run on a hypervisor that takes them over. */
static void find_here_probes(void)
{
#ifdef CONFIG_PARAVIRT_XXL
	probes[N_NAMED].addr = (kprobe_opcode_t *)pv_ops.cpu.read_msr;
	probes[N_NAMED + 1].addr = (kprobe_opcode_t *)pv_ops.cpu.read_msr_safe;
#endif
}

static void remove_probes(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (is_placed[i])
			unregister_kprobe(&probes[i]);
	/* who was sent here may still be on the way */
	synchronize_rcu_tasks();
}

/* Names differ from kernel to kernel; one of the first two has to be there. */
static int place_probes(void)
{
	size_t i;

	find_here_probes();
	for (i = 0; i < ARRAY_SIZE(probes); i++)
		is_placed[i] = (probes[i].symbol_name || probes[i].addr) &&
			       !register_kprobe(&probes[i]);
	if (is_placed[0] || is_placed[1])
		return 0;
	remove_probes();
	return -EOPNOTSUPP;
}

/* ---- the noun ---- */

enum counter_key {
	COUNTER_METER,
	COUNTER_SHIFT,
	COUNTER_PACKAGE,
	COUNTER_BITS,
	COUNTER_UPDATE
};

#define BITS \
	{ \
		"bits", SIM_NUMBER, false, 8, 64 \
	}
#define PACKAGE \
	{ \
		"package", SIM_NUMBER, false, 0, INT_MAX \
	}
#define COUNTER_KEYS \
	{ \
		[COUNTER_METER] = { "meter", SIM_TEXT, true, 0, SIM_TEXT_MAX - 1 }, \
		[COUNTER_SHIFT] = { "unit_shift", SIM_NUMBER, false, 0, 24 }, \
		[COUNTER_PACKAGE] = PACKAGE, [COUNTER_BITS] = BITS, \
		[COUNTER_UPDATE] = { "update_us", SIM_NUMBER, false, 0, 1000000 }, \
	}
#define VALUE_KEYS \
	{ \
		{ "value", SIM_NUMBER, true, 0, U64_MAX }, PACKAGE \
	}
#define ERRNO_KEYS \
	{ \
		{ "errno", SIM_NUMBER, true, 0, 133 }, PACKAGE \
	}
#define PACKAGE_KEYS \
	{ \
		PACKAGE \
	}

static int package_or_any(const struct sim_value *value)
{
	return value->is_set ? (int)value->number : ANY_PACKAGE;
}

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

static int get_register(const char *target, const struct sim_value *package,
			struct sim_register **ret)
{
	u32 number;
	int r = parse_target(target, &number);

	if (r)
		return r;
	*ret = find_register(number, package_or_any(package));
	return *ret ? 0 :
		      sim_fail(-ENOENT, "register %s is not simulated (for that package)", target);
}

static int new_register(const char *target, const struct sim_value *package,
			struct sim_register **ret)
{
	struct sim_register *added;
	u32 number;
	int r = parse_target(target, &number);

	if (r)
		return r;
	if (find_register(number, package_or_any(package)))
		return sim_fail(-EEXIST, "register %s is simulated already", target);
	if (n_registers == REGISTERS_MAX)
		return sim_fail(-ENOSPC, "there are %d registers already", REGISTERS_MAX);
	added = kzalloc(sizeof(*added), GFP_KERNEL);
	if (!added)
		return sim_fail(-ENOMEM, "out of memory");
	added->number = number;
	added->package_id = package_or_any(package);
	*ret = added;
	return 0;
}

static void add_register(struct sim_register *added)
{
	list_add_tail_rcu(&added->node, &registers);
	n_registers++;
}

static void free_register(struct sim_register *removed)
{
	list_del_rcu(&removed->node);
	n_registers--;
	synchronize_rcu();
	if (removed->is_counter)
		sim_counter_done(&removed->counter);
	kfree(removed);
}

static u64 number_or(const struct sim_value *value, u64 otherwise)
{
	return value->is_set ? value->number : otherwise;
}

static int run_counter(const char *target, const struct sim_value *values)
{
	struct sim_register *added;
	struct sim_meter *meter;
	int r = new_register(target, &values[COUNTER_PACKAGE], &added);

	if (r)
		return r;
	r = sim_meter_get(values[COUNTER_METER].text, &meter);
	if (r) {
		kfree(added);
		return r;
	}
	added->is_counter = true;
	sim_counter_init(&added->counter, meter, NJ_PER_J,
			 BIT_ULL(number_or(&values[COUNTER_SHIFT], 14)),
			 (unsigned int)number_or(&values[COUNTER_BITS], 32),
			 number_or(&values[COUNTER_UPDATE], UPDATE_US) * NSEC_PER_USEC);
	add_register(added);
	return 0;
}

static int run_value(const char *target, const struct sim_value *values)
{
	struct sim_register *added;
	int r = new_register(target, &values[1], &added);

	if (r)
		return r;
	added->value = values[0].number;
	add_register(added);
	return 0;
}

static int run_set(const char *target, const struct sim_value *values)
{
	struct sim_register *found;
	int r = get_register(target, &values[1], &found);

	if (r)
		return r;
	if (found->is_counter)
		sim_counter_set(&found->counter, values[0].number);
	else
		WRITE_ONCE(found->value, values[0].number);
	return 0;
}

static int run_fail(const char *target, const struct sim_value *values)
{
	struct sim_register *found;
	int r = get_register(target, &values[1], &found);

	if (r)
		return r;
	if (found->is_counter)
		sim_counter_fail(&found->counter, -(int)values[0].number);
	else
		WRITE_ONCE(found->error, -(int)values[0].number);
	return 0;
}

static int run_remove(const char *target, const struct sim_value *values)
{
	struct sim_register *found;
	int r = get_register(target, &values[0], &found);

	if (!r)
		free_register(found);
	return r;
}

static void show_registers(struct seq_file *file)
{
	struct sim_register *found;
	u64 value;
	int r;

	list_for_each_entry(found, &registers, node) {
		value = found->value;
		r = found->is_counter ? sim_counter_read(&found->counter, &value) : found->error;
		seq_printf(file, "msr 0x%x package=%d meter=%s", found->number, found->package_id,
			   found->is_counter ? sim_meter_name(found->counter.meter) : "-");
		seq_printf(file, r ? " errno=%lld\n" : " value=0x%llx\n", r ? (u64)-r : value);
	}
}

static const struct sim_verb msr_verbs[] = {
	{ "counter", true, COUNTER_KEYS, run_counter }, { "value", true, VALUE_KEYS, run_value },
	{ "set", true, VALUE_KEYS, run_set },           { "fail", true, ERRNO_KEYS, run_fail },
	{ "remove", true, PACKAGE_KEYS, run_remove },
};

static struct sim_noun msr_noun = {
	.name = "msr",
	.owner = THIS_MODULE,
	.verbs = msr_verbs,
	.n_verbs = ARRAY_SIZE(msr_verbs),
	.show = show_registers,
};

static int __init registers_init(void)
{
	int r = place_probes();

	if (!r)
		sim_noun_register(&msr_noun);
	return r;
}

static void __exit registers_exit(void)
{
	struct sim_register *found, *next;

	sim_noun_unregister(&msr_noun);
	remove_probes();
	sim_lock();
	list_for_each_entry_safe(found, next, &registers, node)
		free_register(found);
	sim_unlock();
}

module_init(registers_init);
module_exit(registers_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Wattribute's simulator: model-specific registers, for tests only");
