/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An open usage source on the real kernel, and books about every task it tells of: a plain
 * accountant, to hold against what the kernel says elsewhere.
 */
#ifndef WATT_TESTS_USAGE_RIG_H
#define WATT_TESTS_USAGE_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "../unit/unit.h"
#include "source/activity/bpf/bpf.h"

#define RIG_CPUS 256

struct rig_task {
	uint32_t tid, tgid, parent_tgid, uid, cpu;
	uint64_t start_ns, leader_start_ns, cgroup_id;
	uint64_t cpu_ns; /* the most that was told */
	uint64_t slot_ns[RIG_CPUS];
	uint64_t exit_ns, free_ns;
	uint16_t flags;
	bool is_ours; /* descends from this process */
	bool is_forked, is_exited, is_freed, has_backward;
	uint32_t n_told;                          /* TASK records */
	uint32_t n_events[WATT_USAGE_CGROUP + 1]; /* by kind, since rig_mark */
	char comm[16];
	char exec_comm[16];
};

/* What is a slot of its own. */
enum rig_split {
	RIG_WHOLE,
	RIG_BY_CPU,
	RIG_BY_PACKAGE,
	RIG_LATE, /* by package, all but the first of which come when rig_bring is called */
};

struct rig {
	enum watt_bpf_mode mode;
	enum rig_split split;
	struct watt_activity_source *source;
	struct watt_usage_batch batch; /* of the last sweep */
	uint64_t lost, mark_ns;
	struct rig_task **tasks; /* hash table */
	size_t n_tasks, n_slots;
	struct rig_task **latest; /* by pid */
	size_t n_latest;
};

/*
 * Why it can't run here, or NULL. With WATT_TEST_HOOK in the environment, all that is to be tested
 * with the iterator is tested with the free hook too: for kernels that have no other way.
 */
const char *rig_why_not(void);
/* What is opened from now on takes this for /sys. */
void rig_set_sysfs(const char *path);

/* NULL: this kernel can't do it this way. */
struct rig *rig_open(enum watt_bpf_mode mode, enum rig_split split);
/* The same with other sizes of what the kernel keeps. */
struct rig *rig_open_sized(enum watt_bpf_mode mode, enum rig_split split,
			   const struct watt_bpf_sizes *sizes);
/* CPUs of other packages than the first come: see RIG_LATE. */
void rig_bring(struct rig *rig);
/* The object alone, all CPUs in one slot. A negative errno: this kernel can't do it this way. */
int rig_open_object(struct watt_bpf_object *object, enum watt_bpf_mode mode,
		    const struct watt_bpf_sizes *sizes);
void rig_close(struct rig *rig);
void rig_sweep(struct rig *rig, bool is_full);
/* Whether this kernel runs no hook while it runs one, as those from 7.0 on: what is told as lost. */
bool rig_may_lose(void);
/*
 * Sweeps now and then until all that descends from us and was born is freed, or said to be lost;
 * false: in vain.
 */
bool rig_wait_freed(struct rig *rig);
/*
 * The same until so many of ours are known, or said to be lost: of whom nobody saw while it lived, the
 * kernel tells when it frees it, which new ones do late.
 */
bool rig_wait_count(struct rig *rig, size_t n);
/* The newest task of this tid; NULL. */
struct rig_task *rig_latest(struct rig *rig, pid_t tid);
/* Its record in the last batch; NULL. */
const struct watt_usage *rig_record(struct rig *rig, pid_t tid, uint16_t kind);
/* What was told so far is not counted by rig_missing. */
void rig_mark(struct rig *rig);
/* Events that one told of since its mark, and other did not. */
uint64_t rig_missing(const struct rig *one, const struct rig *other);
/* Sum over tasks that descend from us. */
uint64_t rig_ours_ns(const struct rig *rig);
size_t rig_ours_count(const struct rig *rig);

/* ---- for the tests: setups, children ---- */

static inline int rig_setup(void **state, enum watt_bpf_mode mode, enum rig_split split)
{
	static unsigned int impossible; /* the kernel's verifier takes long to say so */

	if (mode == WATT_BPF_MODE_ITER && getenv("WATT_TEST_HOOK"))
		mode = WATT_BPF_MODE_HOOK;
	*state = impossible & 1u << mode ? NULL : rig_open(mode, split);
	if (!*state)
		impossible |= 1u << mode;
	return 0;
}

static inline int rig_setup_call(void **state)
{
	return rig_setup(state, WATT_BPF_MODE_CALL, RIG_WHOLE);
}

static inline int rig_setup_iter(void **state)
{
	return rig_setup(state, WATT_BPF_MODE_ITER, RIG_WHOLE);
}

static inline int rig_setup_hook(void **state)
{
	return rig_setup(state, WATT_BPF_MODE_HOOK, RIG_WHOLE);
}

static inline int rig_setup_call_split(void **state)
{
	return rig_setup(state, WATT_BPF_MODE_CALL, RIG_BY_CPU);
}

static inline int rig_setup_iter_split(void **state)
{
	return rig_setup(state, WATT_BPF_MODE_ITER, RIG_BY_CPU);
}

static inline int rig_setup_call_package(void **state)
{
	return rig_setup(state, WATT_BPF_MODE_CALL, RIG_BY_PACKAGE);
}

static inline int rig_setup_call_late(void **state)
{
	return rig_setup(state, WATT_BPF_MODE_CALL, RIG_LATE);
}

static inline int rig_setup_iter_late(void **state)
{
	return rig_setup(state, WATT_BPF_MODE_ITER, RIG_LATE);
}

static inline int rig_setup_iter_package(void **state)
{
	return rig_setup(state, WATT_BPF_MODE_ITER, RIG_BY_PACKAGE);
}

/* What the setup has opened; skips the test if that is nothing. */
static inline struct rig *rig_get(void **state)
{
	if (!*state) {
		fprintf(stderr, "this kernel can't walk over tasks this way\n");
		skip();
	}
	return *state;
}

static inline int rig_teardown(void **state)
{
	if (*state)
		rig_close(*state);
	return 0;
}

#define RIG_TEST_CALL(f) \
	{ \
		"call_" #f, test_##f, rig_setup_call, rig_teardown, NULL \
	}
#define RIG_TEST_ITER(f) \
	{ \
		"iter_" #f, test_##f, rig_setup_iter, rig_teardown, NULL \
	}
#define RIG_TEST_HOOK(f) \
	{ \
		"hook_" #f, test_##f, rig_setup_hook, rig_teardown, NULL \
	}
#define RIG_TEST_BOTH(f) RIG_TEST_CALL(f), RIG_TEST_ITER(f)

/* Known from rig_open on: its package, or itself on machines with one package. */
uint16_t rig_package(uint32_t cpu);

/* Uses so much CPU time, by the thread's own clock. */
void child_burn_ns(uint64_t ns);
/* The same, for child_spawn. */
void child_spin(void *ns);
void child_pause(void *nothing);
pid_t child_spawn(void (*fn)(void *), void *data);
void child_reap(pid_t pid);
/*
 * Reaps a child, and says what it and its own children used, to the end. Its getrusage is what the
 * counter says when it is reaped: a child is reported dead while it runs its last bit, on another
 * CPU and with a counter as old as its last tick. So it is left alone for a while first.
 */
void child_reap_settled(pid_t pid, struct rusage *ret);
/* It can still be reaped. */
bool child_is_dead(pid_t pid);
void child_kill(pid_t pid);

#endif
