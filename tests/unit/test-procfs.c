/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/activity/procfs/procfs.c */
#include "env.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "source/host/cgroupfile.h"
#include "source/registry.h"

#define TICK_NS 10000000ULL

static struct test_env test;
static struct watt_activity_source *src;
static struct watt_usage_batch batch;
static uint16_t no_slots[2];
static const struct watt_cpu_map map = { .n_cpus = 2, .n_slots = 1, .slot = no_slots };

static void open_source(const char *procfs, const char *sysfs)
{
	test_env_open(&test, procfs, sysfs);
	assert_int_equal(watt_activity_procfs.open(&test.env, &map, &src), 0);
	assert_ptr_equal(src->ops, &watt_activity_procfs);
}

static void close_source(void)
{
	src->ops->close(src);
	test_env_close(&test);
}

static void sweep(bool full)
{
	assert_int_equal(src->ops->sweep(src, full, &batch), 0);
	assert_true(batch.t_before_ns <= batch.t_after_ns);
}

/* The nth record of a process; NULL: there is none. */
static const struct watt_usage *record_of(uint32_t pid, unsigned int nth)
{
	size_t i;

	for (i = 0; i < batch.n_records; i++)
		if (batch.records[i].tgid == pid && nth-- == 0)
			return &batch.records[i];
	return NULL;
}

static const struct watt_usage *record_of_kind(uint32_t pid, enum watt_usage_kind kind)
{
	size_t i;

	for (i = 0; i < batch.n_records; i++)
		if (batch.records[i].tgid == pid && batch.records[i].kind == kind)
			return &batch.records[i];
	return NULL;
}

static uint64_t hash_of(const char *text)
{
	struct watt_cgroup_line line;

	assert_int_equal(watt_cgroup_line_pick(text, &line), 0);
	return watt_cgroup_line_hash(&line);
}

static void test_node(void **state)
{
	const struct watt_usage *u;

	open_source(fixture("kube-node", "proc"), NULL);
	sweep(false);
	/* the first is always full */
	assert_true(batch.flags & WATT_BATCH_FULL);
	assert_true(batch.flags & WATT_BATCH_COARSE);
	assert_false(batch.flags & (WATT_BATCH_DEATHS | WATT_BATCH_CPU_NS));
	/* the node's kernel times interrupts: its irq column moves */
	assert_true(batch.flags & WATT_BATCH_IRQ_SEPARATE);
	assert_int_equal(batch.n_tasks, 11);
	assert_int_equal(batch.n_records, 11);
	assert_int_equal(batch.unseen_ns, 0);
	assert_int_equal(batch.n_cpus, 2);
	assert_int_equal(batch.cpus[1].user_ns, 200 * TICK_NS);
	u = record_of(1202, 0);
	assert_int_equal(u->kind, WATT_USAGE_TASK);
	assert_int_equal(u->tid, 1202);
	assert_int_equal(u->cpu_ns, 6000 * TICK_NS);
	assert_int_equal(u->start_ns, 4010 * TICK_NS);
	assert_int_equal(u->leader_start_ns, u->start_ns);
	assert_int_equal(u->parent_tgid, 1201);
	assert_int_equal(u->uid, 65534);
	assert_int_equal(u->cpu, 1);
	assert_int_equal(u->flags, WATT_USAGE_WHOLE);
	assert_string_equal(u->comm, "nginx");
	assert_true(u->cgroup_id == record_of(1201, 0)->cgroup_id);
	assert_true(u->cgroup_id != record_of(1301, 0)->cgroup_id);
	assert_true(record_of(1, 0)->cgroup_id == hash_of("0::/init.scope\n"));
	u = record_of(17, 0);
	/* not "kworker/0:1-events": what it works on is no name */
	assert_string_equal(u->comm, "kworker/0:1");
	assert_true(u->flags & WATT_USAGE_KTHREAD);
	sweep(false);
	assert_int_equal(batch.n_records, 0);
	assert_int_equal(batch.n_tasks, 11);
	sweep(true);
	assert_int_equal(batch.n_records, 11);
	assert_int_equal(test.n_warnings, 0);
	close_source();
}

static void test_odd_processes(void **state)
{
	static const uint32_t refused[] = { 12345, 14, 15, 16, 17, 18, 19 };
	const struct watt_usage *u;
	size_t i;

	open_source(fixture("hybrid-odd", "proc"), NULL);
	sweep(false);
	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_null(record_of(refused[i], 0));
	/* they harm nobody, and are told of once */
	assert_int_equal(test.n_warnings, 1);
	assert_int_equal(batch.n_tasks, 5);
	assert_string_equal(record_of(10, 0)->comm, "a) R 1 (b");
	assert_string_equal(record_of(11, 0)->comm, "two\nlines");
	assert_int_equal(record_of(11, 0)->uid, 5);
	assert_true(record_of(10, 0)->flags & WATT_USAGE_CGROUP_V1);
	assert_true(record_of(12, 0)->flags & WATT_USAGE_ZOMBIE);
	u = record_of(13, 0);
	assert_true(u->flags & WATT_USAGE_NO_UID);
	assert_true(u->flags & WATT_USAGE_NO_CGROUP);
	assert_int_equal(u->cpu_ns, 4 * TICK_NS);
	assert_true(record_of(20, 0)->flags & WATT_USAGE_NO_CGROUP);
	sweep(false);
	assert_int_equal(test.n_warnings, 1);
	assert_false(batch.flags & WATT_BATCH_IRQ_SEPARATE);
	close_source();
}

/* ---- a machine that moves ---- */

static void write_stat(const char *dir, uint32_t pid, const char *comm, unsigned int ticks,
		       unsigned int start)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "proc/%u/stat", pid);
	snprintf(text, sizeof(text),
		 "%u (%s) S 1 1 1 0 -1 0 0 0 0 0 %u 0 0 0 20 0 1 0 %u 0 0 0 0 0 0 0 0 0 0 0 0 0 "
		 "0 0 17 1\n",
		 pid, comm, ticks, start);
	scratch_write(dir, path, text);
}

static void write_cpus(const char *dir, unsigned int user_ticks)
{
	char text[256];

	snprintf(text, sizeof(text), "cpu  %u 0 0 0\ncpu0 %u 0 0 0\nprocesses 9\n", user_ticks,
		 user_ticks);
	scratch_write(dir, "proc/stat", text);
}

static char *moving_machine(void)
{
	char *dir = scratch_new(), path[PATH_MAX];

	write_cpus(dir, 1000);
	write_stat(dir, 5, "five", 100, 50);
	write_stat(dir, 6, "six", 200, 60);
	scratch_write(dir, "proc/5/cgroup", "0::/a\n");
	snprintf(path, sizeof(path), "%s/proc", dir);
	open_source(path, NULL);
	sweep(false);
	assert_int_equal(batch.n_records, 2);
	return dir;
}

static void remove_process(const char *dir, uint32_t pid)
{
	char command[PATH_MAX];

	snprintf(command, sizeof(command), "rm -r '%s/proc/%u'", dir, pid);
	assert_int_equal(system(command), 0);
}

static void test_only_what_moved(void **state)
{
	char *dir = moving_machine();

	write_stat(dir, 6, "six", 201, 60);
	sweep(false);
	assert_int_equal(batch.n_records, 1);
	assert_int_equal(batch.records[0].tgid, 6);
	assert_int_equal(batch.records[0].cpu_ns, 201 * TICK_NS);
	assert_int_equal(batch.records[0].cpu, 1);
	/* a count that steps back does not move the curve */
	write_stat(dir, 6, "six", 150, 60);
	sweep(false);
	assert_int_equal(batch.n_records, 0);
	sweep(true);
	assert_int_equal(record_of(6, 0)->cpu_ns, 201 * TICK_NS);
	close_source();
	scratch_remove(dir);
}

static void test_birth_and_death(void **state)
{
	char *dir = moving_machine();

	write_stat(dir, 4, "four", 0, 900);
	sweep(false);
	/* a new one is told of even if it did nothing yet */
	assert_int_equal(batch.n_records, 1);
	assert_int_equal(batch.records[0].tgid, 4);
	remove_process(dir, 5);
	sweep(false);
	assert_int_equal(batch.n_records, 2);
	assert_int_equal(record_of(5, 0)->kind, WATT_USAGE_EXIT);
	assert_int_equal(record_of(5, 1)->kind, WATT_USAGE_FREE);
	assert_int_equal(record_of(5, 1)->cpu_ns, 100 * TICK_NS);
	assert_int_equal(batch.n_tasks, 2);
	close_source();
	scratch_remove(dir);
}

static void test_pid_used_again(void **state)
{
	char *dir = moving_machine();

	write_stat(dir, 5, "other", 300, 777);
	sweep(false);
	assert_int_equal(batch.n_records, 3);
	assert_int_equal(batch.records[0].kind, WATT_USAGE_EXIT);
	assert_int_equal(batch.records[1].kind, WATT_USAGE_FREE);
	assert_int_equal(batch.records[1].start_ns, 50 * TICK_NS);
	assert_int_equal(batch.records[2].kind, WATT_USAGE_TASK);
	assert_int_equal(batch.records[2].start_ns, 777 * TICK_NS);
	assert_int_equal(batch.records[2].cpu_ns, 300 * TICK_NS);
	close_source();
	scratch_remove(dir);
}

static void test_new_name_and_cgroup(void **state)
{
	char *dir = moving_machine();
	const struct watt_usage *u;

	write_stat(dir, 5, "new", 101, 50);
	scratch_write(dir, "proc/5/cgroup", "0::/b\n");
	/* fixtures started long ago: the refresh is due in two seconds at most */
	usleep(2100000);
	sweep(false);
	assert_int_equal(batch.n_records, 3);
	u = record_of(5, 0);
	assert_int_equal(u->kind, WATT_USAGE_TASK);
	assert_string_equal(u->comm, "five");
	assert_true(u->cgroup_id == hash_of("0::/a\n"));
	assert_int_equal(record_of(5, 1)->kind, WATT_USAGE_EXEC);
	assert_string_equal(record_of(5, 1)->comm, "new");
	assert_int_equal(record_of(5, 2)->kind, WATT_USAGE_CGROUP);
	assert_true(record_of(5, 2)->cgroup_id == hash_of("0::/b\n"));
	close_source();
	scratch_remove(dir);
}

static void test_unseen(void **state)
{
	char *dir = moving_machine();

	/* 1,000 ticks of work; the processes that are there did 100 */
	write_cpus(dir, 2000);
	write_stat(dir, 5, "five", 200, 50);
	sweep(false);
	assert_in_range(batch.unseen_ns, 800 * TICK_NS, 900 * TICK_NS);
	close_source();
	scratch_remove(dir);
}

static void test_bad_stat(void **state)
{
	char *dir = moving_machine();

	scratch_write(dir, "proc/stat", "cpu0 1 2\n");
	write_stat(dir, 5, "five", 200, 50);
	sweep(false);
	/* the processes are accounted all the same, and the CPUs are as they were */
	assert_int_equal(batch.n_records, 1);
	assert_int_equal(batch.n_cpus, 1);
	assert_int_equal(batch.cpus[0].user_ns, 1000 * TICK_NS);
	assert_int_equal(test.n_warnings, 1);
	scratch_unlink(dir, "proc/stat");
	sweep(false);
	assert_int_equal(test.n_warnings, 1);
	write_cpus(dir, 1001);
	sweep(false);
	assert_int_equal(batch.cpus[0].user_ns, 1001 * TICK_NS);
	close_source();
	scratch_remove(dir);
}

/* ---- this machine ---- */

static void burn(uint64_t ns)
{
	uint64_t end_ns = watt_clock_ns(CLOCK_PROCESS_CPUTIME_ID) + ns;

	while (watt_clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end_ns)
		;
}

/* A child that works for some ms, then waits. */
static pid_t start_child(uint64_t work_ns)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork_child();
	if (pid == 0) {
		prctl(PR_SET_NAME, "watt child");
		burn(work_ns);
		if (write(ready[1], "", 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void test_live(void **state)
{
	const struct watt_usage *u;
	uint64_t own_ns;
	pid_t pid;

	open_source("/proc", "/sys");
	burn(20 * WATT_NSEC_PER_MSEC);
	own_ns = watt_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	sweep(false);
	u = record_of((uint32_t)getpid(), 0);
	assert_non_null(u);
	assert_true(u->cpu_ns >= own_ns);
	assert_true(u->cpu_ns <= watt_clock_ns(CLOCK_PROCESS_CPUTIME_ID));
	assert_int_equal(u->uid, geteuid());
	assert_int_equal(u->parent_tgid, getppid());
	assert_int_equal(u->flags & (WATT_USAGE_NO_UID | WATT_USAGE_NO_CGROUP), 0);
	assert_true(batch.n_cpus > 0);
	pid = start_child(30 * WATT_NSEC_PER_MSEC);
	sweep(false);
	u = record_of((uint32_t)pid, 0);
	assert_non_null(u);
	assert_int_equal(u->kind, WATT_USAGE_TASK);
	assert_int_equal(u->parent_tgid, getpid());
	assert_string_equal(u->comm, "watt child");
	assert_true(u->cpu_ns >= 30 * WATT_NSEC_PER_MSEC);
	/* no other sweep than one with forks in between would look at the directory */
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	sweep(false);
	assert_int_equal(record_of_kind((uint32_t)pid, WATT_USAGE_FREE)->tgid, pid);
	assert_true(record_of_kind((uint32_t)pid, WATT_USAGE_FREE)->cpu_ns >=
		    30 * WATT_NSEC_PER_MSEC);
	sweep(true);
	assert_null(record_of((uint32_t)pid, 0));
	close_source();
}

static void stay_on(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		skip();
}

/* Where it matters which CPU a record speaks of, it is the one of this sweep. */
static void test_slots(void **state)
{
	static uint16_t slot[2] = { 0, 1 };
	static const struct watt_cpu_map two = { .n_cpus = 2, .n_slots = 2, .slot = slot };
	unsigned int i;
	cpu_set_t all;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	stay_on(1);
	test_env_open(&test, "/proc", "/sys");
	assert_int_equal(watt_activity_procfs.open(&test.env, &two, &src), 0);
	sweep(false);
	for (i = 0; i < 4; i++) {
		stay_on(i & 1);
		burn(2 * WATT_NSEC_PER_MSEC);
		sweep(false);
		assert_int_equal(record_of((uint32_t)getpid(), 0)->cpu, i & 1);
	}
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	close_source();
}

static void test_probe(void **state)
{
	struct watt_diag diag = { 0 };
	char *dir = scratch_new();

	test_env_open(&test, "/proc", "/sys");
	assert_int_equal(watt_activity_procfs.probe(&test.env, &diag), 0);
	assert_int_equal(diag.state, WATT_AVAILABLE);
	assert_non_null(strstr(diag.why, "processes"));
	test_env_close(&test);
	test_env_open(&test, dir, NULL);
	assert_int_equal(watt_activity_procfs.probe(&test.env, &diag), -ENOENT);
	assert_int_equal(diag.state, WATT_ABSENT);
	assert_int_equal(diag.error, -ENOENT);
	assert_true(diag.hint[0] != '\0');
	scratch_write(dir, "stat", "nonsense\n");
	assert_int_equal(watt_activity_procfs.probe(&test.env, &diag), -EBADMSG);
	assert_int_equal(diag.state, WATT_BROKEN);
	test_env_close(&test);
	scratch_remove(dir);
	watt_activity_procfs.close(NULL);
}

/* ---- threads ---- */

#define N_THREADS 3

struct worker {
	pthread_t thread;
	pthread_barrier_t *steps; /* done with the work; allowed to end */
	uint32_t tid;
	uint64_t work_ns;
	uint64_t used_ns; /* as its own clock tells, a little before it waits */
};

static uint64_t clock_of(clockid_t clock)
{
	struct timespec ts;

	assert_int_equal(clock_gettime(clock, &ts), 0);
	return watt_timespec_to_ns(&ts);
}

static void *work(void *data)
{
	struct worker *w = data;

	w->tid = (uint32_t)gettid();
	pthread_setname_np(pthread_self(), "worker");
	do
		w->used_ns = clock_of(CLOCK_THREAD_CPUTIME_ID);
	while (w->used_ns < w->work_ns);
	pthread_barrier_wait(w->steps);
	pthread_barrier_wait(w->steps);
	return NULL;
}

static const struct watt_usage *thread_record(uint32_t tid, enum watt_usage_kind kind)
{
	size_t i;

	for (i = 0; i < batch.n_records; i++)
		if (batch.records[i].tid == tid && batch.records[i].kind == kind &&
		    !(batch.records[i].flags & WATT_USAGE_ENDED))
			return &batch.records[i];
	return NULL;
}

/* What a full sweep tells that a process and its threads have used. */
static uint64_t told_of(uint32_t pid)
{
	uint64_t sum_ns = 0;
	size_t i;

	for (i = 0; i < batch.n_records; i++)
		if (batch.records[i].tgid == pid && batch.records[i].kind == WATT_USAGE_TASK)
			sum_ns += batch.records[i].cpu_ns;
	return sum_ns;
}

static uint64_t sweep_threads(uint64_t gone_ns)
{
	uint64_t before_ns = clock_of(CLOCK_PROCESS_CPUTIME_ID), told_ns;

	sweep(true);
	told_ns = told_of((uint32_t)getpid()) + gone_ns;
	/* to the ns, whoever runs meanwhile */
	assert_true(told_ns >= before_ns);
	assert_true(told_ns <= clock_of(CLOCK_PROCESS_CPUTIME_ID));
	return told_ns;
}

static void test_threads(void **state)
{
	struct worker workers[N_THREADS] = { { .work_ns = 6 * TICK_NS },
					     { .work_ns = 4 * TICK_NS },
					     { .work_ns = 2 * TICK_NS } };
	uint32_t self = (uint32_t)getpid(), i;
	const struct watt_usage *u;
	pthread_barrier_t steps;
	uint64_t gone_ns = 0;

	open_source("/proc", NULL);
	src->ops->show_threads(src);
	sweep_threads(0);
	assert_int_equal(pthread_barrier_init(&steps, NULL, N_THREADS + 1), 0);
	for (i = 0; i < N_THREADS; i++) {
		workers[i].steps = &steps;
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	}
	pthread_barrier_wait(&steps);
	sweep_threads(0);
	for (i = 0; i < N_THREADS; i++) {
		u = thread_record(workers[i].tid, WATT_USAGE_TASK);
		assert_non_null(u);
		assert_int_equal(u->tgid, self);
		assert_true(u->cpu_ns >= workers[i].used_ns);
		assert_true(u->start_ns >= u->leader_start_ns);
		assert_string_equal(u->comm, "worker");
		assert_false(u->flags & WATT_USAGE_WHOLE);
	}
	pthread_barrier_wait(&steps);
	for (i = 0; i < N_THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	/* a thread is joined a moment before it has left the list: until all have */
	for (i = 0; i < N_THREADS; i++) {
		while (syscall(SYS_tgkill, self, workers[i].tid, 0) == 0)
			sched_yield();
	}
	sweep(true);
	for (i = 0; i < N_THREADS; i++) {
		u = thread_record(workers[i].tid, WATT_USAGE_FREE);
		assert_non_null(u);
		gone_ns += u->cpu_ns;
	}
	sweep_threads(gone_ns);
	assert_null(thread_record(workers[0].tid, WATT_USAGE_TASK));
	assert_non_null(thread_record(self, WATT_USAGE_TASK));
	pthread_barrier_destroy(&steps);
	close_source();
}

static void *be_short(void *data)
{
	uint64_t end_ns = clock_of(CLOCK_THREAD_CPUTIME_ID) + *(uint64_t *)data;

	while (clock_of(CLOCK_THREAD_CPUTIME_ID) < end_ns)
		continue;
	return NULL;
}

/* Born and gone between two sweeps: it is known that they were there, by what they used. */
static void test_threads_unseen(void **state)
{
	uint64_t work_ns = 2 * TICK_NS, ended_ns = 0;
	uint32_t self = (uint32_t)getpid(), k;
	pthread_t thread;
	size_t i;

	open_source("/proc", NULL);
	src->ops->show_threads(src);
	sweep_threads(0);
	for (k = 0; k < 3; k++) {
		assert_int_equal(pthread_create(&thread, NULL, be_short, &work_ns), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
	}
	sweep_threads(0);
	for (i = 0; i < batch.n_records; i++)
		if (batch.records[i].tgid == self && batch.records[i].flags & WATT_USAGE_ENDED)
			ended_ns += batch.records[i].cpu_ns;
	/* it has that of the tests before, too */
	assert_true(ended_ns >= 3 * work_ns);
	close_source();
}

/* What was captured without them has processes all the same. */
static void test_threads_not_captured(void **state)
{
	const struct watt_usage *u;

	open_source(fixture("kube-node", "proc"), NULL);
	src->ops->show_threads(src);
	sweep(false);
	assert_int_equal(batch.n_records, 11);
	u = record_of(1202, 0);
	assert_int_equal(u->cpu_ns, 6000 * TICK_NS);
	assert_int_equal(u->flags, WATT_USAGE_WHOLE);
	close_source();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_node),
		cmocka_unit_test(test_odd_processes),
		cmocka_unit_test(test_only_what_moved),
		cmocka_unit_test(test_birth_and_death),
		cmocka_unit_test(test_pid_used_again),
		cmocka_unit_test(test_new_name_and_cgroup),
		cmocka_unit_test(test_unseen),
		cmocka_unit_test(test_bad_stat),
		cmocka_unit_test(test_live),
		cmocka_unit_test(test_slots),
		cmocka_unit_test(test_probe),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_threads_unseen),
		cmocka_unit_test(test_threads_not_captured),
	};

	return cmocka_run_group_tests_name("procfs", tests, NULL, NULL);
}
