// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "sample.h"

#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/timekeeping.h>
#include <uapi/linux/sched/types.h>

#include "instructions.h"
#include "ledger.h"
#include "params.h"
#include "pause.h"
#include "process.h"
#include "publish.h"
#include "rapl.h"
#include "score.h"
#include "system.h"
#include "usage.h"

/* Between two samples the thread rests at least so many times as long as the first one took. */
#define REST_FACTOR 4

/* So many threads are as much work as one process. */
#define THREADS_AS_ONE 4

static struct task_struct *thread;
static bool is_kicked;
static struct watt_sampler_stat stat;
static struct watt_process *dying; /* by next_dead */
static u64 last_ns;                /* when the last sample was taken */

/* Counters that are only shown are read with each window, and often enough not to wrap twice. */
#define SHOWN_PERIOD_NS (30ULL * NSEC_PER_SEC)

/* One pass over all processes. */
struct pass {
	struct watt_weights weights;
	struct watt_process *active; /* by next_active */
	u64 number;
	u64 time_ns;    /* since the last one */
	bool is_window; /* it ends one */
};

static void account(struct pass *pass, struct watt_process *process,
		    const struct watt_counts *before)
{
	watt_system_add(&process->now, before);
	if (!watt_score_weigh(process, before, &pass->weights, pass->time_ns))
		return;
	process->next_active = pass->active;
	pass->active = process;
}

/*
 * Whether it has not run since the last sample, and at a window not since the last window: then
 * there is nothing to count. Others may still change what it holds and where it belongs.
 */
static bool is_asleep(const struct pass *pass, struct watt_process *process,
		      struct task_struct *leader)
{
	u64 run_ns = watt_usage_run_ns(leader);

	if (run_ns != WATT_RUN_UNSEEN && run_ns == READ_ONCE(process->seen_run_ns) &&
	    !pass->weights.mem_bytes && !(pass->is_window && process->n_to_show == WATT_WINDOWS))
		return true;
	/* before what threads left is read: watt_process_thread_freed() */
	xchg(&process->seen_run_ns, run_ns);
	return false;
}

static void refresh_asleep(struct watt_process *process, struct task_struct *leader)
{
	u64 mem_bytes = watt_usage_mem_bytes(leader);

	watt_process_set_cgroup(process, leader);
	if (mem_bytes == process->now.mem_bytes)
		return;
	process->now.mem_bytes = mem_bytes;
	process->n_to_show = WATT_WINDOWS;
}

static void visit(struct pass *pass, struct watt_process *process, struct task_struct *leader)
{
	struct watt_counts before;

	process->pass = pass->number;
	if (is_asleep(pass, process, leader)) {
		if (pass->is_window)
			refresh_asleep(process, leader);
		return;
	}
	process->n_to_show = WATT_WINDOWS;
	before = process->now;
	watt_usage_read(process, leader, pass->is_window || pass->weights.mem_bytes);
	if (pass->is_window)
		watt_process_refresh(process, leader);
	process->is_alive = !leader->exit_state || !thread_group_empty(leader);
	if (process->is_known || process->is_newborn)
		account(pass, process, &before);
	process->is_known = true;
}

/* A process that has been reaped has no leader any more: what it used comes with its death. */
static void visit_all(struct pass *pass)
{
	struct list_head *all = watt_processes_all();
	struct watt_process *process;
	unsigned int n = 0;

	rcu_read_lock();
	list_for_each_entry(process, all, node) {
		struct task_struct *leader = pid_task(process->pid, PIDTYPE_TGID);

		if (leader) {
			visit(pass, process, leader);
			n += READ_ONCE(leader->signal->nr_threads) / THREADS_AS_ONE;
		} else {
			watt_process_list_dead(process);
		}
		if (++n < WATT_PAUSE_EVERY)
			continue;
		watt_pause_rcu();
		n = 0;
	}
	rcu_read_unlock();
}

/* Lets others run. Returns where to go on: the list may have changed. */
static struct task_struct *rest(struct task_struct *at)
{
	bool is_there;

	get_task_struct(at);
	watt_pause_rcu();
	is_there = pid_alive(at);
	put_task_struct(at);
	return is_there ? at : &init_task;
}

/* Processes that began before the module, and those for which there was no room before. */
static void find_all(void)
{
	struct task_struct *leader = &init_task;
	struct watt_process *process;
	unsigned int n = 0;

	rcu_read_lock();
	while ((leader = next_task(leader)) != &init_task) {
		process = watt_process_find(leader);
		if (!process || process->start_ns != leader->start_time)
			watt_process_add(leader);
		if (++n % WATT_PAUSE_EVERY == 0)
			leader = rest(leader);
	}
	rcu_read_unlock();
}

/* It is on none of the kernel's lists any more. */
static void visit_reaped(struct pass *pass, struct watt_process *process)
{
	struct watt_counts before = process->now;

	watt_usage_read_dead(process);
	process->n_to_show = WATT_WINDOWS;
	process->is_alive = false;
	account(pass, process, &before);
}

static void visit_dead(struct pass *pass)
{
	struct watt_process *process;

	dying = watt_processes_take_dead(dying);
	for (process = dying; process; process = process->next_dead) {
		if (!process->last_window && process->pass != pass->number)
			visit_reaped(pass, process);
		watt_pause_after_one();
	}
}

static void visit_unlisted(struct pass *pass)
{
	struct watt_process *unlisted = watt_process_unlisted();
	struct watt_counts before = unlisted->now;

	watt_usage_read_unlisted(unlisted);
	account(pass, unlisted, &before);
}

static void read_rapl(u64 now_ns, bool is_window)
{
	static u64 shown_ns;
	bool with_all = is_window || now_ns - shown_ns > SHOWN_PERIOD_NS;

	watt_rapl_read(with_all);
	if (with_all)
		shown_ns = now_ns;
}

static void sample(bool is_window)
{
	u64 begin_ns = ktime_get_ns(), pass_ns;
	struct pass pass = {
		.weights = watt_param_weights(),
		.number = ++stat.n_samples,
		.time_ns = begin_ns - last_ns,
		.is_window = is_window,
	};

	last_ns = begin_ns;
	watt_pause_begin();
	read_rapl(begin_ns, is_window);
	watt_instructions_update(is_window || pass.weights.instructions);
	watt_pause_resume();
	if (watt_processes_take_incomplete())
		find_all();
	visit_all(&pass);
	if (is_window)
		watt_processes_free_missed();
	visit_dead(&pass);
	visit_unlisted(&pass);
	watt_ledger_divide(pass.active);
	if (is_window)
		dying = watt_publish(begin_ns, stat.n_samples, dying);
	watt_pause_end();
	pass_ns = ktime_get_ns() - begin_ns;
	stat.pass_sum_ns += pass_ns;
	stat.pass_max_ns = max(stat.pass_max_ns, pass_ns);
}

/* Sleeps until then. False: woken for another reason. */
static bool sleep_until(u64 at_ns)
{
	ktime_t at = ns_to_ktime(at_ns);

	set_current_state(TASK_IDLE);
	if (!kthread_should_stop() && !READ_ONCE(is_kicked))
		schedule_hrtimeout_range(&at, 0, HRTIMER_MODE_ABS);
	__set_current_state(TASK_RUNNING);
	return ktime_get_ns() >= at_ns;
}

/* The instant after the one at next_ns; those that have gone by are left out. */
static u64 advance(u64 next_ns, u64 period_ns, u64 woke_ns)
{
	u64 now_ns = ktime_get_ns();
	u64 earliest_ns = now_ns + (now_ns - woke_ns) * REST_FACTOR;
	u64 n = 1;

	if ((now_ns - woke_ns) * REST_FACTOR < period_ns)
		earliest_ns = now_ns;
	if (earliest_ns > next_ns)
		n = div64_u64(earliest_ns - next_ns, period_ns) + 1;
	stat.n_missed += n - 1;
	return next_ns + n * period_ns;
}

/*
 * When the next sample is taken. The one that ends a window, which is the nearest to its end, is
 * not before that: nobody is shown a window that is shorter than window_ns.
 */
static u64 sample_at(u64 next_ns, u64 period_ns, u64 window_end_ns)
{
	return next_ns + period_ns / 2 >= window_end_ns ? max(next_ns, window_end_ns) : next_ns;
}

static int run(void *unused)
{
	u64 next_ns = 0, window_end_ns = 0, period_ns = 0;

	watt_pause_thread();
	while (!kthread_should_stop()) {
		u64 woke_ns = ktime_get_ns();
		bool is_window;

		if (xchg(&is_kicked, false)) {
			period_ns = watt_param_sample_ns();
			next_ns = woke_ns + period_ns;
			window_end_ns = last_ns + watt_param_window_ns();
		}
		next_ns = sample_at(next_ns, period_ns, window_end_ns);
		if (!sleep_until(next_ns))
			continue;
		woke_ns = ktime_get_ns();
		stat.late_max_ns = max(stat.late_max_ns, woke_ns - next_ns);
		is_window = woke_ns >= window_end_ns;
		sample(is_window);
		if (is_window)
			window_end_ns = last_ns + watt_param_window_ns();
		WRITE_ONCE(stat.cpu_ns, current->se.sum_exec_runtime);
		next_ns = advance(next_ns, period_ns, woke_ns);
	}
	watt_pause_thread_ends();
	return 0;
}

int watt_sampler_start(void)
{
	struct task_struct *created;

	stat.began_ns = ktime_get_ns();
	last_ns = stat.began_ns;
	watt_pause_begin();
	find_all();
	sample(true);
	WRITE_ONCE(is_kicked, true);
	created = kthread_run(run, NULL, "wattribute");
	if (IS_ERR(created))
		return PTR_ERR(created);
	WRITE_ONCE(thread, created);
	return 0;
}

void watt_sampler_stop(void)
{
	kthread_stop(thread);
}

void watt_sampler_kick(void)
{
	struct task_struct *sleeper = READ_ONCE(thread);

	WRITE_ONCE(is_kicked, true);
	if (sleeper)
		wake_up_process(sleeper);
}

struct watt_sampler_stat watt_sampler_get_stat(void)
{
	return stat;
}
