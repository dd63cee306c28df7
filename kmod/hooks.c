// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracepoints, found by their names: few are exported. What runs here is in the way of others, and
 * does no more than find a record and add to it. At a context switch one runs, where
 * instructions are counted.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "hooks.h"

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/skbuff.h>
#include <linux/smp.h>
#include <linux/tracepoint.h>
#include <net/sock.h>
#include <trace/events/sched.h>

#include "instructions.h"
#include "process.h"
#include "unit.h"

static void on_fork(void *unused, struct task_struct *parent, struct task_struct *child)
{
	if (!thread_group_leader(child))
		return;
	rcu_read_lock();
	watt_process_add(child);
	rcu_read_unlock();
}

/* It runs on for a moment, and is on the lists until it is reaped. */
static void on_exit(void *unused, struct task_struct *task)
{
	watt_process_thread_exits(task);
}

/* Of newer kernels. */
static void on_exit_of_group(void *unused, struct task_struct *task, bool is_group_dead)
{
	watt_process_thread_exits(task);
}

#define EXIT_TELLS_GROUP \
	__same_type(__traceiter_sched_process_exit, int(void *, struct task_struct *, bool))

static void on_free(void *unused, struct task_struct *task)
{
	watt_process_thread_freed(task);
}

/* With the run queue locked, before the task is where it goes to; it does not run. */
static void on_migrate(void *unused, struct task_struct *task, int to_cpu)
{
	unsigned int from = watt_unit_of_cpu(task_cpu(task)), to = watt_unit_of_cpu(to_cpu);
	struct watt_process *process;

	if (from == to)
		return;
	rcu_read_lock();
	process = watt_process_find(task);
	if (process) {
		atomic_inc(&process->n_moves);
		smp_mb__after_atomic(); /* before what it changes: read_still() */
		atomic64_add(task->se.sum_exec_runtime, &process->parts[from].base_ns);
		atomic64_sub(task->se.sum_exec_runtime, &process->parts[to].base_ns);
	}
	rcu_read_unlock();
}

/* With the run queue locked. */
static void on_switch(void *unused, bool is_preempted, struct task_struct *from,
		      struct task_struct *to)
{
	watt_instructions_switch(from, to);
}

/* Since 5.18, and in some older kernels. */
static void on_switch_with_state(void *unused, bool is_preempted, struct task_struct *from,
				 struct task_struct *to, unsigned int from_state)
{
	watt_instructions_switch(from, to);
}

#define HAS_STATE \
	__same_type(__traceiter_sched_switch, \
		    int(void *, bool, struct task_struct *, struct task_struct *, unsigned int))

static unsigned int n_packets(const struct sk_buff *skb)
{
	return max_t(unsigned int, skb_shinfo(skb)->gso_segs, 1);
}

/*
 * Who reads a stream takes a buffer in pieces: each counts for the part of it that it is, in
 * 2^-WATT_RX_SHIFT packets. A datagram that does not fit is received whole.
 */
static u64 received(const struct sk_buff *skb, int n_bytes)
{
	u64 whole = (u64)n_packets(skb) << WATT_RX_SHIFT;
	const struct sock *sk = skb->sk;

	if (n_bytes < 0 || (unsigned int)n_bytes >= skb->len || (sk && sk->sk_type != SOCK_STREAM))
		return whole;
	return div_u64(whole * n_bytes, skb->len);
}

/* What an interrupt sends belongs to nobody that could be known here. */
static void on_send(void *unused, struct sk_buff *skb)
{
	struct watt_process *process;

	if (!in_task() || is_idle_task(current))
		return;
	rcu_read_lock();
	process = watt_process_find(current);
	if (process)
		atomic64_add(n_packets(skb), &process->tx_packets);
	rcu_read_unlock();
}

/* A process takes data out of a packet. */
static void on_receive(void *unused, const struct sk_buff *skb, int n_bytes)
{
	const struct sock *sk = skb->sk;
	struct watt_process *process;

	if (!in_task() || (sk && sk->sk_family == AF_UNIX))
		return;
	rcu_read_lock();
	process = watt_process_find(current);
	if (process)
		atomic64_add(received(skb, n_bytes), &process->rx_parts);
	rcu_read_unlock();
}

struct hook {
	const char *name;
	void *run;
	bool is_needed;
	bool is_wanted;
	bool is_set;
	struct tracepoint *tracepoint;
};

/*
 * The end of a thread is heard before its exit, so that what is noted of one is dropped again: at
 * once, and not when the sampler finds it.
 */
static struct hook hooks[] = {
	{ .name = "sched_migrate_task", .run = on_migrate, .is_needed = true },
	{ .name = "sched_switch",
	  .run = HAS_STATE ? (void *)on_switch_with_state : (void *)on_switch,
	  .is_needed = true },
	{ .name = "sched_process_free", .run = on_free, .is_needed = true, .is_wanted = true },
	{ .name = "sched_process_exit",
	  .run = EXIT_TELLS_GROUP ? (void *)on_exit_of_group : (void *)on_exit,
	  .is_needed = true,
	  .is_wanted = true },
	{ .name = "sched_process_fork", .run = on_fork, .is_needed = true, .is_wanted = true },
	{ .name = "net_dev_queue", .run = on_send, .is_wanted = true },
	{ .name = "skb_copy_datagram_iovec", .run = on_receive, .is_wanted = true },
};

static void find(struct tracepoint *tracepoint, void *unused)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (!strcmp(tracepoint->name, hooks[i].name))
			hooks[i].tracepoint = tracepoint;
}

/*
 * When it returns, all CPUs run the hook, so that the next one that is set is heard nowhere before
 * it. The kernel does so itself on x86. On arm64 before 6.11, commit cfb00a357864 ("arm64:
 * jump_label: Ensure patched jump_labels are visible to all CPUs"), others go on for a while with
 * what they had fetched of the code from before it was patched: until an interrupt, which this is.
 */
static int set(struct hook *hook)
{
	int r = -ENOENT;

	if (hook->tracepoint)
		r = tracepoint_probe_register(hook->tracepoint, hook->run, NULL);
	hook->is_set = !r;
	if (!r)
		kick_all_cpus_sync();
	if (r && hook->is_needed) {
		pr_err("this kernel has no tracepoint %s that can be used (%d)\n", hook->name, r);
		return r;
	}
	if (r)
		pr_warn("no tracepoint %s (%d): its packets will not be counted\n", hook->name, r);
	return 0;
}

int watt_hooks_init(bool with_moves, bool with_switches)
{
	unsigned int i;
	int r = 0;

	hooks[0].is_wanted = with_moves;
	hooks[1].is_wanted = with_switches;
	for_each_kernel_tracepoint(find, NULL);
	for (i = 0; i < ARRAY_SIZE(hooks) && !r; i++)
		if (hooks[i].is_wanted)
			r = set(&hooks[i]);
	if (r)
		watt_hooks_done();
	return r;
}

void watt_hooks_done(void)
{
	unsigned int i = ARRAY_SIZE(hooks);

	/* who hears of an exit hears of the end, to the last */
	while (i--) {
		if (hooks[i].is_set)
			tracepoint_probe_unregister(hooks[i].tracepoint, hooks[i].run, NULL);
		hooks[i].is_set = false;
	}
	tracepoint_synchronize_unregister();
}
