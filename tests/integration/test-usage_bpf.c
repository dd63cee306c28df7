/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much, up to when and where: what the usage source "bpf" tells on the running kernel, by both
 * ways to walk, is held against getrusage, the clocks of threads and a count of every context
 * switch. Needs root; says why and skips otherwise.
 */
#include "../unit/unit.h"

#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <usage_layout.h>
#include <usage.skel.h>

#include "base/clock.h"
#include "switch_truth.h"
#include "switch_truth.skel.h"
#include "usage_rig.h"

static uint64_t timeval_ns(const struct timeval *tv)
{
	return (uint64_t)tv->tv_sec * WATT_NSEC_PER_SEC + (uint64_t)tv->tv_usec * 1000;
}

static uint64_t rusage_ns(const struct rusage *usage)
{
	return timeval_ns(&usage->ru_utime) + timeval_ns(&usage->ru_stime);
}

static uint64_t children_ns(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
	return rusage_ns(&usage);
}

static void assert_close(uint64_t got_ns, uint64_t want_ns, double tolerance)
{
	double error = ((double)got_ns - (double)want_ns) / (double)want_ns;

	if (error > tolerance || error < -tolerance)
		fprintf(stderr, "got %.6f s, want %.6f s: %+.3f %%\n", (double)got_ns / 1e9,
			(double)want_ns / 1e9, 100 * error);
	assert_true(error <= tolerance && error >= -tolerance);
}

/* ---- the truth ---- */

static struct switch_truth_bpf *truth_open(void)
{
	struct switch_truth_bpf *truth = switch_truth_bpf__open();

	assert_non_null(truth);
	truth->rodata->parent_tgid = (uint32_t)getpid();
	assert_int_equal(switch_truth_bpf__load(truth), 0);
	assert_int_equal(switch_truth_bpf__attach(truth), 0);
	return truth;
}

static uint64_t truth_ns(struct switch_truth_bpf *truth, uint32_t tid, uint32_t cpu)
{
	struct truth_key key = { .tid = tid, .cpu = cpu };
	uint64_t ns = 0;

	bpf_map_lookup_elem(bpf_map__fd(truth->maps.ran), &key, &ns);
	return ns;
}

/* Each child that was freed used what its last switch left in its counter. */
static void assert_as_switched(const struct rig *rig, struct switch_truth_bpf *truth)
{
	uint32_t n_cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	uint64_t all_ns = 0, wrong_ns = 0;

	for (size_t i = 0; i < rig->n_slots; i++) {
		const struct rig_task *task = rig->tasks[i];
		uint64_t want_ns = 0;

		if (!task || !task->is_ours || !task->is_freed)
			continue;
		for (uint32_t cpu = 0; cpu < n_cpus; cpu++)
			want_ns += truth_ns(truth, task->tid, cpu);
		all_ns += want_ns;
		wrong_ns += task->free_ns > want_ns ? task->free_ns - want_ns :
						      want_ns - task->free_ns;
	}
	if (wrong_ns > all_ns / 1000)
		fprintf(stderr, "%.3f ms of %.3f ms differ from what was switched\n",
			(double)wrong_ns / 1e6, (double)all_ns / 1e6);
	assert_true(all_ns > 0 && wrong_ns <= all_ns / 1000);
}

/* ---- how much ---- */

static void test_spinning_child(void **state)
{
	uint64_t work_ns = 1200 * WATT_NSEC_PER_MSEC;
	struct rig *rig = rig_get(state);
	struct rig_task *task;
	struct rusage usage;
	pid_t pid;

	rig_sweep(rig, true);
	pid = child_spawn(child_spin, &work_ns);
	while (!child_is_dead(pid)) {
		rig_sweep(rig, false);
		usleep(30000);
	}
	child_reap_settled(pid, &usage);
	assert_true(rig_wait_freed(rig));
	task = rig_latest(rig, pid);
	assert_non_null(task);
	assert_true(task->is_forked && task->is_exited && task->n_told > 10);
	assert_int_equal(task->parent_tgid, getpid());
	assert_close(task->free_ns, rusage_ns(&usage), 0.005);
	assert_close(task->cpu_ns, rusage_ns(&usage), 0.005);
	assert_int_equal(rig->lost, 0);
}

/* Emulated machines take long for each. */
static int how_many(void)
{
	return getenv("WATT_TEST_FEW") ? 300 : 2000;
}

/*
 * Reaped at once, so that getrusage may lack their last bit (see child_reap_settled), but never
 * tells of more.
 */
static void test_short_lived(void **state)
{
	char *const argv[] = { (char *)"true", NULL };
	struct rig *rig = rig_get(state);
	struct switch_truth_bpf *truth = truth_open();
	uint64_t before_ns = children_ns();
	int n = how_many();
	pid_t pid;

	rig_sweep(rig, true);
	for (int i = 0; i < n; i++) {
		assert_int_equal(posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ), 0);
		child_reap(pid);
		if (i % 50 == 0)
			rig_sweep(rig, false);
	}
	assert_true(rig_wait_freed(rig));
	assert_int_equal(rig_ours_count(rig), n);
	assert_as_switched(rig, truth);
	assert_true(rig_ours_ns(rig) + 10 * WATT_NSEC_PER_USEC >= children_ns() - before_ns);
	assert_int_equal(rig->lost, 0);
	switch_truth_bpf__destroy(truth);
}

static size_t count_freed(const struct rig *rig)
{
	size_t i, n = 0;

	for (i = 0; i < rig->n_slots; i++)
		n += rig->tasks[i] && rig->tasks[i]->is_ours && rig->tasks[i]->is_freed;
	return n;
}

/*
 * By the free hook alone. A task is freed on top of whatever task is current, and a sandbox's
 * kernel may run no BPF program while one of its own is: what is told must be right, but need not
 * be all.
 */
static void test_frees(void **state)
{
	char *const argv[] = { (char *)"true", NULL };
	struct rig *rig = rig_get(state);
	struct switch_truth_bpf *truth = truth_open();
	uint64_t before_ns = children_ns();
	size_t n_freed = 0;
	pid_t pid;

	rig_sweep(rig, true);
	for (int i = 0; i < 300; i++) {
		assert_int_equal(posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ), 0);
		child_reap(pid);
	}
	/* The kernel frees them when it finds the time. */
	for (int i = 0; i < 10 || (n_freed <= 100 && i < 1500); i++) {
		usleep(20000);
		rig_sweep(rig, false);
		n_freed = count_freed(rig);
	}
	assert_int_equal(rig_ours_count(rig), 300);
	assert_true(n_freed > 100);
	assert_as_switched(rig, truth);
	if (n_freed == 300)
		assert_true(rig_ours_ns(rig) + 10 * WATT_NSEC_PER_USEC >=
			    children_ns() - before_ns);
	switch_truth_bpf__destroy(truth);
}

/* Reaped when all of a lot have settled: see child_reap_settled. */
static void storm(void *data)
{
	siginfo_t info;
	pid_t pids[25];

	for (int lot = 0; lot < 10; lot++) {
		for (int i = 0; i < 25; i++) {
			pids[i] = fork();
			if (!pids[i])
				_exit(0);
		}
		for (int i = 0; i < 25; i++)
			waitid(P_PID, (id_t)pids[i], &info, WEXITED | WNOWAIT);
		usleep(20000);
		for (int i = 0; i < 25; i++)
			waitpid(pids[i], NULL, 0);
	}
	raise(SIGSTOP); /* to be looked at */
}

/*
 * Where a kernel may lose a record, it may be the last one of a process that forked, which has more
 * time than hundreds of those that it forked: these are looked at before they end.
 */
static void test_fork_storm(void **state)
{
	const size_t n = 8 + 8 * 250;
	uint64_t before_ns = children_ns();
	struct rig *rig = rig_get(state);
	struct rusage usage;
	siginfo_t info;
	pid_t pids[8];

	rig_sweep(rig, true);
	for (int i = 0; i < 8; i++)
		pids[i] = child_spawn(storm, NULL);
	for (int i = 0; i < 8; i++)
		assert_int_equal(waitid(P_PID, (id_t)pids[i], &info, WSTOPPED | WEXITED), 0);
	rig_sweep(rig, true);
	for (int i = 0; i < 8; i++)
		assert_int_equal(kill(pids[i], SIGCONT), 0);
	for (int i = 0; i < 8; i++)
		child_reap_settled(pids[i], &usage);
	assert_true(rig_wait_count(rig, n));
	assert_true(rig_wait_freed(rig));
	assert_true(rig->lost <= (rig_may_lose() ? n / 20 : 0));
	assert_in_range(rig_ours_count(rig), n - rig->lost, n);
	assert_close(rig_ours_ns(rig), children_ns() - before_ns,
		     0.01 + (double)rig->lost / (double)n);
}

static void *burn_thread(void *data)
{
	child_burn_ns(*(uint64_t *)data);
	return NULL;
}

static void burn_in_threads(void *data)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, burn_thread, data);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

/* A thread that releases itself leaves getrusage what its counter said at its last tick. */
static void test_threads(void **state)
{
	uint64_t work_ns = 150 * WATT_NSEC_PER_MSEC, sum_ns = 0;
	struct rig *rig = rig_get(state);
	struct switch_truth_bpf *truth = truth_open();
	struct rusage usage;
	size_t n = 0;
	pid_t pid;

	rig_sweep(rig, true);
	pid = child_spawn(burn_in_threads, &work_ns);
	while (!child_is_dead(pid)) {
		rig_sweep(rig, false);
		usleep(10000);
	}
	child_reap_settled(pid, &usage);
	assert_true(rig_wait_freed(rig));
	for (size_t i = 0; i < rig->n_slots; i++) {
		const struct rig_task *task = rig->tasks[i];

		if (!task || task->tgid != (uint32_t)pid || !task->is_ours)
			continue;
		n++;
		sum_ns += task->free_ns;
		assert_true(task->tid == task->tgid || task->free_ns >= work_ns);
		assert_int_equal(task->leader_start_ns, rig_latest(rig, pid)->start_ns);
	}
	assert_int_equal(n, 5);
	assert_as_switched(rig, truth);
	assert_true(sum_ns + 10 * WATT_NSEC_PER_USEC >= rusage_ns(&usage));
	switch_truth_bpf__destroy(truth);
}

/* ---- up to now ---- */

struct hog {
	pthread_t thread;
	pid_t tid;
	int cpu;
	volatile uint64_t beat_ns; /* it is running now */
	volatile bool is_done;
};

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *run_hog(void *data)
{
	struct hog *hog = data;

	pin(hog->cpu);
	hog->tid = gettid();
	while (!hog->is_done)
		hog->beat_ns = watt_now_ns();
	return NULL;
}

/* A machine below may take the CPU away without telling: then nobody here knows what is true. */
static bool hog_is_awake(const struct hog *hog)
{
	return watt_now_ns() < hog->beat_ns + WATT_NSEC_PER_MSEC / 2;
}

/*
 * The error of one sweep's record: the hog's own exact clock read right after it, less the time
 * between the two. false: it was not running all along.
 */
static bool hog_error_ns(struct rig *rig, const struct hog *hog, double *ret)
{
	const struct watt_usage *record;
	uint64_t before_ns, exact_ns, after_ns;
	bool is_awake = hog_is_awake(hog);
	clockid_t clock;

	rig_sweep(rig, false);
	before_ns = watt_now_ns();
	assert_int_equal(pthread_getcpuclockid(hog->thread, &clock), 0);
	exact_ns = watt_clock_ns(clock);
	after_ns = watt_now_ns();
	record = rig_record(rig, hog->tid, WATT_USAGE_TASK);
	if (!record || !(record->flags & WATT_USAGE_RUNNING) || after_ns - before_ns > 100000 ||
	    !is_awake || !hog_is_awake(hog))
		return false;
	*ret = (double)record->cpu_ns + (double)(before_ns / 2 + after_ns / 2 - record->t_ns) -
	       (double)exact_ns;
	return true;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* What a slice gets wrong is the change of the error from one sweep to the next. */
static void test_hog(void **state)
{
	struct hog hog = { .cpu = (int)sysconf(_SC_NPROCESSORS_ONLN) - 1 };
	double errors_ns[100], last_ns = 0, error_ns, sum = 0;
	struct rig *rig = rig_get(state);
	bool has_last = false;
	cpu_set_t all;
	size_t n = 0;

	sched_getaffinity(0, sizeof(all), &all);
	assert_int_equal(pthread_create(&hog.thread, NULL, run_hog, &hog), 0);
	pin(0);
	rig_sweep(rig, true);
	for (int i = 0; i < 300 && n < 100; i++) {
		usleep(19000 + (useconds_t)(rand() % 9000));
		if (!hog_error_ns(rig, &hog, &error_ns)) {
			has_last = false;
			continue;
		}
		if (has_last && i > 10)
			errors_ns[n++] = error_ns > last_ns ? error_ns - last_ns :
							      last_ns - error_ns;
		last_ns = error_ns;
		has_last = true;
	}
	hog.is_done = true;
	pthread_join(hog.thread, NULL);
	sched_setaffinity(0, sizeof(all), &all);
	if (n < 30) {
		fprintf(stderr, "the CPU was too busy: %zu slices\n", n);
		skip();
	}
	/* Steal and a preemption between the two readings are not the source's: without the worst. */
	qsort(errors_ns, n, sizeof(errors_ns[0]), compare_doubles);
	for (size_t i = 0; i < n * 9 / 10; i++)
		sum += errors_ns[i] * errors_ns[i];
	sum /= (double)(n * 9 / 10);
	fprintf(stderr,
		"hog: %zu slices, median error %.1f us, rms of the best 90 %% %.1f us, max %.1f us\n",
		n, errors_ns[n / 2] / 1e3, __builtin_sqrt(sum) / 1e3, errors_ns[n - 1] / 1e3);
	assert_true(sum < 1e6 * 1e6);
}

/* ---- where ---- */

static void hop(void *data)
{
	int n_cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t end_ns = watt_now_ns() + 1500 * WATT_NSEC_PER_MSEC;

	srand((unsigned int)getpid());
	while (watt_now_ns() < end_ns) {
		if (rand() % 3 == 0)
			pin(rand() % n_cpus);
		child_burn_ns((uint64_t)(rand() % 4) * WATT_NSEC_PER_MSEC);
		if (rand() % 2)
			usleep((useconds_t)(rand() % 5000));
	}
}

static uint64_t steal_ns(const struct rig *rig)
{
	uint64_t sum_ns = 0;

	for (size_t i = 0; i < rig->batch.n_cpus; i++)
		sum_ns += rig->batch.cpus[i].steal_ns;
	return sum_ns;
}

/* Whether tasks that hop have their time where they ran. */
static bool is_split_right(struct rig *rig)
{
	enum {
		N = 6
	};
	uint64_t all_ns = 0, wrong_ns = 0, stolen_ns;
	struct switch_truth_bpf *truth = truth_open();
	pid_t pids[N];

	rig_sweep(rig, true);
	stolen_ns = steal_ns(rig);
	for (int i = 0; i < N; i++)
		pids[i] = child_spawn(hop, NULL);
	for (int i = 0; i < 75; i++) {
		usleep(20000);
		rig_sweep(rig, i % 10 == 0);
	}
	for (int i = 0; i < N; i++)
		child_reap(pids[i]);
	assert_true(rig_wait_freed(rig));
	for (int i = 0; i < N; i++) {
		const struct rig_task *task = rig_latest(rig, pids[i]);

		for (uint32_t cpu = 0; cpu < RIG_CPUS; cpu++) {
			uint64_t want_ns = truth_ns(truth, task->tid, cpu);
			uint64_t got_ns = task->slot_ns[cpu];

			all_ns += want_ns;
			wrong_ns += got_ns > want_ns ? got_ns - want_ns : want_ns - got_ns;
		}
	}
	switch_truth_bpf__destroy(truth);
	stolen_ns = steal_ns(rig) - stolen_ns;
	fprintf(stderr, "split: %.3f ms of %.3f ms on the wrong CPU, %.0f ms stolen\n",
		(double)wrong_ns / 1e6, (double)all_ns / 1e6, (double)stolen_ns / 1e6);
	if (all_ns < 20 * WATT_NSEC_PER_MSEC) {
		print_message("others left the tasks too little CPU time to judge by\n");
		skip();
	}
	/* A CPU that the host took away looks like one that runs: a tick's worth, each time. What is
	 * stolen is told in ticks, too, rounded down. */
	if (stolen_ns)
		stolen_ns += (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) * 10 * WATT_NSEC_PER_MSEC;
	assert_true(rig->lost <= (rig_may_lose() ? N : 0)); /* of thousands of moves */
	return wrong_ns < all_ns / 200 + stolen_ns;
}

static void test_split_by_cpu(void **state)
{
	struct rig *rig = rig_get(state);
	bool is_right = false;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		fprintf(stderr, "there is only one CPU\n");
		skip();
	}
	/* What the host steals is no fault, and less than a tick of it is not told. */
	for (int i = 0; i < 3 && !is_right; i++)
		is_right = is_split_right(rig);
	assert_true(is_right);
}

static void test_cpu_times(void **state)
{
	struct rig *rig = rig_get(state);
	uint64_t busy_ns = 0, idle_ns = 0;

	rig_sweep(rig, true);
	assert_int_equal(rig->batch.n_cpus, sysconf(_SC_NPROCESSORS_CONF));
	for (size_t i = 0; i < rig->batch.n_cpus; i++) {
		if (!rig->batch.cpus[i].online)
			continue;
		busy_ns += rig->batch.cpus[i].user_ns + rig->batch.cpus[i].system_ns;
		idle_ns += rig->batch.cpus[i].idle_ns;
	}
	assert_true(busy_ns > 0 && idle_ns > 0);
	assert_true(rig->batch.t_after_ns > rig->batch.t_before_ns);
	assert_true(rig->batch.flags & WATT_BATCH_DEATHS);
}

/* ---- what runs when ---- */

static uint64_t count_runs(const struct watt_bpf_object *object)
{
	struct bpf_program *program;
	uint64_t n = 0;

	bpf_object__for_each_program(program, object->skel->obj)
	{
		struct bpf_prog_info info;
		uint32_t len = sizeof(info);

		memset(&info, 0, sizeof(info));
		if (bpf_program__fd(program) >= 0 &&
		    bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &len) == 0)
			n += info.run_cnt;
	}
	return n;
}

/* Whoever is woken may come first, so that who woke it finds the answer there and never waits. */
static uint64_t count_own_switches(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
	return (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw);
}

/* Sends a byte to and fro; ends with its peer. */
static void play(int in, int out)
{
	char byte = 0;

	while (read(in, &byte, 1) == 1 && write(out, &byte, 1) == 1)
		continue;
}

#define SWITCHES 4000

/* Two processes on one CPU that wake each other: how often programs ran meanwhile. */
static uint64_t count_runs_of_switches(const struct watt_bpf_object *object)
{
	uint64_t runs, switches;
	cpu_set_t all, one;
	int to[2], from[2];
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe2(to, O_CLOEXEC) | pipe2(from, O_CLOEXEC), 0);
	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(to[1]);
		play(to[0], from[1]);
		_exit(0);
	}
	runs = count_runs(object);
	switches = count_own_switches();
	for (int i = 0; i < SWITCHES; i++)
		assert_true(write(to[1], &byte, 1) == 1 && read(from[0], &byte, 1) == 1);
	runs = count_runs(object) - runs;
	switches = count_own_switches() - switches;
	close(to[1]);
	child_reap(pid);
	close(to[0]);
	close(from[0]);
	close(from[1]);
	sched_setaffinity(0, sizeof(all), &all);
	/* on one CPU the answer takes a switch to the other, and one back */
	assert_true(switches >= SWITCHES);
	return runs;
}

/* What others do meanwhile is told of, too: of some tries the quietest counts. */
static void check_switches(enum watt_bpf_mode mode)
{
	struct watt_bpf_object object;
	uint64_t least = UINT64_MAX;
	int stats;

	if (rig_open_object(&object, mode, NULL) < 0) {
		fprintf(stderr, "this kernel can't walk over tasks this way\n");
		skip();
	}
	stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	assert_true(stats >= 0);
	for (int i = 0; i < 20 && least > SWITCHES / 8; i++) {
		uint64_t runs = count_runs_of_switches(&object);

		least = runs < least ? runs : least;
	}
	close(stats);
	watt_bpf_object_close(&object);
	if (least > SWITCHES / 8)
		fprintf(stderr, "%llu programs ran in %d switches\n", (unsigned long long)least,
			2 * SWITCHES);
	assert_true(least <= SWITCHES / 8);
}

/* Nothing of ours runs at a context switch, or when somebody wakes up. */
static void test_call_nothing_at_switches(void **state)
{
	check_switches(WATT_BPF_MODE_CALL);
}

static void test_hook_nothing_at_switches(void **state)
{
	check_switches(WATT_BPF_MODE_HOOK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST_BOTH(spinning_child),
		RIG_TEST_BOTH(short_lived),
		RIG_TEST_BOTH(fork_storm),
		RIG_TEST_HOOK(frees),
		RIG_TEST_BOTH(threads),
		RIG_TEST_BOTH(hog),
		RIG_TEST_BOTH(cpu_times),
		{ "call_nothing_at_switches", test_call_nothing_at_switches, NULL, NULL, NULL },
		{ "hook_nothing_at_switches", test_hook_nothing_at_switches, NULL, NULL, NULL },
		{ "call_split_by_cpu", test_split_by_cpu, rig_setup_call_split, rig_teardown,
		  NULL },
		{ "iter_split_by_cpu", test_split_by_cpu, rig_setup_iter_split, rig_teardown,
		  NULL },
	};
	const char *why = rig_why_not();

	if (why) {
		fprintf(stderr, "%s\n", why);
		return 77;
	}
	if (getenv("WATT_TEST_ONLY"))
		cmocka_set_test_filter(getenv("WATT_TEST_ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
