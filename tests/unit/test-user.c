/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/meta/user.c */
#include "unit.h"

#include "source/meta/user.h"

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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests_name("user", tests, NULL, NULL);
}
