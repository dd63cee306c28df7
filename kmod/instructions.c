// SPDX-License-Identifier: GPL-2.0-only
/*
 * A counter for each process would be set and read by the kernel at each switch, and begin some
 * time after the process; there may be more processes than memory for counters. One for each CPU is
 * only read, counts from the first instruction on, and none of its counts is lost or estimated: it
 * is pinned, so that it never shares the hardware in turns.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "instructions.h"

#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/time64.h>
#include <linux/timekeeping.h>

#include "params.h"
#include "process.h"
#include "unit.h"

/* No CPU executes more in a ns. */
#define MOST_PER_NS 64

/* Changed with interrupts off, on its CPU. */
struct counter {
	struct perf_event *event;
	u64 last;
	bool is_charged; /* what is counted is somebody's */
	bool is_idle;    /* read by others: a thread that begins to run just then comes next time */
};

static DEFINE_PER_CPU(struct counter, counters);
static int hotplug_state;
static bool is_set_up, is_started;
static bool is_lost;         /* one of them does not count */
static u64 flushed_ns, most; /* that can be new */
static u64 n_disbelieved;

bool watt_instructions_has(void)
{
	return READ_ONCE(is_started) && !READ_ONCE(is_lost);
}

static void charge(struct counter *counter, struct task_struct *task)
{
	struct perf_event *event = counter->event;
	struct watt_process *process;
	u64 count, n;

	if (!event)
		return;
	if (event->state != PERF_EVENT_STATE_ACTIVE) {
		WRITE_ONCE(is_lost, true);
		return;
	}
	event->pmu->read(event);
	count = local64_read(&event->count);
	n = count - counter->last;
	counter->last = count;
	if (!counter->is_charged || is_idle_task(task))
		return;
	rcu_read_lock();
	process = watt_process_find(task) ?: watt_process_unlisted();
	atomic64_add(n, &process->parts[watt_unit_of_cpu(smp_processor_id())].instructions);
	rcu_read_unlock();
}

void watt_instructions_switch(struct task_struct *from, const struct task_struct *to)
{
	struct counter *counter = this_cpu_ptr(&counters);

	charge(counter, from);
	WRITE_ONCE(counter->is_idle, is_idle_task(to));
}

/* ---- counters come and go with their CPUs */

static struct perf_event *event_new(unsigned int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.size = sizeof(attr),
		.pinned = 1,
		.exclude_hv = 1,
	};

	return perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
}

static int set_counter(unsigned int cpu)
{
	struct counter *counter = this_cpu_ptr(&counters);
	struct perf_event *event = event_new(cpu);

	if (IS_ERR(event))
		return PTR_ERR(event);
	if (READ_ONCE(event->state) != PERF_EVENT_STATE_ACTIVE) {
		perf_event_release_kernel(event);
		return -EBUSY;
	}
	local_irq_disable();
	counter->event = event;
	counter->is_charged = false;
	charge(counter, current);
	counter->is_charged = READ_ONCE(is_started);
	local_irq_enable();
	return 0;
}

/* On the CPU. One that comes later must come, with a counter or without. */
static int on_cpu_online(unsigned int cpu)
{
	int r = set_counter(cpu);

	if (!r || !READ_ONCE(is_set_up))
		return r;
	pr_warn("no counter of instructions on CPU %u (%d)\n", cpu, r);
	WRITE_ONCE(is_lost, true);
	return 0;
}

static int on_cpu_offline(unsigned int cpu)
{
	struct counter *counter = this_cpu_ptr(&counters);
	struct perf_event *event = counter->event;

	local_irq_disable();
	charge(counter, current);
	counter->event = NULL;
	local_irq_enable();
	if (event)
		perf_event_release_kernel(event);
	return 0;
}

int watt_instructions_init(void)
{
	int r;

	if (!watt_param_instructions())
		return 0;
	r = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, KBUILD_MODNAME ":instructions", on_cpu_online,
			      on_cpu_offline);
	if (r < 0) {
		pr_info("instructions are not counted: the CPUs have no counter for them (%d)\n",
			r);
		return 0;
	}
	hotplug_state = r;
	WRITE_ONCE(is_set_up, true);
	return 0;
}

bool watt_instructions_has_counters(void)
{
	return is_set_up;
}

void watt_instructions_done(void)
{
	if (is_set_up)
		cpuhp_remove_state(hotplug_state);
}

/* ---- all at once */

/* What was counted before is nobody's. */
static void start_here(void *unused)
{
	struct counter *counter = this_cpu_ptr(&counters);

	charge(counter, current);
	counter->is_charged = true;
}

void watt_instructions_start(void)
{
	if (!is_set_up)
		return;
	flushed_ns = ktime_get_ns();
	WRITE_ONCE(is_started, true);
	on_each_cpu(start_here, NULL, true);
}

static void flush_here(void *unused)
{
	charge(this_cpu_ptr(&counters), current);
}

/* At a switch of threads nothing can be said. */
static void say_if_lost(void)
{
	if (READ_ONCE(is_lost))
		pr_warn_once("instructions are counted no more: a counter was taken away\n");
}

/* One that idles is left to sleep. */
static bool is_busy(int cpu, void *unused)
{
	return !READ_ONCE(per_cpu_ptr(&counters, cpu)->is_idle);
}

void watt_instructions_update(bool with_running)
{
	u64 now_ns = ktime_get_ns();

	say_if_lost();
	if (!watt_instructions_has())
		return;
	most = MOST_PER_NS * (now_ns - flushed_ns + 100 * NSEC_PER_MSEC) * num_online_cpus();
	if (!with_running)
		return;
	on_each_cpu_cond(is_busy, flush_here, NULL, true);
	flushed_ns = now_ns;
	say_if_lost();
}

u64 watt_instructions_take(struct watt_process *process)
{
	unsigned int i, n = watt_units_count();
	u64 sum = 0;

	if (!is_set_up)
		return 0;
	for (i = 0; i < n; i++) {
		struct watt_part *part = &process->parts[i];

		part->n_instructions = 0;
		if (!atomic64_read(&part->instructions))
			continue;
		part->n_instructions = atomic64_xchg(&part->instructions, 0);
		if (part->n_instructions > most) {
			part->n_instructions = 0;
			n_disbelieved++;
		}
		sum += part->n_instructions;
	}
	return sum;
}

u64 watt_instructions_n_disbelieved(void)
{
	return READ_ONCE(n_disbelieved);
}
