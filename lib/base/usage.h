/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Usage: what a task had used of the CPUs at one instant, and what happened to it.
 *
 * A task is a thread: (tid, start_ns). A process is a thread group: (tgid, leader_start_ns); a
 * pid that is used again is another task and another process.
 */
#ifndef WATT_BASE_USAGE_H
#define WATT_BASE_USAGE_H

#include <wattribute/snapshot.h>

/* What a usage record tells. */
enum watt_usage_kind {
	WATT_USAGE_TASK = 0,    /* a sweep saw the task: cpu_ns up to t_ns, on `cpu` */
	WATT_USAGE_MIGRATE = 1, /* the task left `cpu` at t_ns with cpu_ns so far */
	WATT_USAGE_FORK = 2,    /* the task was born; parent_tgid is its parent */
	/* The process became another program; comm is the new one. `tid` is the thread that called
	 *  exec by its old id: where it is not tgid, it took its leader's place and start. */
	WATT_USAGE_EXEC = 3,
	WATT_USAGE_EXIT = 4,   /* the task began to die at t_ns; cpu_ns is not its last word */
	WATT_USAGE_FREE = 5,   /* the task is gone; cpu_ns is final */
	WATT_USAGE_CGROUP = 6, /* the process moved to cgroup_id */
};

/* Bits of watt_usage.flags. */
enum watt_usage_flag {
	WATT_USAGE_KTHREAD = 1u << 0,   /* a kernel thread */
	WATT_USAGE_RUNNING = 1u << 1,   /* on a CPU at t_ns: the last part is extrapolated */
	WATT_USAGE_ZOMBIE = 1u << 2,    /* dead and not yet reaped: cpu_ns is final */
	WATT_USAGE_CGROUP_V1 = 1u << 3, /* cgroup_id is of a v1 hierarchy */
	WATT_USAGE_WHOLE = 1u << 4,     /* cpu_ns is of the whole process, dead threads too */
	WATT_USAGE_NO_UID = 1u << 5,    /* uid is not known */
	WATT_USAGE_NO_CGROUP = 1u << 6, /* cgroup_id is not known */
	/* cpu_ns is of threads of the process that ended and were not told of by themselves; tid and
	 *  start_ns are the leader's. Only in TASK, behind those of the threads. */
	WATT_USAGE_ENDED = 1u << 7,
};

/*
 * A bit of tid and tgid. Where tasks are called by the numbers of a pid namespace, somebody who is
 * not in it has the kernel's own number and this bit, and nothing else is told of him.
 */
#define WATT_USAGE_OUTSIDE (1u << 31)

/* One record. A plain value of 80 bytes; the BPF programs write this very layout. */
struct watt_usage {
	uint64_t t_ns;            /* CLOCK_MONOTONIC */
	uint64_t cpu_ns;          /* run time of the task since its start */
	uint64_t start_ns;        /* when the task started, CLOCK_BOOTTIME */
	uint64_t leader_start_ns; /* when its group's leader started; 0 in FREE: not known */
	uint64_t cgroup_id;       /* inode number of its cgroup directory */
	uint32_t tid;             /* in the pid namespace of procfs */
	uint32_t tgid;
	uint32_t parent_tgid; /* 0: none or unknown */
	uint32_t uid;         /* effective, in the initial user namespace */
	uint32_t cpu;         /* the CPU that the record speaks of */
	uint16_t kind;        /* enum watt_usage_kind */
	uint16_t flags;       /* enum watt_usage_flag */
	char comm[16];        /* NUL-terminated */
};

/* Where CPUs are that share an energy counter; -1: in every one of them. */
struct watt_cpu_place {
	int32_t package_id;
	int32_t die_id;  /* in the package */
	int32_t core_id; /* in the die */
};

/* What one CPU did since boot. */
struct watt_cpu_time {
	uint64_t user_ns; /* user and nice, guests included */
	uint64_t system_ns;
	uint64_t idle_ns; /* idle and iowait */
	uint64_t irq_ns;
	uint64_t softirq_ns;
	uint64_t steal_ns;
	uint32_t online; /* 0: the CPU is offline or does not exist, and nothing above counts */
	uint32_t reserved;
};

/* One sweep over all tasks and all that happened since the one before, in order. */
struct watt_usage_batch {
	uint64_t t_before_ns;             /* CLOCK_MONOTONIC when the sweep began */
	uint64_t t_after_ns;              /* and when it had ended */
	const struct watt_usage *records; /* borrowed; in the order in which to account them */
	size_t n_records;
	const struct watt_cpu_time *cpus; /* borrowed; indexed by CPU number */
	size_t n_cpus;
	uint64_t lost;    /* records lost since the start, cumulative */
	uint32_t flags;   /* enum watt_usage_batch_flag */
	uint32_t n_tasks; /* live tasks that the sweep walked over */
	/* Run time of tasks that nobody saw since the start (hidden, or ended between two sweeps),
	 *  cumulative, estimated from the CPUs' totals; 0 where WATT_BATCH_DEATHS is set. */
	uint64_t unseen_ns;
};

#endif
