// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wattribute: energy of processes as a file.
 *
 * A thread reads RAPL and the kernel's own counts of all processes every sample_ns, divides the
 * energy, and publishes every window_ns. What is read is only what was published.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sysfs.h>

#include "compat.h"
#include "files.h"
#include "hooks.h"
#include "instructions.h"
#include "ledger.h"
#include "params.h"
#include "process.h"
#include "publish.h"
#include "rapl.h"
#include "sample.h"
#include "system.h"
#include "unit.h"

/* A step of the start, and what undoes it. */
struct step {
	int (*init)(void);
	void (*done)(void);
};

static bool has_rapl;

static int rapl_init(void)
{
	int r;

	r = watt_rapl_init(&has_rapl);
	if (!r && !has_rapl)
		pr_info("no RAPL here: energy is the score\n");
	return r;
}

static void rapl_done(void)
{
	watt_rapl_done();
	watt_units_done();
}

static int ledger_init(void)
{
	return watt_ledger_init(has_rapl);
}

static int hooks_init(void)
{
	int r;

	r = watt_hooks_init(watt_units_count() > 1, watt_instructions_has_counters());
	if (r)
		return r;
	/* Tasks that had exited before are freed: what is freed from now on, nobody has counted. */
	synchronize_rcu();
	rcu_barrier();
	watt_processes_start_counting();
	watt_instructions_start();
	watt_system_init();
	return 0;
}

/*
 * The module that had these files first was called so, and scripts set its parameters by that name:
 * /sys/module/energy_proc is a link to this one's folder.
 */
#define FORMER_NAME "energy_proc"

#ifdef CONFIG_SYSFS
static int name_init(void)
{
	struct kobject *own = &THIS_MODULE->mkobj.kobj;

	if (sysfs_create_link(own->parent, own, FORMER_NAME))
		pr_warn("no link /sys/module/%s to the parameters\n", FORMER_NAME);
	return 0;
}

static void name_done(void)
{
	sysfs_remove_link(THIS_MODULE->mkobj.kobj.parent, FORMER_NAME);
}
#else
static int name_init(void)
{
	return 0;
}

static void name_done(void)
{
}
#endif

/* In this order, and undone in the reverse one. */
static const struct step steps[] = {
	{ watt_params_start, watt_params_stop },
	{ rapl_init, rapl_done },
	{ ledger_init, watt_ledger_done },
	{ watt_processes_init, watt_processes_done },
	{ watt_publish_init, watt_publish_done },
	{ watt_instructions_init, watt_instructions_done },
	{ hooks_init, watt_hooks_done },
	{ watt_sampler_start, watt_sampler_stop },
	{ watt_files_init, watt_files_done },
	{ name_init, name_done },
};

static void undo(unsigned int n)
{
	/* A parameter that is set from now on has nobody to tell. */
	watt_params_stop();
	while (n--)
		steps[n].done();
}

static int __init wattribute_init(void)
{
	unsigned int i;
	int r;

	if (IS_ENABLED(CONFIG_PREEMPT_RT)) {
		pr_err("not for kernels with PREEMPT_RT: tracepoints take locks here that sleep there\n");
		return -EOPNOTSUPP;
	}
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		r = steps[i].init();
		if (r) {
			undo(i);
			return r;
		}
	}
	return 0;
}

static void __exit wattribute_exit(void)
{
	undo(ARRAY_SIZE(steps));
}

module_init(wattribute_init);
module_exit(wattribute_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Wattribute: energy of processes and cgroups in /proc/energy");
MODULE_AUTHOR("Wattribute maintainers");
MODULE_VERSION("0.1.0");
MODULE_ALIAS(FORMER_NAME);
