/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/meta/container.c */
#include "unit.h"

#include "base/util.h"
#include "source/source.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define NODE "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define UID "0f1e2d3c-1111-2222-3333-444455556666"
#define UID_ "0f1e2d3c_1111_2222_3333_444455556666"
#define HASH "0123456789abcdef0123456789abcdef"
#define PODS "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice"
#define USER1000 "/user.slice/user-1000.slice/user@1000.service"

/* What a path tells: runtime, container, pod, unit, user unit, job. */
struct form {
	const char *path;
	const char *runtime, *container, *pod_uid, *unit, *user_unit, *job;
};

static void assert_text(const char *path, const char *what, const char *is, const char *expected)
{
	if (!is != !expected || (is && strcmp(is, expected) != 0))
		fail_msg("%s: %s is %s, not %s", path, what, is ? is : "(none)",
			 expected ? expected : "(none)");
}

static void check(const struct form *forms, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		const struct form *form = &forms[i];
		/* the exact room, so that a sanitizer sees one byte more */
		char *storage = malloc(watt_cgroup_parse_size(form->path));
		struct watt_cgroup cgroup;

		assert_non_null(storage);
		watt_cgroup_parse(form->path, storage, &cgroup);
		assert_text(form->path, "path", cgroup.path, form->path);
		assert_text(form->path, "runtime", cgroup.runtime, form->runtime);
		assert_text(form->path, "container", cgroup.container, form->container);
		assert_text(form->path, "pod", cgroup.pod_uid, form->pod_uid);
		assert_text(form->path, "unit", cgroup.unit, form->unit);
		assert_text(form->path, "user unit", cgroup.user_unit, form->user_unit);
		assert_text(form->path, "job", cgroup.job, form->job);
		free(storage);
	}
}

static void test_kubelet_cgroupfs(void **state)
{
	static const struct form forms[] = {
		{ "/kubepods/burstable/pod" UID "/" ID, NULL, ID, UID },
		{ "/kubepods/besteffort/pod" UID "/" ID, NULL, ID, UID },
		{ "/kubepods/pod" UID "/" ID, NULL, ID, UID },
		{ "/kubepods/burstable/pod" HASH "/" ID, NULL, ID, HASH },
		{ "/kubepods/burstable/pod" UID "/crio-" ID, "cri-o", ID, UID },
		{ "/kubepods/burstable/pod" UID "/crio-conmon-" ID, NULL, NULL, UID },
		{ "/kubepods/burstable/pod" UID, NULL, NULL, UID },
		{ "/kubepods/burstable", NULL, NULL, NULL },
		{ "/kubepods", NULL, NULL, NULL },
		/* not below the kubelet's cgroup */
		{ "/other/pod" UID "/x", NULL, NULL, NULL },
		/* not an id: capitals, one digit short */
		{ "/kubepods/pod" UID "/0123456789ABCDEF", NULL, NULL, UID },
		{ "/kubepods/pod0f1e2d3c-1111-2222-3333-44445555666/x", NULL, NULL, NULL },
		{ "/kubepods/pod" UID "/kata_" ID, "kata", ID, UID },
	};

	check(forms, WATT_ARRAY_SIZE(forms));
}

static void test_kubelet_systemd(void **state)
{
	static const struct form forms[] = {
		{ PODS "/cri-containerd-" ID ".scope", "containerd", ID, UID,
		  "cri-containerd-" ID ".scope" },
		{ "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_
		  ".slice/crio-" ID ".scope",
		  "cri-o", ID, UID, "crio-" ID ".scope" },
		{ "/kubepods.slice/kubepods-pod" UID_ ".slice/docker-" ID ".scope", "docker", ID,
		  UID, "docker-" ID ".scope" },
		{ "/kubepods.slice/kubepods-pod" HASH ".slice/cri-containerd-" ID ".scope",
		  "containerd", ID, HASH, "cri-containerd-" ID ".scope" },
		/* crun puts the payload one deeper */
		{ PODS "/crio-" ID ".scope/container", "cri-o", ID, UID, "crio-" ID ".scope" },
		/* a sandbox without .scope, and the monitor that is in no container */
		{ PODS "/crio-" ID, "cri-o", ID, UID, NULL },
		{ PODS "/crio-conmon-" ID ".scope", NULL, NULL, UID, "crio-conmon-" ID ".scope" },
		{ PODS, NULL, NULL, UID },
		/* the runtime takes systemd's notation for a path */
		{ "/system.slice/containerd.service/kubepods-burstable-pod" UID_
		  ".slice:cri-containerd:" ID,
		  "containerd", ID, UID, "containerd.service" },
		{ "/system.slice/crio.service/kubepods-pod" UID_ ".slice:crio:" ID, "cri-o", ID,
		  UID, "crio.service" },
		{ "/system.slice/x.service/kubepods-pod" UID_ ".slice:odd:" ID, NULL, ID, UID,
		  "x.service" },
		{ "/system.slice/x.service/kubepods-pod" UID_ ".slice:crio:odd", NULL, NULL, UID,
		  "x.service" },
	};

	check(forms, WATT_ARRAY_SIZE(forms));
}

static void test_kind(void **state)
{
	static const struct form forms[] = {
		{ "/docker/" NODE "/kubelet.slice/kubelet-kubepods.slice/"
		  "kubelet-kubepods-besteffort.slice/kubelet-kubepods-besteffort-pod" UID_
		  ".slice/cri-containerd-" ID ".scope",
		  "containerd", ID, UID },
		{ "/system.slice/docker-" NODE ".scope/kubelet.slice/kubelet-kubepods.slice/"
		  "kubelet-kubepods-burstable.slice/kubelet-kubepods-burstable-pod" UID_
		  ".slice/cri-containerd-" ID ".scope",
		  "containerd", ID, UID, "docker-" NODE ".scope" },
		{ "/docker/" NODE "/kubelet/kubepods/besteffort/pod" UID "/" ID, NULL, ID, UID },
		/* beside the pods: the node's own processes */
		{ "/docker/" NODE "/kubelet.slice/kubelet.service", "docker", NODE },
		{ "/docker/" NODE "/system.slice/containerd.service", "docker", NODE },
		/* in the pod but in no container: the node's id must not be taken for one */
		{ "/docker/" NODE "/kubelet/kubepods/pod" UID, NULL, NULL, UID },
		/* docker in a pod's container */
		{ "/kubepods/pod" UID "/" NODE "/docker/" ID, "docker", ID, UID },
	};

	check(forms, WATT_ARRAY_SIZE(forms));
}

static void test_docker_and_containerd(void **state)
{
	static const struct form forms[] = {
		{ "/docker/" ID, "docker", ID },
		{ "/docker/" ID "/init", "docker", ID },
		{ "/system.slice/docker-" ID ".scope", "docker", ID, NULL, "docker-" ID ".scope" },
		{ "/custom.slice/docker-" ID ".scope", "docker", ID, NULL, "docker-" ID ".scope" },
		{ "/my-parent/" ID, NULL, ID },
		{ "/ecs/task/" ID, NULL, ID },
		{ "/moby/" ID, "docker", ID },
		{ "/default/" ID, "containerd", ID },
		{ "/k8s.io/ctest", "containerd", "ctest" },
		{ "/k8s.io/" ID, "containerd", ID },
		{ "/system.slice/nerdctl-" ID ".scope", "containerd", ID, NULL,
		  "nerdctl-" ID ".scope" },
		{ "/system.slice/docker.service", NULL, NULL, NULL, "docker.service" },
		/* a mount of a layer is no container */
		{ "/system.slice/var-lib-docker-overlay2-" ID "-merged.mount", NULL, NULL, NULL,
		  "var-lib-docker-overlay2-" ID "-merged.mount" },
	};

	check(forms, WATT_ARRAY_SIZE(forms));
}

static void test_podman(void **state)
{
	static const struct form forms[] = {
		{ "/machine.slice/libpod-" ID ".scope", "podman", ID, NULL, "libpod-" ID ".scope" },
		{ "/machine.slice/libpod-" ID ".scope/container", "podman", ID, NULL,
		  "libpod-" ID ".scope" },
		{ "/machine.slice/libpod-conmon-" ID ".scope", NULL, NULL, NULL,
		  "libpod-conmon-" ID ".scope" },
		{ USER1000 "/user.slice/libpod-" ID ".scope/container", "podman", ID, NULL,
		  "user@1000.service", "libpod-" ID ".scope" },
		{ "/system.slice/web.service/libpod-payload-" ID, "podman", ID, NULL,
		  "web.service" },
		{ "/system.slice/web.service/runtime", NULL, NULL, NULL, "web.service" },
		{ "/machine.slice/machine-libpod_pod_" NODE ".slice/libpod-" ID ".scope", "podman",
		  ID, NODE, "libpod-" ID ".scope" },
		{ "/libpod_parent/libpod-" ID, "podman", ID },
		{ "/libpod_parent/conmon", NULL, NULL },
		{ "/libpod_parent/" NODE "/libpod-" ID, "podman", ID, NODE },
	};

	check(forms, WATT_ARRAY_SIZE(forms));
}

static void test_named(void **state)
{
	static const struct form forms[] = {
		{ "/lxc.payload.web", "lxc", "web" },
		{ "/lxc.payload.proj_web/system.slice/nginx.service", "lxc", "proj_web" },
		{ "/lxc.monitor.web", NULL, NULL },
		{ "/lxc/web", "lxc", "web" },
		{ "/lxc/101/ns/init.scope", "lxc", "101" },
		{ "/lxc.payload/web", "lxc", "web" },
		{ "/lxc.payload.outer/lxc.payload.inner", "lxc", "inner" },
		{ "/lxc.payload.web/system.slice/docker-" ID ".scope", "docker", ID },
		{ "/lxc.payload.", NULL, NULL },
		{ "/machine.slice/machine-deb\\x2d12.scope/payload/init.scope", "systemd-nspawn",
		  "deb-12", NULL, "machine-deb\\x2d12.scope" },
		{ "/machine.slice/systemd-nspawn@deb\\x2d12.service/payload", "systemd-nspawn",
		  "deb-12", NULL, "systemd-nspawn@deb\\x2d12.service" },
		{ "/machine.slice/systemd-nspawn@.service", NULL, NULL, NULL,
		  "systemd-nspawn@.service" },
		{ "/machine.slice/machine-qemu\\x2d3\\x2dweb\\x2d1.scope/libvirt/emulator",
		  "libvirt", "web-1", NULL, "machine-qemu\\x2d3\\x2dweb\\x2d1.scope" },
		{ "/machine.slice/machine-lxc\\x2d3\\x2dweb.scope", "libvirt", "web", NULL,
		  "machine-lxc\\x2d3\\x2dweb.scope" },
		{ "/machine/qemu-3-web.libvirt-qemu/vcpu0", "libvirt", "web" },
		{ "/machine/web.libvirt-qemu", "libvirt", "web" },
		{ "/libvirt/qemu/web", "libvirt", "web" },
		/* escapes that are none stay as they are */
		{ "/machine.slice/machine-a\\x2.scope", "systemd-nspawn", "a\\x2", NULL,
		  "machine-a\\x2.scope" },
		{ "/machine.slice/machine-a\\x00b.scope", "systemd-nspawn", "a\\x00b", NULL,
		  "machine-a\\x00b.scope" },
		{ "/machine.slice/machine-.scope", NULL, NULL, NULL, "machine-.scope" },
		{ "/kata_" ID, "kata", ID },
		{ "/kata_overhead/" ID, "kata", ID },
	};

	check(forms, WATT_ARRAY_SIZE(forms));
}

static void test_jobs(void **state)
{
	static const struct form forms[] = {
		{ "/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0",
		  .unit = "slurmstepd.scope", .job = "slurm:4711" },
		{ "/system.slice/n1_slurmstepd.scope/job_4711/step_batch",
		  .unit = "n1_slurmstepd.scope", .job = "slurm:4711" },
		{ "/slurm/uid_1000/job_12/step_extern/task_0", .job = "slurm:12" },
		{ "/slurm_n1/uid_1000/job_12", .job = "slurm:12" },
		{ "/slurm/uid_1000", NULL },
		{ "/slurm/uid_1000/job_x", NULL },
		{ "/slurm/uid_1000/job_", NULL },
		{ "/other/job_12", NULL },
		{ "/oar.slice/oar-u1000.slice/oar-u1000-j45.slice/oar-u1000-j45-s1.scope",
		  .unit = "oar-u1000-j45-s1.scope", .job = "oar:45" },
		{ "/oar/anna_b_45", .job = "oar:45" },
		{ "/oar/anna", NULL },
		{ "/pbs_jobs.service/jobid/12.head", .unit = "pbs_jobs.service",
		  .job = "pbs:12.head" },
		{ "/pbs_jobs.service/jobs/12[3].head/x", .unit = "pbs_jobs.service",
		  .job = "pbs:12[3].head" },
		{ "/pbs_jobs.service/jobid", .unit = "pbs_jobs.service" },
		{ "/torque/12.head", .job = "torque:12.head" },
		/* a container that a job runs is in both */
		{ "/slurm/uid_0/job_7/step_0/docker-" ID ".scope", "docker", ID, .job = "slurm:7" },
	};

	check(forms, WATT_ARRAY_SIZE(forms));
}

static void test_clouds(void **state)
{
	static const struct form forms[] = {
		{ "/ecstasks.slice/ecstasks-" HASH ".slice/docker-" ID ".scope", "docker", ID, HASH,
		  "docker-" ID ".scope" },
		{ "/ecs/" HASH "/" ID, NULL, ID, HASH },
		{ "/ecs/" UID "/" ID, NULL, ID, UID },
		{ "/ecs/" HASH "/" HASH "-1234567890", "ecs", HASH "-1234567890", HASH },
		{ "/ecs/" HASH, NULL, NULL, HASH },
		{ "/ecs/x/y", NULL },
		{ "/ecstasks.slice/ecstasks-x.slice", NULL },
		{ "/nomad.slice/share.slice/" UID ".web.scope", "nomad", UID ".web", UID,
		  UID ".web.scope" },
		{ "/nomad/shared/" UID "-web", "nomad", UID "-web", UID },
		{ "/nomad/" UID, "nomad", UID, NULL },
		{ "/nomad/shared", NULL },
		{ "/nomad/shared/x", NULL },
		{ "/system.slice/garden.service/garden/" UID, "garden", UID, NULL,
		  "garden.service" },
		{ "/garden/a1b2", "garden", "a1b2" },
		{ "/podruntime/kubelet", "talos", "kubelet" },
		{ "/system/apid", "talos", "apid" },
		{ "/podruntime", NULL },
		{ "/default/redis", "containerd", "redis" },
		{ "/default/" ID, "containerd", ID },
		{ "/a/default/redis", NULL },
		{ "/buildkit/" ID, "buildkit", ID },
		/* projects keep containers of one name apart */
		{ "/lxc.payload.shop_web", "lxc", "shop_web" },
		{ "/lxc.payload.blog_web", "lxc", "blog_web" },
	};

	check(forms, WATT_ARRAY_SIZE(forms));
}

static void test_tells(void **state)
{
	static const char *const more_and_more[] = {
		"/user.slice",
		"/system.slice/docker.service",
		"/made-by-hand",
		"/docker/" ID,
		"/kubepods/pod" UID,
		"/kubepods/pod" UID "/" ID,
		"/docker/" NODE "/kubelet/kubepods/pod" UID "/" ID,
	};
	size_t i;

	assert_int_equal(watt_cgroup_tells("/"), WATT_CGROUP_TELLS_NOTHING);
	assert_int_equal(watt_cgroup_tells(""), WATT_CGROUP_TELLS_NOTHING);
	assert_true(watt_cgroup_tells("/slurm/uid_1/job_2") > WATT_CGROUP_TELLS_CONTAINER);
	for (i = 1; i < WATT_ARRAY_SIZE(more_and_more); i++) {
		bool is_tie = i == 4; /* a container and a pod, as deep */

		assert_true(watt_cgroup_tells(more_and_more[i - 1]) + !is_tie <=
			    watt_cgroup_tells(more_and_more[i]));
	}
}

static void test_odd(void **state)
{
	static const struct form forms[] = {
		{ "", NULL },
		{ "/", NULL },
		{ "//", NULL },
		{ "/..", NULL },
		{ "/../../system.slice/ssh.service", NULL, NULL, NULL, "ssh.service" },
		{ "/../docker/" ID, "docker", ID },
		{ ":", NULL },
		{ "/::", NULL },
		{ "/x.slice::", NULL },
		{ "/.slice", NULL },
		{ "/.scope", NULL },
		{ "/" ID ID, NULL },
		{ "/docker/" ID "0", NULL },
		{ "/-" ID, NULL },
		{ "/docker-" ID ".scope.scope", NULL, NULL, NULL, "docker-" ID ".scope.scope" },
		{ "/kubepods.slice/kubepods-pod.slice", NULL },
		{ "/libpod_pod_.slice", NULL },
		{ "/\\x2d", NULL },
	};

	check(forms, WATT_ARRAY_SIZE(forms));
}

static void test_user(void **state)
{
	assert_int_equal(watt_cgroup_find_user("/user.slice/user-1000.slice/user@1000.service/"
					       "user.slice/libpod-aa.scope/container"),
			 1000);
	assert_int_equal(watt_cgroup_find_user("/system.slice/docker-aa.scope"), 0);
	assert_int_equal(watt_cgroup_find_user("/user.slice/user-.slice"), 0);
	assert_int_equal(watt_cgroup_find_user("/user.slice/user-1x.slice"), 0);
	assert_int_equal(watt_cgroup_find_user("/user.slice/user-99999999999.slice"), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kubelet_cgroupfs),
		cmocka_unit_test(test_kubelet_systemd),
		cmocka_unit_test(test_kind),
		cmocka_unit_test(test_docker_and_containerd),
		cmocka_unit_test(test_podman),
		cmocka_unit_test(test_named),
		cmocka_unit_test(test_jobs),
		cmocka_unit_test(test_clouds),
		cmocka_unit_test(test_tells),
		cmocka_unit_test(test_odd),
		cmocka_unit_test(test_user),
	};

	return cmocka_run_group_tests_name("container", tests, NULL, NULL);
}
