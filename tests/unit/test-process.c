/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/meta/process.c */
#include "env.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "source/host/pidstat.h"
#include "source/registry.h"

#define TICK_NS 10000000ULL

static struct test_env *test;
static struct watt_meta *meta;
static enum watt_privacy privacy = WATT_PRIVACY_ALL;

static void open_machine(const char *procfs)
{
	test = malloc(sizeof(*test));
	assert_non_null(test);
	test_env_open(test, procfs, NULL);
	test->env.privacy = privacy;
	test->env.owner_uid = 65534;
	assert_int_equal(watt_meta_process.open(&test->env, &meta), 0);
}

static void close_machine(void)
{
	meta->ops->close(meta);
	test_env_close(test);
	free(test);
}

static int ask(uint32_t pid, uint64_t start_ns, struct watt_answer *ret)
{
	struct watt_question q = { .kind = WATT_ASK_PROCESS, .process = { pid, start_ns } };
	struct watt_answer answer;
	int r = meta->ops->answer(meta, &q, &answer);

	if (r == 0) {
		assert_int_equal(answer.kind, WATT_ASK_PROCESS);
		*ret = answer;
	}
	return r;
}

static void write_secretive(const char *dir, unsigned int pid, unsigned int uid)
{
	char path[64], text[128];

	snprintf(path, sizeof(path), "proc/%u/stat", pid);
	snprintf(text, sizeof(text), "%u (tool) S 1 5 5 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 100", pid);
	scratch_write(dir, path, text);
	snprintf(path, sizeof(path), "proc/%u/status", pid);
	snprintf(text, sizeof(text), "Name:\ttool\nUid:\t%u\t%u\t%u\t%u\n", uid, uid, uid, uid);
	scratch_write(dir, path, text);
	snprintf(path, sizeof(path), "proc/%u/cmdline", pid);
	scratch_write_bytes(dir, path, "tool\0--password\0hunter2 x\0y", 28);
}

static void check_told(const struct watt_answer *answer, bool is_told, bool has_secret)
{
	if (!is_told) {
		assert_null(answer->identity.cmdline);
		assert_true(answer->identity.missing & WATT_IDENTITY_CMDLINE);
		return;
	}
	assert_false(answer->identity.missing & WATT_IDENTITY_CMDLINE);
	assert_string_equal(answer->identity.cmdline,
			    has_secret ? "tool --password hunter2 x y" : "tool --password *** y");
}

/* A program of one's own, and one of root's. */
static void test_privacy(void **state)
{
	struct watt_answer mine, other;

	for (privacy = WATT_PRIVACY_NAMES; privacy <= WATT_PRIVACY_ALL; privacy++) {
		char *dir = scratch_new(), proc[PATH_MAX + 8];
		const bool has_secret = privacy == WATT_PRIVACY_ALL;

		write_secretive(dir, 5, 65534);
		write_secretive(dir, 6, 0);
		snprintf(proc, sizeof(proc), "%s/proc", dir);
		open_machine(proc);
		assert_int_equal(ask(5, 100 * TICK_NS, &mine), 0);
		assert_int_equal(ask(6, 100 * TICK_NS, &other), 0);
		assert_string_equal(mine.identity.comm, "tool");
		assert_string_equal(other.identity.comm, "tool");
		check_told(&mine, privacy >= WATT_PRIVACY_OWN, has_secret);
		check_told(&other, privacy >= WATT_PRIVACY_USERS, has_secret);
		watt_answer_done(&mine);
		watt_answer_done(&other);
		close_machine();
		scratch_remove(dir);
	}
	privacy = WATT_PRIVACY_ALL;
}

static void test_fixture(void **state)
{
	struct watt_answer a;

	open_machine(fixture("kube-node", "proc"));
	assert_int_equal(ask(1202, 4010 * TICK_NS, &a), 0);
	assert_int_equal(a.identity.pid, 1202);
	assert_int_equal(a.identity.parent_pid, 1201);
	assert_int_equal(a.identity.start_ns, 4010 * TICK_NS);
	assert_int_equal(a.identity.uid, 65534);
	assert_string_equal(a.identity.comm, "nginx");
	/* the NULs behind a title that was rewritten are not part of it */
	assert_string_equal(a.identity.cmdline, "nginx: worker process");
	assert_null(a.identity.exe);
	assert_int_equal(a.identity.missing, WATT_IDENTITY_EXE);
	assert_null(a.identity.vm_name);
	watt_answer_done(&a);
	assert_int_equal(ask(700, 950 * TICK_NS, &a), 0);
	assert_string_equal(a.identity.cmdline,
			    "/usr/bin/kubelet --config=/var/lib/kubelet/config.yaml");
	watt_answer_done(&a);
	close_machine();
}

static void test_vm(void **state)
{
	struct watt_answer a;

	open_machine(fixture("kube-node", "proc"));
	assert_int_equal(ask(1400, 5000 * TICK_NS, &a), 0);
	assert_string_equal(a.identity.vm_name, "web");
	assert_string_equal(a.identity.hypervisor, "qemu");
	watt_answer_done(&a);
	close_machine();
}

static void test_kernel_thread(void **state)
{
	struct watt_answer a;

	open_machine(fixture("kube-node", "proc"));
	assert_int_equal(ask(2, 5 * TICK_NS, &a), 0);
	/* it has no program, which is not the same as one that can't be read */
	assert_int_equal(a.identity.missing, 0);
	assert_null(a.identity.exe);
	assert_string_equal(a.identity.cmdline, "");
	watt_answer_done(&a);
	close_machine();
}

static void test_used_again(void **state)
{
	struct watt_answer a = { .identity.pid = 77 };

	open_machine(fixture("kube-node", "proc"));
	/* ticks cut off: what BPF knows to the ns is the same within one */
	assert_int_equal(ask(700, 951 * TICK_NS - 1, &a), 0);
	watt_answer_done(&a);
	a.identity.pid = 77;
	assert_int_equal(ask(700, 952 * TICK_NS, &a), -ESRCH);
	assert_int_equal(ask(700, 940 * TICK_NS, &a), -ESRCH);
	assert_int_equal(ask(701, 950 * TICK_NS, &a), -ESRCH);
	assert_int_equal(a.identity.pid, 77);
	close_machine();
}

static void test_odd(void **state)
{
	struct watt_answer a;

	open_machine(fixture("hybrid-odd", "proc"));
	assert_int_equal(ask(10, 100 * TICK_NS, &a), 0);
	assert_string_equal(a.identity.comm, "a) R 1 (b");
	assert_string_equal(a.identity.cmdline, "a  b");
	watt_answer_done(&a);
	assert_int_equal(ask(11, 100 * TICK_NS, &a), 0);
	assert_string_equal(a.identity.comm, "two\nlines");
	watt_answer_done(&a);
	/* status and cmdline are not there */
	assert_int_equal(ask(13, 100 * TICK_NS, &a), 0);
	assert_string_equal(a.identity.comm, "bare");
	assert_int_equal(a.identity.missing,
			 WATT_IDENTITY_EXE | WATT_IDENTITY_CMDLINE | WATT_IDENTITY_UID);
	assert_null(a.identity.cmdline);
	watt_answer_done(&a);
	/* without a stat it could be anybody */
	assert_int_equal(ask(14, 1, &a), -EBADMSG);
	assert_int_equal(ask(15, 1, &a), -ERANGE);
	assert_int_equal(ask(16, 1, &a), -EBADMSG);
	assert_int_equal(ask(17, 1, &a), -EBADMSG);
	close_machine();
}

static void test_exe_and_long_cmdline(void **state)
{
	static const char stat[] = "5 (x) S 1 5 5 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 100";
	char *dir = scratch_new(), *words = malloc(9000), path[PATH_MAX];
	struct watt_answer a;

	memset(words, 'w', 9000);
	scratch_write(dir, "proc/5/stat", stat);
	scratch_write(dir, "proc/5/status", "Name:\tx\nUid:\t1\t2\t3\t4\n");
	scratch_write_bytes(dir, "proc/5/cmdline", words, 9000);
	snprintf(path, sizeof(path), "%s/proc/5/exe", dir);
	assert_int_equal(symlink("/usr/bin/old (deleted)", path), 0);
	snprintf(path, sizeof(path), "%s/proc", dir);
	open_machine(path);
	assert_int_equal(ask(5, 100 * TICK_NS, &a), 0);
	assert_string_equal(a.identity.exe, "/usr/bin/old (deleted)");
	assert_int_equal(strlen(a.identity.cmdline), 4095);
	assert_int_equal(a.identity.uid, 2);
	assert_int_equal(a.identity.missing, 0);
	watt_answer_done(&a);
	close_machine();
	free(words);
	scratch_remove(dir);
}

/* ---- this machine ---- */

static uint64_t start_of(pid_t pid)
{
	struct watt_pidstat stat;
	char path[64], text[1024];
	uint64_t start_ns = 0;
	int dir, fd;
	ssize_t n;

	/* by descriptor, as below */
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = openat(dir, "stat", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	close(dir);
	assert_true(n > 0);
	text[n] = '\0';
	assert_int_equal(watt_pidstat_parse(text, &stat), 0);
	assert_int_equal(watt_ticks_to_ns(stat.start_ticks, sysconf(_SC_CLK_TCK), &start_ns), 0);
	return start_ns;
}

/* A child that renamed itself and waits to be killed. */
static pid_t start_child(void)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork_child();
	if (pid == 0) {
		prctl(PR_SET_NAME, "x) R 1 (\n");
		prctl(PR_SET_DUMPABLE, 0);
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

static void test_live_child(void **state)
{
	struct watt_answer a;
	uint64_t start_ns;
	siginfo_t info;
	pid_t pid;

	open_machine("/proc");
	pid = start_child();
	start_ns = start_of(pid);
	assert_int_equal(ask((uint32_t)pid, start_ns, &a), 0);
	assert_string_equal(a.identity.comm, "x) R 1 (\n");
	assert_int_equal(a.identity.parent_pid, getpid());
	/* its files belong to root, its directory to whom it runs as */
	assert_int_equal(a.identity.uid, geteuid());
	watt_answer_done(&a);
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	/* a zombie has no program left, and no arguments */
	assert_int_equal(ask((uint32_t)pid, start_ns, &a), 0);
	assert_true(a.identity.missing & WATT_IDENTITY_EXE);
	assert_string_equal(a.identity.cmdline, "");
	watt_answer_done(&a);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(ask((uint32_t)pid, start_ns, &a), -ESRCH);
	close_machine();
}

static void test_live_self(void **state)
{
	/* by descriptor: user-mode emulators answer for the path */
	int dir = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char self[PATH_MAX];
	struct watt_answer a;
	ssize_t n;

	n = readlinkat(dir, "exe", self, sizeof(self) - 1);
	assert_true(n > 0);
	close(dir);
	self[n] = '\0';
	open_machine("/proc");
	assert_int_equal(ask((uint32_t)getpid(), start_of(getpid()), &a), 0);
	assert_int_equal(a.identity.missing, 0);
	assert_string_equal(a.identity.exe, self);
	assert_int_equal(a.identity.uid, geteuid());
	assert_int_equal(a.identity.parent_pid, getppid());
	watt_answer_done(&a);
	close_machine();
}

static void test_probe(void **state)
{
	struct watt_diag diag = { 0 };

	open_machine(fixture("kube-node", "proc"));
	assert_int_equal(watt_meta_process.probe(&test->env, &diag), 0);
	assert_int_equal(diag.state, WATT_AVAILABLE);
	close_machine();
	open_machine(fixture("xeon-2s", "sys")); /* no procfs at all */
	assert_int_equal(watt_meta_process.probe(&test->env, &diag), -ENOENT);
	assert_int_equal(diag.state, WATT_ABSENT);
	close_machine();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fixture),
		cmocka_unit_test(test_vm),
		cmocka_unit_test(test_kernel_thread),
		cmocka_unit_test(test_used_again),
		cmocka_unit_test(test_privacy),
		cmocka_unit_test(test_odd),
		cmocka_unit_test(test_exe_and_long_cmdline),
		cmocka_unit_test(test_live_child),
		cmocka_unit_test(test_live_self),
		cmocka_unit_test(test_probe),
	};

	return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
