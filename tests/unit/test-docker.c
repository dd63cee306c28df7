/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/meta/docker.c */
#include "containers.h"

#define CONFIG "/containers/" ID_A "/config.v2.json"

static const char web[] = "{\"ID\":\"" ID_A "\",\"Name\":\"/web-1\",\"State\":{\"Pid\":7},"
			  "\"Config\":{\"Image\":\"nginx:1.25\",\"Env\":[\"A=1\"],\"Labels\":"
			  "{\"com.docker.compose.project\":\"shop\",\"n\":5,\"empty\":\"\"}}}";

static void test_names(void **state)
{
	struct containers c;

	containers_open(&c, &watt_meta_docker);
	containers_probe(&c, "kube-node", WATT_ABSENT);
	assert_int_equal(containers_ask(&c, ID_A, "docker", 0), -ENOENT);
	scratch_write(c.dir, "var/lib/docker" CONFIG, web);
	containers_probe(&c, "kube-node", WATT_AVAILABLE);
	assert_int_equal(containers_ask(&c, ID_A, "docker", 0), 0);
	containers_expect(&c, "web-1", "nginx:1.25");
	assert_string_equal(c.answer.container.id, ID_A);
	assert_string_equal(c.answer.container.runtime, "docker");
	assert_null(c.answer.container.pod_uid);
	/* a label that is no text is none */
	assert_int_equal(c.answer.container.n_labels, 2);
	assert_string_equal(c.answer.container.labels[0].key, "com.docker.compose.project");
	assert_string_equal(c.answer.container.labels[0].value, "shop");
	assert_string_equal(c.answer.container.labels[1].value, "");
	/* also when nobody knows whose it is; but not another runtime's */
	assert_int_equal(containers_ask(&c, ID_A, "", 0), 0);
	assert_int_equal(containers_ask(&c, ID_A, "podman", 0), -ENOENT);
	assert_int_equal(containers_ask(&c, ID_B, "docker", 0), -ENOENT);
	assert_true(containers_ask(&c, "..", "docker", 0) < 0);
	containers_close(&c);
}

/* What the kubelet told docker is in the labels. */
static void test_pod(void **state)
{
	struct containers c;

	containers_open(&c, &watt_meta_docker);
	scratch_write(c.dir, "var/lib/docker" CONFIG,
		      "{\"ID\":\"" ID_A "\",\"Name\":\"/k8s_app_web-0_shop_" POD_UID "_0\","
		      "\"Config\":{\"Labels\":{\"io.kubernetes.container.name\":\"app\","
		      "\"io.kubernetes.pod.name\":\"web-0\",\"io.kubernetes.pod.uid\":\"" POD_UID
		      "\",\"io.kubernetes.pod.namespace\":\"shop\"}}}");
	assert_int_equal(containers_ask(&c, ID_A, "docker", 0), 0);
	containers_expect(&c, "app", NULL);
	assert_string_equal(c.answer.container.pod_uid, POD_UID);
	assert_string_equal(c.answer.container.pod_name, "web-0");
	assert_string_equal(c.answer.container.pod_namespace, "shop");
	containers_close(&c);
}

static void test_places(void **state)
{
	struct containers c;

	containers_open(&c, &watt_meta_docker);
	scratch_write(c.dir, "home/anna/.local/share/docker" CONFIG, web);
	assert_int_equal(containers_ask(&c, ID_A, "docker", 0), -ENOENT);
	assert_int_equal(containers_ask(&c, ID_A, "docker", 1001), -ENOENT);
	assert_int_equal(containers_ask(&c, ID_A, "docker", 1000), 0);
	scratch_write(c.dir, "etc/docker/daemon.json", "{\"data-root\": \"/data/docker\"}");
	scratch_write(c.dir, "data/docker" CONFIG, web);
	assert_int_equal(containers_ask(&c, ID_A, "docker", 0), 0);
	containers_probe(&c, "kube-node", WATT_AVAILABLE);
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
		{ "{\"ID\":\"" ID_A "\"", -EBADMSG },
		{ "{\"ID\":\"" ID_B "\",\"Name\":\"/x\"}", -EBADMSG },
		{ "{\"ID\":\"" ID_A "\",\"ID\":\"" ID_A "\",\"Name\":\"/x\"}", -EBADMSG },
		{ "{\"ID\":\"" ID_A "\",\"Name\":\"/\"}", -ENOENT },
		{ "{\"ID\":\"" ID_A "\",\"Name\":7}", -ENOENT },
		{ "{\"ID\":\"" ID_A "\",\"Name\":\"\xff\"}", -EBADMSG },
	};
	struct watt_answer answer;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(watt_docker_parse(cases[i].text, strlen(cases[i].text), ID_A,
						   &answer),
				 cases[i].error);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_pod),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_refuses),
	};

	return cmocka_run_group_tests_name("docker", tests, NULL, NULL);
}
