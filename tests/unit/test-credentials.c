/* SPDX-License-Identifier: Apache-2.0 */
/* Names and passwords: lib/source/power/redfish/credentials.c. */
#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "source/power/redfish/credentials.h"

static void test_lines(void **state)
{
	static const struct {
		const char *text;
		int error;
		unsigned int line; /* of the error */
		const char *user, *password, *url;
	} cases[] = {
		{ "admin,secret\n", 0, 0, "admin", "secret", "" },
		{ "admin,secret", 0, 0, "admin", "secret", "" },
		{ "# us\r\n\nadmin,secret\r\n", 0, 0, "admin", "secret", "" },
		{ "other,x,y,https://x\nhere,u,p,https://bmc\n", 0, 0, "u", "p", "https://bmc" },
		{ "*,u,p,https://any\nhere,v,q,https://bmc\n", 0, 0, "v", "q", "https://bmc" },
		{ "*,u,p,https://any\nother,v,q,https://bmc\n", 0, 0, "u", "p", "https://any" },
		{ "a,\"p,\"\"q\"\"\"\n", 0, 0, "a", "p,\"q\"", "" },
		{ "a,\n", 0, 0, "a", "", "" },
		{ "", -ENOENT, 0, NULL, NULL, NULL },
		{ "other,v,q,https://bmc\n", -ENOENT, 1, NULL, NULL, NULL },
		{ "alone\n", -EBADMSG, 1, NULL, NULL, NULL },
		{ "# us\n,secret\n", -EBADMSG, 2, NULL, NULL, NULL },
		{ "a,b,c\n", -EBADMSG, 1, NULL, NULL, NULL },
		{ "a,b,c,d,e\n", -EBADMSG, 1, NULL, NULL, NULL },
		{ "a,\"open\n", -EBADMSG, 1, NULL, NULL, NULL },
		{ "a,\"b\"c\n", -EBADMSG, 1, NULL, NULL, NULL },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		struct watt_credentials who = { 0 };
		unsigned int line = 0;

		assert_int_equal(watt_credentials_parse(cases[i].text, "here", &who, &line),
				 cases[i].error);
		if (cases[i].error) {
			assert_int_equal(line, cases[i].line);
			assert_string_equal(who.user, "");
			continue;
		}
		assert_string_equal(who.user, cases[i].user);
		assert_string_equal(who.password, cases[i].password);
		assert_string_equal(who.url, cases[i].url);
	}
}

static void test_a_file_that_others_may_read(void **state)
{
	char path[] = "/tmp/watt-credentials-XXXXXX";
	struct watt_credentials who = { 0 };
	unsigned int line;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "u,p\n", 4), 4);
	assert_int_equal(fchmod(fd, 0644), 0);
	assert_int_equal(watt_credentials_read(path, "here", &who, &line), -EPERM);
	assert_string_equal(who.user, "");
	assert_int_equal(fchmod(fd, 0640), 0);
	assert_int_equal(watt_credentials_read(path, "here", &who, &line), 0);
	assert_string_equal(who.password, "p");
	watt_credentials_done(&who);
	assert_string_equal(who.password, "");
	assert_int_equal(write(fd, "\0", 1), 1);
	assert_int_equal(watt_credentials_read(path, "here", &who, &line), -EBADMSG);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	assert_int_equal(watt_credentials_read(path, "here", &who, &line), -EMSGSIZE);
	close(fd);
	unlink(path);
	assert_int_equal(watt_credentials_read(path, "here", &who, &line), -ENOENT);
	assert_int_equal(watt_credentials_read("/tmp", "here", &who, &line), -EINVAL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_a_file_that_others_may_read),
	};

	return cmocka_run_group_tests_name("credentials", tests, NULL, NULL);
}
