/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/meta/cgroup.c */
#include "env.h"

#include "source/host/cgroupfile.h"
#include "source/registry.h"

static struct test_env test;
static struct watt_meta *meta;
static struct watt_answer answer;

static void open_machine(const char *procfs, const char *sysfs)
{
	test_env_open(&test, procfs, sysfs);
	assert_int_equal(watt_meta_cgroup.open(&test.env, &meta), 0);
}

static void close_machine(void)
{
	watt_answer_done(&answer);
	meta->ops->close(meta);
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

/* Asks once more, and frees what was answered before. */
static int ask(uint64_t id, bool v1, uint32_t pid)
{
	struct watt_question q = { .kind = WATT_ASK_CGROUP,
				   .cgroup = { .id = id, .pid = pid, .v1 = v1 } };

	watt_answer_done(&answer);
	return meta->ops->answer(meta, &q, &answer);
}

static void expect(uint64_t id, bool v1, uint32_t pid, const char *path)
{
	assert_int_equal(ask(id, v1, pid), 0);
	assert_int_equal(answer.kind, WATT_ASK_CGROUP);
	assert_string_equal(answer.cgroup.path, path);
	assert_true(answer.cgroup.id == id);
	assert_int_equal(answer.cgroup.v1, v1);
}

static void test_by_process(void **state)
{
	uint64_t id = hash_of("0::/user.slice/user-1000.slice/session-3.scope\n");

	open_machine(fixture("kube-node", "proc"), NULL);
	expect(id, false, 1600, "/user.slice/user-1000.slice/session-3.scope");
	assert_string_equal(answer.cgroup.unit, "session-3.scope");
	/* the process is in another cgroup by now: its path would be a lie */
	assert_true(ask(id ^ 1, false, 1600) < 0);
	/* nor is there a process, nor a way to look for it */
	assert_true(ask(99, false, 4711) < 0);
	expect(hash_of("0::/init.scope\n"), false, 1, "/init.scope");
	close_machine();
}

static void test_hybrid(void **state)
{
	static const char line[] = "4:memory:/docker/"
				   "8f1c000000000000000000000000000000000000000000000000000000000"
				   "004\n";

	open_machine(fixture("hybrid-odd", "proc"), NULL);
	assert_int_equal(ask(hash_of(line), true, 10), 0);
	assert_string_equal(answer.cgroup.runtime, "docker");
	assert_int_equal(answer.cgroup.v1, 1);
	/* the same process' v2 cgroup is another one, with the same number or not */
	expect(hash_of("0::/\n"), false, 10, "/");
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
	uint64_t b = inode_of(sysfs, "fs/cgroup/a.slice/b.service");
	uint64_t c = inode_of(sysfs, "fs/cgroup/a.slice/c.service");

	open_machine(procfs, sysfs);
	expect(b, false, 5, "/a.slice/b.service");
	/* process 5 is not in it: the hierarchy tells */
	expect(c, false, 5, "/a.slice/c.service");
	expect(inode_of(sysfs, "fs/cgroup"), false, 0, "/");
	assert_true(ask(1ULL << 62, false, 0) < 0);
	/* numbers of a v1 hierarchy are not to be found in the v2 one */
	assert_true(ask(c, true, 0) < 0);
	close_machine();
	scratch_remove(dir);
}

static void test_v1_inodes(void **state)
{
	char procfs[PATH_MAX], sysfs[PATH_MAX], *dir = make_tree(procfs, sysfs);
	uint64_t m, s;

	scratch_write(dir, "proc/5/cgroup",
		      "9:name=systemd:/s.service\n4:memory:/m\n3:cpu,cpuacct:/\n0::/\n");
	scratch_write(dir, "sys/fs/cgroup/memory/m/x", "");
	scratch_write(dir, "sys/fs/cgroup/systemd/s.service/x", "");
	m = inode_of(sysfs, "fs/cgroup/memory/m");
	s = inode_of(sysfs, "fs/cgroup/systemd/s.service");
	open_machine(procfs, sysfs);
	expect(s, true, 5, "/s.service");
	expect(m, true, 5, "/m");
	assert_true(ask(1ULL << 62, true, 5) < 0);
	close_machine();
	scratch_remove(dir);
}

static void make_directory(const char *dir, const char *path)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s/%s", dir, path);
	assert_int_equal(mkdir(full, 0755), 0);
}

static void remove_directory(const char *dir, const char *path)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s/%s", dir, path);
	assert_int_equal(rmdir(full), 0);
}

/* A container that came and went before anybody asked for it is known all the same. */
static void test_gone_before_it_was_asked_for(void **state)
{
#define POD "sys/fs/cgroup/kubepods"
#define CONTAINER POD "/8f1c2b3a4d5e6f708192a3b4c5d6e7f808192a3b4c5d6e7f8091a2b3c4d5e6f7"
	char procfs[PATH_MAX], sysfs[PATH_MAX], *dir = make_tree(procfs, sysfs);
	uint64_t id, inner;

	open_machine(procfs, sysfs);
	assert_true(meta->fd >= 0);
	make_directory(dir, POD);
	meta->ops->listen(meta);
	make_directory(dir, CONTAINER);
	make_directory(dir, CONTAINER "/init.scope"); /* before the watch on its parent is set */
	meta->ops->listen(meta);
	id = inode_of(dir, CONTAINER);
	inner = inode_of(dir, CONTAINER "/init.scope");
	remove_directory(dir, CONTAINER "/init.scope");
	remove_directory(dir, CONTAINER);
	assert_int_equal(ask(id, false, 4711), 0);
	assert_string_equal(answer.cgroup.container,
			    "8f1c2b3a4d5e6f708192a3b4c5d6e7f808192a3b4c5d6e7f8091a2b3c4d5e6f7");
	assert_int_equal(ask(inner, false, 0), 0);
	assert_non_null(answer.cgroup.container);
	assert_true(ask(id, true, 4711) < 0); /* of another hierarchy */
	assert_true(ask(1ULL << 62, false, 0) < 0);
	close_machine();
	scratch_remove(dir);
}

static void test_probe(void **state)
{
	struct watt_diag diag = { 0 };

	open_machine("/proc", fixture("kube-node", "proc"));
	assert_int_equal(watt_meta_cgroup.probe(&test.env, &diag), 0);
	assert_int_equal(diag.state, WATT_AVAILABLE);
	close_machine();
	open_machine(fixture("xeon-2s", "sys"), fixture("xeon-2s", "sys"));
	assert_int_equal(watt_meta_cgroup.probe(&test.env, &diag), -ENOENT);
	assert_int_equal(diag.state, WATT_ABSENT);
	close_machine();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_process),
		cmocka_unit_test(test_hybrid),
		cmocka_unit_test(test_by_inode),
		cmocka_unit_test(test_v1_inodes),
		cmocka_unit_test(test_gone_before_it_was_asked_for),
		cmocka_unit_test(test_probe),
	};

	return cmocka_run_group_tests_name("cgroup", tests, NULL, NULL);
}
