/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who: identities that the usage source "bpf" tells on the running kernel, by both ways to walk,
 * are held against what the test made itself and the cgroup filesystem. Needs root; says why and
 * skips otherwise.
 */
#include "../unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <linux/sched.h>

#include "../crowd.h"
#include "base/clock.h"
#include "usage_rig.h"

/* As the kernel keeps it: 15 characters. */
static const char *own_comm(void)
{
	static char comm[16];

	snprintf(comm, sizeof(comm), "%.15s", program_invocation_short_name);
	return comm;
}

static void test_sleeper_is_told_once(void **state)
{
	struct rig *rig = rig_get(state);
	pid_t pid = child_spawn(child_pause, NULL);
	const struct watt_usage *record;

	usleep(50000);
	rig_sweep(rig, false);
	assert_true(rig->batch.flags & WATT_BATCH_FULL);
	record = rig_record(rig, pid, WATT_USAGE_TASK);
	assert_non_null(record);
	assert_int_equal(record->tgid, pid);
	assert_int_equal(record->parent_tgid, getpid());
	assert_int_equal(record->uid, geteuid());
	assert_string_equal(record->comm, own_comm());
	assert_false(record->flags & (WATT_USAGE_KTHREAD | WATT_USAGE_RUNNING | WATT_USAGE_ZOMBIE));
	rig_sweep(rig, false);
	assert_false(rig->batch.flags & WATT_BATCH_FULL);
	assert_null(rig_record(rig, pid, WATT_USAGE_TASK));
	rig_sweep(rig, true);
	assert_non_null(rig_record(rig, pid, WATT_USAGE_TASK));
	assert_true(rig->batch.n_tasks >= 2);
	child_kill(pid);
}

/* Works a little for each byte, and answers it. */
static void child_answer(void *data)
{
	const int *pipes = data;
	char byte;

	close(pipes[1]);
	close(pipes[2]);
	while (read(pipes[0], &byte, 1) == 1) {
		for (volatile int i = 0; i < 100000; i++)
			;
		if (write(pipes[3], &byte, 1) != 1)
			break;
	}
}

/* It has nothing more to do: what it used changes no more. */
static void wait_asleep(pid_t pid)
{
	uint64_t deadline_ns = watt_now_ns() + 30 * WATT_NSEC_PER_SEC;
	char path[64], text[256], *state = NULL;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	while (!state || state[2] != 'S') {
		assert_true(watt_now_ns() < deadline_ns);
		usleep(1000);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		assert_true(fd >= 0);
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
		assert_true(n > 0);
		text[n] = '\0';
		state = strrchr(text, ')');
	}
}

/* However long it slept: not told of until it wakes up, then at once, and known again after. */
static void test_sleeper_wakes_up(void **state)
{
	struct rig *rig = rig_get(state);
	uint64_t before_ns, deadline_ns;
	int pipes[4];
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe(&pipes[0]), 0);
	assert_int_equal(pipe(&pipes[2]), 0);
	pid = child_spawn(child_answer, pipes);
	assert_int_equal(write(pipes[1], &byte, 1), 1);
	assert_int_equal(read(pipes[2], &byte, 1), 1);
	for (int round = 0; round < 3; round++) {
		wait_asleep(pid);
		deadline_ns = watt_now_ns() + 30 * WATT_NSEC_PER_SEC;
		do {
			assert_true(watt_now_ns() < deadline_ns);
			rig_sweep(rig, false);
		} while (rig_record(rig, pid, WATT_USAGE_TASK));
		for (int i = 0; i < 100; i++) {
			rig_sweep(rig, false);
			assert_null(rig_record(rig, pid, WATT_USAGE_TASK));
		}
		before_ns = rig_latest(rig, pid)->cpu_ns;
		assert_int_equal(write(pipes[1], &byte, 1), 1);
		assert_int_equal(read(pipes[2], &byte, 1), 1);
		rig_sweep(rig, false);
		assert_non_null(rig_record(rig, pid, WATT_USAGE_TASK));
		assert_true(rig_latest(rig, pid)->cpu_ns > before_ns);
	}
	child_kill(pid);
	for (int i = 0; i < 4; i++)
		close(pipes[i]);
}

static void test_zombie(void **state)
{
	uint64_t work_ns = WATT_NSEC_PER_MSEC;
	struct rig *rig = rig_get(state);
	const struct watt_usage *record;
	siginfo_t info;
	uint64_t cpu_ns;
	pid_t pid;

	rig_sweep(rig, true);
	pid = child_spawn(child_spin, &work_ns);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	usleep(20000);
	rig_sweep(rig, true);
	/* Where the dying are kept, its curve has ended; else it waits for its parent. */
	record = rig_record(rig, pid, WATT_USAGE_FREE);
	if (!record) {
		record = rig_record(rig, pid, WATT_USAGE_TASK);
		assert_non_null(record);
		assert_true(record->flags & WATT_USAGE_ZOMBIE);
	}
	assert_true(record->cpu_ns >= work_ns);
	cpu_ns = record->cpu_ns;
	assert_non_null(rig_record(rig, pid, WATT_USAGE_EXIT));
	rig_sweep(rig, true);
	assert_true(!rig_latest(rig, pid)->is_freed || !rig_record(rig, pid, WATT_USAGE_TASK));
	child_reap(pid);
	assert_true(rig_wait_freed(rig));
	assert_int_equal(rig_latest(rig, pid)->free_ns, cpu_ns);
}

static void test_kernel_threads(void **state)
{
	struct rig *rig = rig_get(state);
	const struct watt_usage *record;

	rig_sweep(rig, true);
	record = rig_record(rig, 2, WATT_USAGE_TASK);
	assert_non_null(record);
	assert_string_equal(record->comm, "kthreadd");
	assert_true(record->flags & WATT_USAGE_KTHREAD);
	record = rig_record(rig, getpid(), WATT_USAGE_TASK);
	assert_non_null(record);
	assert_false(record->flags & WATT_USAGE_KTHREAD);
	assert_null(rig_record(rig, 0, WATT_USAGE_TASK));
}

static void exec_sleep(void *data)
{
	usleep(60000);
	execl("/bin/sleep", "sleep", "100", (char *)NULL);
}

static void test_exec_changes_comm(void **state)
{
	struct rig *rig = rig_get(state);
	pid_t pid;

	rig_sweep(rig, true);
	pid = child_spawn(exec_sleep, NULL);
	rig_sweep(rig, true);
	assert_string_equal(rig_latest(rig, pid)->comm, own_comm());
	for (int i = 0; i < 100 && !rig_latest(rig, pid)->exec_comm[0]; i++) {
		usleep(20000);
		rig_sweep(rig, false);
	}
	assert_string_equal(rig_latest(rig, pid)->exec_comm, "sleep");
	rig_sweep(rig, true);
	assert_string_equal(rig_latest(rig, pid)->comm, "sleep");
	child_kill(pid);
}

static void be_somebody(void *data)
{
	assert_int_equal(setresuid(65534, 65534, 65534), 0);
	pause();
}

static void test_effective_uid(void **state)
{
	struct rig *rig = rig_get(state);
	pid_t pid = child_spawn(be_somebody, NULL);

	usleep(50000);
	rig_sweep(rig, true);
	assert_int_equal(rig_latest(rig, pid)->uid, 65534);
	child_kill(pid);
}

static pid_t fork_as(pid_t pid)
{
	struct clone_args args = { .exit_signal = SIGCHLD,
				   .set_tid = (uintptr_t)&pid,
				   .set_tid_size = 1 };

	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

static void test_reused_pid(void **state)
{
	uint64_t work_ns = 3 * WATT_NSEC_PER_MSEC;
	struct rig *rig = rig_get(state);
	size_t n = 0;
	pid_t pid, again;

	rig_sweep(rig, true);
	pid = child_spawn(child_spin, &work_ns);
	child_reap(pid);
	again = fork_as(pid);
	if (again < 0) {
		fprintf(stderr, "clone3 with a given pid: %s\n", strerror(errno));
		skip();
	}
	if (!again) {
		child_burn_ns(2 * work_ns);
		_exit(0);
	}
	assert_int_equal(again, pid);
	child_reap(again);
	assert_true(rig_wait_freed(rig));
	for (size_t i = 0; i < rig->n_slots; i++) {
		const struct rig_task *task = rig->tasks[i];

		if (!task || task->tid != (uint32_t)pid)
			continue;
		n++;
		assert_true(task->is_forked && task->is_exited && task->is_freed);
		assert_true(task->free_ns >= (task == rig_latest(rig, pid) ? 2 : 1) * work_ns);
		assert_int_equal(task->leader_start_ns, task->start_ns);
	}
	assert_int_equal(n, 2);
}

/* ---- cgroups ---- */

static int write_pid(const char *folder, pid_t pid)
{
	char path[PATH_MAX + 16], text[16];
	int fd, n;

	snprintf(path, sizeof(path), "%s/cgroup.procs", folder);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = snprintf(text, sizeof(text), "%d", pid);
	n = write(fd, text, (size_t)n) < 0 ? -errno : 0;
	close(fd);
	return n;
}

static const char *unified_root(void)
{
	if (access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0)
		return "/sys/fs/cgroup";
	if (access("/sys/fs/cgroup/unified/cgroup.controllers", F_OK) == 0)
		return "/sys/fs/cgroup/unified";
	return NULL;
}

static void test_cgroup_attach(void **state)
{
	const struct watt_usage *record;
	struct rig *rig = rig_get(state);
	char folder[PATH_MAX];
	struct stat st;
	pid_t pid;

	if (!unified_root()) {
		fprintf(stderr, "no cgroup v2 hierarchy is mounted\n");
		skip();
	}
	snprintf(folder, sizeof(folder), "%s/watt-test-%d", unified_root(), getpid());
	assert_int_equal(mkdir(folder, 0755), 0);
	assert_int_equal(stat(folder, &st), 0);
	pid = child_spawn(child_pause, NULL);
	rig_sweep(rig, true);
	assert_int_not_equal(rig_latest(rig, pid)->cgroup_id, st.st_ino);
	assert_int_equal(write_pid(folder, pid), 0);
	rig_sweep(rig, true);
	record = rig_record(rig, pid, WATT_USAGE_CGROUP);
	assert_non_null(record);
	assert_int_equal(record->cgroup_id, st.st_ino);
	assert_false(record->flags & (WATT_USAGE_CGROUP_V1 | WATT_USAGE_NO_CGROUP));
	record = rig_record(rig, pid, WATT_USAGE_TASK);
	assert_non_null(record);
	assert_int_equal(record->cgroup_id, st.st_ino);
	child_kill(pid);
	/* Dead, and still known to have been there. */
	for (int i = 0; i < 100 && !rig_latest(rig, pid)->is_freed; i++) {
		usleep(20000);
		rig_sweep(rig, false);
	}
	assert_true(rig_latest(rig, pid)->is_freed);
	assert_int_equal(rig_latest(rig, pid)->cgroup_id, st.st_ino);
	assert_int_equal(rmdir(folder), 0);
}

/* Path of this process below a v1 controller's mount; false: it is not in one, or in the root. */
static bool own_v1_folder(const char *controller, char *buf, size_t size)
{
	char line[4096], *path, *names;
	FILE *file = fopen("/proc/self/cgroup", "re");
	bool is_found = false;

	assert_non_null(file);
	while (!is_found && fgets(line, sizeof(line), file)) {
		names = strchr(line, ':') + 1;
		path = strchr(names, ':');
		*path++ = '\0';
		path[strcspn(path, "\n")] = '\0';
		if (strcmp(names, controller) != 0 || strcmp(path, "/") == 0)
			continue;
		snprintf(buf, size, "/sys/fs/cgroup/%s%s", controller, path);
		is_found = true;
	}
	fclose(file);
	return is_found;
}

static void test_v1_cgroup(void **state)
{
	static const char *const controllers[] = { "cpuacct", "memory", "pids" };
	struct rig *rig = rig_get(state);
	char folder[PATH_MAX];
	bool is_same = false;
	size_t n = 0;

	rig_sweep(rig, true);
	for (size_t i = 0; i < 3; i++) {
		struct stat st;

		if (!own_v1_folder(controllers[i], folder, sizeof(folder)) || stat(folder, &st) < 0)
			continue;
		n++;
		is_same = is_same || rig_latest(rig, getpid())->cgroup_id == st.st_ino;
	}
	if (!n) {
		fprintf(stderr, "this process is in no v1 cgroup\n");
		skip();
	}
	assert_true(rig_latest(rig, getpid())->flags & WATT_USAGE_CGROUP_V1);
	assert_true(is_same);
}

/* ---- both ways, and many ---- */

static void assert_same(const struct rig_task *a, const struct rig_task *b)
{
	assert_int_equal(a->tgid, b->tgid);
	assert_int_equal(a->leader_start_ns, b->leader_start_ns);
	assert_int_equal(a->uid, b->uid);
	assert_int_equal(a->cgroup_id, b->cgroup_id);
	assert_int_equal(a->flags & WATT_USAGE_KTHREAD, b->flags & WATT_USAGE_KTHREAD);
}

/* What one saw twice, the other has seen in between. */
static size_t compare(struct rig *one, struct rig *other)
{
	size_t n = 0;

	for (size_t i = 0; i < one->n_slots; i++) {
		const struct rig_task *a = one->tasks[i], *b;

		if (!a || a->n_told < 2)
			continue;
		n++;
		b = rig_latest(other, (pid_t)a->tid);
		assert_non_null(b);
		assert_true(b->start_ns == a->start_ns && b->n_told);
		assert_same(a, b);
	}
	return n;
}

static void test_same_by_both_ways(void **state)
{
	struct rig *call = rig_open(WATT_BPF_MODE_CALL, RIG_WHOLE);
	struct rig *iter = rig_open(WATT_BPF_MODE_ITER, RIG_WHOLE);

	if (!call || !iter) {
		fprintf(stderr, "this kernel has only one way\n");
		skip();
	}
	for (int i = 0; i < 2; i++) {
		rig_sweep(call, true);
		rig_sweep(iter, true);
	}
	assert_true(compare(call, iter) > 10);
	assert_true(compare(iter, call) > 10);
	rig_close(call);
	rig_close(iter);
}

/* More tasks than there is room for records, with ids far apart. */
static unsigned int grow_crowd(struct crowd *crowd)
{
	unsigned int n = getenv("WATT_TEST_FEW") ? 2000 : 10000;

	if (n > crowd_id_limit() / 3)
		n = crowd_id_limit() / 3;
	crowd->is_apart = true;
	while (crowd->n_tasks < n && crowd_add(crowd, 500) == 500)
		;
	usleep(100000);
	return (unsigned int)crowd->n_tasks;
}

/* How often tasks of the crowd were told of in the last sweep. */
static size_t count_told(const struct rig *rig, const struct crowd *crowd)
{
	size_t n = 0;

	for (size_t i = 0; i < rig->batch.n_records; i++) {
		const struct watt_usage *record = &rig->batch.records[i];

		if (record->kind != WATT_USAGE_TASK)
			continue;
		for (size_t k = 0; k < crowd->n; k++)
			n += record->tgid == (uint32_t)crowd->pids[k];
	}
	return n;
}

/* Some at a time: what happens between two sweeps has to have room. */
static void kill_crowd(struct rig *rig, struct crowd *crowd)
{
	while (crowd->n) {
		pid_t pid = crowd->pids[--crowd->n];

		child_kill(pid);
		for (int i = 0; i < 200 && !rig_latest(rig, pid)->is_freed; i++) {
			rig_sweep(rig, false);
			if (i)
				usleep(20000);
		}
		assert_true(rig_latest(rig, pid)->is_freed);
	}
}

/* Each is told of once, and no more once that is known, however far apart their ids are. */
static void test_many_tasks(void **state)
{
	struct rig *rig = rig_get(state);
	struct crowd crowd = { 0 };
	unsigned int n = grow_crowd(&crowd);

	assert_true(n > 1000);
	if (n < 9000)
		fprintf(stderr, "only %u tasks could be made: all have room at once\n", n);
	for (int i = 0; i < 2; i++) {
		rig_sweep(rig, true);
		assert_int_equal(count_told(rig, &crowd), n);
		assert_true(rig->batch.n_tasks >= n);
	}
	/*
	 * Once all have run up to where they sleep; but for those that are not remembered, the more
	 * the smaller the machine.
	 */
	for (int i = 0; i < 100 && (!i || count_told(rig, &crowd) >= n / 5); i++) {
		usleep(20000);
		rig_sweep(rig, false);
	}
	if (count_told(rig, &crowd) >= n / 5)
		fprintf(stderr, "%zu of %u are told of again\n", count_told(rig, &crowd), n);
	assert_true(count_told(rig, &crowd) < n / 5);
	kill_crowd(rig, &crowd);
	assert_true(rig->lost <= (rig_may_lose() ? n / 20 : 0));
}

/* ---- what a sweep takes ---- */

/* Where there can be that many, what the machine allows is raised for as long as this program runs. */
#define MANY_TASKS 50000u
#define PID_MAX "/proc/sys/kernel/pid_max"
/* Tasks between two looks at the clock, as the programs have it. */
#define LOOK 32u

static bool set_id_limit(unsigned int limit)
{
	FILE *file = fopen(PID_MAX, "we");
	bool is_set;

	if (!file)
		return false;
	is_set = fprintf(file, "%u", limit) > 0;
	return fclose(file) == 0 && is_set;
}

/* Whatever becomes of this program, a process that waits for its end sets the limit back. */
static void raise_id_limit(unsigned int limit)
{
	unsigned int before = crowd_id_limit();
	int ends[2];
	char byte;

	if (before >= limit || pipe2(ends, O_CLOEXEC) < 0)
		return;
	if (fork() == 0) {
		setpgid(0, 0);
		close(ends[1]);
		for (int fd = 1; fd <= 2; fd++)
			close(fd); /* nobody waits for what it has to say */
		while (read(ends[0], &byte, 1) > 0)
			;
		_exit(!set_id_limit(before));
	}
	close(ends[0]);
	set_id_limit(limit);
}

/* So many in all, as far as the machine lets them be. */
static void grow_to(struct crowd *crowd, size_t n)
{
	while (crowd->n_tasks < n && crowd_add(crowd, 1000) == 1000)
		;
}

static struct watt_bpf_sweep *sweep_object(struct watt_bpf_object *object, bool is_full,
					   size_t *ret_n_records)
{
	struct watt_bpf_sweep *sweep = watt_bpf_object_sweep(object);
	int r;

	*ret_n_records = 0;
	assert_int_equal(watt_bpf_object_begin(object, is_full), 0);
	do {
		r = watt_bpf_object_walk(object);
		*ret_n_records += sweep->n_records;
		sweep->n_records = 0;
	} while (r == 1);
	assert_int_equal(r, 0);
	return sweep;
}

/* A task is stepped over once, whatever the number of tasks, records and passes. */
static void check_steps(struct watt_bpf_object *object, size_t n, bool is_full)
{
	struct watt_bpf_sweep *sweep;
	size_t n_records;

	sweep = sweep_object(object, is_full, &n_records);
	if (sweep->n_steps > sweep->n_tasks + sweep->n_tasks / 20 + 100)
		fprintf(stderr, "%u tasks took %llu steps\n", sweep->n_tasks,
			(unsigned long long)sweep->n_steps);
	assert_true(sweep->n_tasks >= n);
	assert_true(sweep->n_steps <= sweep->n_tasks + sweep->n_tasks / 20 + 100);
	assert_true(n_records <= sweep->n_tasks);
	assert_true(is_full ? n_records >= n : n_records < n / 5 + 500);
}

/* The same, and where a pass may take no time at all, it ends at the next look at the clock. */
static void check_passes(size_t n)
{
	struct watt_bpf_sizes sizes = { .pass_ns = 1 };
	struct watt_bpf_object object;
	struct watt_bpf_sweep *sweep;
	size_t n_records;

	assert_int_equal(rig_open_object(&object, WATT_BPF_MODE_CALL, &sizes), 0);
	check_steps(&object, n, true);
	sweep = sweep_object(&object, false, &n_records);
	assert_true((uint64_t)sweep->n_passes * LOOK >= sweep->n_steps);
	watt_bpf_object_close(&object);
}

/*
 * What a sweep does, counted: it grows with the number of tasks and no faster, and no pass, for
 * which the kernel frees no memory, is longer than it may be by more than 32 tasks.
 */
static void test_call_work_is_linear(void **state)
{
	size_t most = getenv("WATT_TEST_FEW") ? 2000 : MANY_TASKS, n;
	struct crowd crowd = { .is_apart = true };
	struct watt_bpf_object object;

	if (rig_open_object(&object, WATT_BPF_MODE_CALL, NULL) < 0) {
		fprintf(stderr, "this kernel can't walk over tasks this way\n");
		skip();
	}
	if (most == MANY_TASKS)
		raise_id_limit(2 * MANY_TASKS);
	for (n = 1000; n <= most; n = n < most && 7 * n > most ? most : 7 * n) {
		grow_to(&crowd, n);
		if (crowd.n_tasks < n)
			break;
		usleep(100000);
		check_steps(&object, n, true);
		check_steps(&object, n, true);
		usleep(50000);
		check_steps(&object, n, false);
	}
	if (n <= most)
		fprintf(stderr, "no more than %zu tasks could be made\n", crowd.n_tasks);
	watt_bpf_object_close(&object);
	check_passes(crowd.n_tasks);
	crowd_kill(&crowd);
	assert_true(n > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST_BOTH(sleeper_is_told_once),
		RIG_TEST_BOTH(sleeper_wakes_up),
		RIG_TEST_BOTH(zombie),
		RIG_TEST_BOTH(kernel_threads),
		RIG_TEST_BOTH(exec_changes_comm),
		RIG_TEST_BOTH(effective_uid),
		RIG_TEST_BOTH(reused_pid),
		RIG_TEST_BOTH(cgroup_attach),
		RIG_TEST_BOTH(v1_cgroup),
		RIG_TEST_BOTH(many_tasks),
		{ "call_work_is_linear", test_call_work_is_linear, NULL, NULL, NULL },
		{ "same_by_both_ways", test_same_by_both_ways, NULL, NULL, NULL },
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
