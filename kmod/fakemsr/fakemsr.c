// SPDX-License-Identifier: GPL-2.0-only
/*
 * RAPL's registers for a machine that has none, for tests: a probe answers in the place of the
 * function by which a module reads a register of another CPU. Power is a square wave; package n has
 * 1/(n + 1) of it, and with `dies` each die counts as a package does. Counters are 32 bits wide and
 * begin shortly before they wrap; who writes to `restart` has them begin again, at zero. With `wake_j`
 * they begin again when the machine has slept, at so many J.
 */
#include <linux/kprobes.h>
#include <linux/linkage.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/suspend.h>
#include <linux/timekeeping.h>
#include <linux/topology.h>

#include <asm/msr.h>

#ifdef rdmsrq /* since 6.16 */
#define FUNCTION "rdmsrq_safe_on_cpu"
#else
#define FUNCTION "rdmsrl_safe_on_cpu"
#endif

static unsigned long high_mw = 60000, low_mw = 20000, period_ms = 300;
module_param(high_mw, ulong, 0444);
module_param(low_mw, ulong, 0444);
module_param(period_ms, ulong, 0444);

/* What every read of a counter gives instead of a value. */
static int error;
module_param(error, int, 0644);

/* With counters of their own, in each package. */
static int dies = 1;
module_param(dies, int, 0444);

/* What all but the first have counted besides, in J: a change is like a restart of counters. */
static ulong offset_j;
module_param(offset_j, ulong, 0644);

/* With what they wake; -1: sleep does nothing to them. */
static int wake_j = -1;
module_param(wake_j, int, 0644);

static u64 begin_ns;
static u32 first = 0xffffff00;

static void begin_at(u32 raw)
{
	WRITE_ONCE(first, raw);
	WRITE_ONCE(begin_ns, ktime_get_mono_fast_ns());
}

static int restart(const char *unused, const struct kernel_param *kp)
{
	begin_at(0);
	return 0;
}

static const struct kernel_param_ops restart_ops = { .set = restart };
module_param_cb(restart, &restart_ops, NULL, 0200);

/* Of package 0, since the module was loaded. In a probe, which no other clock allows. */
static u64 energy_uj(void)
{
	u64 from_ns = READ_ONCE(begin_ns), half_ns = period_ms * 1000000, rest_ns;
	u64 ns = ktime_get_mono_fast_ns() - from_ns;
	u64 periods = div64_u64_rem(ns, 2 * half_ns, &rest_ns);
	u64 high_ns = periods * half_ns + min(rest_ns, half_ns);

	return div_u64(high_ns, 1000) * high_mw / 1000 +
	       div_u64(ns - high_ns, 1000) * low_mw / 1000;
}

/* In units of 2^-14 J; a part of what the package takes. */
static u64 counter(unsigned int cpu, unsigned int percent)
{
	int place = topology_physical_package_id(cpu) * dies;
	u64 uj;

	if (dies > 1) /* some kernels number those of all packages */
		place += topology_die_id(cpu) % dies;
	uj = energy_uj() * percent / 100 / (place + 1);
	if (place)
		uj += (u64)READ_ONCE(offset_j) * 1000000;
	return (u32)(READ_ONCE(first) + div_u64(uj << 14, 1000000));
}

static bool answer(unsigned int cpu, u32 msr, u64 *ret)
{
	switch (msr) {
	case 0x606: /* 2^-14 J */
		*ret = 0xa0e03;
		return true;
	case 0x611:
		*ret = counter(cpu, 100);
		return true;
	case 0x639:
		*ret = counter(cpu, 70);
		return true;
	case 0x619: /* its unit is 15.3 uJ, whatever 0x606 says */
		*ret = counter(cpu, 10);
		return true;
	case 0xc0010299: /* AMD: 2^-16 J */
		*ret = 0xa1003;
		return true;
	case 0xc001029a: /* of one core */
		*ret = counter(cpu, 35);
		return true;
	case 0xc001029b:
		*ret = counter(cpu, 400);
		return true;
	}
	return false;
}

/* Where the probed function is left to. */
void fakemsr_return(void);
asm(".text\n"
    ".globl fakemsr_return\n"
    ".type fakemsr_return,@function\n"
    "fakemsr_return:\n" ASM_RET "\n"
    ".size fakemsr_return,.-fakemsr_return\n");

/* int FUNCTION(unsigned int cpu, u32 msr, u64 *value) */
static int before(struct kprobe *probe, struct pt_regs *regs)
{
	int failure = READ_ONCE(error);
	u64 value;

	/* of a CPU that is away nobody can read one */
	if (!cpu_online(regs->di) || !answer(regs->di, regs->si, &value))
		return 0;
	if (!failure)
		*(u64 *)regs->dx = value;
	regs->ax = -failure;
	regs->ip = (unsigned long)fakemsr_return;
	return 1;
}

/* A probe with this is never turned into a jump, which could not send its caller elsewhere. */
static void stay_a_probe(struct kprobe *probe, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe probe = {
	.symbol_name = FUNCTION,
	.pre_handler = before,
	.post_handler = stay_a_probe,
};

static int on_sleep(struct notifier_block *block, unsigned long event, void *unused)
{
	int joules = READ_ONCE(wake_j);

	if (event == PM_POST_SUSPEND && joules >= 0)
		begin_at((u32)joules << 14);
	return NOTIFY_DONE;
}

/* Before anybody else hears of it. */
static struct notifier_block sleep_block = { .notifier_call = on_sleep, .priority = INT_MAX };

static int __init fakemsr_init(void)
{
	int r;

	begin_ns = ktime_get_mono_fast_ns();
	r = register_pm_notifier(&sleep_block);
	if (r)
		return r;
	r = register_kprobe(&probe);
	if (r)
		unregister_pm_notifier(&sleep_block);
	return r;
}

static void __exit fakemsr_exit(void)
{
	unregister_kprobe(&probe);
	unregister_pm_notifier(&sleep_block);
}

module_init(fakemsr_init);
module_exit(fakemsr_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("RAPL registers for a machine that has none; for tests");
