/* SPDX-License-Identifier: Apache-2.0 */
/* lib/base/privacy.c */
#include "unit.h"

#include <string.h>

#include "base/privacy.h"

static void test_whose(void **state)
{
	const struct watt_identity mine = { .uid = 1000 }, other = { .uid = 0 };
	const struct watt_identity unknown = { .uid = 1000, .missing = WATT_IDENTITY_UID };

	assert_false(watt_privacy_shows(WATT_PRIVACY_NAMES, 1000, &mine));
	assert_true(watt_privacy_shows(WATT_PRIVACY_OWN, 1000, &mine));
	assert_false(watt_privacy_shows(WATT_PRIVACY_OWN, 1000, &other));
	assert_false(watt_privacy_shows(WATT_PRIVACY_OWN, 1000, &unknown));
	assert_true(watt_privacy_shows(WATT_PRIVACY_USERS, 1000, &other));
	assert_true(watt_privacy_shows(WATT_PRIVACY_USERS, 1000, &unknown));
	assert_true(watt_privacy_shows(WATT_PRIVACY_ALL, 1000, &other));
}

static void test_secrets(void **state)
{
	static const char line[] = "x --password=abcdef";
	enum watt_privacy level;
	char text[64];

	for (level = WATT_PRIVACY_NAMES; level < WATT_PRIVACY_ALL; level++) {
		strcpy(text, line);
		assert_int_equal(watt_privacy_apply(level, text, strlen(text)), strlen(line) - 3);
	}
	strcpy(text, line);
	assert_int_equal(watt_privacy_apply(WATT_PRIVACY_ALL, text, strlen(text)), strlen(line));
	assert_string_equal(text, line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whose),
		cmocka_unit_test(test_secrets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
