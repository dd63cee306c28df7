/* SPDX-License-Identifier: Apache-2.0 */
/* lib/machine.c: who a machine is, captured ones and this one. */
#include "env.h"

#include "machine.h"

static void test_tells_what_a_capture_tells(void **state)
{
	struct watt_machine_text text;
	struct test_env test;

	char procfs[4096];

	snprintf(procfs, sizeof(procfs), "%s", fixture("xeon-2s", "proc"));
	test_env_open(&test, procfs, fixture("xeon-2s", "sys"));
	watt_machine_read(&test.env, &text);
	assert_string_equal(text.machine.cpu, "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz");
	assert_int_equal(text.machine.n_packages, 2);
	assert_null(text.machine.os); /* of this machine, not of that one */
	assert_null(text.machine.arch);
	test_env_close(&test);
}

static void test_nothing_is_known_of_an_empty_one(void **state)
{
	struct watt_machine_text text;
	struct test_env test;

	test_env_open(&test, "/dev/fd", "/dev/fd");
	watt_machine_read(&test.env, &text);
	assert_null(text.machine.host);
	assert_null(text.machine.kernel);
	assert_null(text.machine.cpu);
	assert_int_equal(text.machine.memory_bytes, 0);
	test_env_close(&test);
}

static void test_this_one(void **state)
{
	struct watt_machine_text text;
	struct test_env test;

	test_env_open(&test, "/proc", "/sys");
	watt_machine_read(&test.env, &text);
	assert_non_null(text.machine.host);
	assert_non_null(text.machine.kernel);
	assert_non_null(text.machine.arch);
	assert_true(text.machine.memory_bytes > 1 << 20);
	assert_true(text.machine.n_packages > 0);
	test_env_close(&test);
}

static void test_os_release(void **state)
{
	static const struct {
		const char *text, *name;
	} cases[] = {
		{ "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n",
		  "Debian GNU/Linux 12 (bookworm)" },
		{ "ID=x\nPRETTY_NAME='It\\s'\n", "It\\s" },
		{ "PRETTY_NAME=plain\n", "plain" },
		{ "PRETTY_NAME=\"a \\\"b\\\" c\"", "a \"b\" c" },
		{ "PRETTY_NAME=\"no end", "no end" },
		{ "PRETTY_NAME=\"", "" },
		{ "X_PRETTY_NAME=x\n", "" },
		{ "PRETTY_NAME=12345678901234567890", "123456789012345" },
		{ "", "" },
	};
	char name[16], wide[64];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool is_long = strlen(cases[i].text) > 40 && i == 0;

		watt_machine_parse_os(cases[i].text, is_long ? wide : name,
				      is_long ? sizeof(wide) : sizeof(name));
		assert_string_equal(is_long ? wide : name, cases[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tells_what_a_capture_tells),
		cmocka_unit_test(test_nothing_is_known_of_an_empty_one),
		cmocka_unit_test(test_this_one),
		cmocka_unit_test(test_os_release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
