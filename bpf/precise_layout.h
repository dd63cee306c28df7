/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * What the program at context switches and user space share. Both see the same memory: user space
 * reads the counts, takes the bits of what has changed, and frees the places of who is away.
 */
#ifndef WATT_BPF_PRECISE_LAYOUT_H
#define WATT_BPF_PRECISE_LAYOUT_H

/* Places in a set: a task looks for its own among so many. */
#define WATT_PRECISE_WAYS 4

/* In the order of the activities, from cycles on. */
enum watt_precise_count {
	WATT_PRECISE_CYCLES = 0,
	WATT_PRECISE_INSTRUCTIONS = 1,
	WATT_PRECISE_SHARED_NS = 2,
	WATT_PRECISE_IRQ_NS = 3,
	WATT_PRECISE_N
};

#define WATT_PRECISE_FREE 0
#define WATT_PRECISE_BEING_MADE 1

/* What a task has done on CPUs of one slot since it got its place here: a cache line. */
struct watt_precise_task {
	__u64 tag; /* of the task and the slot; or one of the two above */
	__u64 leader_start_ns;
	__u32 tgid;
	__u32 slot;
	__u64 counts[WATT_PRECISE_N];
	__u64 reserved;
};

struct watt_precise_set {
	struct watt_precise_task ways[WATT_PRECISE_WAYS];
};

/*
 * Of one CPU, which alone writes it, but for what user space sets: two cache lines, so that CPUs don't
 * take each other's away. A sibling looks at the first one.
 */
struct watt_precise_cpu {
	__u64 since_ns;        /* of the last look */
	__u64 busy_ns;         /* until then, since the beginning */
	__u64 sibling_busy_ns; /* of its sibling, then */
	__u64 begun_ns;        /* run time of who runs since then, when it began; 0: not known */
	__u32 turns;           /* between idle and busy: odd while it is busy */
	__u32 sibling_turns;   /* of its sibling, then */
	__u32 lent_ns;         /* since the clock was read, by run time */
	__u32 irq_depth;
	__u32 is_known; /* the last look was not before all that counts was there */
	/* user space sets these */
	__u32 slot;
	__u32 sibling;     /* plus 1; 0: it has none */
	__u32 first_word;  /* of the bits of what it has changed */
	__u64 irq_ns;      /* in handlers, since the beginning */
	__u64 irq_told_ns; /* of it, what tasks have */
	__u64 irq_since_ns;
	__u64 counters[2]; /* cycles and instructions, then */
	__u64 lost_looks;  /* at tasks that found no place */
	__u32 freq_khz;    /* user space sets it */
	__u32 reserved[3];
};

#endif
