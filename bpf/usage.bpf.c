/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tells user space what every task has used of the CPUs: a sweep over all tasks on demand, and
 * hooks for what a sweep can't see. Reads what the scheduler counts anyway; it must not run at a
 * context switch.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "usage_layout.h"
#include "irq_time.bpf.h"
#include "task.bpf.h"
#include "task_clock.h"
#include "seen.bpf.h"
#include "pidns.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* Tasks that are visited between two looks at the clock. */
#define VISITS_PER_LOOK 32
/* More than any machine has tasks. */
#define STEPS_MOST (1u << 23)
/* So many tasks are fetched ahead. */
#define AHEAD 8
/* Slots that one of the dying looks at. */
#define DYING_TRIES 256

/* User space sets how many entries each map has. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct watt_bpf_record);
} records SEC(".maps");

/* Where the tasks lie, in the order of the walk. Mappable only to lie on cache lines. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} order SEC(".maps");

/* Per CPU, or only the first one, of all: clock_of(). */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct watt_bpf_clock);
} clocks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} cpu_slots SEC(".maps");

/*
 * Migrations, n_moves per CPU: they happen with interrupts off, so that a CPU can write into
 * its own part without a lock, at half of what the ring costs.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct watt_bpf_record);
} moves SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct watt_bpf_move_log);
} move_logs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} events SEC(".maps");

/* By a name of its own: clang 14 forgets the tag of a pointer to a struct. */
typedef struct task_struct task_t;

struct dying_slot {
	task_t __kptr *task;
};

/*
 * Tasks that began to die, held until they have run for the last time. Which kernels take one is
 * decided by loading.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dying_slot);
} dying SEC(".maps");

__u64 lost;
/* Slots [dying_tail, dying_head) modulo their number may be in use; dying_last: head of a sweep. */
__u32 dying_head, dying_tail, dying_last;
/* Tasks are found by following the kernel's list, not by its iterator. */
const volatile bool walks_by_hand;
/* The dying are kept: nothing else tells of the dead. */
const volatile bool keeps_dying;

/* Entries of the maps; the last two are powers of two. */
const volatile __u32 n_records_most = 1;
const volatile __u32 n_moves = 1;
const volatile __u32 n_dying = 1;
/* What one pass may take, for it keeps the kernel from freeing memory (RCU). */
const volatile __u64 pass_ns;
const volatile __u32 pass_tasks;

extern struct task_struct *bpf_task_from_pid(__s32 pid) __ksym __weak;
extern struct task_struct *bpf_task_acquire(struct task_struct *task) __ksym __weak;
extern void bpf_task_release(struct task_struct *task) __ksym __weak;
extern void bpf_rcu_read_lock(void) __ksym __weak;
extern void bpf_rcu_read_unlock(void) __ksym __weak;

/*
 * The verifier looks through all of the kernel's types at each pointer that is followed from one
 * that it trusts: some ms each at load. Reading needs no trust. Not in kernels before 6.2.
 */
static __always_inline struct task_struct *cheap_to_verify(struct task_struct *task)
{
	if (!bpf_rdonly_cast)
		return task;
	return bpf_rdonly_cast(task, bpf_core_type_id_kernel(struct task_struct));
}

/* How old the counter of a running task can be. */
const volatile __u64 tick_ns = 10000000;

/* Where CPUs keep what a host takes of them out of the tasks' time. */
struct rq___steal {
	__u64 prev_steal_time_rq;
} __attribute__((preserve_access_index));

/*
 * A task clock of its own has a CPU only where something is kept out of the tasks' time: else all
 * have the scheduler's.
 */
static __always_inline __u32 clock_of(struct task_struct *task)
{
	if (irq_time_is_separate() ||
	    bpf_core_field_exists(((struct rq___steal *)0)->prev_steal_time_rq))
		return task_cpu(task);
	return 0;
}

static __always_inline __u64 running_ns(struct task_struct *task, __u64 now_ns)
{
	__u32 key = clock_of(task);
	struct watt_bpf_clock *clock;

	clock = bpf_map_lookup_elem(&clocks, &key);
	return clock ? watt_bpf_running_ns(clock, now_ns, task->se.exec_start, tick_ns) : 0;
}

/*
 * Ticks and sweeps keep step, and then all that sweeps see of other CPUs is some ms old, always the
 * same. Who sweeps has only just got its CPU.
 */
static __always_inline void look_at_own_clock(void)
{
	running_ns(bpf_get_current_task_btf(), bpf_ktime_get_ns());
}

static __always_inline void count_lost(void)
{
	__sync_fetch_and_add(&lost, 1);
}

/* ---- the sweep ---- */

/*
 * The n-th record, of the task that lies there. Global, as cgroup_tells() is: verified once, and not
 * again for each way in which a walk comes to a task. Not in kernels before 6.2.
 */
__noinline int fill_swept(__u64 address, __u32 n)
{
	struct watt_bpf_record *record;

	if (!bpf_rdonly_cast)
		return 0;
	record = bpf_map_lookup_elem(&records, &n);
	if (record)
		record_fill(record,
			    bpf_rdonly_cast((void *)address,
					    bpf_core_type_id_kernel(struct task_struct)),
			    WATT_BPF_TASK, bpf_ktime_get_ns());
	return 0;
}

/* In memory of a map the verifier takes an address for a number. */
static __always_inline void fill_by_address(struct watt_bpf_record *record,
					    struct task_struct *task, __u32 n)
{
	*(volatile __u64 *)&record->t_ns = (unsigned long)task;
	fill_swept(*(volatile __u64 *)&record->t_ns, n);
}

/*
 * Extrapolated is only what is remembered: the next record must not fall below it. last: NULL if
 * the task is not.
 */
static __always_inline void tell_task(struct task_struct *task, struct watt_bpf_seen *last,
				      bool is_running)
{
	__u32 n = sweep.n_records;
	struct watt_bpf_record *record;

	record = bpf_map_lookup_elem(&records, &n);
	if (!record)
		return;
	if (walks_by_hand)
		fill_by_address(record, task, n);
	else
		record_fill(record, task, WATT_BPF_TASK, bpf_ktime_get_ns());
	if (pidns_inum && !pidns_rename_task(record, task))
		return;
	if (is_running) {
		record->flags |= WATT_BPF_RUNNING;
		if (last)
			record->cpu_ns += running_ns(task, record->t_ns);
	} else if (task_is_zombie(task)) {
		record->flags |= WATT_BPF_ZOMBIE;
	}
	sweep.n_records = n + 1;
	if (!last)
		return;
	/* Too far extrapolated last time: wait until the counter has caught up. */
	if (record->cpu_ns < last->told >> 1)
		record->cpu_ns = last->told >> 1;
	last->id = seen_id(task->pid);
	last->told = record->cpu_ns << 1 | is_running;
}

/*
 * A walk by hand comes to all tasks of the list. What BPF may not be given by its id is not there
 * for it: a sandbox's kernel hides some of its own.
 */
static __always_inline bool may_tell(__u32 tid)
{
	struct task_struct *task;

	if (!walks_by_hand)
		return true;
	task = bpf_task_from_pid(tid);
	if (!task)
		return false;
	if (pidns_inum && !pidns_keep(task, false))
		count_lost();
	bpf_task_release(task);
	return true;
}

/*
 * It sleeps, as was told, with what was told. Or with less: it was running and told of as too far
 * ahead, and there is nothing to say until its counter has caught up.
 */
static __always_inline bool is_told(const struct watt_bpf_seen *last, struct task_struct *task,
				    bool is_running)
{
	return !is_running && !(last->told & 1) && task->se.sum_exec_runtime << 1 <= last->told;
}

/* false: it is not there for us. */
static __always_inline bool look_closely(struct task_struct *task, bool is_running)
{
	__u32 tid = task->pid, start = task->start_boottime, age;
	struct watt_bpf_seen_set *set;
	struct watt_bpf_seen *last;

	if (!tid)
		return false;
	set = seen_set(tid);
	if (!set)
		return false;
	last = seen_find(set, tid, start);
	if (!last && !may_tell(tid))
		return false;
	sweep.n_tasks++;
	if (last) {
		age = seen_age(last);
		if (!age)
			return true;
		if (!sweep.is_full && is_told(last, task, is_running)) {
			if (age >= SEEN_REFRESH)
				last->id = seen_id(tid);
			if (walks_by_hand)
				keep_quiet(task, last);
			return true;
		}
	} else if (task_is_new(task)) {
		return true;
	}
	/* It has been told of, or will be, by what ends its curve. */
	if (keeps_dying && task_is_gone(task))
		return true;
	tell_task(task, last ? last : seen_claim(set, tid, start), is_running);
	return true;
}

/* An iterator has touched all of a task already: nothing is saved there. */
static __always_inline bool visit_task(struct task_struct *task)
{
	bool is_running = task_is_running(task);

	if (!walks_by_hand || is_running || !is_quiet(task))
		return look_closely(task, is_running);
	sweep.n_tasks++;
	return true;
}

static __always_inline void find_abilities(void)
{
	__u32 abilities = 0;

	if (bpf_core_field_exists(((struct task_struct *)0)->on_cpu))
		abilities |= WATT_BPF_HAS_ON_CPU;
	if (irq_time_is_separate())
		abilities |= WATT_BPF_HAS_IRQTIME;
	sweep.abilities = abilities;
}

/* Reserves first: the ring's order is the order in which things happen to a task. false: no room. */
static __always_inline bool tell_event(struct task_struct *task, __u16 kind)
{
	struct watt_bpf_record *record;
	struct task_name name = {};
	bool is_named = true;

	if (pidns_inum && kind == WATT_BPF_FREE) {
		if (!pidns_recall(task, &name)) {
			count_lost();
			return true;
		}
	} else if (pidns_inum && !pidns_keep(task, kind == WATT_BPF_EXIT)) {
		count_lost();
	}
	task = cheap_to_verify(task);
	if (!task->pid)
		return true;
	record = bpf_ringbuf_reserve(&events, sizeof(*record), 0);
	if (!record)
		return false;
	record_fill(record, task, kind, bpf_ktime_get_ns());
	if (pidns_inum && kind == WATT_BPF_FREE)
		pidns_rename(record, &name);
	else if (pidns_inum)
		is_named = pidns_rename_task(record, task);
	if (is_named)
		bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	else
		bpf_ringbuf_discard(record, BPF_RB_NO_WAKEUP);
	return true;
}

/* ---- the dying ---- */

/* A slot that is free, or that of a task that is dead and can be counted. */
static long find_slot(__u32 i, __u32 *key)
{
	struct dying_slot *slot;
	struct task_struct *task;

	*key = __sync_fetch_and_add(&dying_head, 1) & (n_dying - 1);
	slot = bpf_map_lookup_elem(&dying, key);
	if (!slot)
		return 1;
	task = slot->task;
	return !task || task_is_gone(cheap_to_verify(task)) ? 1 : 0;
}

/*
 * Room is made by who has been dead for longest, all around. Where all are still dying, nobody will
 * count this one.
 */
static __always_inline void keep_dying(struct task_struct *task)
{
	struct dying_slot *slot;
	__u32 key = 0;

	bpf_loop(DYING_TRIES, find_slot, &key, 0);
	slot = bpf_map_lookup_elem(&dying, &key);
	if (slot)
		task = bpf_kptr_xchg(&slot->task, task);
	if (!task)
		return;
	if (!task_is_gone(cheap_to_verify(task)) || !tell_event(task, WATT_BPF_FREE))
		count_lost();
	bpf_task_release(task);
}

/* What finds no room in the ring stays for the next call. */
static long bury_one(__u32 i, void *data)
{
	__u32 key = (*(__u32 *)data + i) & (n_dying - 1);
	struct dying_slot *slot = bpf_map_lookup_elem(&dying, &key);
	struct task_struct *task;

	if (!slot)
		return 1;
	task = bpf_kptr_xchg(&slot->task, NULL);
	if (!task)
		return 0;
	if (task_is_gone(cheap_to_verify(task))) {
		if (tell_event(task, WATT_BPF_FREE)) {
			bpf_task_release(task);
			return 0;
		}
		sweep.is_ring_full = 1;
		task = bpf_kptr_xchg(&slot->task, task);
	}
	if (task)
		keep_dying(task);
	return sweep.is_ring_full ? 1 : 0;
}

/*
 * Counts those of the dying that are dead. A slot that is still empty may be about to be filled,
 * so the next sweep looks at it once more.
 */
SEC("syscall")
int bury_call(void *ctx)
{
	__u32 head = dying_head, tail = dying_tail, n = head - tail;

	sweep.is_ring_full = 0;
	if (n > n_dying) {
		n = n_dying;
		tail = head - n;
	}
	if (n)
		bpf_loop(n, bury_one, &tail, 0);
	if (sweep.is_ring_full)
		return 0;
	dying_tail = dying_last;
	dying_last = head;
	return 0;
}

/* ---- the ways to walk ---- */

static __always_inline struct task_struct *task_at(struct list_head *node, __u32 offset)
{
	return cheap_to_verify((void *)node - offset);
}

/*
 * The next thread of its process, or the leader of the next one, as the kernel's own walks go. Where
 * the list of threads has the same on both sides of this one, that is the head of the list: the only
 * thread, as most are, is the leader, and its process need not be read.
 */
static __always_inline struct task_struct *next_task(struct task_struct *task)
{
	struct list_head *node = task->thread_node.next;

	if (node == task->thread_node.prev)
		return task_at(task->tasks.next, bpf_core_field_offset(struct task_struct, tasks));
	if (node != &task->signal->thread_head)
		return task_at(node, bpf_core_field_offset(struct task_struct, thread_node));
	return task_at(task->group_leader->tasks.next,
		       bpf_core_field_offset(struct task_struct, tasks));
}

/* The last task of the pass before, or of an earlier one if it is no more. NULL: all are gone. */
static __always_inline struct task_struct *resume(void)
{
	struct task_struct *task, *found;

	for (__u32 i = 1; i <= WATT_BPF_PLACES && i <= sweep.n_passes; i++) {
		struct watt_bpf_place *place =
			&sweep.places[(sweep.n_passes - i) % WATT_BPF_PLACES];

		task = bpf_task_from_pid(place->tid);
		if (!task)
			continue;
		found = task->start_boottime == place->start_ns ? cheap_to_verify(task) : NULL;
		bpf_task_release(task);
		if (!found)
			continue;
		sweep.n_tasks = place->n_tasks;
		return found;
	}
	sweep.n_tasks = 0;
	return NULL;
}

struct walk {
	struct task_struct *task, *first;
	struct task_struct *place; /* the last that is there for us */
	__u64 end_ns;
	__u32 n, n_most;
};

#define TOUCH(x) ((void)*(const volatile __typeof__(x) *)&(x))

/*
 * By the next sweep the tasks have fallen out of the caches, and the walk would wait for one after
 * the other, as each tells where the next one is. Who was a few places further on last time most
 * likely is so again: what a quiet task is known by is fetched from there meanwhile. It is only
 * touched, for the task may be no more.
 */
static __always_inline void fetch_ahead(struct task_struct *task)
{
	__u32 n = sweep.n_tasks, n_ahead = n + AHEAD;
	__u64 *place = bpf_map_lookup_elem(&order, &n);
	__u64 *ahead = bpf_map_lookup_elem(&order, &n_ahead);
	struct task_struct *next;

	if (place)
		*place = (unsigned long)task;
	if (!ahead || !*ahead)
		return;
	next = bpf_rdonly_cast((void *)*ahead, bpf_core_type_id_kernel(struct task_struct));
	if (bpf_core_field_exists(next->on_cpu)) {
		if (bpf_core_field_size(next->on_cpu) == sizeof(__u8))
			TOUCH(((struct task_struct___other *)next)->on_cpu);
		else
			TOUCH(next->on_cpu);
	}
	TOUCH(next->se.sum_exec_runtime);
	TOUCH(next->tasks.next);
	TOUCH(next->thread_node.next);
}

static long walk_on(__u32 i, struct walk *walk)
{
	struct task_struct *task = cheap_to_verify(walk->task);

	if (sweep.n_records >= n_records_most || walk->n >= walk->n_most)
		return 1;
	if (i % VISITS_PER_LOOK == VISITS_PER_LOOK - 1 && bpf_ktime_get_ns() > walk->end_ns)
		return 1;
	task = next_task(task);
	walk->task = task;
	fetch_ahead(task);
	if (visit_task(task)) {
		walk->place = task;
		walk->n++;
	}
	if (task != walk->first)
		return 0;
	sweep.is_over = 1;
	return 1;
}

static __always_inline void remember_place(struct task_struct *task)
{
	struct watt_bpf_place *place = &sweep.places[sweep.n_passes % WATT_BPF_PLACES];

	place->start_ns = task->start_boottime;
	place->tid = task->pid;
	place->n_tasks = sweep.n_tasks;
	sweep.n_passes++;
}

/*
 * One pass of a walk around the list of all tasks, which begins and ends with the caller: it stays
 * in the list.
 */
SEC("syscall")
int sweep_call(void *ctx)
{
	struct walk walk = { .n_most = pass_tasks };
	__u64 begin_ns, took_ns;
	long n_steps;

	find_abilities();
	look_at_own_clock();
	bpf_rcu_read_lock();
	walk.first = cheap_to_verify(bpf_get_current_task_btf());
	walk.task = resume();
	if (!walk.task)
		walk.task = walk.first;
	walk.place = walk.task;
	begin_ns = bpf_ktime_get_ns();
	walk.end_ns = begin_ns + pass_ns;
	n_steps = bpf_loop(STEPS_MOST, walk_on, &walk, 0);
	if (n_steps > 0)
		sweep.n_steps += n_steps;
	remember_place(cheap_to_verify(walk.place));
	bpf_rcu_read_unlock();
	took_ns = bpf_ktime_get_ns() - begin_ns;
	if (took_ns > sweep.longest_ns)
		sweep.longest_ns = took_ns;
	return 0;
}

SEC("iter/task")
int sweep_iter(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (!task) {
		find_abilities();
		return 0;
	}
	if (!ctx->meta->seq_num)
		look_at_own_clock();
	visit_task(task);
	/* Whoever reads gets a byte, and reads on when there is room again. */
	if (sweep.n_records >= n_records_most)
		bpf_seq_write(ctx->meta->seq, "", 1);
	return 0;
}

/* ---- hooks ---- */

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	if (!tell_event(child, WATT_BPF_FORK))
		count_lost();
	return 0;
}

/* Its number before is the one that was kept: its leader, who is dead, has that now. */
static __always_inline void rename_exec(struct watt_bpf_record *record, struct task_struct *task,
					pid_t old_pid)
{
	struct task_name *was;
	__u32 tid = old_pid;

	pidns_rename_task(record, cheap_to_verify(task));
	if (old_pid == task->pid || record->tid & WATT_BPF_OUTSIDE)
		return;
	was = bpf_task_storage_get(&task_names, task, NULL, 0);
	if (!was) {
		count_lost();
		return;
	}
	record->tid = was->tid;
	bpf_map_update_elem(&changed_tids, &tid, &was->tid, BPF_ANY);
}

/*
 * A thread that calls exec has its leader's pid and start by now: its old id tells who it was.
 * What was told of the leader does not hold for it.
 */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, pid_t old_pid)
{
	struct watt_bpf_record *record = bpf_ringbuf_reserve(&events, sizeof(*record), 0);
	struct watt_bpf_seen_set *set;
	struct watt_bpf_seen *last;

	if (!record) {
		count_lost();
	} else {
		record_fill(record, cheap_to_verify(task), WATT_BPF_EXEC, bpf_ktime_get_ns());
		record->tid = old_pid;
		if (pidns_inum)
			rename_exec(record, task, old_pid);
		bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	}
	if (old_pid == task->pid)
		return 0;
	if (pidns_inum && !pidns_keep(task, false))
		count_lost();
	set = seen_set(task->pid);
	last = set ? seen_find(set, task->pid, task->start_boottime) : NULL;
	if (last)
		last->id = 0;
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	if (!tell_event(task, WATT_BPF_EXIT))
		count_lost();
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit_keep, struct task_struct *task)
{
	struct task_struct *kept;

	if (!tell_event(task, WATT_BPF_EXIT))
		count_lost();
	kept = bpf_task_acquire(task);
	if (kept)
		keep_dying(kept);
	else
		count_lost();
	return 0;
}

SEC("tp_btf/sched_process_free")
int BPF_PROG(on_free, struct task_struct *task)
{
	if (!tell_event(task, WATT_BPF_FREE))
		count_lost();
	return 0;
}

SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(on_cgroup, struct cgroup *cgroup, const char *path, struct task_struct *task)
{
	/* A process is where its leader is. */
	if (task->pid == task->tgid && !tell_event(task, WATT_BPF_CGROUP))
		count_lost();
	return 0;
}

/* The count makes the record visible: it must not be seen before it. */
static __always_inline void publish(__u64 *count, __u64 n)
{
#ifdef __TARGET_ARCH_x86
	barrier();
	*(volatile __u64 *)count = n; /* stores are seen in order */
#else
	__sync_lock_test_and_set(count, n);
#endif
}

/* The task's CPU is still the old one; it is not running, so its counter is exact. */
SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_migrate, struct task_struct *task, int to)
{
	__u32 from_cpu = task_cpu(task), to_cpu = to, *from_slot, *to_slot;
	__u32 cpu = bpf_get_smp_processor_id(), key;
	struct watt_bpf_record *record;
	struct watt_bpf_move_log *moved;
	__u64 n;

	from_slot = bpf_map_lookup_elem(&cpu_slots, &from_cpu);
	to_slot = bpf_map_lookup_elem(&cpu_slots, &to_cpu);
	if (!from_slot || !to_slot || *from_slot == *to_slot)
		return 0;
	moved = bpf_map_lookup_elem(&move_logs, &cpu);
	if (!moved)
		return 0;
	n = moved->written;
	key = cpu * n_moves + (n & (n_moves - 1));
	record = bpf_map_lookup_elem(&moves, &key);
	if (!record || n - moved->read >= n_moves) {
		moved->lost++;
		return 0;
	}
	/* Not cheap to verify, but cheaper to run: what is trusted is read without a check. */
	record_move(record, task, WATT_BPF_MIGRATE, bpf_ktime_get_ns());
	publish(&moved->written, n + 1);
	return 0;
}
