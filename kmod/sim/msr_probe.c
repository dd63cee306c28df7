// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions that read registers are taken over at their first instruction, by probes that send
 * a call for one of ours elsewhere; all other calls go on as if nothing was there.
 */
#include "msr_probe.h"

#include <linux/kprobes.h>
#include <linux/smp.h>
#include <asm/msr.h>
#include <asm/paravirt_types.h>

#include "msr_register.h"

/* ---- what is called instead; each with the arguments of the one in whose place it is ---- */

static int instead_q(unsigned int cpu, u32 number, u64 *ret)
{
	return sim_register_read(number, cpu, ret);
}

static int instead_lh(unsigned int cpu, u32 number, u32 *ret_low, u32 *ret_high)
{
	u64 value;
	int r = sim_register_read(number, cpu, &value);

	*ret_low = (u32)value;
	*ret_high = (u32)(value >> 32);
	return r;
}

static u64 instead_here(u32 number)
{
	u64 value;

	sim_register_read(number, raw_smp_processor_id(), &value);
	return value;
}

static u64 instead_here_safe(u32 number, int *ret_error)
{
	u64 value;

	*ret_error = sim_register_read(number, raw_smp_processor_id(), &value);
	return value;
}

/* ---- the probes ---- */

static int enter_on_cpu(struct pt_regs *regs, void *instead)
{
	if (!sim_register_is_ours((u32)regs->si, (unsigned int)regs->di))
		return 0;
	regs->ip = (unsigned long)instead;
	return 1;
}

static int enter_here(struct pt_regs *regs, void *instead)
{
	if (!sim_register_is_ours((u32)regs->di, raw_smp_processor_id()))
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

void sim_probes_remove(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (is_placed[i])
			unregister_kprobe(&probes[i]);
	/* who was sent here may still be on the way */
	synchronize_rcu_tasks();
}

/* One of a function that this kernel has not got, or that can't be taken over, is left out. */
static int place(size_t i)
{
	int r = -ENOENT;

	if (probes[i].symbol_name || probes[i].addr)
		r = register_kprobe(&probes[i]);
	is_placed[i] = !r;
	return r == -ENOENT || r == -EINVAL ? 0 : r;
}

/* Names differ from kernel to kernel; one of the first two has to be there. */
int sim_probes_place(void)
{
	size_t i;
	int r = 0;

	find_here_probes();
	for (i = 0; i < ARRAY_SIZE(probes) && !r; i++)
		r = place(i);
	if (!r && !is_placed[0] && !is_placed[1])
		r = -EOPNOTSUPP;
	if (r)
		sim_probes_remove();
	return r;
}
