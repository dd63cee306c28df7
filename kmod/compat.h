/* SPDX-License-Identifier: GPL-2.0-only */
/* All that differs between the kernels that the module is built for: 5.15 and later. */
#ifndef WATTRIBUTE_COMPAT_H
#define WATTRIBUTE_COMPAT_H

#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/types.h>

#ifndef CONFIG_64BIT
#error "wattribute needs a 64-bit kernel"
#endif
#ifndef CONFIG_CGROUPS
#error "wattribute needs a kernel with CONFIG_CGROUPS"
#endif

#ifdef CONFIG_X86_64
#include <asm/msr.h>
#include <asm/processor.h>
#include <asm/topology.h>

/* As many as the kernel expects; it is asked for more than there are rather than for fewer. */
static inline unsigned int watt_max_packages(void)
{
	return topology_max_packages();
}

/* Whether its place is known: a CPU that was online once keeps it. */
static inline bool watt_cpu_has_place(unsigned int cpu)
{
	return cpu_data(cpu).x86;
}

/* Reads a register of another CPU through the function that survives its absence. */
static inline int watt_rdmsr_on_cpu(unsigned int cpu, u32 msr, u64 *ret)
{
#ifdef rdmsrq /* since 6.16 */
	return rdmsrq_safe_on_cpu(cpu, msr, ret);
#else
	return rdmsrl_safe_on_cpu(cpu, msr, ret);
#endif
}
#else
#include <linux/cpumask.h>

static inline unsigned int watt_max_packages(void)
{
	return 1;
}

static inline bool watt_cpu_has_place(unsigned int cpu)
{
	return cpu_online(cpu);
}
#endif

/* Whether a task that exits has run for the last time. */
static inline bool watt_task_is_gone(const struct task_struct *task)
{
#ifdef task_is_running /* since 5.14 */
	if (READ_ONCE(task->__state) != TASK_DEAD)
		return false;
#else
	if (READ_ONCE(task->state) != TASK_DEAD)
		return false;
#endif
#ifdef CONFIG_SMP
	/* after its last run: finish_task() of the kernel */
	return !smp_load_acquire(&task->on_cpu);
#else
	return true;
#endif
}

/* a * b / c without a loss, for a quotient that fits in 64 bits. */
static inline u64 watt_mul_div(u64 a, u64 b, u64 c)
{
#ifdef CONFIG_X86_64
	return mul_u64_u64_div_u64(a, b, c);
#else
	/* The kernel's own one is not exported to modules here, and was not exact before 6.13. */
	__uint128_t product = (__uint128_t)a * b;
	u64 rest = product >> 64, low = product;
	unsigned int i;

	for (i = 0; i < 64; i++) {
		bool is_over = rest >> 63;

		rest = rest << 1 | low >> 63;
		low <<= 1;
		if (is_over || rest >= c) {
			rest -= c;
			low |= 1;
		}
	}
	return low;
#endif
}

#endif
