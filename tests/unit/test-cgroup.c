/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/meta/cgroup.c, meta.c */
#include "env.h"

#include "source/host/cgroupfile.h"

static struct test_env test;
static struct watt_meta *meta;

static void open_machine(const char *procfs, const char *sysfs)
{
	test_env_open(&test, procfs, sysfs);
	assert_int_equal(watt_meta_open(&test.env, &meta), 0);
}

static void close_machine(void)
{
	meta = watt_meta_close(meta);
	test_env_close(&test);
}

static uint64_t hash_of(const char *text)
{
	struct watt_cgroup_line line;

	assert_int_equal(watt_cgroup_line_pick(text, &line), 0);
	return watt_cgroup_line_hash(&line);
}

/* Inode number of root/path. */
static uint64_t inode_of(const char *root, const char *path)
{
	int fd = open(root, O_PATH | O_CLOEXEC);
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(fstatat(fd, path, &st, 0), 0);
	close(fd);
	return (uint64_t)st.st_ino;
}

static void test_by_process(void **state)
{
	const struct watt_cgroup *cgroup, *again;
	uint64_t id = hash_of("0::/user.slice/user-1000.slice/session-3.scope\n");

	open_machine(fixture("kube-node", "proc"), NULL);
	assert_int_equal(watt_meta_get_cgroup(meta, id, false, 1600, &cgroup), 0);
	assert_string_equal(cgroup->path, "/user.slice/user-1000.slice/session-3.scope");
	assert_string_equal(cgroup->unit, "session-3.scope");
	assert_true(cgroup->id == id);
	assert_int_equal(cgroup->v1, 0);
	/* the answer is kept, whoever asks */
	assert_int_equal(watt_meta_get_cgroup(meta, id, false, 0, &again), 0);
	assert_ptr_equal(again, cgroup);
	/* the process is in another cgroup by now: its path would be a lie */
	assert_int_equal(watt_meta_get_cgroup(meta, id ^ 1, false, 1600, &cgroup), 0);
	assert_null(cgroup->path);
	/* nor is there a process, nor a way to look for it */
	assert_int_equal(watt_meta_get_cgroup(meta, 99, false, 4711, &cgroup), 0);
	assert_null(cgroup->path);
	assert_true(cgroup->id == 99);
	close_machine();
}

static void test_told_later(void **state)
{
	uint64_t id = hash_of("0::/init.scope\n");
	const struct watt_cgroup *cgroup, *later;

	open_machine(fixture("kube-node", "proc"), NULL);
	assert_int_equal(watt_meta_get_cgroup(meta, id, false, 4711, &cgroup), 0);
	assert_null(cgroup->path);
	assert_int_equal(watt_meta_get_cgroup(meta, id, false, 1, &later), 0);
	assert_ptr_equal(later, cgroup);
	assert_string_equal(cgroup->path, "/init.scope");
	close_machine();
}

static void test_hybrid(void **state)
{
	static const char line[] = "4:memory:/docker/"
				   "8f1c000000000000000000000000000000000000000000000000000000000"
				   "004\n";
	const struct watt_cgroup *v1, *v2;

	open_machine(fixture("hybrid-odd", "proc"), NULL);
	assert_int_equal(watt_meta_get_cgroup(meta, hash_of(line), true, 10, &v1), 0);
	assert_string_equal(v1->runtime, "docker");
	assert_int_equal(v1->v1, 1);
	/* the same process' v2 cgroup is another one, with the same number or not */
	assert_int_equal(watt_meta_get_cgroup(meta, hash_of("0::/\n"), false, 10, &v2), 0);
	assert_string_equal(v2->path, "/");
	close_machine();
}

/* A v2 tree of three directories beside a process that is in one of them. */
static char *make_tree(char *procfs, char *sysfs)
{
	char *dir = scratch_new();

	scratch_write(dir, "sys/fs/cgroup/cgroup.controllers", "cpu\n");
	scratch_write(dir, "sys/fs/cgroup/a.slice/b.service/cgroup.procs", "5\n");
	scratch_write(dir, "sys/fs/cgroup/a.slice/c.service/cgroup.procs", "");
	scratch_write(dir, "proc/5/cgroup", "0::/a.slice/b.service\n");
	snprintf(procfs, PATH_MAX, "%s/proc", dir);
	snprintf(sysfs, PATH_MAX, "%s/sys", dir);
	return dir;
}

static void test_by_inode(void **state)
{
	char procfs[PATH_MAX], sysfs[PATH_MAX], *dir = make_tree(procfs, sysfs);
	const struct watt_cgroup *cgroup;
	uint64_t b = inode_of(sysfs, "fs/cgroup/a.slice/b.service");
	uint64_t c = inode_of(sysfs, "fs/cgroup/a.slice/c.service");

	open_machine(procfs, sysfs);
	assert_int_equal(watt_meta_get_cgroup(meta, b, false, 5, &cgroup), 0);
	assert_string_equal(cgroup->path, "/a.slice/b.service");
	/* process 5 is not in it: the hierarchy tells */
	assert_int_equal(watt_meta_get_cgroup(meta, c, false, 5, &cgroup), 0);
	assert_string_equal(cgroup->path, "/a.slice/c.service");
	assert_int_equal(
		watt_meta_get_cgroup(meta, inode_of(sysfs, "fs/cgroup"), false, 0, &cgroup), 0);
	assert_string_equal(cgroup->path, "/");
	assert_int_equal(watt_meta_get_cgroup(meta, 1ULL << 62, false, 0, &cgroup), 0);
	assert_null(cgroup->path);
	/* numbers of a v1 hierarchy are not to be found in the v2 one */
	assert_int_equal(watt_meta_get_cgroup(meta, c, true, 0, &cgroup), 0);
	assert_null(cgroup->path);
	close_machine();
	scratch_remove(dir);
}

static void test_v1_inodes(void **state)
{
	char procfs[PATH_MAX], sysfs[PATH_MAX], *dir = make_tree(procfs, sysfs);
	const struct watt_cgroup *cgroup;
	uint64_t m, s;

	scratch_write(dir, "proc/5/cgroup",
		      "9:name=systemd:/s.service\n4:memory:/m\n3:cpu,cpuacct:/\n0::/\n");
	scratch_write(dir, "sys/fs/cgroup/memory/m/x", "");
	scratch_write(dir, "sys/fs/cgroup/systemd/s.service/x", "");
	m = inode_of(sysfs, "fs/cgroup/memory/m");
	s = inode_of(sysfs, "fs/cgroup/systemd/s.service");
	open_machine(procfs, sysfs);
	assert_int_equal(watt_meta_get_cgroup(meta, s, true, 5, &cgroup), 0);
	assert_string_equal(cgroup->path, "/s.service");
	assert_int_equal(watt_meta_get_cgroup(meta, m, true, 5, &cgroup), 0);
	assert_string_equal(cgroup->path, "/m");
	assert_int_equal(watt_meta_get_cgroup(meta, 1ULL << 62, true, 5, &cgroup), 0);
	assert_null(cgroup->path);
	close_machine();
	scratch_remove(dir);
}

static void test_many_and_forget(void **state)
{
	const struct watt_cgroup *kept[1000], *cgroup;
	uint64_t i;

	open_machine(fixture("kube-node", "proc"), NULL);
	watt_meta_forget_cgroup(meta, 5, false);
	for (i = 0; i < 1000; i++)
		assert_int_equal(watt_meta_get_cgroup(meta, i, i & 1, 0, &kept[i]), 0);
	for (i = 0; i < 1000; i++) {
		assert_int_equal(watt_meta_get_cgroup(meta, i, i & 1, 0, &cgroup), 0);
		assert_ptr_equal(cgroup, kept[i]);
		assert_true(cgroup->id == i);
	}
	for (i = 0; i < 1000; i += 2)
		watt_meta_forget_cgroup(meta, i, false);
	assert_int_equal(watt_meta_get_cgroup(meta, 999, true, 0, &cgroup), 0);
	assert_ptr_equal(cgroup, kept[999]);
	close_machine();
}

static void test_user_name(void **state)
{
	char name[32] = "kept";

	open_machine(fixture("kube-node", "proc"), NULL);
	assert_int_equal(watt_meta_user_name(meta, 1000, name, sizeof(name)), 0);
	assert_string_equal(name, "ops");
	assert_int_equal(watt_meta_user_name(meta, 64055, name, sizeof(name)), -ENOENT);
	assert_string_equal(name, "ops");
	close_machine();
	/* a NUL ends what can be read of it */
	open_machine(fixture("hybrid-odd", "proc"), NULL);
	assert_int_equal(watt_meta_user_name(meta, 0, name, sizeof(name)), 0);
	assert_int_equal(watt_meta_user_name(meta, 7, name, sizeof(name)), -ENOENT);
	close_machine();
	/* a machine without the file */
	open_machine(fixture("xeon-2s", "proc"), NULL);
	assert_int_equal(watt_meta_user_name(meta, 0, name, sizeof(name)), -ENOENT);
	close_machine();
	open_machine("/proc", NULL);
	assert_int_equal(watt_meta_user_name(meta, 0, name, sizeof(name)), 0);
	assert_string_equal(name, "root");
	close_machine();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_process), cmocka_unit_test(test_told_later),
		cmocka_unit_test(test_hybrid),     cmocka_unit_test(test_by_inode),
		cmocka_unit_test(test_v1_inodes),  cmocka_unit_test(test_many_and_forget),
		cmocka_unit_test(test_user_name),
	};

	return cmocka_run_group_tests_name("cgroup", tests, NULL, NULL);
}
