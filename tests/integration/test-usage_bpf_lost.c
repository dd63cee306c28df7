/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where there is no room: the usage source "bpf" with hardly any, beside one with plenty. What it
 * says is lost must be what it did not tell, no more and no less, and what it tells must be as
 * right as ever. Needs root; says why and skips otherwise.
 */
#include "../unit/unit.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../crowd.h"
#include "base/clock.h"
#include "source/config/config.h"
#include "usage_rig.h"

struct pair {
	struct rig *whole, *small;
	uint64_t lost; /* by the small one, before the other one's last word */
};

/*
 * What others do on a busy machine at the very beginning and end can be in one and not in the other,
 * and may overflow the small one before the test begins. So a test has tries, and where others come
 * and go all the time there is nothing to be seen in the end.
 */
#define TRY_NS (60 * WATT_NSEC_PER_SEC)
#define MAX_WRONG 3 /* with nobody to blame */

static struct {
	uint64_t end_ns;
	int n_wrong;
} tries;

static void end_if_late(void)
{
	bool is_late = watt_now_ns() >= tries.end_ns;

	if (tries.n_wrong == MAX_WRONG || (is_late && tries.n_wrong > 0))
		fail_msg("what is lost is not what is missing");
	if (!is_late)
		return;
	fprintf(stderr, "other processes come and go all the time\n");
	skip();
}

static void pair_close(struct pair *pair)
{
	rig_close(pair->whole);
	rig_close(pair->small);
}

static struct pair pair_try(enum watt_bpf_mode mode, enum rig_split split,
			    const struct watt_bpf_sizes *sizes)
{
	static unsigned int impossible; /* the kernel's verifier takes long to say so */
	struct pair pair = { .whole = impossible & 1u << mode ? NULL : rig_open(mode, split) };

	if (!pair.whole) {
		impossible |= 1u << mode;
		fprintf(stderr, "this kernel can't walk over tasks this way\n");
		skip();
	}
	pair.small = rig_open_sized(mode, split, sizes);
	assert_non_null(pair.small);
	rig_sweep(pair.whole, true);
	rig_sweep(pair.small, true);
	usleep(50000);
	rig_sweep(pair.small, true);
	rig_sweep(pair.whole, true);
	rig_mark(pair.small);
	rig_mark(pair.whole);
	pair.small->mark_ns = pair.whole->mark_ns;
	return pair;
}

static struct pair pair_open(enum watt_bpf_mode mode, enum rig_split split,
			     const struct watt_bpf_sizes *sizes)
{
	struct pair pair;

	if (mode == WATT_BPF_MODE_ITER && getenv("WATT_TEST_HOOK"))
		mode = WATT_BPF_MODE_HOOK;
	pair = pair_try(mode, split, sizes);
	while (pair.small->lost) {
		pair_close(&pair);
		end_if_late();
		pair = pair_try(mode, split, sizes);
	}
	return pair;
}

static uint64_t count_ours(const struct rig *rig, enum watt_usage_kind kind)
{
	uint64_t n = 0;

	for (size_t i = 0; i < rig->n_slots; i++)
		if (rig->tasks[i] && rig->tasks[i]->is_ours)
			n += rig->tasks[i]->n_events[kind];
	return n;
}

/*
 * Until all of ours are dead. The small one is asked first, so that it loses nothing that the other
 * has not seen, and last, so that it knows no less.
 */
static void pair_settle(struct pair *pair)
{
	for (int i = 0; i < 300; i++) {
		rig_sweep(pair->small, false);
		pair->lost = pair->small->lost;
		rig_sweep(pair->whole, false);
		if (i > 10 && count_ours(pair->whole, WATT_USAGE_FREE) ==
				      count_ours(pair->whole, WATT_USAGE_FORK))
			break;
		usleep(10000);
	}
	/* What a sweep holds back comes with the next one, and the small one's hooks run last. */
	rig_sweep(pair->whole, false);
	for (int i = 0; i < 3; i++) {
		usleep(20000);
		rig_sweep(pair->small, false);
	}
}

static bool is_alone(const struct rig *rig)
{
	for (size_t i = 0; i < rig->n_slots; i++)
		for (int kind = WATT_USAGE_TASK + 1; kind <= WATT_USAGE_CGROUP; kind++)
			if (rig->tasks[i] && !rig->tasks[i]->is_ours &&
			    rig->tasks[i]->n_events[kind])
				return false;
	return true;
}

static bool lost_is_missing(const struct pair *pair, const char *what)
{
	uint64_t missing = rig_missing(pair->whole, pair->small);

	fprintf(stderr, "%s: %llu lost, %llu missing\n", what, (unsigned long long)pair->lost,
		(unsigned long long)missing);
	/* New kernels skip hooks within others: what the whole one lost, too, can't be compared. */
	if (pair->whole->lost && rig_may_lose())
		return false;
	assert_int_equal(pair->whole->lost, 0);
	tries.n_wrong += pair->lost != missing && is_alone(pair->whole);
	return pair->lost == missing;
}

static void often(bool (*check)(enum watt_bpf_mode mode), enum watt_bpf_mode mode)
{
	tries.n_wrong = 0;
	tries.end_ns = watt_now_ns() + TRY_NS;
	while (!check(mode))
		end_if_late();
}

/* Whatever the small one says of an end is what the other one says. */
static void assert_same_ends(const struct pair *pair)
{
	size_t n = 0;

	for (size_t i = 0; i < pair->small->n_slots; i++) {
		const struct rig_task *task = pair->small->tasks[i], *other;

		if (!task || !task->n_events[WATT_USAGE_FREE])
			continue;
		other = rig_latest(pair->whole, (pid_t)task->tid);
		if (!other || other->start_ns != task->start_ns || !other->is_freed)
			continue;
		n++;
		assert_int_equal(task->free_ns, other->free_ns);
	}
	assert_true(n > 0);
}

static void be_born_and_die(int n)
{
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid)
			_exit(0);
		child_reap(pid);
	}
}

/* ---- the ring ---- */

static bool check_ring(enum watt_bpf_mode mode)
{
	struct watt_bpf_sizes sizes = { .ring_bytes = 64 << 10 };
	struct pair pair = pair_open(mode, RIG_WHOLE, &sizes);
	bool is_right;

	/* Two events each, and most of a third: there is room for 744. */
	be_born_and_die(700);
	pair_settle(&pair);
	assert_int_equal(count_ours(pair.whole, WATT_USAGE_FORK), 700);
	assert_true(count_ours(pair.small, WATT_USAGE_FORK) < 700);
	is_right = lost_is_missing(&pair, "ring");
	assert_same_ends(&pair);
	pair_close(&pair);
	return is_right;
}

static void test_call_ring(void **state)
{
	often(check_ring, WATT_BPF_MODE_CALL);
}

static void test_iter_ring(void **state)
{
	often(check_ring, WATT_BPF_MODE_ITER);
}

/* A ring that is nearly full when the dead are counted loses none of them. */
static bool check_burial(enum watt_bpf_mode mode)
{
	struct watt_bpf_sizes sizes = { .ring_bytes = 16 << 10 };
	struct pair pair = pair_open(mode, RIG_WHOLE, &sizes);
	bool is_right;

	/* 140 events and 70 deaths, and room for 186. */
	be_born_and_die(70);
	usleep(30000);
	pair_settle(&pair);
	assert_int_equal(count_ours(pair.whole, WATT_USAGE_FREE), 70);
	if (pair.small->mode != WATT_BPF_MODE_HOOK)
		assert_int_equal(count_ours(pair.small, WATT_USAGE_FREE),
				 count_ours(pair.small, WATT_USAGE_FORK));
	is_right = lost_is_missing(&pair, "burial");
	pair_close(&pair);
	return is_right;
}

static void test_call_burial(void **state)
{
	often(check_burial, WATT_BPF_MODE_CALL);
}

static void test_iter_burial(void **state)
{
	often(check_burial, WATT_BPF_MODE_ITER);
}

/* ---- the dying ---- */

struct headless {
	volatile int go_on;
};

static void *outlive_leader(void *data)
{
	struct headless *headless = data;

	while (!headless->go_on)
		usleep(5000);
	child_burn_ns(WATT_NSEC_PER_MSEC);
	_exit(0);
}

/* The leader ends, and is not gone before its thread is. */
static void be_headless(void *data)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (pthread_create(&thread, NULL, outlive_leader, data) != 0)
		_exit(1);
	/* Not pthread_exit, which wants a library that a small machine lacks. */
	syscall(SYS_exit, 0);
}

/*
 * Leaders that are dying for long, and others that come and go. Room for 16: those that die for
 * long don't count as dead before they are, and those that find no room are lost and said to be.
 */
static bool check_dying(enum watt_bpf_mode mode, int n_headless)
{
	struct watt_bpf_sizes sizes = { .n_dying = 16 };
	struct pair pair = pair_open(mode, RIG_WHOLE, &sizes);
	struct headless *shared;
	pid_t pids[64];
	uint64_t n_ends;
	bool is_right;

	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(shared, MAP_FAILED);
	for (int i = 0; i < n_headless; i++)
		pids[i] = child_spawn(be_headless, shared);
	usleep(50000);
	be_born_and_die(200);
	rig_sweep(pair.small, false);
	be_born_and_die(200);
	rig_sweep(pair.small, true);
	for (int i = 0; i < n_headless && mode == WATT_BPF_MODE_CALL; i++)
		assert_false(rig_latest(pair.small, pids[i])->is_freed);
	shared->go_on = 1;
	for (int i = 0; i < n_headless; i++)
		child_reap(pids[i]);
	pair_settle(&pair);
	n_ends = count_ours(pair.whole, WATT_USAGE_FREE);
	assert_in_range(n_ends, 400 + 2 * n_headless - (rig_may_lose() ? pair.whole->lost : 0),
			400 + 2 * n_headless);
	is_right = lost_is_missing(&pair, "dying");
	assert_same_ends(&pair);
	if (n_headless >= 8) {
		assert_true(pair.small->mode == WATT_BPF_MODE_HOOK || pair.small->lost > 0);
	} else if (pair.lost) {
		tries.n_wrong += is_right && is_alone(pair.whole);
		is_right = false;
	}
	munmap(shared, 4096);
	pair_close(&pair);
	return is_right;
}

static bool check_few_dying(enum watt_bpf_mode mode)
{
	return check_dying(mode, 4);
}

static bool check_many_dying(enum watt_bpf_mode mode)
{
	return check_dying(mode, 40);
}

static void test_call_dying(void **state)
{
	often(check_few_dying, WATT_BPF_MODE_CALL);
}

static void test_iter_dying(void **state)
{
	often(check_few_dying, WATT_BPF_MODE_ITER);
}

static void test_call_dying_many(void **state)
{
	often(check_many_dying, WATT_BPF_MODE_CALL);
}

static void test_iter_dying_many(void **state)
{
	often(check_many_dying, WATT_BPF_MODE_ITER);
}

/* ---- migrations ---- */

static void hop(void *data)
{
	int n_cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);

	for (int i = 0; i < 100; i++) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(i % n_cpus, &set);
		sched_setaffinity(0, sizeof(set), &set);
	}
}

static bool check_moves(enum watt_bpf_mode mode)
{
	struct watt_bpf_sizes sizes = { .n_moves = 16 };
	struct pair pair = pair_open(mode, RIG_BY_CPU, &sizes);
	bool is_right;

	for (int i = 0; i < 4; i++) {
		child_reap(child_spawn(hop, NULL));
		rig_sweep(pair.whole, false);
	}
	pair_settle(&pair);
	assert_true(count_ours(pair.whole, WATT_USAGE_MIGRATE) > 300);
	assert_true(count_ours(pair.small, WATT_USAGE_MIGRATE) < 200);
	is_right = lost_is_missing(&pair, "moves");
	pair_close(&pair);
	return is_right;
}

static void test_call_moves(void **state)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		fprintf(stderr, "there is only one CPU\n");
		skip();
	}
	often(check_moves, WATT_BPF_MODE_CALL);
}

/* ---- what was told, and the passes ---- */

/* How often the last sweep told of each task: once. */
static size_t assert_told_once(struct rig *rig)
{
	size_t n = 0;

	for (size_t i = 0; i < rig->n_slots; i++)
		if (rig->tasks[i])
			rig->tasks[i]->n_events[WATT_USAGE_TASK] = 0;
	rig_sweep(rig, false);
	for (size_t i = 0; i < rig->n_slots; i++) {
		if (!rig->tasks[i])
			continue;
		assert_true(rig->tasks[i]->n_events[WATT_USAGE_TASK] <= 1);
		n += rig->tasks[i]->n_events[WATT_USAGE_TASK];
	}
	return n;
}

/* Who is not remembered is told of each time, once, however short the passes are. */
static bool check_seen(enum watt_bpf_mode mode)
{
	struct watt_bpf_sizes sizes = { .n_seen = 4, .n_records = 16, .pass_tasks = 5 };
	struct crowd crowd = { .is_apart = true };
	struct pair pair;
	bool is_right;

	assert_int_equal(crowd_add(&crowd, 200), 200);
	pair = pair_open(mode, RIG_WHOLE, &sizes);
	for (int i = 0; i < 5; i++) {
		size_t n = assert_told_once(pair.small);

		assert_true(n >= 200 && n + 16 <= pair.small->batch.n_tasks + 200);
		assert_true(assert_told_once(pair.whole) < 200);
	}
	assert_true(pair.small->batch.n_tasks + 20 >= pair.whole->batch.n_tasks);
	pair_settle(&pair);
	is_right = lost_is_missing(&pair, "seen");
	crowd_kill(&crowd);
	pair_close(&pair);
	return is_right;
}

static void test_call_seen(void **state)
{
	often(check_seen, WATT_BPF_MODE_CALL);
}

static void test_iter_seen(void **state)
{
	often(check_seen, WATT_BPF_MODE_ITER);
}

static size_t count_told_of(const struct rig *rig, const struct crowd *crowd)
{
	size_t n = 0;

	for (size_t i = 0; i < rig->n_slots; i++)
		for (size_t k = 0; rig->tasks[i] && k < crowd->n; k++)
			if (rig->tasks[i]->tgid == (uint32_t)crowd->pids[k])
				n += rig->tasks[i]->n_events[WATT_USAGE_TASK];
	return n;
}

/*
 * Tasks whose ids are far apart meet in a set and have a place each there: of these, one in 10^5 would
 * find its set full. Had a task but one place where it can be, some ten would find it taken.
 */
static void check_ways(enum watt_bpf_mode mode)
{
	struct watt_bpf_sizes sizes = { .n_seen = 4096 };
	struct crowd crowd = { .is_apart = true };
	struct rig *rig;
	size_t n;

	assert_int_equal(crowd_add(&crowd, 300), 300);
	assert_int_equal(crowd_add(&crowd, 300), 300);
	rig = rig_open_sized(mode, RIG_WHOLE, &sizes);
	if (!rig) {
		crowd_kill(&crowd);
		fprintf(stderr, "this kernel can't walk over tasks this way\n");
		skip();
	}
	rig_sweep(rig, true);
	n = count_told_of(rig, &crowd);
	assert_true(n >= crowd.n_tasks);
	/* Some may still be on their way to sleep. */
	for (int i = 0; i < 100 && n > 2; i++) {
		usleep(20000);
		assert_told_once(rig);
		n = count_told_of(rig, &crowd);
	}
	assert_in_range(n, 0, 2);
	crowd_kill(&crowd);
	rig_close(rig);
}

static void test_call_ways(void **state)
{
	check_ways(WATT_BPF_MODE_CALL);
}

static void test_iter_ways(void **state)
{
	check_ways(getenv("WATT_TEST_HOOK") ? WATT_BPF_MODE_HOOK : WATT_BPF_MODE_ITER);
}

#define CROWD 300

/* Counts records by the task of the crowd; the last of them that is of it, or -1. */
static int count_records(const struct crowd *crowd, const struct watt_usage *records, uint32_t n,
			 unsigned int *n_told)
{
	int last = -1;

	for (uint32_t i = 0; i < n; i++) {
		for (int k = 0; k < CROWD; k++) {
			if (records[i].tid != (uint32_t)crowd->pids[k])
				continue;
			n_told[k]++;
			last = k;
		}
	}
	return last;
}

static void kill_one(const struct crowd *crowd, int k, bool *is_dead)
{
	if (k < 0 || is_dead[k])
		return;
	child_kill(crowd->pids[k]);
	is_dead[k] = true;
}

/* A walk goes on when the task dies at which it stopped, and when all before it do. */
static void test_call_place_dies(void **state)
{
	struct watt_bpf_sizes sizes = { .n_records = 16, .pass_tasks = 8 };
	struct crowd crowd = { .is_apart = true };
	unsigned int n_told[CROWD] = { 0 };
	const struct watt_usage *records;
	bool is_dead[CROWD] = { false };
	struct watt_bpf_object object;
	struct watt_bpf_sweep *sweep;
	int r, last, n_pauses = 0;

	if (rig_open_object(&object, WATT_BPF_MODE_CALL, &sizes) < 0) {
		fprintf(stderr, "this kernel can't walk over tasks this way\n");
		skip();
	}
	for (int k = 0; k < CROWD; k++)
		assert_int_equal(crowd_add(&crowd, 1), 1);
	records = mmap(NULL, 16 * sizeof(*records), PROT_READ, MAP_SHARED,
		       watt_bpf_object_records_fd(&object), 0);
	assert_ptr_not_equal(records, MAP_FAILED);
	sweep = watt_bpf_object_sweep(&object);
	assert_int_equal(watt_bpf_object_begin(&object, true), 0);
	do {
		r = watt_bpf_object_walk(&object);
		last = count_records(&crowd, records, sweep->n_records, n_told);
		sweep->n_records = 0;
		kill_one(&crowd, last, is_dead);
		for (int k = 0; k < CROWD && n_pauses % 3 == 2; k++)
			kill_one(&crowd, n_told[k] ? k : -1, is_dead);
		n_pauses++;
	} while (r == 1);
	assert_int_equal(r, 0);
	assert_true(n_pauses > CROWD / 16);
	for (int k = 0; k < CROWD; k++) {
		assert_int_equal(n_told[k], 1);
		kill_one(&crowd, k, is_dead);
	}
	munmap((void *)records, 16 * sizeof(*records));
	watt_bpf_object_close(&object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_call_ring),       cmocka_unit_test(test_iter_ring),
		cmocka_unit_test(test_call_burial),     cmocka_unit_test(test_iter_burial),
		cmocka_unit_test(test_call_dying),      cmocka_unit_test(test_iter_dying),
		cmocka_unit_test(test_call_dying_many), cmocka_unit_test(test_iter_dying_many),
		cmocka_unit_test(test_call_moves),      cmocka_unit_test(test_call_seen),
		cmocka_unit_test(test_iter_seen),       cmocka_unit_test(test_call_ways),
		cmocka_unit_test(test_iter_ways),       cmocka_unit_test(test_call_place_dies),
	};
	const char *why = rig_why_not();

	if (why) {
		fprintf(stderr, "%s\n", why);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
