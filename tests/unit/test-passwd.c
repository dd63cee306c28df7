/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/meta/passwd.c */
#include "env.h"

#include "source/meta/passwd.h"
#include "source/registry.h"

static const char passwd[] = "root:x:0:0:root:/root:/bin/bash\n"
			     "# comment:x:5:5\n"
			     "+nis:x:6:6::/:\n"
			     "-bad:x:7:7::/:\n"
			     "\n"
			     "cut:x\n"
			     ":x:8:8::/:\n"
			     "odd:x:1x:1::/:\n"
			     "neg:x:-1:1::/:\n"
			     "big:x:99999999999999999999:1::/:\n"
			     "wrap:x:4294967301:1::/:\n"
			     "anna-lena.m:x:1000:1000:A:/home/a:/bin/sh\n"
			     "second:x:1000:1000::/:\n"
			     "nobody:x:65534:65534::/:\n"
			     "nouid:x:9";

static void test_find(void **state)
{
	char name[32];

	assert_int_equal(watt_passwd_find(passwd, 0, name, sizeof(name)), 0);
	assert_string_equal(name, "root");
	assert_int_equal(watt_passwd_find(passwd, 1000, name, sizeof(name)), 0);
	assert_string_equal(name, "anna-lena.m");
	assert_int_equal(watt_passwd_find(passwd, 65534, name, sizeof(name)), 0);
	assert_string_equal(name, "nobody");
}

static void test_none(void **state)
{
	static const uint32_t uids[] = { 1, 5, 6, 7, 8, 9, 1001, UINT32_MAX };
	char name[32] = "kept";
	size_t i;

	for (i = 0; i < sizeof(uids) / sizeof(uids[0]); i++)
		assert_int_equal(watt_passwd_find(passwd, uids[i], name, sizeof(name)), -ENOENT);
	assert_int_equal(watt_passwd_find("", 0, name, sizeof(name)), -ENOENT);
	assert_int_equal(watt_passwd_find(passwd, 1000, name, 11), -ENAMETOOLONG);
	assert_string_equal(name, "kept");
	assert_int_equal(watt_passwd_find(passwd, 1000, name, 12), 0);
}

static void test_home(void **state)
{
	char home[32] = "kept";

	assert_int_equal(watt_passwd_find_home(passwd, 1000, home, sizeof(home)), 0);
	assert_string_equal(home, "home/a");
	assert_int_equal(watt_passwd_find_home(passwd, 0, home, 4), -ENAMETOOLONG);
	assert_int_equal(watt_passwd_find_home(passwd, 65534, home, sizeof(home)), -ENOENT);
	assert_int_equal(watt_passwd_find_home(passwd, 77, home, sizeof(home)), -ENOENT);
	assert_int_equal(watt_passwd_find_home("a:x:5:5", 5, home, sizeof(home)), -ENOENT);
	assert_int_equal(watt_passwd_find_home("a:x:5:5:\nb:c:d:/e:f\n", 5, home, sizeof(home)),
			 -ENOENT);
	assert_string_equal(home, "home/a");
}

static int ask(const char *procfs, uint32_t uid, struct watt_answer *ret)
{
	struct watt_question q = { .kind = WATT_ASK_USER, .uid = uid };
	struct watt_diag diag = { 0 };
	struct watt_meta *meta;
	struct test_env test;
	int r;

	test_env_open(&test, procfs, NULL);
	assert_int_equal(watt_meta_passwd.open(&test.env, &meta), 0);
	r = meta->ops->answer(meta, &q, ret);
	meta->ops->close(meta);
	watt_meta_passwd.probe(&test.env, &diag);
	test_env_close(&test);
	assert_int_equal(diag.state, diag.error ? WATT_ABSENT : WATT_AVAILABLE);
	if (r == 0)
		assert_int_equal(diag.error, 0);
	return r;
}

static void test_provider(void **state)
{
	struct watt_answer answer = { .kind = 77 };

	assert_int_equal(ask(fixture("kube-node", "proc"), 64055, &answer), -ENOENT);
	assert_int_equal(answer.kind, 77);
	assert_int_equal(ask(fixture("kube-node", "proc"), 1000, &answer), 0);
	assert_int_equal(answer.kind, WATT_ASK_USER);
	assert_int_equal(answer.user.uid, 1000);
	assert_string_equal(answer.user.name, "ops");
	/* a NUL ends what can be read of it */
	assert_int_equal(ask(fixture("hybrid-odd", "proc"), 0, &answer), 0);
	assert_int_equal(ask(fixture("hybrid-odd", "proc"), 7, &answer), -ENOENT);
	/* a machine without the file */
	assert_int_equal(ask(fixture("xeon-2s", "proc"), 0, &answer), -ENOENT);
	assert_int_equal(ask("/proc", 0, &answer), 0);
	assert_string_equal(answer.user.name, "root");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_provider),
		cmocka_unit_test(test_home),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests_name("passwd", tests, NULL, NULL);
}
