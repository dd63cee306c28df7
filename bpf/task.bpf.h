/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads one task_struct into a record, on any kernel since 5.8: what was renamed or moved is found
 * by CO-RE. It must not decide whether the record is worth telling.
 */
#ifndef WATT_BPF_TASK_H
#define WATT_BPF_TASK_H

#define PF_KTHREAD 0x00200000
#define TASK_DEAD 0x80
#define TASK_NEW 0x800

/*
 * What other kernels have otherwise, one type for all, as looking for one in those of the kernel takes
 * some 0.7 ms: the state before 5.14; the CPU before 5.16, and where thread_info is not part of the
 * task; a narrow on_cpu in new ones, 7.2 among them.
 */
struct task_struct___other {
	volatile long state;
	unsigned int cpu;
	__u8 on_cpu;
} __attribute__((preserve_access_index));

extern void *bpf_rdonly_cast(const void *obj, __u32 btf_id) __ksym __weak;

const volatile __u32 v1_controller = WATT_BPF_V1_NONE;

static __always_inline __u32 task_cpu(struct task_struct *task)
{
	if (bpf_core_field_exists(task->thread_info.cpu))
		return task->thread_info.cpu;
	return ((struct task_struct___other *)task)->cpu;
}

static __always_inline bool task_is_running(struct task_struct *task)
{
	if (!bpf_core_field_exists(task->on_cpu))
		return false;
	if (bpf_core_field_size(task->on_cpu) == sizeof(__u8))
		return ((struct task_struct___other *)task)->on_cpu;
	return task->on_cpu;
}

static __always_inline __u32 task_state(struct task_struct *task)
{
	if (bpf_core_field_exists(task->__state))
		return task->__state;
	return (__u32)((struct task_struct___other *)task)->state;
}

/* In the list of tasks, and not yet told of by the fork hook: it has never run. */
static __always_inline bool task_is_new(struct task_struct *task)
{
	return task_state(task) & TASK_NEW;
}

/* Its last switch is over: exit_state alone is set some way before it. */
static __always_inline bool task_is_zombie(struct task_struct *task)
{
	return task->exit_state && !task_is_running(task) && task_state(task) & TASK_DEAD;
}

/* Dead, and if it is a leader, so is all of its group. */
static __always_inline bool task_is_gone(struct task_struct *task)
{
	return task_is_zombie(task) && (task->pid != task->tgid || task->signal->nr_threads <= 1);
}

/* The task's cgroup in the hierarchy of a controller, if this kernel has that. */
#define CGROUP_OF(set, id) \
	(bpf_core_enum_value_exists(enum cgroup_subsys_id, id) ? \
		 css_cgroup((set)->subsys[bpf_core_enum_value(enum cgroup_subsys_id, id)]) : \
		 NULL)

static __always_inline struct cgroup *css_cgroup(struct cgroup_subsys_state *css)
{
	return css ? css->cgroup : NULL;
}

static __always_inline struct cgroup *v1_cgroup(struct css_set *set)
{
	switch (v1_controller) {
	case WATT_BPF_V1_CPUACCT:
		return CGROUP_OF(set, cpuacct_cgrp_id);
	case WATT_BPF_V1_MEMORY:
		return CGROUP_OF(set, memory_cgrp_id);
	case WATT_BPF_V1_PIDS:
		return CGROUP_OF(set, pids_cgrp_id);
	case WATT_BPF_V1_FREEZER:
		return CGROUP_OF(set, freezer_cgrp_id);
	case WATT_BPF_V1_CPUSET:
		return CGROUP_OF(set, cpuset_cgrp_id);
	case WATT_BPF_V1_DEVICES:
		return CGROUP_OF(set, devices_cgrp_id);
	default:
		return NULL;
	}
}

/* How much a cgroup's path tells: what watt_cgroup_tells says, as far as it can be seen here. */
enum cgroup_tells {
	CGROUP_OF_SYSTEMD, /* a unit at best */
	CGROUP_NAMED,      /* below a directory that systemd did not make */
	CGROUP_CONTAINER,  /* in a directory with a container's id in its name */
};

/* Deeper directories are not looked at. */
#define CGROUP_DEPTH 12
/* Hexadecimal digits of a container's id, and as much of a name as is looked at. */
#define CONTAINER_ID 64
#define NAME_MOST 128

/* The last characters of a name are compared as one number; of it, the last six as if they were the
 * first ones of one that ends in zeros. */
#define TAIL 8
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LAST_6(bits) ((bits) >> 16)
#else
#define LAST_6(bits) ((bits) << 16)
#endif

static __always_inline __u64 number_of(const char text[TAIL])
{
	__u64 bits;

	__builtin_memcpy(&bits, text, TAIL);
	return bits;
}

/* len: of the name; where it is shorter than what is compared, other bytes are in front of it. */
static __always_inline bool is_of_systemd(__u64 tail, long len)
{
	__u64 last_6 = LAST_6(tail);

	return (len >= TAIL && tail == number_of(".service")) ||
	       (len >= 6 && (last_6 == number_of(".slice\0") || last_6 == number_of(".scope\0")));
}

/* On the way from a cgroup to the root of its hierarchy. */
struct cgroup_climb {
	__u64 address; /* of the next one */
	__u64 tail;    /* of the last name */
	long len;
	bool is_in_container;
};

/* 1: it is over. */
static long cgroup_climb_on(__u32 i, struct cgroup_climb *climb)
{
	struct cgroup *cgroup = (void *)climb->address;
	char text[NAME_MOST];
	const char *name;

	if (BPF_CORE_READ(cgroup, level) <= 0)
		return 1;
	name = BPF_CORE_READ(cgroup, kn, name);
	climb->len = bpf_probe_read_kernel_str(text, sizeof(text), name) - 1;
	bpf_probe_read_kernel(&climb->tail, TAIL, name + climb->len - TAIL);
	climb->is_in_container = climb->len >= CONTAINER_ID && climb->tail != number_of(".service");
	if (climb->is_in_container)
		return 1;
	climb->address = (unsigned long)BPF_CORE_READ(cgroup, self.parent, cgroup);
	return 0;
}

/*
 * What a cgroup's path tells. Global, with where it lies for a number: so it is verified once, and not
 * again for each way that leads to it, of which a sweep has many. Kernels that know of casts know
 * loops, too, of which one turn is verified and not all.
 */
__noinline int cgroup_tells(__u64 address)
{
	struct cgroup_climb climb = { .address = address };
	struct cgroup *last;

	if (bpf_rdonly_cast)
		bpf_loop(CGROUP_DEPTH, cgroup_climb_on, &climb, 0);
	else
		for (__u32 i = 0; i < CGROUP_DEPTH; i++)
			if (cgroup_climb_on(i, &climb))
				break;
	if (climb.is_in_container)
		return CGROUP_CONTAINER;
	last = (void *)climb.address;
	if (climb.len > 0 && !BPF_CORE_READ(last, level) && !is_of_systemd(climb.tail, climb.len))
		return CGROUP_NAMED;
	return CGROUP_OF_SYSTEMD;
}

/* In memory of a map the verifier takes it for a number. */
static __always_inline int tells_by(struct cgroup *cgroup, __u64 *scratch)
{
	*(volatile __u64 *)scratch = (unsigned long)cgroup;
	return cgroup_tells(*(volatile __u64 *)scratch);
}

/* On a hybrid machine, the v1 cgroup where it tells more; NULL: it does not. */
static __always_inline struct cgroup *better_cgroup(struct css_set *set, struct cgroup *cgroup,
						    __u64 *scratch)
{
	struct cgroup *v1 = v1_cgroup(set);
	int tells;

	if (!v1 || !v1->level)
		return NULL;
	if (!cgroup->level)
		return v1;
	tells = tells_by(v1, scratch);
	if (tells <= CGROUP_OF_SYSTEMD || tells_by(cgroup, scratch) >= tells)
		return NULL;
	return v1;
}

static __always_inline void record_cgroup(struct watt_bpf_record *record, struct css_set *set)
{
	struct cgroup *cgroup, *v1;

	if (!set)
		return;
	cgroup = set->dfl_cgrp;
	record->flags &= ~WATT_BPF_NO_CGROUP;
	v1 = v1_controller ? better_cgroup(set, cgroup, &record->cgroup_id) : NULL;
	record->cgroup_id = cgroup->kn->id;
	if (!v1)
		return;
	record->cgroup_id = v1->kn->id;
	record->flags |= WATT_BPF_CGROUP_V1;
}

/* The little that a migration needs, and nothing else: the rest of its memory is 0 for good. */
static __always_inline void record_move(struct watt_bpf_record *record, struct task_struct *task,
					__u16 kind, __u64 now_ns)
{
	struct task_struct *leader = task->group_leader;

	record->t_ns = now_ns;
	record->cpu_ns = task->se.sum_exec_runtime;
	record->start_ns = task->start_boottime;
	record->leader_start_ns = leader->start_boottime;
	record->tid = task->pid;
	record->tgid = task->tgid;
	record->cpu = task_cpu(task);
	record->kind = kind;
	record->flags = WATT_BPF_NO_UID | WATT_BPF_NO_CGROUP;
	if (task->flags & PF_KTHREAD)
		record->flags |= WATT_BPF_KTHREAD;
}

/*
 * All of it. At the free hook only the task itself is sure to be there: its leader and its parent
 * may be gone and their memory be somebody else's.
 */
static __always_inline void record_fill(struct watt_bpf_record *record, struct task_struct *task,
					__u16 kind, __u64 now_ns)
{
	struct task_struct *leader = task->group_leader;
	bool is_freed = kind == WATT_BPF_FREE;

	record_move(record, task, kind, now_ns);
	record->flags &= ~WATT_BPF_NO_UID;
	record->cgroup_id = 0;
	record->parent_tgid = 0;
	record->uid = task->cred->euid.val;
	record_cgroup(record, is_freed ? task->cgroups : leader->cgroups);
	if (!is_freed)
		record->parent_tgid = task->real_parent->tgid;
	else if (record->tid == record->tgid)
		record->leader_start_ns = record->start_ns;
	else if (leader->pid != record->tgid)
		record->leader_start_ns = 0;
	bpf_probe_read_kernel(record->comm, sizeof(record->comm), task->comm);
	record->comm[sizeof(record->comm) - 1] = 0;
}

#endif
