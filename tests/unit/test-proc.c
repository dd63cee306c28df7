/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/activity/procfs/proc.c */
#include "unit.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "source/activity/procfs/proc.h"
#include "source/host/pidns.h"

static struct watt_root procfs, sysfs;
static struct watt_proc_reader reader;

static void open_reader(const char *path)
{
	procfs = (struct watt_root)WATT_ROOT_INIT;
	sysfs = (struct watt_root)WATT_ROOT_INIT;
	assert_int_equal(watt_root_open(&procfs, path), 0);
	watt_proc_reader_init(&reader, &procfs, &sysfs);
}

static void test_clock_only_for_own_pids(void **state)
{
	char *dir = scratch_new(), text[64];

	/* it says what we would say, and still is no procfs */
	snprintf(text, sizeof(text), "Name:\tx\nPid:\t%d\nNSpid:\t%d\n", getpid(), getpid());
	scratch_write(dir, "self/status", text);
	open_reader(dir);
	assert_false(reader.has_clock);
	watt_root_close(&procfs);
	open_reader("/proc");
	assert_true(reader.has_clock);
	watt_root_close(&procfs);
	scratch_remove(dir);
}

/* Another pid namespace whose procfs we can see: its pids are not ours. */
static void test_foreign_namespace(void **state)
{
	struct watt_proc proc;

	open_reader("/proc");
	reader.has_clock = false;
	assert_int_equal(watt_proc_meet(&reader, (uint32_t)getpid(), &proc), 0);
	proc.usage.start_ns += 2 * WATT_NSEC_PER_SEC;
	assert_int_equal(watt_proc_verify(&reader, &proc), -ESRCH);
	assert_int_equal(watt_proc_refresh(&reader, &proc), -ESRCH);
	assert_int_equal(watt_proc_read_cpu(&reader, &proc, &(uint64_t){ 0 }), -ESRCH);
	watt_root_close(&procfs);
}

/* Which namespace it is: the file of it has that number. */
static void test_number_of_the_namespace(void **state)
{
	char *dir = scratch_new();
	struct stat own;
	uint32_t inum = 0;

	scratch_write(dir, "1/ns/pid", "pid:[4026531836]");
	open_reader(dir);
	assert_int_equal(watt_pidns_get_inum(&procfs, &inum), -ENODEV);
	watt_root_close(&procfs);
	scratch_remove(dir);
	open_reader("/proc");
	assert_int_equal(stat("/proc/self/ns/pid", &own), 0);
	if (watt_pidns_is_own(&procfs)) {
		assert_int_equal(watt_pidns_get_inum(&procfs, &inum), 0);
		assert_int_equal(inum, own.st_ino);
	}
	watt_root_close(&procfs);
}

static void test_clock_and_ticks_agree(void **state)
{
	uint64_t begin_ns, ticks_ns = 0, clock_ns = 0, end_ns;
	struct watt_proc proc;

	open_reader("/proc");
	assert_int_equal(watt_proc_meet(&reader, (uint32_t)getpid(), &proc), 0);
	assert_int_equal(proc.usage.tgid, getpid());
	assert_true(proc.is_new);
	assert_false(proc.is_hidden);
	begin_ns = watt_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	while (watt_clock_ns(CLOCK_PROCESS_CPUTIME_ID) < begin_ns + 60 * WATT_NSEC_PER_MSEC)
		;
	assert_int_equal(watt_proc_read_cpu(&reader, &proc, &clock_ns), 0);
	reader.has_clock = false;
	assert_int_equal(watt_proc_read_cpu(&reader, &proc, &ticks_ns), 0);
	end_ns = watt_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	assert_true(clock_ns >= begin_ns + 60 * WATT_NSEC_PER_MSEC);
	/* user and system ticks are cut off one by one */
	assert_true(ticks_ns + 30 * WATT_NSEC_PER_MSEC >= clock_ns);
	assert_true(ticks_ns <= end_ns);
	watt_root_close(&procfs);
}

static void test_zombie_and_gone(void **state)
{
	struct watt_proc proc;
	uint64_t cpu_ns = 77;
	siginfo_t info;
	pid_t pid;

	open_reader("/proc");
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(watt_proc_meet(&reader, (uint32_t)pid, &proc), 0);
	assert_true(proc.usage.flags & WATT_USAGE_ZOMBIE);
	/* what a zombie used is still to be had */
	assert_int_equal(watt_proc_read_cpu(&reader, &proc, &cpu_ns), 0);
	assert_true(cpu_ns > 77);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	cpu_ns = 77;
	assert_int_equal(watt_proc_read_cpu(&reader, &proc, &cpu_ns), -ESRCH);
	assert_int_equal(cpu_ns, 77);
	assert_int_equal(watt_proc_refresh(&reader, &proc), -ESRCH);
	assert_int_equal(watt_proc_verify(&reader, &proc), -ESRCH);
	assert_int_equal(watt_proc_meet(&reader, (uint32_t)pid, &proc), -ESRCH);
	watt_root_close(&procfs);
}

static void test_refresh(void **state)
{
	char *dir = scratch_new();
	struct watt_proc proc;

	scratch_write(dir, "5/stat", "5 (a) S 1 5 5 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 100");
	scratch_write(dir, "5/status", "Uid:\t1\t1\t1\t1\n");
	scratch_write(dir, "5/cgroup", "0::/a\n");
	open_reader(dir);
	assert_int_equal(watt_proc_meet(&reader, 5, &proc), 0);
	assert_int_equal(watt_proc_refresh(&reader, &proc), 0);
	scratch_write(dir, "5/stat", "5 (b) S 9 5 5 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 100");
	assert_int_equal(watt_proc_refresh(&reader, &proc), WATT_PROC_NAME);
	assert_int_equal(proc.usage.parent_tgid, 9);
	scratch_write(dir, "5/cgroup", "0::/b\n");
	scratch_write(dir, "5/status", "Uid:\t2\t2\t2\t2\n");
	assert_int_equal(watt_proc_refresh(&reader, &proc), WATT_PROC_CGROUP);
	assert_int_equal(proc.usage.uid, 2);
	scratch_write(dir, "5/cgroup", "0::/gone (deleted)\n");
	assert_int_equal(watt_proc_refresh(&reader, &proc), 0);
	/* what was known stays when it can't be read any more */
	scratch_write(dir, "5/cgroup", "");
	scratch_unlink(dir, "5/status");
	assert_int_equal(watt_proc_refresh(&reader, &proc), 0);
	assert_int_equal(proc.usage.uid, 2);
	assert_int_equal(proc.usage.flags, WATT_USAGE_WHOLE);
	watt_root_close(&procfs);
	scratch_remove(dir);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock_only_for_own_pids),
		cmocka_unit_test(test_foreign_namespace),
		cmocka_unit_test(test_number_of_the_namespace),
		cmocka_unit_test(test_clock_and_ticks_agree),
		cmocka_unit_test(test_zombie_and_gone),
		cmocka_unit_test(test_refresh),
	};

	return cmocka_run_group_tests_name("proc", tests, NULL, NULL);
}
