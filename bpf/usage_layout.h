/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * What the BPF programs and user space both lay hands on. Fixed-size members only; the includer
 * brings __u16, __u32 and __u64 (vmlinux.h or <linux/types.h>).
 */
#ifndef WATT_BPF_LAYOUT_H
#define WATT_BPF_LAYOUT_H

/* Passes whose last task is known, for a later one to go on from. */
#define WATT_BPF_PLACES 8u

/* Tasks that share a set of places to be remembered in: a cache line. */
#define WATT_BPF_SEEN_WAYS 4u
/* Ids have 22 bits; the rest of the word is the lower part of a sweep's number. */
#define WATT_BPF_SEEN_SHIFT 10u
#define WATT_BPF_SEEN_NUMBERS ((1u << WATT_BPF_SEEN_SHIFT) - 1)

/*
 * Where tasks are called by the numbers of one pid namespace: whoever is not in it keeps the
 * kernel's own, with this bit. No number of the kernel's has it.
 */
#define WATT_BPF_OUTSIDE (1u << 31)

/* The layout of struct watt_usage. */
struct watt_bpf_record {
	__u64 t_ns;
	__u64 cpu_ns;
	__u64 start_ns;
	__u64 leader_start_ns;
	__u64 cgroup_id;
	__u32 tid;
	__u32 tgid;
	__u32 parent_tgid;
	__u32 uid;
	__u32 cpu;
	__u16 kind;
	__u16 flags;
	char comm[16];
};

_Static_assert(sizeof(struct watt_bpf_record) == 80, "records are 80 bytes");

/* The layout of struct watt_cpu_time. */
struct watt_bpf_cpu_time {
	__u64 user_ns;
	__u64 system_ns;
	__u64 idle_ns;
	__u64 irq_ns;
	__u64 softirq_ns;
	__u64 steal_ns;
	__u32 online;
	__u32 reserved;
};

enum watt_bpf_kind {
	WATT_BPF_TASK = 0,
	WATT_BPF_MIGRATE = 1,
	WATT_BPF_FORK = 2,
	WATT_BPF_EXEC = 3,
	WATT_BPF_EXIT = 4,
	WATT_BPF_FREE = 5,
	WATT_BPF_CGROUP = 6,
};

enum watt_bpf_flag {
	WATT_BPF_KTHREAD = 1u << 0,
	WATT_BPF_RUNNING = 1u << 1,
	WATT_BPF_ZOMBIE = 1u << 2,
	WATT_BPF_CGROUP_V1 = 1u << 3,
	WATT_BPF_NO_UID = 1u << 5,
	WATT_BPF_NO_CGROUP = 1u << 6,
};

/* The v1 controller by which a task is told apart where its v2 cgroup tells less. */
enum watt_bpf_v1 {
	WATT_BPF_V1_NONE = 0,
	WATT_BPF_V1_CPUACCT = 1,
	WATT_BPF_V1_MEMORY = 2,
	WATT_BPF_V1_PIDS = 3,
	WATT_BPF_V1_FREEZER = 4,
	WATT_BPF_V1_CPUSET = 5,
	WATT_BPF_V1_DEVICES = 6,
};

/* What this kernel is able to tell, found out by CO-RE. */
enum watt_bpf_ability {
	WATT_BPF_HAS_ON_CPU = 1u << 0,  /* running tasks can be told and extrapolated */
	WATT_BPF_HAS_IRQTIME = 1u << 1, /* irq time is kept out of the tasks' time */
};

/* Where a pass ended. */
struct watt_bpf_place {
	__u64 start_ns; /* of the task */
	__u32 tid;
	__u32 n_tasks; /* of the sweep so far */
};

/* One sweep: user space sets the first four and clears the rest, then the programs go on. */
struct watt_bpf_sweep {
	__u32 number; /* of the sweep */
	__u32 is_full;
	__u32 n_records; /* not yet taken */
	__u32 n_passes;
	__u32 n_tasks; /* walked over */
	__u32 is_over; /* all of them were */
	__u32 abilities;
	__u32 is_ring_full;                            /* some of the dead could not be told of */
	__u64 longest_ns;                              /* of its passes: how long RCU was held */
	__u64 n_steps;                                 /* of all passes, from a task to the next */
	struct watt_bpf_place places[WATT_BPF_PLACES]; /* by the number of the pass */
};

/* What was last told of a task. */
struct watt_bpf_seen {
	__u32 id;    /* tid << 10 | number of a sweep not long ago; 0: nobody's */
	__u32 start; /* the lower half of when the task started */
	__u64 told;  /* cpu_ns << 1 | 1 if it was running */
};

struct watt_bpf_seen_set {
	struct watt_bpf_seen way[WATT_BPF_SEEN_WAYS];
};

_Static_assert(sizeof(struct watt_bpf_seen_set) == 64, "a set is a cache line");

/* A task that slept, with all that it had used told. */
struct watt_bpf_quiet {
	__u64 task; /* where it lies; 0: nobody */
	__u64 cpu_ns;
};

/* Positions in one CPU's part of the migrations; on a cache line of its own. */
struct watt_bpf_move_log {
	__u64 written; /* by the hook */
	__u64 read;    /* by user space */
	__u64 lost;    /* by the hook */
	__u64 reserved[5];
};

#endif
