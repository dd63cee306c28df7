/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/meta/bundle.c */
#include "containers.h"

#define TASKS "run/containerd/io.containerd.runtime.v2.task"

static const char app[] =
	"{\"ociVersion\":\"1.0.2\",\"process\":{\"args\":[\"/app\"]},\"annotations\":{"
	"\"io.kubernetes.cri.container-type\":\"container\","
	"\"io.kubernetes.cri.container-name\":\"app\","
	"\"io.kubernetes.cri.image-name\":\"registry.local/app:2\","
	"\"io.kubernetes.cri.sandbox-id\":\"" ID_B "\","
	"\"io.kubernetes.cri.sandbox-name\":\"web-0\","
	"\"io.kubernetes.cri.sandbox-namespace\":\"shop\","
	"\"io.kubernetes.cri.sandbox-uid\":\"" POD_UID "\"}}";

static void expect_pod(const struct containers *c)
{
	assert_string_equal(c->answer.container.pod_uid, POD_UID);
	assert_string_equal(c->answer.container.pod_name, "web-0");
	assert_string_equal(c->answer.container.pod_namespace, "shop");
}

static void test_containerd(void **state)
{
	struct containers c;

	containers_open(&c, &watt_meta_bundle);
	containers_probe(&c, "kube-node", WATT_ABSENT);
	assert_int_equal(containers_ask(&c, ID_A, "containerd", 0), -ENOENT);
	scratch_write(c.dir, TASKS "/moby/" ID_B "/config.json", "{\"annotations\":{}}");
	scratch_write(c.dir, TASKS "/k8s.io/" ID_A "/config.json", app);
	containers_probe(&c, "kube-node", WATT_AVAILABLE);
	assert_int_equal(containers_ask(&c, ID_A, "containerd", 0), 0);
	containers_expect(&c, "app", "registry.local/app:2");
	assert_string_equal(c.answer.container.runtime, "containerd");
	expect_pod(&c);
	/* a path that the kubelet made itself doesn't tell the runtime */
	assert_int_equal(containers_ask(&c, ID_A, "", 0), 0);
	assert_int_equal(containers_ask(&c, ID_B, "", 0), -ENOENT);
	assert_int_equal(containers_ask(&c, ID_A, "docker", 0), -ENOENT);
	containers_close(&c);
}

static void test_others(void **state)
{
	struct containers c;

	containers_open(&c, &watt_meta_bundle);
	scratch_write(c.dir,
		      "run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io/" ID_A
		      "/config.json",
		      app);
	assert_int_equal(containers_ask(&c, ID_A, "containerd", 0), 0);
	scratch_write(c.dir,
		      "run/containers/storage/overlay-containers/" ID_B "/userdata/config.json",
		      "{\"annotations\":{\"io.kubernetes.cri-o.ContainerType\":\"sandbox\","
		      "\"io.kubernetes.container.name\":\"ignored\","
		      "\"io.kubernetes.pod.name\":\"web-0\",\"io.kubernetes.pod.uid\":\"" POD_UID
		      "\",\"io.kubernetes.pod.namespace\":\"shop\"}}");
	assert_int_equal(containers_ask(&c, ID_B, "cri-o", 0), 0);
	containers_expect(&c, "POD", NULL);
	assert_string_equal(c.answer.container.runtime, "cri-o");
	expect_pod(&c);
	scratch_write(c.dir, TASKS "/default/cc/config.json",
		      "{\"annotations\":{\"nerdctl/name\":\"one\"}}");
	assert_int_equal(containers_ask(&c, "cc", "containerd", 0), 0);
	containers_expect(&c, "one", NULL);
	assert_null(c.answer.container.pod_name);
	containers_close(&c);
}

static void test_refuses(void **state)
{
	static const struct {
		const char *text;
		int error;
	} cases[] = {
		{ "", -EBADMSG },
		{ "[]", -EBADMSG },
		{ "{}", -ENOENT },
		{ "{\"annotations\":[]}", -ENOENT },
		{ "{\"annotations\":{\"io.kubernetes.cri.sandbox-name\":\"a\"}}", -ENOENT },
	};
	struct watt_answer answer;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(watt_bundle_parse(cases[i].text, strlen(cases[i].text), ID_A,
						   &answer),
				 cases[i].error);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_containerd),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_refuses),
	};

	return cmocka_run_group_tests_name("bundle", tests, NULL, NULL);
}
