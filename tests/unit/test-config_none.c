/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "source/config/config.h"

static char said[1024];

static void hear(void *data, enum watt_log_level level, const char *text)
{
	snprintf(said, sizeof(said), "%s", text);
}

static const struct watt_log log_said = { .fn = hear };

static void test_text_is_refused(void **state)
{
	struct watt_config *config = NULL;

	assert_int_equal(watt_config_parse("", 0, "f", &log_said, &config), -EOPNOTSUPP);
	assert_string_equal(said,
			    "f: this build reads no configuration files; build it with libfyaml");
	assert_null(config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
