/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/host/cgroupfs.c */
#include "unit.h"

#include "source/host/cgroupfs.h"

struct tree {
	char *dir;
	struct watt_root sysfs;
};

static void tree_open(struct tree *tree)
{
	tree->dir = scratch_new();
	tree->sysfs = (struct watt_root)WATT_ROOT_INIT;
	assert_int_equal(watt_root_open(&tree->sysfs, tree->dir), 0);
}

static void tree_close(struct tree *tree)
{
	watt_root_close(&tree->sysfs);
	scratch_remove(tree->dir);
}

static uint64_t inode_of(const struct tree *tree, const char *path)
{
	struct stat st;

	assert_int_equal(fstatat(tree->sysfs.fd, path, &st, 0), 0);
	return (uint64_t)st.st_ino;
}

static uint64_t line_inode(const struct watt_cgroupfs *fs, const char *text)
{
	struct watt_cgroup_line line;
	uint64_t inode = 0;

	assert_int_equal(watt_cgroup_line_pick(text, &line), 0);
	return watt_cgroupfs_inode(fs, &line, &inode) < 0 ? 0 : inode;
}

static void test_unified(void **state)
{
	struct watt_cgroupfs fs;
	struct tree tree;
	char path[64];

	tree_open(&tree);
	scratch_write(tree.dir, "fs/cgroup/cgroup.controllers", "");
	scratch_write(tree.dir, "fs/cgroup/a/b/x", "");
	watt_cgroupfs_init(&fs, &tree.sysfs);
	assert_string_equal(fs.v2, "fs/cgroup");
	assert_true(line_inode(&fs, "0::/a/b\n") == inode_of(&tree, "fs/cgroup/a/b"));
	assert_true(line_inode(&fs, "0::/\n") == inode_of(&tree, "fs/cgroup"));
	assert_int_equal(line_inode(&fs, "0::/gone\n"), 0);
	/* outside of what is mounted here */
	assert_int_equal(line_inode(&fs, "0::/../a\n"), 0);
	assert_int_equal(
		watt_cgroupfs_find(&fs, inode_of(&tree, "fs/cgroup/a/b"), path, sizeof(path)), 0);
	assert_string_equal(path, "/a/b");
	assert_int_equal(watt_cgroupfs_find(&fs, inode_of(&tree, "fs/cgroup"), path, sizeof(path)),
			 0);
	assert_string_equal(path, "/");
	assert_int_equal(watt_cgroupfs_find(&fs, 1ULL << 62, path, sizeof(path)), -ENOENT);
	/* files are no cgroups */
	assert_int_equal(watt_cgroupfs_find(&fs, inode_of(&tree, "fs/cgroup/a/b/x"), path,
					    sizeof(path)),
			 -ENOENT);
	tree_close(&tree);
}

static void test_hybrid(void **state)
{
	struct watt_cgroupfs fs;
	struct tree tree;

	tree_open(&tree);
	scratch_write(tree.dir, "fs/cgroup/unified/cgroup.controllers", "");
	scratch_write(tree.dir, "fs/cgroup/unified/a/x", "");
	scratch_write(tree.dir, "fs/cgroup/cpu,cpuacct/b/x", "");
	scratch_write(tree.dir, "fs/cgroup/systemd/c/x", "");
	watt_cgroupfs_init(&fs, &tree.sysfs);
	assert_string_equal(fs.v2, "fs/cgroup/unified");
	assert_true(line_inode(&fs, "0::/a\n") == inode_of(&tree, "fs/cgroup/unified/a"));
	assert_true(line_inode(&fs, "3:cpu,cpuacct:/b\n") ==
		    inode_of(&tree, "fs/cgroup/cpu,cpuacct/b"));
	assert_true(line_inode(&fs, "1:name=systemd:/c\n") ==
		    inode_of(&tree, "fs/cgroup/systemd/c"));
	tree_close(&tree);
}

static void test_none(void **state)
{
	struct watt_root unset = WATT_ROOT_INIT;
	struct watt_cgroupfs fs;
	char path[64];

	watt_cgroupfs_init(&fs, &unset);
	assert_null(fs.v2);
	assert_int_equal(line_inode(&fs, "0::/a\n"), 0);
	assert_int_equal(line_inode(&fs, "3:pids:/a\n"), 0);
	assert_int_equal(watt_cgroupfs_find(&fs, 1, path, sizeof(path)), -ENOENT);
}

static void test_walk_is_bounded(void **state)
{
	struct watt_cgroupfs fs;
	char path[256] = "fs/cgroup", deepest[512];
	struct tree tree;
	size_t i;

	tree_open(&tree);
	scratch_write(tree.dir, "fs/cgroup/cgroup.controllers", "");
	for (i = 0; i < WATT_CGROUPFS_DEPTH_MAX + 2; i++)
		strcat(path, "/d");
	snprintf(deepest, sizeof(deepest), "%s/x", path);
	scratch_write(tree.dir, deepest, "");
	watt_cgroupfs_init(&fs, &tree.sysfs);
	assert_int_equal(watt_cgroupfs_find(&fs, inode_of(&tree, path), path, sizeof(path)),
			 -ENOENT);
	/* a path that does not fit is not cut */
	assert_int_equal(watt_cgroupfs_find(&fs, inode_of(&tree, "fs/cgroup/d/d/d"), path, 4),
			 -ENOENT);
	tree_close(&tree);
}

/* What the kernel itself says of our own cgroup must come back by its number. */
static void test_this_machine(void **state)
{
	struct watt_root sysfs = WATT_ROOT_INIT, procfs = WATT_ROOT_INIT;
	char text[8192], path[WATT_CGROUP_PATH_MAX];
	struct watt_cgroup_line line;
	struct watt_cgroupfs fs;
	uint64_t inode = 0;

	assert_int_equal(watt_root_open(&sysfs, "/sys"), 0);
	assert_int_equal(watt_root_open(&procfs, "/proc"), 0);
	watt_cgroupfs_init(&fs, &sysfs);
	if (!fs.v2 || watt_root_read(&procfs, "self/cgroup", text, sizeof(text)) < 0 ||
	    watt_cgroup_line_pick_version(text, false, &line) < 0 ||
	    watt_cgroupfs_inode(&fs, &line, &inode) < 0)
		skip();
	assert_int_equal(watt_cgroupfs_find(&fs, inode, path, sizeof(path)), 0);
	assert_int_equal(strlen(path), line.path_len);
	assert_memory_equal(path, line.path, line.path_len);
	watt_root_close(&sysfs);
	watt_root_close(&procfs);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unified),      cmocka_unit_test(test_hybrid),
		cmocka_unit_test(test_none),         cmocka_unit_test(test_walk_is_bounded),
		cmocka_unit_test(test_this_machine),
	};

	return cmocka_run_group_tests_name("cgroupfs", tests, NULL, NULL);
}
