/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/host/cgroupfile.c */
#include "unit.h"

#include "base/util.h"
#include "source/host/cgroupfile.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID "0f1e2d3c-1111-2222-3333-444455556666"
#define V1_ROOTS "9:name=systemd:/\n8:pids:/\n4:memory:/\n3:cpu,cpuacct:/\n"

static void assert_bytes(const char *is, size_t len, const char *expected)
{
	assert_int_equal(len, strlen(expected));
	assert_memory_equal(is, expected, len);
}

static void test_pick(void **state)
{
	static const struct {
		const char *text, *controllers, *path;
	} cases[] = {
		{ "0::/system.slice/a.service\n", "", "/system.slice/a.service" },
		{ "0::/", "", "/" },
		/* hybrid: v2 wins if it is below the root and tells no less */
		{ V1_ROOTS "0::/user.slice\n", "", "/user.slice" },
		{ "1:name=systemd:/user.slice\n0::/user.slice\n", "", "/user.slice" },
		{ "4:memory:/user.slice\n0::/user.slice/user-0.slice/session-1.scope\n", "",
		  "/user.slice/user-0.slice/session-1.scope" },
		{ "4:memory:/system.slice/docker-" ID ".scope\n"
		  "0::/system.slice/docker-" ID ".scope\n",
		  "", "/system.slice/docker-" ID ".scope" },
		/* the runtime's service holds what it started, and knows the least of it */
		{ "4:memory:/docker/" ID "\n0::/system.slice/docker.service\n", "memory",
		  "/docker/" ID },
		{ "9:name=systemd:/docker/" ID "\n3:cpuacct:/\n0::/system.slice/docker.service\n",
		  "name=systemd", "/docker/" ID },
		{ "4:memory:/kubepods/burstable/pod" UID "/" ID "\n3:cpuacct:/kubepods\n"
		  "0::/system.slice/containerd.service\n",
		  "memory", "/kubepods/burstable/pod" UID "/" ID },
		{ "4:memory:/slurm/uid_1/job_2/step_0\n0::/system.slice/slurmd.service\n", "memory",
		  "/slurm/uid_1/job_2/step_0" },
		/* a container around the kubelet is not what runs in it */
		{ "4:memory:/docker/" ID "\n0::/docker/" ID "/kubepods/pod" UID "/" ID "\n", "",
		  "/docker/" ID "/kubepods/pod" UID "/" ID },
		/* what systemd did not make was made to tell somebody apart */
		{ "1:name=systemd:/x\n0::/user.slice\n", "name=systemd", "/x" },
		{ V1_ROOTS "0::/\n", "", "/" },
		/* v2 is the root, v1 knows more: by the order of preference, not of the lines */
		{ "9:name=systemd:/s\n4:memory:/m\n3:cpu,cpuacct:/c\n0::/\n", "cpu,cpuacct", "/c" },
		{ "9:name=systemd:/s\n8:pids:/p\n4:memory:/m\n3:cpuacct:/\n0::/\n", "memory",
		  "/m" },
		{ "9:name=systemd:/s\n8:pids:/p\n4:memory:/\n0::/\n", "pids", "/p" },
		{ "9:name=systemd:/s\n8:pids:/\n7:blkio:/b\n0::/\n", "name=systemd", "/s" },
		{ "9:name=systemd:/\n7:blkio:/b\n0::/\n", "blkio", "/b" },
		/* v1 alone */
		{ V1_ROOTS, "cpu,cpuacct", "/" },
		{ "3:cpu,cpuacct:/a\n", "cpu,cpuacct", "/a" },
		/* not cpuacct, whatever it looks like */
		{ "3:cpuacctx:/a\n4:memory:/m\n", "memory", "/m" },
		/* names with colons, and what is malformed beside what is not */
		{ "0::/a:b:/c\n", "", "/a:b:/c" },
		{ "garbage\n0::/a\n\n1:\n", "", "/a" },
		{ "0::/../x\n", "", "/../x" },
		/* a zombie's cgroup may be gone before it */
		{ "0::/a/b (deleted)\n", "", "/a/b" },
		{ "0:: (deleted)\n1:pids:/x (deleted)\n", "pids", "/x (deleted)" },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		struct watt_cgroup_line line;

		assert_int_equal(watt_cgroup_line_pick(cases[i].text, &line), 0);
		assert_bytes(line.controllers, line.controllers_len, cases[i].controllers);
		assert_bytes(line.path, line.path_len, cases[i].path);
		assert_int_equal(line.is_v1, cases[i].controllers[0] != '\0');
	}
}

static void test_refused(void **state)
{
	static const char *const cases[] = { "",     "\n",    "x",      ":",     "0:",  "0::",
					     "0::a", ":x:/a", "a:x:/a", "-1::/", "0:/a" };
	struct watt_cgroup_line line;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++)
		assert_int_equal(watt_cgroup_line_pick(cases[i], &line), -EBADMSG);
	assert_int_equal(watt_cgroup_line_pick_version("0::/a\n", true, &line), -ENOENT);
	assert_int_equal(watt_cgroup_line_pick_version("1:pids:/a\n", false, &line), -ENOENT);
}

static void test_too_long(void **state)
{
	size_t size = WATT_CGROUP_PATH_MAX + 16;
	char *text = malloc(size + 1);
	struct watt_cgroup_line line;

	assert_non_null(text);
	memset(text, 'a', size);
	memcpy(text, "0::/", 4);
	text[size] = '\0';
	assert_int_equal(watt_cgroup_line_pick(text, &line), -EBADMSG);
	free(text);
}

static void test_hash(void **state)
{
	struct watt_cgroup_line a, b, c;

	assert_int_equal(watt_cgroup_line_pick("4:memory:/a\n", &a), 0);
	assert_int_equal(watt_cgroup_line_pick("7:memory:/a\n8:x:/b\n", &b), 0);
	assert_int_equal(watt_cgroup_line_pick("4:pids:/a\n", &c), 0);
	/* the hierarchy's number is another after each boot */
	assert_true(watt_cgroup_line_hash(&a) == watt_cgroup_line_hash(&b));
	assert_true(watt_cgroup_line_hash(&a) != watt_cgroup_line_hash(&c));
	assert_true(watt_cgroup_line_hash(&a) & WATT_CGROUP_ID_HASHED);
	/* part of recordings: it may not change from one release to the next */
	assert_true(watt_cgroup_line_hash(&a) == 0x8e3323947dbf9f70ULL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pick),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_hash),
	};

	return cmocka_run_group_tests_name("cgroupfile", tests, NULL, NULL);
}
