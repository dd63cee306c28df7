/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/meta/kubernetes/pod.c: pods as Kubernetes describes them, and who is known of them. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/util.h"
#include "source/meta/kubernetes/pod.h"

#define UID "0f1e2d3c-1111-2222-3333-444455556666"
#define HASH "0123456789abcdef0123456789abcdef"

static const char web[] =
	"{\"metadata\":{\"name\":\"web-1\",\"namespace\":\"shop\",\"uid\":\"" UID "\","
	"\"labels\":{\"app\":\"web\",\"odd\":7},\"ownerReferences\":["
	"{\"kind\":\"Other\",\"name\":\"x\"},"
	"{\"kind\":\"ReplicaSet\",\"name\":\"web-7d\",\"controller\":true}]},"
	"\"spec\":{\"containers\":[{\"name\":\"nginx\",\"image\":\"nginx:1\",\"resources\":{"
	"\"requests\":{\"cpu\":\"250m\",\"memory\":\"64Mi\",\"bad\":\"1Q\"},"
	"\"limits\":{\"nvidia.com/gpu\":\"2\"}}},{\"name\":\"late\"}],"
	"\"initContainers\":[{\"name\":\"set-up\"},{\"name\":\"mesh\",\"restartPolicy\":\"Always\"}],"
	"\"ephemeralContainers\":[{\"name\":\"debug\"}]},"
	"\"status\":{\"qosClass\":\"Burstable\",\"containerStatuses\":["
	"{\"name\":\"late\",\"containerID\":\"\"},"
	"{\"name\":\"nginx\",\"containerID\":\"containerd://aa\","
	"\"state\":{\"running\":{\"startedAt\":\"2026-11-24T08:00:00Z\"}},"
	"\"lastState\":{\"terminated\":{\"exitCode\":137,\"containerID\":\"containerd://a0\"}}}],"
	"\"initContainerStatuses\":[{\"name\":\"set-up\",\"containerID\":\"containerd://bb\","
	"\"state\":{\"terminated\":{\"exitCode\":0,\"startedAt\":\"2026-11-24T07:59:00Z\","
	"\"finishedAt\":\"2026-11-24T07:59:58Z\"}}},"
	"{\"name\":\"mesh\",\"containerID\":\"cri-o://cc\"}],"
	"\"ephemeralContainerStatuses\":[{\"name\":\"debug\",\"containerID\":\"docker://dd\"}]}}";

static const char *label(const struct watt_answer *answer, const char *key)
{
	uint32_t i;

	for (i = 0; i < answer->container.n_labels; i++)
		if (!strcmp(answer->container.labels[i].key, key))
			return answer->container.labels[i].value;
	return NULL;
}

static void take_at(struct watt_pod_index *index, const char *text, uint64_t mono_ns,
		    uint64_t wall_s, size_t n_new)
{
	struct watt_pod_stamp now = { mono_ns, wall_s * WATT_NSEC_PER_SEC };
	struct watt_pod pod;

	assert_int_equal(watt_pod_parse(text, strlen(text), &pod), 0);
	assert_int_equal(watt_pod_index_take(index, &pod, &now), n_new);
	assert_int_equal(pod.n, 0);
}

static void take(struct watt_pod_index *index, const char *text, uint64_t now_ns, size_t n_new)
{
	take_at(index, text, now_ns, 1790000000, n_new);
}

static void test_containers(void **state)
{
	static const struct {
		const char *id, *name, *runtime, *kind, *exit_code;
	} cases[] = {
		{ "aa", "nginx", "containerd", NULL, NULL },
		{ "a0", "nginx", "containerd", NULL, "137" },
		{ "bb", "set-up", "containerd", "init", "0" },
		{ "cc", "mesh", "cri-o", "sidecar", NULL },
		{ "dd", "debug", "docker", "ephemeral", NULL },
	};
	struct watt_pod_index index;
	struct watt_answer answer;
	size_t i;

	assert_int_equal(watt_pod_index_init(&index), 0);
	take(&index, web, 1, 6);
	take(&index, web, 2, 0);
	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		const struct watt_container *c = &answer.container;

		assert_int_equal(watt_pod_index_find(&index, cases[i].id, &answer), 0);
		assert_string_equal(c->id, cases[i].id);
		assert_string_equal(c->name, cases[i].name);
		assert_string_equal(c->runtime, cases[i].runtime);
		assert_string_equal(c->pod_uid, UID);
		assert_string_equal(c->pod_name, "web-1");
		assert_string_equal(c->pod_namespace, "shop");
		assert_string_equal(label(&answer, "app"), "web");
		assert_null(label(&answer, "odd"));
		assert_string_equal(label(&answer, "io.kubernetes.pod.qosClass"), "Burstable");
		assert_string_equal(label(&answer, "io.kubernetes.pod.owner"), "ReplicaSet/web-7d");
		if (cases[i].kind)
			assert_string_equal(label(&answer, "io.kubernetes.container.kind"),
					    cases[i].kind);
		else
			assert_null(label(&answer, "io.kubernetes.container.kind"));
		if (cases[i].exit_code)
			assert_string_equal(label(&answer, "io.kubernetes.container.exitCode"),
					    cases[i].exit_code);
		else
			assert_null(label(&answer, "io.kubernetes.container.exitCode"));
		watt_answer_done(&answer);
	}
	assert_int_equal(watt_pod_index_find(&index, "aa", &answer), 0);
	assert_string_equal(answer.container.image, "nginx:1");
	assert_string_equal(label(&answer, "io.kubernetes.container.requests.cpu"), "0.25");
	assert_string_equal(label(&answer, "io.kubernetes.container.requests.memory"), "67108864");
	assert_string_equal(label(&answer, "io.kubernetes.container.limits.nvidia.com/gpu"), "2");
	assert_null(label(&answer, "io.kubernetes.container.requests.bad"));
	assert_string_equal(label(&answer, "io.kubernetes.container.startedAt"),
			    "2026-11-24T08:00:00Z");
	assert_null(label(&answer, "io.kubernetes.container.finishedAt"));
	watt_answer_done(&answer);
	assert_int_equal(watt_pod_index_find(&index, "bb", &answer), 0);
	assert_string_equal(label(&answer, "io.kubernetes.container.finishedAt"),
			    "2026-11-24T07:59:58Z");
	watt_answer_done(&answer);
	/* a pod's uid is no container's id; and one that is not told of is its sandbox only when
	 * all that are told of have begun */
	assert_int_equal(watt_pod_index_find(&index, UID, &answer), -ENOENT);
	assert_int_equal(watt_pod_index_find_sandbox(&index, UID, "ee", NULL, &answer), -ENOENT);
	watt_pod_index_done(&index);
}

static void test_static_pods(void **state)
{
	static const char *const pods[] = {
		/* as the kubelet has it, and as the API server has its copy */
		"{\"metadata\":{\"name\":\"etcd\",\"namespace\":\"kube-system\",\"uid\":\"" HASH
		"\",\"annotations\":{\"kubernetes.io/config.hash\":\"" HASH "\"}}}",
		"{\"metadata\":{\"name\":\"etcd\",\"namespace\":\"kube-system\",\"uid\":\"" UID
		"\",\"annotations\":{\"kubernetes.io/config.hash\":\"" HASH
		"\",\"kubernetes.io/config.mirror\":\"" HASH "\"}}}",
	};
	struct watt_pod_index index;
	struct watt_answer answer;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(pods); i++) {
		assert_int_equal(watt_pod_index_init(&index), 0);
		take(&index, pods[i], 1, 1);
		assert_int_equal(watt_pod_index_find_sandbox(&index, UID, "ee", NULL, &answer),
				 -ENOENT);
		assert_int_equal(
			watt_pod_index_find_sandbox(&index, HASH, "ee", "containerd", &answer), 0);
		assert_string_equal(answer.container.id, "ee");
		assert_string_equal(answer.container.name, "POD");
		assert_string_equal(answer.container.pod_uid, HASH);
		assert_string_equal(answer.container.pod_name, "etcd");
		watt_answer_done(&answer);
		watt_pod_index_done(&index);
	}
}

/* Who is gone is known for a while, and there is an end to how many are. */
static void test_horizon(void **state)
{
	static const char form[] = "{\"metadata\":{\"name\":\"p%u\",\"namespace\":\"n\","
				   "\"uid\":\"u%u\"},\"spec\":{\"containers\":[{\"name\":\"c\"}]},"
				   "\"status\":{\"containerStatuses\":[{\"name\":\"c\","
				   "\"containerID\":\"cri-o://c%u\"}]}}";
	struct watt_pod_index index;
	struct watt_answer answer;
	char text[512];
	unsigned int i;

	assert_int_equal(watt_pod_index_init(&index), 0);
	for (i = 0; i < 10; i++) {
		snprintf(text, sizeof(text), form, i, i, i);
		take(&index, text, 100 + i, 2);
	}
	assert_int_equal(watt_pod_index_forget(&index, 105), 10);
	assert_int_equal(watt_pod_index_find(&index, "c4", &answer), -ENOENT);
	assert_int_equal(watt_pod_index_find(&index, "c5", &answer), 0);
	watt_answer_done(&answer);
	for (; i < WATT_POD_CONTAINERS_MAX; i++) {
		snprintf(text, sizeof(text), form, i, i, i);
		take(&index, text, 100 + i, 2);
		assert_true(index.containers.n <= WATT_POD_CONTAINERS_MAX);
	}
	assert_int_equal(watt_pod_index_find(&index, "c5", &answer), -ENOENT);
	assert_int_equal(watt_pod_index_find(&index, "c16383", &answer), 0);
	watt_answer_done(&answer);
	watt_pod_index_done(&index);
}

/* Since when a container is known is told as people read it; a clock that is set forgets nobody. */
static void test_stamps(void **state)
{
	static const char text[] =
		"{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"uid\":\"u\"},"
		"\"spec\":{\"containers\":[{\"name\":\"c\"}]},\"status\":{\"containerStatuses\":["
		"{\"name\":\"c\",\"containerID\":\"cri-o://c1\"}]}}";
	struct watt_pod_index index;
	struct watt_answer answer;

	assert_int_equal(watt_pod_index_init(&index), 0);
	take_at(&index, text, 100, 1795540000, 2);
	/* Three days back, and then ahead again. */
	take_at(&index, text, 110, 1795280800, 0);
	assert_int_equal(watt_pod_index_forget(&index, 105), 0);
	assert_int_equal(watt_pod_index_find(&index, "c1", &answer), 0);
	assert_string_equal(label(&answer, "io.wattribute.knownSince"), "2026-11-24T17:06:40Z");
	watt_answer_done(&answer);
	take_at(&index, text, 120, 1895540000, 0);
	assert_int_equal(watt_pod_index_forget(&index, 115), 0);
	assert_int_equal(watt_pod_index_forget(&index, 121), 2);
	take_at(&index, text, 130, 1795540001, 2);
	assert_int_equal(watt_pod_index_find(&index, "c1", &answer), 0);
	assert_string_equal(label(&answer, "io.wattribute.knownSince"), "2026-11-24T17:06:41Z");
	watt_answer_done(&answer);
	watt_pod_index_done(&index);
}

static void test_no_pods(void **state)
{
	static const char *const cases[] = {
		"{}",
		"[]",
		"7",
		"{\"metadata\":{\"name\":\"x\",\"namespace\":\"y\"}}",
		"{\"metadata\":{\"name\":7,\"namespace\":\"y\",\"uid\":\"z\"}}",
		"{\"metadata\":{\"name\":\"x\",\"uid\":\"z\"}}",
		"{\"metadata\":",
	};
	struct watt_pod pod;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++)
		assert_int_equal(watt_pod_parse(cases[i], strlen(cases[i]), &pod), -EBADMSG);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_containers), cmocka_unit_test(test_static_pods),
		cmocka_unit_test(test_horizon),    cmocka_unit_test(test_stamps),
		cmocka_unit_test(test_no_pods),
	};

	return cmocka_run_group_tests_name("pod", tests, NULL, NULL);
}
