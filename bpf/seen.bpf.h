/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What was last told of each task, so that only what is new is told: a table by id, and a shortcut
 * by where a task lies for those that sleep. It must not tell anything.
 */
#ifndef WATT_BPF_SEEN_H
#define WATT_BPF_SEEN_H

/* Sweeps after which a place is marked as in use again, and those after which it is free. */
#define SEEN_REFRESH 8
#define SEEN_FREE 64
/* Of so many sweeps, one looks closely at a task that is quiet. */
#define QUIET_SWEEPS 32
/* About what a task takes. */
#define QUIET_BYTES 4096

struct watt_bpf_sweep sweep;

/* Entries of the maps, which are powers of two. */
const volatile __u32 n_seen = 1, seen_bits;
const volatile __u32 n_quiet = 1;

/* Mappable only to lie on cache lines. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct watt_bpf_seen_set);
} seen SEC(".maps");

/* The same. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct watt_bpf_quiet);
} quiet SEC(".maps");

/* ---- by id ---- */

/*
 * Ids in a row share a set, so that it is fetched once for all of them. Those that are far apart
 * are spread by folding in the upper bits, whatever power of two lies between them.
 */
static __always_inline struct watt_bpf_seen_set *seen_set(__u32 tid)
{
	__u32 key = tid / WATT_BPF_SEEN_WAYS;

	key = (key ^ key >> seen_bits) & (n_seen - 1);
	return bpf_map_lookup_elem(&seen, &key);
}

/* In sweeps, since it was marked. */
static __always_inline __u32 seen_age(const struct watt_bpf_seen *last)
{
	return (sweep.number - last->id) & WATT_BPF_SEEN_NUMBERS;
}

static __always_inline __u32 seen_id(__u32 tid)
{
	return tid << WATT_BPF_SEEN_SHIFT | (sweep.number & WATT_BPF_SEEN_NUMBERS);
}

static __always_inline struct watt_bpf_seen *seen_find(struct watt_bpf_seen_set *set, __u32 tid,
						       __u32 start)
{
#pragma unroll
	for (__u32 i = 0; i < WATT_BPF_SEEN_WAYS; i++) {
		struct watt_bpf_seen *last = &set->way[(tid + i) % WATT_BPF_SEEN_WAYS];

		if (last->id >> WATT_BPF_SEEN_SHIFT == tid && last->start == start)
			return last;
	}
	return NULL;
}

/* A place that no task has, or that of one that is no more. NULL: this one is not remembered. */
static __always_inline struct watt_bpf_seen *seen_claim(struct watt_bpf_seen_set *set, __u32 tid,
							__u32 start)
{
#pragma unroll
	for (__u32 i = 0; i < WATT_BPF_SEEN_WAYS; i++) {
		struct watt_bpf_seen *last = &set->way[(tid + i) % WATT_BPF_SEEN_WAYS];

		if (last->id && seen_age(last) <= SEEN_FREE)
			continue;
		last->start = start;
		last->told = 0;
		return last;
	}
	return NULL;
}

/* ---- by where it lies ---- */

/* The lower half of where it lies: how the verifier lets a pointer be taken for a number. */
static __always_inline __u32 address_of(const struct task_struct *task)
{
	__u32 low;

	asm volatile("%0 = %1" : "=w"(low) : "w"((__u32)(unsigned long)task));
	return low;
}

/* Tasks that lie side by side, as many neighbours in the list do, have places side by side. */
static __always_inline struct watt_bpf_quiet *quiet_place(const struct task_struct *task)
{
	__u32 key = address_of(task) / QUIET_BYTES & (n_quiet - 1);

	return bpf_map_lookup_elem(&quiet, &key);
}

/*
 * Most tasks of most machines sleep from one sweep to the next. They are known by two lines of their
 * memory, without a look at who they are: where another came to lie in the same place and had used
 * just as much, to the ns, what there is to say of it is said by its hooks, or when it uses more.
 */
static __always_inline bool is_quiet(struct task_struct *task)
{
	struct watt_bpf_quiet *place = quiet_place(task);

	return place && place->task == (unsigned long)task &&
	       place->cpu_ns == task->se.sum_exec_runtime && !sweep.is_full &&
	       (sweep.number + address_of(task) / QUIET_BYTES) % QUIET_SWEEPS;
}

static __always_inline void keep_quiet(struct task_struct *task, const struct watt_bpf_seen *last)
{
	struct watt_bpf_quiet *place = quiet_place(task);

	if (!place)
		return;
	place->task = (unsigned long)task;
	place->cpu_ns = last->told >> 1;
}

#endif
