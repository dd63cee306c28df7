/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hybrid machine: of the two cgroups of a task, the usage source "bpf" tells the one that says
 * more. The cgroups are real; which hierarchy names containers is said by a /sys of the test's own,
 * so that nobody else on this machine is misled. Needs root and a hierarchy of each version.
 */
#include "../unit/unit.h"

#include <linux/types.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <usage_layout.h>
#include <usage.skel.h>

#include "base/util.h"
#include "source/activity/bpf/bpf_object.h"
#include "usage_rig.h"

#define ID "8f1c2b3a4d5e6f708192a3b4c5d6e7f808192a3b4c5d6e7f8091a2b3c4d5e6f7"
#define CGROUPS "/sys/fs/cgroup"

static const char *unified;    /* where version 2 is mounted */
static const char *controller; /* of a hierarchy of version 1 */
static char *sysfs;

/* NULL: in vain. */
static const char *find_unified(void)
{
	static const char *const places[] = { CGROUPS, CGROUPS "/unified" };
	char path[PATH_MAX];

	for (size_t i = 0; i < WATT_ARRAY_SIZE(places); i++) {
		snprintf(path, sizeof(path), "%s/cgroup.controllers", places[i]);
		if (access(path, F_OK) == 0)
			return places[i];
	}
	return NULL;
}

static const char *find_controller(void)
{
	static const char *const names[] = { "freezer", "devices", "pids", "cpuacct", "memory" };
	char path[PATH_MAX];

	for (size_t i = 0; i < WATT_ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), CGROUPS "/%s/cgroup.procs", names[i]);
		if (access(path, W_OK) == 0)
			return names[i];
	}
	return NULL;
}

/* With the test's own number in its first component; top: that alone. "" is the root. */
static void folder_of(const char *hierarchy, const char *path, bool top, char *buf, size_t size)
{
	size_t len = strcspn(path, "/."), end = top ? strcspn(path, "/") : strlen(path);

	if (!*path)
		snprintf(buf, size, "%s", hierarchy);
	else
		snprintf(buf, size, "%s/%.*s-%d%.*s", hierarchy, (int)len, path, getpid(),
			 (int)(end - len), path + len);
}

static ino_t make(const char *hierarchy, const char *path, char *buf, size_t size)
{
	struct stat st;

	folder_of(hierarchy, path, true, buf, size);
	mkdir(buf, 0755);
	folder_of(hierarchy, path, false, buf, size);
	mkdir(buf, 0755);
	assert_int_equal(stat(buf, &st), 0);
	return st.st_ino;
}

static void unmake(const char *hierarchy, const char *path)
{
	char folder[PATH_MAX];

	if (!*path)
		return;
	folder_of(hierarchy, path, false, folder, sizeof(folder));
	rmdir(folder);
	folder_of(hierarchy, path, true, folder, sizeof(folder));
	rmdir(folder);
}

static void enter(const char *folder, pid_t pid)
{
	char path[PATH_MAX + 16];
	FILE *file;

	snprintf(path, sizeof(path), "%s/cgroup.procs", folder);
	file = fopen(path, "we");
	assert_non_null(file);
	fprintf(file, "%d", pid);
	assert_int_equal(fclose(file), 0);
}

static const struct place {
	const char *v1, *v2;
	bool is_v1; /* tells more */
} places[] = {
	/* containers by a runtime's own hand, below its service */
	{ "watt-docker/" ID, "watt-docker.service", true },
	{ "watt-kubepods/" ID, "watt-system.slice/containerd.service", true },
	{ "watt-job/job_7", "watt-slurmd.service", true },
	{ "watt-docker/" ID, "", true },
	{ "watt-user.slice", "", true },
	/* a container beats a name */
	{ "watt-machine.slice/docker-" ID ".scope", "watt-own", true },
	/* what tells no more, or is in the root */
	{ "watt-user.slice", "watt-user.slice/session-3.scope", false },
	{ "watt-system.slice/systemd-cryptsetup@luks-" ID ".service", "watt-sshd.service", false },
	{ "watt-docker/" ID, "watt-docker.slice/docker-" ID ".scope", false },
	{ "watt-own", "watt-own", false },
	{ "", "watt-sshd.service", false },
	{ "", "watt-own/" ID, false },
};

static void check_place(struct rig *rig, const struct place *place)
{
	char v1[PATH_MAX], v2[PATH_MAX], hierarchy[64];
	const struct rig_task *task;
	ino_t id1, id2;
	pid_t pid;

	snprintf(hierarchy, sizeof(hierarchy), CGROUPS "/%s", controller);
	id1 = make(hierarchy, place->v1, v1, sizeof(v1));
	id2 = make(unified, place->v2, v2, sizeof(v2));
	pid = child_spawn(child_pause, NULL);
	enter(v1, pid);
	enter(v2, pid);
	rig_sweep(rig, true);
	task = rig_latest(rig, pid);
	assert_non_null(task);
	if (task->cgroup_id != (place->is_v1 ? id1 : id2))
		fprintf(stderr, "wrong: v1 /%s, v2 /%s\n", place->v1, place->v2);
	assert_int_equal(task->cgroup_id, place->is_v1 ? id1 : id2);
	assert_int_equal(!!(task->flags & WATT_USAGE_CGROUP_V1), place->is_v1);
	child_kill(pid);
	unmake(hierarchy, place->v1);
	unmake(unified, place->v2);
}

static void test_who_tells_more(void **state)
{
	struct rig *rig = rig_get(state);

	for (size_t i = 0; i < WATT_ARRAY_SIZE(places); i++)
		check_place(rig, &places[i]);
}

/* 46,000 on Linux 6.18, in 20 ms; each character that is compared by itself may double it. */
#define VERIFIED_MOST 150000

/* What decides how long it takes to begin: the instructions that the kernel went through to verify. */
static void test_is_soon_loaded(void **state)
{
	struct watt_bpf_object object;
	struct bpf_program *program;
	uint64_t sum = 0;

	assert_int_equal(rig_open_object(&object, WATT_BPF_MODE_AUTO, NULL), 0);
	bpf_object__for_each_program(program, object.skel->obj)
	{
		struct bpf_prog_info info = { 0 };
		uint32_t len = sizeof(info);

		if (bpf_program__fd(program) < 0)
			continue; /* not loaded */
		assert_int_equal(bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &len), 0);
		sum += info.verified_insns;
	}
	watt_bpf_object_close(&object);
	fprintf(stderr, "verified: %llu instructions\n", (unsigned long long)sum);
	assert_true(sum < VERIFIED_MOST);
}

/* At least one cgroup beside the root makes a hierarchy worth a look. */
static int prepare(void **state)
{
	char place[256], hierarchy[64];

	snprintf(hierarchy, sizeof(hierarchy), CGROUPS "/%s", controller);
	make(hierarchy, "watt-first", place, sizeof(place));
	sysfs = scratch_new();
	snprintf(place, sizeof(place), "fs/cgroup/%s/docker/" ID "/tasks", controller);
	scratch_write(sysfs, place, "");
	rig_set_sysfs(sysfs);
	return 0;
}

static int tidy(void **state)
{
	char hierarchy[64];

	snprintf(hierarchy, sizeof(hierarchy), CGROUPS "/%s", controller);
	unmake(hierarchy, "watt-first");
	for (size_t i = 0; i < WATT_ARRAY_SIZE(places); i++) {
		unmake(hierarchy, places[i].v1);
		unmake(unified, places[i].v2);
	}
	scratch_remove(sysfs);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST_BOTH(who_tells_more),
		cmocka_unit_test(test_is_soon_loaded),
	};
	const char *why = rig_why_not();

	unified = find_unified();
	controller = find_controller();
	if (!why && !unified)
		why = "no cgroup hierarchy of version 2 can be seen below " CGROUPS;
	if (!why && !controller)
		why = "no cgroup hierarchy of version 1 can be written below " CGROUPS;
	if (why) {
		fprintf(stderr, "%s\n", why);
		return 77;
	}
	return cmocka_run_group_tests(tests, prepare, tidy);
}
