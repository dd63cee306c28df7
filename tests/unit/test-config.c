/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "source/config/config.h"

static char said[1024];

static void hear(void *data, enum watt_log_level level, const char *text)
{
	snprintf(said, sizeof(said), "%s", text);
}

static const struct watt_log log_said = { .fn = hear };

static void test_no_file_is_empty(void **state)
{
	struct watt_config *config;

	assert_int_equal(watt_config_open(NULL, NULL, &config), 0);
	assert_int_equal(config->n_chips + config->n_rails + config->n_models, 0);
	assert_null(watt_config_free(config));
	assert_null(watt_config_free(NULL));
}

static void test_files_that_cannot_be_read(void **state)
{
	struct watt_config *config = NULL;

	assert_int_equal(watt_config_open("/nonexistent/x.yaml", &log_said, &config), -ENOENT);
	assert_string_equal(said, "/nonexistent/x.yaml: No such file or directory");
	assert_int_equal(watt_config_open("/tmp", &log_said, &config), -EINVAL);
	assert_string_equal(said, "/tmp: Is a directory");
	assert_int_equal(watt_config_open("/dev/zero", &log_said, &config), -EINVAL);
	assert_string_equal(said, "/dev/zero: larger than 1 MiB; a configuration file is smaller");
	assert_null(config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_file_is_empty),
		cmocka_unit_test(test_files_that_cannot_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
