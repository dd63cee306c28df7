/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls tasks by the numbers that they have in one pid namespace, where the session is not in the
 * kernel's first: no word of this runs there. Whoever is not in that namespace keeps the kernel's
 * own number, with a bit, and nothing else is told of him. It must not decide what is told.
 */
#ifndef WATT_BPF_PIDNS_H
#define WATT_BPF_PIDNS_H

/* A struct pid has a number in its namespace and in each above; no kernel nests more. */
#define PIDNS_LEVELS 33

/* Inode number of the namespace; 0: the kernel's own numbers are the right ones. */
const volatile __u32 pidns_inum;

/* What a task is called: 0 in the first two is somebody outside. */
struct task_name {
	__u32 tid;
	__u32 tgid;
	__u32 kernel_tid; /* when it was called so */
};

/*
 * A task that is reaped has no struct pid any more, and is told of all the same; and one that took
 * its leader's place had another number before.
 */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_name);
} task_names SEC(".maps");

/*
 * Two that change places change numbers, the dead leader too: what its new one, the kernel's, is
 * called. The oldest make room.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u32);
} changed_tids SEC(".maps");

/* At which the namespace lies, and nobody else in it does elsewhere. 0: not yet found. */
__u32 pidns_level;

static __always_inline bool pidns_read(const struct pid *pid, __u32 level, struct upid *ret)
{
	const char *numbers = (const char *)pid + bpf_core_field_offset(struct pid, numbers);

	return !bpf_probe_read_kernel(ret, sizeof(*ret), numbers + level * sizeof(*ret));
}

static __always_inline bool pidns_is_ours(const struct upid *number)
{
	return BPF_CORE_READ(number->ns, ns.inum) == pidns_inum;
}

static __always_inline __s32 pidns_find(const struct pid *pid, __u32 top)
{
	struct upid number;

	for (__u32 level = 1; level < PIDNS_LEVELS && level <= top; level++) {
		if (!pidns_read(pid, level, &number) || !pidns_is_ours(&number))
			continue;
		pidns_level = level;
		return number.nr;
	}
	return 0;
}

/* 0: it is outside. -1: it is reaped, and nothing tells. */
static __always_inline __s32 pidns_number(const struct pid *pid)
{
	__u32 level = pidns_level, top;
	struct upid number;

	if (!pid)
		return -1;
	top = BPF_CORE_READ(pid, level);
	if (!level)
		return pidns_find(pid, top);
	if (level > top || level >= PIDNS_LEVELS || !pidns_read(pid, level, &number))
		return 0;
	return pidns_is_ours(&number) ? number.nr : 0;
}

/* false: it is reaped, and nothing tells. */
static __always_inline bool pidns_name(struct task_struct *task, struct task_name *ret)
{
	__s32 tid = pidns_number(BPF_CORE_READ(task, thread_pid)), tgid = 0;

	if (tid < 0)
		return false;
	if (tid)
		tgid = pidns_number(BPF_CORE_READ(task, group_leader, thread_pid));
	if (tgid < 0)
		return false;
	ret->tid = tid;
	ret->tgid = tgid;
	ret->kernel_tid = BPF_CORE_READ(task, pid);
	return true;
}

/*
 * Keeps what the task, which must be trusted, is called; of somebody outside where that is wanted.
 * false: there is no memory.
 */
static __always_inline bool pidns_keep(struct task_struct *task, bool is_outside_wanted)
{
	struct task_name name = {}, *kept;

	if (!pidns_name(task, &name) || (!name.tid && !is_outside_wanted))
		return true;
	kept = bpf_task_storage_get(&task_names, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!kept)
		return false;
	*kept = name;
	return true;
}

/* What was kept of a task, which must be trusted. false: nothing. */
static __always_inline bool pidns_recall(struct task_struct *task, struct task_name *ret)
{
	const struct task_name *kept = bpf_task_storage_get(&task_names, task, NULL, 0);
	__u32 tid = task->pid, *changed;

	if (!kept)
		return false;
	*ret = *kept;
	if (!kept->tid || kept->kernel_tid == tid)
		return true;
	changed = bpf_map_lookup_elem(&changed_tids, &tid);
	if (!changed)
		return false;
	ret->tid = *changed;
	return true;
}

/* Nothing of somebody outside is anybody's business but how long he ran, and where. */
static __always_inline void pidns_hide(struct watt_bpf_record *record)
{
	record->tid |= WATT_BPF_OUTSIDE;
	record->tgid |= WATT_BPF_OUTSIDE;
	record->parent_tgid = 0;
	record->uid = 0;
	record->cgroup_id = 0;
	record->flags &= ~(WATT_BPF_KTHREAD | WATT_BPF_CGROUP_V1);
	record->flags |= WATT_BPF_NO_UID | WATT_BPF_NO_CGROUP;
	*(__u64 *)record->comm = 0;
	*(__u64 *)(record->comm + 8) = 0;
}

static __always_inline void pidns_rename(struct watt_bpf_record *record,
					 const struct task_name *name)
{
	if (!name->tid) {
		pidns_hide(record);
		return;
	}
	record->tid = name->tid;
	record->tgid = name->tgid;
}

/* Calls a living task, and its parent, as the namespace does. false: nothing tells. */
static __always_inline bool pidns_rename_task(struct watt_bpf_record *record,
					      struct task_struct *task)
{
	struct task_name name;
	__s32 parent;

	if (!pidns_name(task, &name))
		return false;
	pidns_rename(record, &name);
	if (!name.tid || !record->parent_tgid)
		return true;
	parent = pidns_number(BPF_CORE_READ(task, real_parent, group_leader, thread_pid));
	record->parent_tgid = parent > 0 ? parent : 0;
	return true;
}

#endif
