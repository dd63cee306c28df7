/* SPDX-License-Identifier: Apache-2.0 */
/* The provider kubernetes before it asks anybody: lib/source/meta/kubernetes/kubernetes.c, kube_link.c. */
#include "unit.h"

#include <errno.h>

#include "base/util.h"
#include "source/meta/kubernetes/kube_link.h"
#include "source/registry.h"

static void test_nobody_to_ask(void **state)
{
	struct watt_question question = { .kind = WATT_ASK_CONTAINER, .container.id = "aa" };
	struct watt_env env = { 0 };
	struct watt_diag diag = { 0 };
	struct watt_answer answer;
	struct watt_meta *meta;

	assert_int_equal(watt_meta_kubernetes.probe(&env, &diag), -ENODEV);
	assert_int_equal(diag.state, WATT_ABSENT);
	assert_non_null(strstr(diag.hint, "--kubelet-url"));
	assert_int_equal(watt_meta_kubernetes.open(&env, &meta), 0);
	assert_int_equal(meta->fd, -1);
	assert_int_equal(watt_meta_kubernetes.answer(meta, &question, &answer), -ENOENT);
	watt_meta_kubernetes.close(meta);
}

static void test_settings_that_are_wrong(void **state)
{
	static const struct {
		const char *url, *token, *tls, *why;
	} cases[] = {
		{ "ftp://node", NULL, NULL, "no https:// or http:// URL" },
		{ "https://", NULL, NULL, "names no host" },
		{ "https://:10250", NULL, NULL, "names no host" },
		{ "https://me:secret@node", NULL, NULL, "no password belongs" },
		{ "https://node", NULL, "/nowhere/ca.pem", "cannot read the cert" },
		{ "http://127.0.0.1:1", "/nowhere/token", NULL, "cannot read the token" },
		{ "http://127.0.0.1:1", "/proc/self/status", NULL, "is no token" },
	};
	struct watt_env env = { 0 };
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		struct watt_diag diag = { 0 };

		env.kubelet_url = cases[i].url;
		env.kubelet_token = cases[i].token;
		env.kubelet_tls = cases[i].tls;
		assert_true(watt_meta_kubernetes.probe(&env, &diag) < 0);
		assert_int_equal(diag.state, WATT_BROKEN);
		assert_non_null(strstr(diag.why, cases[i].why));
	}
}

static void test_urls(void **state)
{
	static const struct {
		const char *url, *asked;
		bool is_api;
	} cases[] = {
		{ "https://node:10250", "https://node:10250/pods", false },
		{ "https://node:10250//", "https://node:10250/pods", false },
		{ "http://node/pods/", "http://node/pods", false },
		{ "https://api/api/v1/nodes/n/proxy", "https://api/api/v1/nodes/n/proxy/pods",
		  false },
		{ "https://api/api/v1/pods?fieldSelector=spec.nodeName=n",
		  "https://api/api/v1/pods?fieldSelector=spec.nodeName=n", true },
	};
	static const atomic_bool never = false;
	struct watt_kube_link *link;
	struct watt_env env = { 0 };
	char problem[256];
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		env.kubelet_url = cases[i].url;
		assert_int_equal(watt_kube_link_open(&env, &never, &link, problem, sizeof(problem)),
				 0);
		assert_string_equal(watt_kube_link_get_url(link), cases[i].asked);
		assert_int_equal(watt_kube_link_is_api(link), cases[i].is_api);
		watt_kube_link_free(link);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nobody_to_ask),
		cmocka_unit_test(test_settings_that_are_wrong),
		cmocka_unit_test(test_urls),
	};

	return cmocka_run_group_tests_name("kubernetes", tests, NULL, NULL);
}
