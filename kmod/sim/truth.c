// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who really used what: at each switch, the time since the one before times the power of who ran,
 * to its process and to the CPU's package. Both get the very same amount, so their sums agree.
 */
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched/clock.h>
#include <linux/spinlock.h>
#include <linux/topology.h>

#include "core.h"
#include "truth_account.h"
#include "truth_watch.h"

struct sim_cpu {
	const struct task_struct *task; /* NULL: not known yet */
	struct sim_thread *thread;
	struct sim_process *process; /* NULL: idle */
	u32 power_uw;                /* of one without a thread */
	int package;                 /* index; -1: not known yet */
	u64 since_ns;                /* by the scheduler's clock */
};

struct sim_account sim_account;

static DEFINE_RAW_SPINLOCK(lock);
static DEFINE_PER_CPU(struct sim_cpu, cpus);
static unsigned int n_holders; /* under the simulator's mutex */

void sim_truth_lock(unsigned long *flags) __acquires(&lock)
{
	raw_spin_lock_irqsave(&lock, *flags);
}

void sim_truth_unlock(unsigned long flags) __releases(&lock)
{
	raw_spin_unlock_irqrestore(&lock, flags);
}

/*
 * Where modules can read the scheduler's clock, and it leaves nothing out, the instants that the
 * scheduler notes in tasks can be used.
 */
#if defined(CONFIG_HAVE_UNSTABLE_SCHED_CLOCK) && !defined(CONFIG_IRQ_TIME_ACCOUNTING)
#define HAS_NOTED_TIMES true
#else
#define HAS_NOTED_TIMES false
#endif

static u64 clock_ns(void)
{
#ifdef CONFIG_HAVE_UNSTABLE_SCHED_CLOCK
	return sched_clock_cpu(raw_smp_processor_id());
#else
	return ktime_get_mono_fast_ns();
#endif
}

static u32 cpu_power_uw(const struct sim_cpu *cpu)
{
	if (!cpu->process)
		return 0;
	return cpu->thread ? cpu->thread->power_uw : cpu->power_uw;
}

static void settle_cpu(struct sim_cpu *cpu, u64 now_ns)
{
	struct sim_energy used = { 0 };
	u64 time_ns = now_ns - cpu->since_ns;

	/* of idle time nothing is kept, not even its end: who is next may have begun before now */
	if ((s64)time_ns <= 0 || !cpu->process)
		return;
	cpu->since_ns = now_ns;
	sim_energy_add_power(&used, cpu_power_uw(cpu), time_ns);
	sim_energy_add(&cpu->process->energy[cpu->package], &used);
	sim_energy_add(&sim_account.packages[cpu->package].total, &used);
	cpu->process->run_ns += time_ns;
}

static void settle_idle(struct sim_package *package, u64 now_ns)
{
	struct sim_energy used = { 0 };

	if (now_ns <= package->since_ns)
		return;
	sim_energy_add_power(&used, package->idle_uw, now_ns - package->since_ns);
	package->since_ns = now_ns;
	sim_energy_add(&package->idle, &used);
	sim_energy_add(&package->total, &used);
}

static void settle_packages(u64 now_ns)
{
	unsigned int i;

	for (i = 0; i < sim_account.n_packages; i++)
		settle_idle(&sim_account.packages[i], now_ns);
	sim_account.settled_ns = now_ns;
}

static void settle_thread(const struct sim_thread *thread)
{
	int i;

	for_each_possible_cpu(i) {
		struct sim_cpu *cpu = per_cpu_ptr(&cpus, i);

		if (cpu->thread == thread)
			settle_cpu(cpu, clock_ns());
	}
}

int sim_truth_find_package(int package_id)
{
	unsigned int i;

	for (i = 0; i < sim_account.n_packages; i++)
		if (sim_account.packages[i].id == package_id)
			return (int)i;
	return -ENODEV;
}

/* The package of a CPU, which is noted when it is seen first. What is beyond counts as the last. */
static int package_of(unsigned int cpu)
{
	int id = max(topology_physical_package_id(cpu), 0);
	int index = sim_truth_find_package(id);

	if (index >= 0)
		return index;
	if (sim_account.n_packages == SIM_PACKAGES_MAX)
		return SIM_PACKAGES_MAX - 1;
	sim_account.packages[sim_account.n_packages] = (struct sim_package){
		.id = id,
		.since_ns = ktime_get_ns(),
	};
	return (int)sim_account.n_packages++;
}

static void put_on_cpu(struct sim_cpu *cpu, struct task_struct *task, u64 now_ns)
{
	cpu->task = task;
	cpu->thread = NULL;
	cpu->process = NULL;
	cpu->since_ns = now_ns;
	if (cpu->package < 0)
		cpu->package = package_of(smp_processor_id());
	if (is_idle_task(task))
		return;
	cpu->thread = sim_table_get(task);
	cpu->process = cpu->thread ? cpu->thread->process : &sim_table.overflow;
	cpu->power_uw = cpu->thread ? 0 : sim_table_power_uw(task);
}

/*
 * When prev ended and next began: as the scheduler itself noted in them, by its clock. The
 * tracepoint runs later, on an emulated machine now and then by ten milliseconds.
 */
static u64 noted_ns(const struct task_struct *task, u64 now_ns)
{
	if (is_idle_task(task) || !HAS_NOTED_TIMES)
		return now_ns;
	return min_t(u64, task->se.exec_start, now_ns);
}

void sim_truth_switch(struct task_struct *prev, struct task_struct *next)
{
	u64 now_ns = clock_ns();
	u64 end_ns = noted_ns(prev, now_ns);
	u64 start_ns = is_idle_task(next) ? end_ns : noted_ns(next, now_ns);
	struct sim_cpu *cpu;
	unsigned long flags;

	sim_truth_lock(&flags);
	cpu = this_cpu_ptr(&cpus);
	settle_cpu(cpu, end_ns);
	sim_account.n_switches++;
	sim_account.n_strangers += cpu->task && cpu->task != prev;
	/* a reader may have settled a later instant meanwhile */
	put_on_cpu(cpu, next, max(start_ns, cpu->since_ns));
	sim_truth_unlock(flags);
}

/* Called on each CPU when it begins, unless a switch came first. */
void sim_truth_begin_cpu(struct task_struct *current_task)
{
	struct sim_cpu *cpu = this_cpu_ptr(&cpus);
	unsigned long flags;

	sim_truth_lock(&flags);
	if (!cpu->task)
		put_on_cpu(cpu, current_task, clock_ns());
	sim_truth_unlock(flags);
}

void sim_truth_end_cpu(unsigned int cpu)
{
	struct sim_cpu *dead = per_cpu_ptr(&cpus, cpu);
	unsigned long flags;

	sim_truth_lock(&flags);
	dead->task = NULL;
	dead->thread = NULL;
	dead->process = NULL;
	sim_truth_unlock(flags);
}

void sim_truth_rename(struct task_struct *task, const char *comm)
{
	struct sim_thread *thread;
	unsigned long flags;

	sim_truth_lock(&flags);
	thread = sim_table_find(task);
	if (thread) {
		settle_thread(thread);
		sim_table_rename(thread, comm);
	}
	sim_truth_unlock(flags);
}

void sim_truth_free(struct task_struct *task)
{
	unsigned long flags;

	sim_truth_lock(&flags);
	sim_table_remove(task);
	sim_truth_unlock(flags);
}

/* ---- what meters see ---- */

static bool is_fresh(u64 now_ns)
{
	return now_ns - READ_ONCE(sim_account.settled_ns) < SIM_TRUTH_UPDATE_NS;
}

static void settle_self(void *unused)
{
	unsigned long flags;

	sim_truth_lock(&flags);
	settle_cpu(this_cpu_ptr(&cpus), clock_ns());
	sim_truth_unlock(flags);
}

void sim_truth_settle(void)
{
	unsigned long flags;

	on_each_cpu(settle_self, NULL, 1);
	sim_truth_lock(&flags);
	settle_packages(ktime_get_ns());
	sim_truth_unlock(flags);
}

/*
 * For who can't wait for other CPUs. One that is just switching is taken for still running prev,
 * and what passes until its tracepoint counts as time of prev.
 */
static void settle_from_here(void)
{
	u64 now_ns = clock_ns();
	unsigned long flags;
	int cpu;

	sim_truth_lock(&flags);
	for_each_possible_cpu(cpu)
		settle_cpu(per_cpu_ptr(&cpus, cpu), now_ns);
	settle_packages(ktime_get_ns());
	sim_truth_unlock(flags);
}

void sim_truth_refresh(void)
{
	if (!READ_ONCE(sim_account.is_on) || is_fresh(ktime_get_ns()))
		return;
	if (irqs_disabled() || in_interrupt())
		settle_from_here();
	else
		sim_truth_settle();
}

int sim_truth_energy(int package_id, struct sim_energy *ret)
{
	unsigned long flags;
	int index;

	sim_truth_lock(&flags);
	index = sim_account.is_on ? sim_truth_find_package(package_id) : -ENODEV;
	if (index >= 0)
		*ret = sim_account.packages[index].total;
	sim_truth_unlock(flags);
	return min(index, 0);
}

int sim_truth_power_uw(int package_id, u32 *ret)
{
	unsigned long flags;
	u64 power_uw = 0;
	int index, i;

	sim_truth_lock(&flags);
	index = sim_account.is_on ? sim_truth_find_package(package_id) : -ENODEV;
	if (index >= 0) {
		power_uw = sim_account.packages[index].idle_uw;
		for_each_possible_cpu(i) {
			const struct sim_cpu *cpu = per_cpu_ptr(&cpus, i);

			power_uw += cpu->package == index ? cpu_power_uw(cpu) : 0;
		}
		*ret = (u32)min_t(u64, power_uw, SIM_POWER_MAX_UW);
	}
	sim_truth_unlock(flags);
	return min(index, 0);
}

int sim_truth_hold(int package_id)
{
	struct sim_energy unused;
	int r = sim_truth_energy(package_id, &unused);

	if (r)
		return sim_fail(r,
				"the truth is not started ('truth start'), or knows no package %d",
				package_id);
	n_holders++;
	return 0;
}

void sim_truth_release(void)
{
	n_holders--;
}

/* ---- on and off ---- */

static void forget_cpus(void)
{
	int i;

	for_each_possible_cpu(i) {
		struct sim_cpu *cpu = per_cpu_ptr(&cpus, i);

		*cpu = (struct sim_cpu){ .package = -1 };
	}
}

int sim_account_start(void)
{
	int r;

	if (sim_account.is_on)
		return sim_fail(-EALREADY, "the truth is started already");
	r = sim_table_alloc();
	if (r)
		return sim_fail(r, "no memory for the tables; load with a smaller max_processes=");
	sim_account = (struct sim_account){ .start_ns = ktime_get_ns() };
	forget_cpus();
	sim_account.is_on = true;
	r = sim_watch_start();
	if (r) {
		sim_account.is_on = false;
		sim_table_free();
		return sim_fail(r, "this kernel's tracepoints can't be used");
	}
	return 0;
}

int sim_account_stop(void)
{
	unsigned long flags;

	if (!sim_account.is_on)
		return sim_fail(-EALREADY, "the truth is not started");
	if (n_holders)
		return sim_fail(-EBUSY, "%u meters follow the truth: remove them first", n_holders);
	sim_watch_stop();
	sim_truth_lock(&flags);
	sim_account.is_on = false;
	sim_truth_unlock(flags);
	sim_table_free();
	return 0;
}

int sim_truth_init(struct dentry *dir)
{
	int r = sim_truth_show_init(dir);

	if (!r)
		sim_truth_noun_init();
	return r;
}

void sim_truth_exit(void)
{
	sim_truth_noun_exit();
	sim_lock();
	if (sim_account.is_on)
		sim_account_stop();
	sim_unlock();
}
