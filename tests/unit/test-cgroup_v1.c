/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/host/cgroup_v1.c */
#include "env.h"

#include "base/util.h"
#include "source/host/cgroup_v1.h"

#define HEAD "#subsys_name\thierarchy\tnum_cgroups\tenabled\n"
#define ID "8f1c2b3a4d5e6f708192a3b4c5d6e7f808192a3b4c5d6e7f8091a2b3c4d5e6f7"

static void test_count(void **state)
{
	static const char text[] = HEAD "cpuset\t3\t9\t1\nmemoryx\t4\t5\t1\npids\nfreezer\tx\n"
					"devices\t1\nmemory\t4\t7\t1\ncpuacct\t0\t50\t1";

	assert_int_equal(watt_cgroup_v1_count(text, "cpuset"), 9);
	assert_int_equal(watt_cgroup_v1_count(text, "memory"), 7);
	assert_int_equal(watt_cgroup_v1_count(text, "pids"), 0);
	assert_int_equal(watt_cgroup_v1_count(text, "freezer"), 0);
	assert_int_equal(watt_cgroup_v1_count(text, "devices"), 0);
	/* of the hierarchy of version 2 */
	assert_int_equal(watt_cgroup_v1_count(text, "cpuacct"), 0);
	assert_int_equal(watt_cgroup_v1_count("", "memory"), 0);
}

/* A machine with these lines in /proc/cgroups and these directories in its hierarchies. */
struct machine {
	const char *lines;
	const char *directories[4];
	const char *chosen;
};

static void expect(const struct machine *machine)
{
	char text[512], path[256], *dir = scratch_new();
	struct test_env test;
	const char *chosen;
	size_t i;

	snprintf(text, sizeof(text), HEAD "%s", machine->lines);
	scratch_write(dir, "cgroups", text);
	for (i = 0; i < WATT_ARRAY_SIZE(machine->directories); i++) {
		if (!machine->directories[i])
			break;
		snprintf(path, sizeof(path), "fs/cgroup/%s/tasks", machine->directories[i]);
		scratch_write(dir, path, "");
	}
	test_env_open(&test, dir, dir);
	chosen = watt_cgroup_v1_choose(&test.env.procfs, &test.env.sysfs);
	if (machine->chosen)
		assert_string_equal(chosen, machine->chosen);
	else
		assert_null(chosen);
	test_env_close(&test);
	scratch_remove(dir);
}

static void test_most_cgroups(void **state)
{
	static const struct machine machines[] = {
		{ "cpuset\t3\t1\t1\ncpuacct\t2\t1\t1\nmemory\t4\t5\t1\npids\t8\t2\t1\n",
		  { NULL },
		  "memory" },
		{ "cpuacct\t2\t5\t1\nmemory\t4\t5\t1\n", { NULL }, "cpuacct" },
		{ "cpuacct\t0\t50\t1\npids\t8\t2\t1\n", { NULL }, "pids" },
		{ "cpuacct\t0\t50\t1\nmemory\t0\t50\t1\n", { NULL }, NULL },
		{ "blkio\t4\t50\t1\n", { NULL }, NULL },
		{ "memory\t4\t90\t1\npids\t8\t2\t1\n",
		  { "memory/system.slice/a.service", "pids/user.slice/user-1.slice" },
		  "memory" },
	};

	for (size_t i = 0; i < WATT_ARRAY_SIZE(machines); i++)
		expect(&machines[i]);
}

static void test_directories_that_name_containers(void **state)
{
	static const struct machine machines[] = {
		/* services in one, containers in another that has less of them */
		{ "memory\t4\t90\t1\ncpuacct\t2\t3\t1\n",
		  { "memory/system.slice/a.service", "cpuacct/docker/" ID },
		  "cpuacct" },
		/* a batch scheduler that uses what is left to it */
		{ "memory\t4\t90\t1\nfreezer\t2\t4\t1\n",
		  { "memory/system.slice/a.service", "freezer/slurm/uid_1000/job_7" },
		  "freezer" },
		/* before the first container: its parent tells whose the hierarchy is */
		{ "memory\t4\t90\t1\npids\t2\t2\t1\n",
		  { "memory/system.slice/a.service", "pids/kubepods/besteffort" },
		  "pids" },
		/* both name some: the one with more */
		{ "cpuacct\t4\t9\t1\npids\t2\t12\t1\n",
		  { "cpuacct/docker/" ID, "pids/kubepods/besteffort/pod1/" ID },
		  "pids" },
		/* on the hierarchy of version 2, or with nothing but its root */
		{ "memory\t0\t90\t1\npids\t2\t2\t1\ncpuacct\t5\t1\t1\n",
		  { "memory/docker/" ID, "cpuacct/docker/" ID, "pids/a" },
		  "pids" },
	};

	for (size_t i = 0; i < WATT_ARRAY_SIZE(machines); i++)
		expect(&machines[i]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_most_cgroups),
		cmocka_unit_test(test_directories_that_name_containers),
	};

	return cmocka_run_group_tests_name("cgroup_v1", tests, NULL, NULL);
}
