/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On which package did a task run, and for how long? Threads move among all CPUs by their own will
 * and read their own exact clock before and after each move, so that they know. What the usage
 * source "bpf" tells must lie between what is certain and what is possible. On machines with one
 * package every CPU stands for one. Needs root and two CPUs; says why and skips otherwise.
 */
#include "../unit/unit.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "usage_rig.h"

#define THREADS 2
#define PROCESSES 3
#define MOVES 40
#define TRIES 5
/* Events of others; fewer find room beside ours. */
#define MANY 500

/* What a thread knows of itself. */
struct mover {
	pid_t tid;
	uint32_t last_slot;
	uint64_t last_ns;            /* its clock when it last looked */
	uint64_t sure_ns[RIG_CPUS];  /* by slot */
	uint64_t maybe_ns[RIG_CPUS]; /* during moves from or to it */
};

static uint32_t n_cpus;

static uint64_t own_ns(void)
{
	return watt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void move_to(struct mover *mover, uint32_t cpu)
{
	uint32_t from = mover->last_slot, to = rig_package(cpu);
	uint64_t before_ns = own_ns(), after_ns;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
	after_ns = own_ns();
	mover->sure_ns[from] += before_ns - mover->last_ns;
	if (from == to) {
		mover->sure_ns[from] += after_ns - before_ns;
	} else {
		mover->maybe_ns[from] += after_ns - before_ns;
		mover->maybe_ns[to] += after_ns - before_ns;
	}
	mover->last_slot = to;
	mover->last_ns = after_ns;
}

/* Nobody knows where it began. */
static void settle(struct mover *mover, uint32_t cpu)
{
	mover->tid = gettid();
	move_to(mover, cpu);
	memset(mover->sure_ns, 0, sizeof(mover->sure_ns));
	for (uint32_t slot = 0; slot < n_cpus; slot++)
		mover->maybe_ns[slot] = mover->last_ns;
}

static void *run_mover(void *data)
{
	struct mover *mover = data;
	unsigned int seed = (unsigned int)gettid();

	settle(mover, (uint32_t)rand_r(&seed) % n_cpus);
	for (int i = 0; i < MOVES; i++) {
		child_burn_ns((uint64_t)(rand_r(&seed) % 12) * WATT_NSEC_PER_MSEC);
		if (rand_r(&seed) % 3 == 0)
			usleep((useconds_t)(rand_r(&seed) % 4000));
		move_to(mover, (uint32_t)rand_r(&seed) % n_cpus);
	}
	return NULL;
}

static void run_movers(void *data)
{
	struct mover *movers = data;
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run_mover, &movers[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* Time told of a slot that is not possible, or certain and not told. */
static uint64_t wrong_ns(const struct rig_task *task, const struct mover *mover)
{
	uint64_t got_ns[RIG_CPUS] = { 0 }, sum_ns = 0;

	for (uint32_t cpu = 0; cpu < n_cpus; cpu++)
		got_ns[rig_package(cpu)] += task->slot_ns[cpu];
	for (uint32_t slot = 0; slot < n_cpus; slot++) {
		uint64_t least_ns = mover->sure_ns[slot];
		uint64_t most_ns = least_ns + mover->maybe_ns[slot];

		/* After its last look it stayed where it was. */
		if (slot == mover->last_slot) {
			least_ns += task->free_ns - mover->last_ns;
			most_ns += task->free_ns - mover->last_ns;
		}
		if (got_ns[slot] < least_ns)
			sum_ns += least_ns - got_ns[slot];
		if (got_ns[slot] > most_ns)
			sum_ns += got_ns[slot] - most_ns;
	}
	return sum_ns;
}

static uint64_t check_movers(struct rig *rig, const struct mover *movers, uint64_t *ret_all_ns)
{
	uint64_t sum_wrong_ns = 0, all_ns = 0, unsure_ns = 0;

	for (int i = 0; i < PROCESSES * THREADS; i++) {
		const struct rig_task *task = rig_latest(rig, movers[i].tid);

		assert_non_null(task);
		assert_true(task->is_freed && task->free_ns >= movers[i].last_ns);
		sum_wrong_ns += wrong_ns(task, &movers[i]);
		all_ns += task->free_ns;
		for (uint32_t slot = 0; slot < n_cpus; slot++)
			unsure_ns += movers[i].maybe_ns[slot] / 2;
	}
	fprintf(stderr, "packages: %.3f ms of %.3f ms on the wrong one, %.3f ms not known\n",
		(double)sum_wrong_ns / 1e6, (double)all_ns / 1e6, (double)unsure_ns / 1e6);
	/* The test must know enough to say anything. */
	assert_true(all_ns > 100 * WATT_NSEC_PER_MSEC && unsure_ns < all_ns / 4);
	*ret_all_ns = all_ns;
	return sum_wrong_ns;
}

static uint64_t stolen_ns(const struct rig *rig)
{
	uint64_t sum_ns = 0;

	for (size_t i = 0; i < rig->batch.n_cpus; i++)
		sum_ns += rig->batch.cpus[i].steal_ns;
	return sum_ns;
}

/* What others did since rig_mark. */
static size_t count_of_others(const struct rig *rig)
{
	size_t n = 0;

	for (size_t i = 0; i < rig->n_slots; i++)
		for (int kind = WATT_USAGE_TASK + 1; kind <= WATT_USAGE_CGROUP; kind++)
			if (rig->tasks[i] && !rig->tasks[i]->is_ours)
				n += rig->tasks[i]->n_events[kind];
	return n;
}

/* False: others did so much that records of ours were lost. */
static bool try_all(struct rig *rig, bool is_swept, uint64_t *ret_wrong_ns, uint64_t *ret_all_ns)
{
	size_t size = PROCESSES * THREADS * sizeof(struct mover);
	struct mover *movers;
	pid_t pids[PROCESSES];
	uint64_t lost = rig->lost;
	bool are_freed;

	rig_mark(rig);
	movers = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(movers, MAP_FAILED);
	for (int i = 0; i < PROCESSES; i++)
		pids[i] = child_spawn(run_movers, &movers[i * THREADS]);
	for (int i = 0; i < PROCESSES; i++) {
		for (int n = 0; !child_is_dead(pids[i]); n++) {
			if (is_swept)
				rig_sweep(rig, n % 10 == 0);
			usleep(20000);
		}
		child_reap(pids[i]);
	}
	rig_sweep(rig, false);
	are_freed = rig->lost == lost && rig_wait_freed(rig);
	lost = rig->lost - lost;
	if (!lost) {
		assert_true(are_freed);
		*ret_wrong_ns = check_movers(rig, movers, ret_all_ns);
	} else {
		fprintf(stderr, "%llu records are lost\n", (unsigned long long)lost);
		assert_true(rig_may_lose() || count_of_others(rig) > MANY);
	}
	munmap(movers, size);
	return !lost;
}

/* Each try with a source of its own, which knows nothing of what was lost before. */
static void try_often(void **state, bool (*try_one)(struct rig *rig))
{
	struct rig *rig = rig_get(state);
	enum watt_bpf_mode mode = rig->mode;
	enum rig_split split = rig->split;

	for (int i = 0; i < TRIES; i++) {
		if (try_one(*state))
			return;
		rig_close(*state);
		*state = rig_open(mode, split);
		assert_non_null(*state);
	}
	fprintf(stderr, "other processes come and go all the time\n");
	skip();
}

static bool try_moves(struct rig *rig)
{
	uint64_t wrong_ns, all_ns;

	rig_sweep(rig, true);
	if (!try_all(rig, false, &wrong_ns, &all_ns))
		return false;
	assert_int_equal(wrong_ns, 0);
	return true;
}

/* What moves and deaths tell is exact. */
static void test_moves(void **state)
{
	try_often(state, try_moves);
}

/* How often tasks were told to have gone from one package to another. */
static size_t count_moves(const struct rig *rig)
{
	size_t n = 0;

	for (size_t i = 0; i < rig->n_slots; i++)
		n += rig->tasks[i] ? rig->tasks[i]->n_events[WATT_USAGE_MIGRATE] : 0;
	return n;
}

static void wander(void *nothing)
{
	struct mover mover = { 0 };

	for (uint32_t i = 0; i < 4 * n_cpus; i++)
		move_to(&mover, i % n_cpus);
}

/* While there is one package, nobody looks at moves; from the second one on, all are told. */
static bool try_late_moves(struct rig *rig)
{
	uint64_t wrong_ns, all_ns;

	rig_sweep(rig, true);
	child_reap(child_spawn(wander, NULL));
	rig_sweep(rig, false);
	assert_int_equal(count_moves(rig), 0);
	rig_bring(rig);
	rig_sweep(rig, true);
	if (!try_all(rig, false, &wrong_ns, &all_ns))
		return false;
	assert_int_equal(wrong_ns, 0);
	assert_true(count_moves(rig) > 0);
	return true;
}

static void test_late_moves(void **state)
{
	try_often(state, try_late_moves);
}

static bool try_sweeps(struct rig *rig)
{
	uint64_t before_ns, wrong_ns, all_ns;

	rig_sweep(rig, true);
	before_ns = stolen_ns(rig);
	if (!try_all(rig, true, &wrong_ns, &all_ns))
		return false;
	assert_true(wrong_ns <= all_ns / 50 + stolen_ns(rig) - before_ns);
	return true;
}

/*
 * A sweep tells of a running task up to now. A CPU that a machine below has taken away looks like
 * one that runs, for a tick's worth each time, and the task may move before it has caught up.
 */
static void test_sweeps(void **state)
{
	try_often(state, try_sweeps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "call_moves", test_moves, rig_setup_call_package, rig_teardown, NULL },
		{ "iter_moves", test_moves, rig_setup_iter_package, rig_teardown, NULL },
		{ "call_late_moves", test_late_moves, rig_setup_call_late, rig_teardown, NULL },
		{ "iter_late_moves", test_late_moves, rig_setup_iter_late, rig_teardown, NULL },
		{ "call_sweeps", test_sweeps, rig_setup_call_package, rig_teardown, NULL },
		{ "iter_sweeps", test_sweeps, rig_setup_iter_package, rig_teardown, NULL },
	};
	const char *why = rig_why_not();

	n_cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	if (!why && n_cpus < 2)
		why = "there is only one CPU";
	if (why) {
		fprintf(stderr, "%s\n", why);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
