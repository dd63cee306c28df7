// SPDX-License-Identifier: GPL-2.0-only
#include "process.h"

#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/rculist.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <linux/xarray.h>

#include "leaver.h"
#include "params.h"
#include "unit.h"

#define GFP_HOOK (GFP_NOWAIT | __GFP_NOWARN)

/* Most lists of by_signal have one record, or none. */
#define BUCKET_BITS_MAX 18

static struct kmem_cache *cache;
static DEFINE_XARRAY_ALLOC(table); /* by number */
static u32 next_number;
static struct hlist_head *by_signal; /* one record for each address: insert() */
static unsigned int bucket_bits;
static DEFINE_SPINLOCK(table_lock); /* whoever changes one of both */
static LIST_HEAD(all);
static LLIST_HEAD(born); /* not in `all` so far */
static LLIST_HEAD(dead);
static bool is_incomplete;
static atomic_t n_processes = ATOMIC_INIT(0);
static atomic64_t n_refused = ATOMIC64_INIT(0);
static u64 counting_since_ns;
static u64 n_missed; /* the sampler's */
static struct watt_process *unlisted;
/* By next_dead: removed since grace began, and before. The sampler's. */
static struct watt_process *removed, *removed_before;
static struct rcu_head grace;
static bool is_grace_over;

static struct watt_process *record_new(gfp_t gfp)
{
	struct watt_process *process = kmem_cache_zalloc(cache, gfp);

	if (process)
		watt_leavers_init(process);
	return process;
}

static void record_free(struct watt_process *process)
{
	if (process->pid)
		put_pid(process->pid);
	if (process->cgroup)
		cgroup_put(process->cgroup);
	watt_leavers_done(process);
	kmem_cache_free(cache, process);
}

static void free_all(struct watt_process *list)
{
	struct watt_process *next;

	for (; list; list = next) {
		next = list->next_dead;
		record_free(list);
		watt_pause_after_one();
	}
}

int watt_processes_init(void)
{
	size_t size = struct_size(unlisted, parts, watt_units_count());

	bucket_bits = min(ilog2(watt_param_max_processes()), BUCKET_BITS_MAX);
	cache = kmem_cache_create("wattribute_process", size, 0, SLAB_HWCACHE_ALIGN, NULL);
	by_signal = kvcalloc(1UL << bucket_bits, sizeof(*by_signal), GFP_KERNEL);
	if (!cache || !by_signal)
		goto err;
	unlisted = record_new(GFP_KERNEL);
	if (!unlisted)
		goto err;
	unlisted->is_known = true;
	unlisted->is_newborn = true;
	return 0;
err:
	kvfree(by_signal);
	kmem_cache_destroy(cache);
	return -ENOMEM;
}

/* The hooks are gone, and so are the readers and the sampler. */
void watt_processes_done(void)
{
	struct watt_process *process;
	unsigned long number;

	xa_for_each(&table, number, process) {
		process->next_dead = removed;
		removed = process;
		watt_pause_after_one();
	}
	xa_destroy(&table);
	rcu_barrier();
	free_all(removed_before);
	free_all(removed);
	watt_leavers_end();
	record_free(unlisted);
	kvfree(by_signal);
	kmem_cache_destroy(cache);
}

void watt_processes_start_counting(void)
{
	WRITE_ONCE(counting_since_ns, ktime_get_ns());
}

struct watt_process *watt_process_unlisted(void)
{
	return unlisted;
}

unsigned int watt_processes_count(void)
{
	return atomic_read(&n_processes);
}

u64 watt_processes_refused(void)
{
	return atomic64_read(&n_refused);
}

static struct hlist_head *bucket_of(const struct signal_struct *signal)
{
	return &by_signal[hash_ptr(signal, bucket_bits)];
}

static struct watt_process *find(const struct signal_struct *signal)
{
	struct watt_process *process;

	hlist_for_each_entry_rcu(process, bucket_of(signal), signal_node)
		if (process->signal == signal)
			return process;
	return NULL;
}

struct watt_process *watt_process_find(const struct task_struct *task)
{
	struct watt_process *process = find(task->signal);

	/* one that died had its signals there, and this one has no record */
	return process && process->tgid == task->tgid ? process : NULL;
}

void watt_process_set_cgroup(struct watt_process *process, struct task_struct *task)
{
	struct cgroup *cgroup = task_css_set(task)->dfl_cgrp;
	struct cgroup *old;

	if (READ_ONCE(process->cgroup) == cgroup || !cgroup_tryget(cgroup))
		return;
	old = xchg(&process->cgroup, cgroup);
	if (old)
		cgroup_put(old);
}

/* Nobody's who changes users: so does the kernel decide who may look into a process. */
static kuid_t owner_of(const struct task_struct *leader)
{
	const struct cred *cred = __task_cred(leader);

	return uid_eq(cred->uid, cred->euid) && uid_eq(cred->suid, cred->euid) ? cred->euid :
										 INVALID_UID;
}

void watt_process_refresh(struct watt_process *process, struct task_struct *leader)
{
	strscpy_pad(process->comm, leader->comm, sizeof(process->comm));
	WRITE_ONCE(process->uid, owner_of(leader));
	watt_process_set_cgroup(process, leader);
}

void watt_process_refresh_dead(struct watt_process *process)
{
	if (!process->is_freed)
		return;
	strscpy_pad(process->comm, process->last_comm, sizeof(process->comm));
	WRITE_ONCE(process->uid, process->last_uid);
}

static struct watt_process *record_of(struct task_struct *leader)
{
	struct watt_process *process = record_new(GFP_HOOK);
	u64 since_ns = READ_ONCE(counting_since_ns);

	if (!process)
		return NULL;
	process->tgid = leader->tgid;
	process->signal = leader->signal;
	process->start_ns = leader->start_time;
	process->pid = get_pid(task_tgid(leader));
	process->is_kernel = leader->flags & PF_KTHREAD;
	process->is_alive = true;
	process->n_to_show = WATT_WINDOWS;
	process->is_newborn = since_ns && leader->start_time >= since_ns;
	watt_process_refresh(process, leader);
	return process;
}

/*
 * Puts it into the table, unless another CPU was faster: then that one is returned. NULL: there is
 * no memory. Where another process had its signals at the same address, all tasks of that one have
 * been freed: nobody looks for it any more. So a list has no more records than there were ever
 * processes at once whose addresses fall together, however many died.
 */
static struct watt_process *insert(struct watt_process *process)
{
	struct watt_process *other, *ret = process;

	spin_lock(&table_lock);
	other = find(process->signal);
	if (other && other->start_ns == process->start_ns) {
		ret = other;
	} else if (xa_alloc_cyclic(&table, &process->number, process, xa_limit_32b, &next_number,
				   GFP_HOOK) < 0) {
		ret = NULL;
	} else {
		if (other)
			hlist_del_init_rcu(&other->signal_node);
		hlist_add_head_rcu(&process->signal_node, bucket_of(process->signal));
		llist_add(&process->born_node, &born);
	}
	spin_unlock(&table_lock);
	return ret;
}

struct watt_process *watt_process_add(struct task_struct *leader)
{
	struct watt_process *process, *there = NULL;

	if (atomic_inc_return(&n_processes) > watt_param_max_processes())
		goto err_count;
	process = record_of(leader);
	if (!process)
		goto err_count;
	there = insert(process);
	if (there == process)
		return process;
	record_free(process);
err_count:
	atomic_dec(&n_processes);
	if (!there) {
		atomic64_inc(&n_refused);
		WRITE_ONCE(is_incomplete, true);
	}
	return there;
}

struct list_head *watt_processes_all(void)
{
	struct watt_process *process, *next;

	llist_for_each_entry_safe(process, next, llist_del_all(&born), born_node) {
		list_add(&process->node, &all);
		watt_pause_after_one();
	}
	return &all;
}

bool watt_processes_take_incomplete(void)
{
	return READ_ONCE(is_incomplete) && xchg(&is_incomplete, false);
}

static void take_last_words(struct watt_process *process, struct task_struct *leader)
{
	const struct signal_struct *signal = leader->signal;

	process->last_words = (struct watt_counts){
		.wakeups = signal->nvcsw,
		.disk_read_bytes = signal->ioac.read_bytes,
		.disk_write_bytes = signal->ioac.write_bytes,
	};
	strscpy_pad(process->last_comm, leader->comm, sizeof(process->last_comm));
	process->last_uid = owner_of(leader);
	watt_process_set_cgroup(process, leader);
	/* with last_words: watt_usage_read_dead() */
	smp_store_release(&process->is_freed, true);
}

void watt_process_list_dead(struct watt_process *process)
{
	if (!READ_ONCE(process->is_dead) && !xchg(&process->is_dead, 1))
		llist_add(&process->dead_node, &dead);
}

void watt_process_thread_exits(struct task_struct *task)
{
	struct watt_process *process;

	rcu_read_lock();
	process = watt_process_find(task);
	if (process) {
		watt_leaver_add(process, task);
		if (!atomic_read(&task->signal->live))
			watt_process_list_dead(process);
	}
	rcu_read_unlock();
}

void watt_process_thread_freed(struct task_struct *task)
{
	struct watt_process *process;

	rcu_read_lock();
	process = watt_process_find(task);
	if (process) {
		watt_leaver_free(process, task);
		/* after what it left: is_asleep() */
		smp_store_release(&process->seen_run_ns, WATT_RUN_UNSEEN);
		if (thread_group_leader(task)) {
			take_last_words(process, task);
			watt_process_list_dead(process);
		}
	} else {
		watt_leaver_free(READ_ONCE(counting_since_ns) ? unlisted : NULL, task);
	}
	rcu_read_unlock();
}

void watt_processes_free_missed(void)
{
	struct task_struct *task;

	while ((task = watt_leavers_find_missed())) {
		watt_process_thread_freed(task);
		put_task_struct(task);
		WRITE_ONCE(n_missed, n_missed + 1);
		watt_pause_after_one();
	}
}

u64 watt_processes_missed(void)
{
	return READ_ONCE(n_missed);
}

struct watt_process *watt_processes_take_dead(struct watt_process *list)
{
	struct llist_node *node = llist_del_all(&dead);
	struct watt_process *process, *next;

	llist_for_each_entry_safe(process, next, node, dead_node) {
		process->next_dead = list;
		list = process;
		watt_pause_after_one();
	}
	return list;
}

void watt_process_remove(struct watt_process *process)
{
	spin_lock(&table_lock);
	hlist_del_init_rcu(&process->signal_node);
	xa_erase(&table, process->number);
	spin_unlock(&table_lock);
	list_del(&process->node);
	atomic_dec(&n_processes);
	process->next_dead = removed;
	removed = process;
}

static void end_grace(struct rcu_head *unused)
{
	/* with the readers' last look: watt_processes_free_removed() */
	smp_store_release(&is_grace_over, true);
}

/* A callback of RCU's for each would run one after another without a pause. */
void watt_processes_free_removed(void)
{
	/* before what is freed: end_grace() */
	if (removed_before && !smp_load_acquire(&is_grace_over))
		return;
	free_all(removed_before);
	removed_before = removed;
	removed = NULL;
	if (!removed_before)
		return;
	is_grace_over = false;
	call_rcu(&grace, end_grace);
}

struct watt_process *watt_process_next(unsigned long *number)
{
	return xa_find(&table, number, UINT_MAX, XA_PRESENT);
}
