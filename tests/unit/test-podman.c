/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/meta/podman.c */
#include "containers.h"

#define LIST "/overlay-containers/containers.json"

static const char list[] =
	"[{\"id\":\"" ID_B "\",\"names\":[\"other\"],\"image\":\"1\"},"
	"{\"id\":\"" ID_A "\",\"names\":[\"web\"],\"image\":\"2f\",\"layer\":\"3e\",\"metadata\":"
	"\"{\\\"image-name\\\":\\\"docker.io/library/nginx:latest\\\",\\\"name\\\":\\\"web-1\\\"}\","
	"\"created\":\"2026-01-01T00:00:00Z\",\"flags\":{\"MountLabel\":\"\"}}]";

static void test_names(void **state)
{
	struct containers c;

	containers_open(&c, &watt_meta_podman);
	containers_probe(&c, "kube-node", WATT_ABSENT);
	assert_int_equal(containers_ask(&c, ID_A, "podman", 0), -ENOENT);
	scratch_write(c.dir, "var/lib/containers/storage" LIST, list);
	containers_probe(&c, "kube-node", WATT_AVAILABLE);
	assert_int_equal(containers_ask(&c, ID_A, "podman", 0), 0);
	containers_expect(&c, "web-1", "docker.io/library/nginx:latest");
	assert_string_equal(c.answer.container.runtime, "podman");
	assert_int_equal(containers_ask(&c, ID_B, "podman", 0), 0);
	containers_expect(&c, "other", NULL);
	assert_int_equal(containers_ask(&c, "cc", "podman", 0), -ENOENT);
	assert_int_equal(containers_ask(&c, ID_A, "docker", 0), -ENOENT);
	containers_close(&c);
}

static void test_places(void **state)
{
	struct containers c;

	containers_open(&c, &watt_meta_podman);
	scratch_write(c.dir, "home/anna/.local/share/containers/storage" LIST, list);
	assert_int_equal(containers_ask(&c, ID_A, "podman", 0), -ENOENT);
	assert_int_equal(containers_ask(&c, ID_A, "podman", 1000), 0);
	scratch_write(c.dir, "var/lib/containers/storage/vfs-containers/containers.json",
		      "[{\"id\":\"cc\",\"names\":[\"vfs\"]}]");
	assert_int_equal(containers_ask(&c, "cc", "podman", 0), 0);
	containers_expect(&c, "vfs", NULL);
	/* in a user's slice, and the machine's all the same */
	assert_int_equal(containers_ask(&c, "cc", "podman", 1000), 0);
	containers_close(&c);
}

static void test_refuses(void **state)
{
	static const struct {
		const char *text;
		int error;
	} cases[] = {
		{ "{}", -EBADMSG },
		{ "[", -EBADMSG },
		{ "[]", -ENOENT },
		{ "[7, null, {\"id\": 7}]", -ENOENT },
		{ "[{\"id\":\"" ID_A "\",\"names\":[],\"metadata\":\"{\"}]", -ENOENT },
		{ "[{\"id\":\"" ID_A "\",\"names\":[\"\"],\"metadata\":\"[[[\"}]", -ENOENT },
	};
	struct watt_answer answer;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(watt_storage_parse(cases[i].text, strlen(cases[i].text), ID_A,
						    &answer),
				 cases[i].error);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_refuses),
	};

	return cmocka_run_group_tests_name("podman", tests, NULL, NULL);
}
