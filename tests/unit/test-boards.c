/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <wattribute/board.h>

#include "unit.h"

static int read_fixture(const char *machine, struct watt_board_info **ret)
{
	struct watt_options *options = NULL;
	char path[512];
	int r;

	assert_int_equal(watt_options_new(&options), 0);
	snprintf(path, sizeof(path), "%s/%s/sys", getenv("WATT_FIXTURES"), machine);
	assert_int_equal(watt_options_set_sysfs_root(options, path), 0);
	snprintf(path, sizeof(path), "%s/%s/proc", getenv("WATT_FIXTURES"), machine);
	if (access(path, F_OK) == 0)
		assert_int_equal(watt_options_set_procfs_root(options, path), 0);
	r = watt_board_info_read(options, ret);
	watt_options_free(options);
	return r;
}

static void test_known(void **state)
{
	struct watt_board_info *info = NULL;

	assert_int_equal(read_fixture("jetson-agx-orin", &info), 0);
	assert_string_equal(watt_board_info_get_name(info), "Jetson AGX Orin");
	assert_int_equal(watt_board_info_is_configured(info), 0);
	assert_string_equal(watt_board_info_get_compatible(info, 0),
			    "nvidia,p3737-0000+p3701-0000");
	assert_string_equal(watt_board_info_get_compatible(info, 2), "nvidia,tegra234");
	assert_null(watt_board_info_get_compatible(info, 3));
	assert_null(watt_board_info_get_compatible(info, SIZE_MAX));
	assert_string_equal(watt_board_info_get_emc_file(info, 0), "kernel/debug/cactmon/mc_all");
	assert_string_equal(watt_board_info_get_emc_file(info, 2), "kernel/debug/clk/emc/clk_rate");
	assert_null(watt_board_info_get_emc_file(info, 3));
	watt_board_info_free(info);
}

static void test_no_board(void **state)
{
	struct watt_board_info *info = NULL;

	assert_int_equal(read_fixture("laptop-client", &info), -ENOENT);
	assert_null(info);
	assert_int_equal(watt_board_info_read(NULL, NULL), -EINVAL);
	watt_board_info_free(NULL);
	assert_null(watt_board_info_get_name(NULL));
	assert_null(watt_board_info_get_compatible(NULL, 0));
	/* one that says nothing: as those do that are built in */
	assert_string_equal(watt_board_info_get_emc_file(NULL, 0), "kernel/debug/cactmon/mc_all");
	assert_null(watt_board_info_get_emc_file(NULL, SIZE_MAX));
	assert_int_equal(watt_board_info_is_configured(NULL), 0);
}

static void test_not_there(void **state)
{
	struct watt_board_info *info = NULL;

	assert_int_equal(read_fixture("of-nobody", &info), -ENOENT);
	assert_null(info);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_no_board),
		cmocka_unit_test(test_not_there),
	};

	return cmocka_run_group_tests_name("boards", tests, NULL, NULL);
}
