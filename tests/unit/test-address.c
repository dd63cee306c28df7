/* SPDX-License-Identifier: Apache-2.0 */
/* agent/address.c */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "address.h"

static void test_good(void **state)
{
	static const struct {
		const char *text, *printed;
	} cases[] = {
		{ "127.0.0.1:9753", "127.0.0.1:9753" },
		{ "[::1]:1", "[::1]:1" },
		{ ":80", "[::]:80" },
		{ "[::]:0", "[::]:0" },
		{ "0.0.0.0:65535", "0.0.0.0:65535" },
	};
	union address addresses[ADDRESSES_MAX];
	char buf[ADDRESS_TEXT_MAX], error[256];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(addresses_parse(cases[i].text, addresses, error, sizeof(error)),
				 1);
		assert_string_equal(address_print(&addresses[0], buf), cases[i].printed);
	}
}

static void test_lists(void **state)
{
	union address addresses[ADDRESSES_MAX];
	char buf[ADDRESS_TEXT_MAX], error[256];

	assert_int_equal(addresses_parse("127.0.0.1:1,[::1]:2,:3", addresses, error, sizeof(error)),
			 3);
	assert_string_equal(address_print(&addresses[1], buf), "[::1]:2");
	assert_int_equal(
		addresses_parse(":1,:2,:3,:4,:5,:6,:7,:8", addresses, error, sizeof(error)), 8);
	assert_int_equal(addresses_parse(":1,:2,:3,:4,:5,:6,:7,:8,:9", addresses, error,
					 sizeof(error)),
			 -EINVAL);
	assert_non_null(strstr(error, "more than 8"));
}

static void test_bad(void **state)
{
	static const char *const texts[] = {
		"",
		"9753",
		"127.0.0.1",
		"127.0.0.1:",
		"127.0.0.1:65536",
		"::1:80",
		"[::1:80",
		"[127.0.0.1]:1",
		"[]:80",
		"localhost:80",
		":1,",
		",:1",
		"1.2.3:4",
		"1.2.3.4:-1",
		"1.2.3.4:+1",
		"1.2.3.4:8 ",
		" 1.2.3.4:8",
		"[::1]:11111111111111111111111111111111111111111111111111111111111111111111",
	};
	union address addresses[ADDRESSES_MAX];
	char error[256];
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (addresses_parse(texts[i], addresses, error, sizeof(error)) != -EINVAL)
			fail_msg("'%s' was taken", texts[i]);
		assert_non_null(strstr(error, "ADDRESS:PORT"));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
