/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process (a thread group) and the table of all.
 *
 * A record is made when the process is forked, or first seen, and goes when it has been dead for
 * two windows. Only the sampler changes and removes records; hooks find them under RCU and add to
 * their atomic counters. A process is (pid, start time): a reused pid gets a record of its own.
 */
#ifndef WATTRIBUTE_PROCESS_H
#define WATTRIBUTE_PROCESS_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include "amount.h"
#include "pause.h"

struct cgroup;
struct pid;
struct signal_struct;

/* Since the process began; mem_bytes is what it holds now. */
struct watt_counts {
	u64 cpu_ns;
	u64 mem_bytes;
	u64 instructions;
	u64 wakeups;
	u64 disk_read_bytes;
	u64 disk_write_bytes;
	u64 rx_packets;
	u64 tx_packets;
};

/* What a window showed: everything up to its end. */
struct watt_state {
	struct watt_counts counts;
	struct watt_amount energy;
	bool is_alive;
};

/* The last windows. A reader of window w needs w and w - 1 while w + 1 is written. */
#define WATT_WINDOWS 3

/*
 * What a process used on the CPUs of one unit.
 *
 * A thread that leaves for another unit adds its whole run time here and takes it away there, so
 * that the time used here is base_ns + the run time of the threads that are here now.
 */
struct watt_part {
	atomic64_t base_ns;
	u64 leaving_ns;          /* of the process's, what was here */
	u64 cpu_ns;              /* at the last sample */
	u64 delta_ns;            /* since the one before; while it is read: so far */
	atomic64_t instructions; /* not in n_instructions so far */
	u64 n_instructions;      /* since the last sample */
	__uint128_t weight;      /* in the division of the sample's energy */
	u64 share_nj;
	s64 carry; /* what is owed from earlier divisions, in 2^-31 nJ */
	s64 due;
};

#define WATT_RX_SHIFT 16

#define WATT_RUN_UNSEEN U64_MAX

struct watt_process {
	/* What a sample needs of one that sleeps is in the first cache line. */
	struct list_head node; /* among all; the sampler's */
	struct pid *pid;
	u64 pass;              /* the sample that has it */
	u64 seen_run_ns;       /* of its threads, at the last sample; WATT_RUN_UNSEEN: to be read */
	struct cgroup *cgroup; /* changed by xchg(), read under RCU */
	u8 n_to_show;          /* windows until shown[] has what is so now, and nothing older */
	u32 number;            /* in the table: where readers find it */
	struct hlist_node signal_node;
	struct llist_node born_node;
	struct llist_node dead_node;
	struct list_head leavers; /* this, the next two and leaving_ns: under leaver.c's lock */
	u64 leaving_ns;           /* what leavers were seen to have run */
	u64 freed_ns;             /* what threads ran that are freed */
	u64 run_ns;               /* what all threads ran, at the last sample */
	atomic_t n_moves;         /* of threads from one unit to another, begun */
	int seen_moves;           /* at the last sample */
	struct watt_process *next_dead; /* and of those removed, which wait for their readers */
	struct watt_process *next_active;
	const struct signal_struct *signal; /* tells one from another, no more */
	u64 start_ns;
	pid_t tgid;
	kuid_t uid; /* whose it is, at the last window; INVALID_UID: of several */
	char comm[TASK_COMM_LEN];
	bool is_kernel;
	bool is_alive;
	bool is_known;       /* a first sample was taken */
	bool is_newborn;     /* was born after the module was loaded: counts from zero */
	bool is_placed;      /* since it began, its parts were read once while no thread moved */
	bool is_freed;       /* its leader was, and last_words are there */
	bool is_final;       /* nothing of it is still to come */
	u64 reaped_ns;       /* when it was first read without a leader; 0: never */
	int is_dead;         /* in the list of those whose last thread has exited; by xchg() */
	u64 first_window;    /* that shows it; 0: none so far */
	u64 dead_window;     /* the first that shows all it used; 0: it is not dead */
	u64 last_window;     /* that shows it; 0: not known yet */
	u64 dead_ns;         /* when dead_window ended */
	atomic64_t rx_parts; /* in 2^-WATT_RX_SHIFT packets */
	atomic64_t tx_packets;
	struct watt_counts now;
	struct watt_counts last_words; /* of a dead one; cpu_ns is in the parts */
	char last_comm[TASK_COMM_LEN]; /* its name and whose it was: shown with them */
	kuid_t last_uid;
	struct watt_amount energy;
	struct watt_state shown[WATT_WINDOWS];
	struct watt_part parts[]; /* for each unit */
};

/* The next one with a weight, after a pause where it is time for one. */
static inline struct watt_process *watt_process_next_active(const struct watt_process *process)
{
	watt_pause_after_one();
	return process->next_active;
}

int watt_processes_init(void);
void watt_processes_done(void);
/* From now on a process that has no record began before, or was given up. */
void watt_processes_start_counting(void);

/* By a task of it. Under RCU, in any context but NMI. NULL: there is no record. */
struct watt_process *watt_process_find(const struct task_struct *task);
/* By its leader; the one that is there if there is one. Under RCU. NULL: no memory, or too many. */
struct watt_process *watt_process_add(struct task_struct *leader);

/* A task exits; it is the current one. */
void watt_process_thread_exits(struct task_struct *task);
/* A task is freed: in its RCU callback, when its run time is final. */
void watt_process_thread_freed(struct task_struct *task);
/* The same for those of which it was not heard. For the sampler; it pauses. */
void watt_processes_free_missed(void);
/* How many these were. */
u64 watt_processes_missed(void);
/* Its last thread has exited, heard or not: watt_processes_take_dead() has it. */
void watt_process_list_dead(struct watt_process *process);
/*
 * Puts those whose last thread has exited since the last call before a list by next_dead, which is
 * returned. For the sampler.
 */
struct watt_process *watt_processes_take_dead(struct watt_process *list);
/* Frees a dead one some time after its readers are done. For the sampler. */
void watt_process_remove(struct watt_process *process);
/* Frees those removed whose readers are done. For the sampler. */
void watt_processes_free_removed(void);

/* Stands for all that have no record, and for the amounts of those forgotten. */
struct watt_process *watt_process_unlisted(void);

/* All, linked by node. For the sampler, which alone may take some away. */
struct list_head *watt_processes_all(void);
/* Whether there may be processes without a record, for which there was no room or no memory. */
bool watt_processes_take_incomplete(void);

/*
 * The record of this number or the next higher one, which *number becomes; NULL at the end. Numbers
 * go up with each record that is made. Under RCU.
 */
struct watt_process *watt_process_next(unsigned long *number);

/* What a process can change of itself, or others of it: name, user, cgroup. Under RCU. */
void watt_process_refresh(struct watt_process *process, struct task_struct *leader);
/* The same of a dead one, of which nothing is still to come. For the sampler. */
void watt_process_refresh_dead(struct watt_process *process);
void watt_process_set_cgroup(struct watt_process *process, struct task_struct *task);

unsigned int watt_processes_count(void);
u64 watt_processes_refused(void);

#endif
