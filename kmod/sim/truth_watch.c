// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler's tracepoints. They are not exported by name, but can be found and joined.
 */
#include "truth_watch.h"

#include <linux/cpuhotplug.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "truth_account.h"

static void on_switch(void *unused, bool is_preempted, struct task_struct *prev,
		      struct task_struct *next, unsigned int prev_state)
{
	sim_truth_switch(prev, next);
}

static void on_free(void *unused, struct task_struct *task)
{
	sim_truth_free(task);
}

static void on_rename(void *unused, struct task_struct *task, const char *comm)
{
	sim_truth_rename(task, comm);
}

static struct watch {
	const char *name;
	void *probe;
	struct tracepoint *tracepoint;
} watches[] = {
	/* the first one is left last and joined first: no record is made that is not freed */
	{ "sched_process_free", on_free },
	{ "task_rename", on_rename },
	{ "sched_switch", on_switch },
};

static void find_tracepoint(struct tracepoint *tracepoint, void *unused)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(watches); i++)
		if (!strcmp(tracepoint->name, watches[i].name))
			watches[i].tracepoint = tracepoint;
}

static void leave(size_t n)
{
	while (n-- > 0)
		tracepoint_probe_unregister(watches[n].tracepoint, watches[n].probe, NULL);
	tracepoint_synchronize_unregister();
}

static void begin_cpu(void *unused)
{
	sim_truth_begin_cpu(current);
}

/* Tracepoints are deaf on a CPU that is leaving: it may have gone idle since. */
static int on_cpu_dead(unsigned int cpu)
{
	sim_truth_end_cpu(cpu);
	return 0;
}

static int hotplug_state = CPUHP_INVALID;

int sim_watch_start(void)
{
	size_t i;
	int r;

	for_each_kernel_tracepoint(find_tracepoint, NULL);
	for (i = 0; i < ARRAY_SIZE(watches); i++) {
		r = watches[i].tracepoint ? tracepoint_probe_register(watches[i].tracepoint,
								      watches[i].probe, NULL) :
					    -ENOENT;
		if (r) {
			leave(i);
			return r;
		}
	}
	r = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "wattsim:dead", NULL, on_cpu_dead);
	if (r < 0) {
		leave(ARRAY_SIZE(watches));
		return r;
	}
	hotplug_state = r;
	on_each_cpu(begin_cpu, NULL, 1);
	return 0;
}

void sim_watch_stop(void)
{
	cpuhp_remove_state_nocalls(hotplug_state);
	leave(ARRAY_SIZE(watches));
}
