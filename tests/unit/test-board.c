/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/power/sensor/board.c */
#include "unit.h"

#include "base/util.h"
#include "source/power/sensor/board.h"

struct board_case {
	const char *compatible; /* strings with a NUL after each */
	size_t len;
	const char *roots; /* what may be summed, in the order of the table */
};

#define STRINGS(text) text, sizeof(text)

static const struct board_case cases[] = {
	{ STRINGS("nvidia,p3737-0000+p3701-0000\0nvidia,p3701-0000\0nvidia,tegra234"),
	  "vdd_gpu_soc vdd_cpu_cv vin_sys_5v0 " },
	{ STRINGS("nvidia,p3768-0000+p3767-0005\0nvidia,p3767-0005\0nvidia,tegra234"), "vdd_in " },
	{ STRINGS("nvidia,p3449-0000+p3668-0001\0nvidia,tegra194"), "vdd_in " },
	{ STRINGS("nvidia,p2972-0000\0nvidia,tegra194"), "gpu cpu soc cv vddrq sys5v " },
	{ STRINGS("nvidia,p3509-0000+p3636-0001\0nvidia,tegra186"), "vdd_in " },
	/* the carrier comes first, and only the last string tells the module */
	{ STRINGS("acme,carrier\0nvidia,quill\0nvidia,p3310-1000"), "vdd_in vdd_mux " },
	{ STRINGS("nvidia,p3489-0888+p2597-0000\0nvidia,tegra186"), "vdd_in vdd_mux " },
	{ STRINGS("nvidia,p3450-0000\0nvidia,tegra210"), "pom_5v_in " },
	{ STRINGS("nvidia,jetson-nano\0nvidia,tegra210"), "pom_5v_in " },
	{ STRINGS("nvidia,p2371-2180\0nvidia,tegra210"), "vdd_in vdd_mux " },
	{ STRINGS("nvidia,p3971-0089+p3834-0008\0nvidia,p3834\0nvidia,tegra264"), "vin " },
};

static bool is_root(const struct watt_board_rail *rail)
{
	return !strchr(rail->path, '/') && !(rail->flags & WATT_CHANNEL_OVERLAP_UNKNOWN);
}

static void test_totals(void **state)
{
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		const struct watt_board *board = watt_board_find(cases[i].compatible, cases[i].len);
		const struct watt_board_rail *rail;
		char roots[256] = "";

		assert_non_null(board);
		for (rail = board->rails; rail->label; rail++) {
			if (!is_root(rail))
				continue;
			snprintf(roots + strlen(roots), sizeof(roots) - strlen(roots), "%s ",
				 rail->path);
		}
		assert_string_equal(roots, cases[i].roots);
	}
}

/* A path lies in one that is there, and no two rails share one. */
static void test_paths(void **state)
{
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		const struct watt_board *board = watt_board_find(cases[i].compatible, cases[i].len);
		const struct watt_board_rail *rail, *other;

		for (rail = board->rails; rail->label; rail++) {
			const char *slash = strrchr(rail->path, '/');
			bool found = !slash;

			for (other = board->rails; other->label; other++) {
				if (other != rail)
					assert_string_not_equal(other->path, rail->path);
				found |= slash &&
					 strlen(other->path) == (size_t)(slash - rail->path) &&
					 !strncmp(other->path, rail->path, strlen(other->path));
			}
			assert_true(found);
		}
	}
}

static void test_unknown(void **state)
{
	assert_null(watt_board_find(STRINGS("raspberrypi,4-model-b\0brcm,bcm2711")));
	assert_null(watt_board_find(STRINGS("nvidia,tegra234")));
	assert_null(watt_board_find(STRINGS("")));
	assert_null(watt_board_find("", 0));
}

/* Modules with one number but for what is behind it. */
static void test_names(void **state)
{
	static const struct board_name {
		const char *compatible;
		size_t len;
		const char *name;
	} names[] = {
		{ STRINGS("nvidia,p3768-0000+p3767-0000\0nvidia,tegra234"), "Jetson Orin NX" },
		{ STRINGS("nvidia,p3768-0000+p3767-0001\0nvidia,tegra234"), "Jetson Orin NX" },
		{ STRINGS("nvidia,p3768-0000+p3767-0003\0nvidia,tegra234"), "Jetson Orin Nano" },
		{ STRINGS("nvidia,p3768-0000+p3767-0005-super\0nvidia,p3767-0005"),
		  "Jetson Orin Nano" },
		{ STRINGS("nvidia,p3509-0000+p3668-0000\0nvidia,tegra194"), "Jetson Xavier NX" },
		{ STRINGS("nvidia,p3509-0000+p3636-0001\0nvidia,tegra186"), "Jetson TX2 NX" },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(names); i++)
		assert_string_equal(watt_board_find(names[i].compatible, names[i].len)->name,
				    names[i].name);
}

static void test_find_rail(void **state)
{
	const struct watt_board *orin = watt_board_find(STRINGS("nvidia,p3701-0000"));
	const struct watt_board *thor = watt_board_find(STRINGS("nvidia,p3834"));

	assert_string_equal(watt_board_find_rail(orin, "vddq_vdd2_1v8ao", "0041")->path,
			    "vin_sys_5v0/vddq_vdd2_1v8ao");
	assert_int_equal(watt_board_find_rail(orin, "vdd_cpu_cv", "0040")->kind,
			 WATT_DOMAIN_CPU_RAIL);
	/* the right label at another address is another rail */
	assert_null(watt_board_find_rail(orin, "vdd_cpu_cv", "0041"));
	assert_null(watt_board_find_rail(orin, "vdd_cpu_cv", NULL));
	assert_null(watt_board_find_rail(orin, "vdd_cpu", "0040"));
	assert_int_equal(watt_board_find_rail(thor, "vin", "0044")->kind, WATT_DOMAIN_TOTAL);
	assert_int_equal(watt_board_find_rail(thor, "vin", NULL)->kind, WATT_DOMAIN_TOTAL);
}

/* The board whose files are there. */
static const struct watt_board *detect(const struct watt_env *env)
{
	const struct watt_board *board;
	char *text = NULL;
	size_t len = 0;

	assert_int_equal(watt_board_read_compatible(env, &text, &len), 0);
	board = watt_board_find(text, len);
	free(text);
	return board;
}

static void test_detect(void **state)
{
	struct watt_env env = { .sysfs = WATT_ROOT_INIT, .procfs = WATT_ROOT_INIT };
	static const char compatible[] = "acme,carrier\0nvidia,p3767-0000";
	char *dir = scratch_new();
	char path[PATH_MAX];

	/* a file of the right name for a board nobody knows, and one in procfs */
	scratch_write(dir, "sys/x", "");
	scratch_write_bytes(dir, "proc/device-tree/compatible", compatible, sizeof(compatible));
	snprintf(path, sizeof(path), "%s/sys", dir);
	assert_int_equal(watt_root_open(&env.sysfs, path), 0);
	snprintf(path, sizeof(path), "%s/proc", dir);
	assert_int_equal(watt_root_open(&env.procfs, path), 0);
	assert_string_equal(detect(&env)->name, "Jetson Orin NX");
	scratch_write(dir, "sys/firmware/devicetree/base/compatible", "acme,other");
	assert_null(detect(&env));
	watt_root_close(&env.sysfs);
	watt_root_close(&env.procfs);
	scratch_remove(dir);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_totals),  cmocka_unit_test(test_paths),
		cmocka_unit_test(test_unknown), cmocka_unit_test(test_find_rail),
		cmocka_unit_test(test_detect),  cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests_name("board", tests, NULL, NULL);
}
