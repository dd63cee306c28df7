/* SPDX-License-Identifier: Apache-2.0 */
/* The redfish source before it asks anybody: lib/source/power/redfish/redfish.c. */
#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "source/registry.h"

static void test_nobody_to_ask(void **state)
{
	struct watt_env env = { 0 };
	struct watt_diag diag = { 0 };
	struct watt_power *power = NULL;

	assert_int_equal(watt_power_redfish.open(&env, &power), -ENODEV);
	assert_int_equal(watt_power_redfish.probe(&env, &diag), -ENODEV);
	assert_int_equal(diag.state, WATT_ABSENT);
	assert_non_null(strstr(diag.hint, "--redfish-url"));
	assert_null(power);
}

/* What is wrong before the first question is said in words, and nobody is asked. */
static void test_settings_that_are_wrong(void **state)
{
	static const struct {
		const char *url, *auth, *tls;
		enum watt_availability state;
		const char *why;
	} cases[] = {
		{ "ftp://bmc", NULL, NULL, WATT_BROKEN, "no https:// or http:// URL" },
		{ "https://", NULL, NULL, WATT_BROKEN, "names no host" },
		{ "https://me:secret@bmc", NULL, NULL, WATT_BROKEN, "no password belongs in it" },
		{ "https://bmc", "/nowhere/at/all", NULL, WATT_BROKEN, "cannot read /nowhere" },
		{ "https://bmc", NULL, "/nowhere/ca.pem", WATT_BROKEN, "cannot read the cert" },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		struct watt_env env = { .redfish_url = cases[i].url,
					.redfish_auth = cases[i].auth,
					.redfish_tls = cases[i].tls };
		struct watt_diag diag = { 0 };

		assert_true(watt_power_redfish.probe(&env, &diag) < 0);
		assert_int_equal(diag.state, cases[i].state);
		assert_non_null(strstr(diag.why, cases[i].why));
	}
}

static void test_passwords_for_everybody(void **state)
{
	char path[] = "/tmp/watt-redfish-XXXXXX";
	struct watt_env env = { .redfish_auth = path };
	struct watt_diag diag = { 0 };
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, 0604), 0);
	assert_int_equal(watt_power_redfish.probe(&env, &diag), -EACCES);
	assert_int_equal(diag.state, WATT_FORBIDDEN);
	assert_non_null(strstr(diag.why, "others may read"));
	close(fd);
	unlink(path);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nobody_to_ask),
		cmocka_unit_test(test_settings_that_are_wrong),
		cmocka_unit_test(test_passwords_for_everybody),
	};

	return cmocka_run_group_tests_name("redfish", tests, NULL, NULL);
}
