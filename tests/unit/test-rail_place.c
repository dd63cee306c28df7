/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/power/sensor/rail_place.c */
#include "sensors.h"

#include "source/power/sensor/board.h"

#include "source/power/sensor/rail_place.h"

static void test_kinds(void **state)
{
	static const struct {
		const char *label;
		enum watt_domain_kind kind;
	} cases[] = {
		{ "vdd_cpu", WATT_DOMAIN_CPU_RAIL },
		{ "cpu", WATT_DOMAIN_CPU_RAIL },
		{ "vdd_cpu0", WATT_DOMAIN_CPU_RAIL },
		{ "vdd_cpu_gpu_cv", WATT_DOMAIN_CPU_RAIL },
		{ "pom_5v_cpu", WATT_DOMAIN_CPU_RAIL },
		{ "gpu", WATT_DOMAIN_GPU },
		{ "vdd_gpu_soc", WATT_DOMAIN_GPU },
		{ "vddrq", WATT_DOMAIN_DRAM },
		{ "vddq_vdd2_1v8ao", WATT_DOMAIN_DRAM },
		{ "vdd_sys_ddr", WATT_DOMAIN_DRAM },
		{ "cpufan", WATT_DOMAIN_RAIL },
		{ "vcpu", WATT_DOMAIN_RAIL },
		{ "cpufan_cpu", WATT_DOMAIN_CPU_RAIL },
		{ "vdd_soc", WATT_DOMAIN_RAIL },
		{ "", WATT_DOMAIN_RAIL },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++)
		assert_int_equal(watt_rail_kind_of_label(cases[i].label), cases[i].kind);
}

static void check_place(const struct watt_rail_map *map, const struct watt_rail *rail,
			const char *path, enum watt_domain_kind kind, uint32_t flags)
{
	struct watt_place place;

	watt_rail_map_place(map, rail, &place);
	assert_string_equal(place.path, path);
	assert_int_equal(place.kind, kind);
	assert_int_equal(place.flags, flags);
	assert_int_equal(place.package_id, -1);
}

static void test_unknown_board(void **state)
{
	struct watt_rail_map *map;
	struct machine m;

	machine_init_fixture(&m, "ina-mixed");
	assert_int_equal(watt_rail_map_new(&m.world.env, &map), 0);
	assert_null(watt_rail_map_board(map));
	check_place(map, &(struct watt_rail){ "3-0040", "VDD_IN", "ch0", false }, "3-0040:vdd_in",
		    WATT_DOMAIN_RAIL, OVERLAP);
	check_place(map, &(struct watt_rail){ "3-0040", "VDD_CPU", "ch1", false }, "3-0040:vdd_cpu",
		    WATT_DOMAIN_CPU_RAIL, OVERLAP);
	check_place(map, &(struct watt_rail){ "3-0040", NULL, "ch2", false }, "3-0040:ch2",
		    WATT_DOMAIN_RAIL, OVERLAP);
	check_place(map, &(struct watt_rail){ "3-0040", "!!!", "ch2", false }, "3-0040:ch2",
		    WATT_DOMAIN_RAIL, OVERLAP);
	/* alone on its device: the label does not matter */
	check_place(map, &(struct watt_rail){ "3-0041", "VDD_X", "ch0", true }, "3-0041",
		    WATT_DOMAIN_RAIL, OVERLAP);
	check_place(map, &(struct watt_rail){ "!", NULL, "ch0", true }, "unnamed", WATT_DOMAIN_RAIL,
		    OVERLAP);
	watt_rail_map_free(map);
	machine_done(&m);
}

static void test_known_board(void **state)
{
	struct watt_rail_map *map;
	struct machine m;

	machine_init_fixture(&m, "jetson-agx-orin");
	assert_int_equal(watt_rail_map_new(&m.world.env, &map), 0);
	assert_string_equal(watt_rail_map_board(map)->name, "Jetson AGX Orin");
	check_place(map, &(struct watt_rail){ "1-0040", "VDD_CPU_CV", "ch1", false }, "vdd_cpu_cv",
		    WATT_DOMAIN_CPU_RAIL, 0);
	/* the same label and address on a later bus is another chip */
	check_place(map, &(struct watt_rail){ "9-0040", "VDD_CPU_CV", "ch1", false },
		    "9-0040:vdd_cpu_cv", WATT_DOMAIN_CPU_RAIL, OVERLAP);
	/* a rail that the board does not have */
	check_place(map, &(struct watt_rail){ "1-0040", "VDD_5V", "ch1", false }, "1-0040:vdd_5v",
		    WATT_DOMAIN_RAIL, OVERLAP);
	watt_rail_map_free(map);
	machine_done(&m);
}

static void test_rules(void **state)
{
	struct watt_config_rail rails[] = {
		{ (char *)"VDD_CPU_CV", (char *)"mine/cpu", -1 },
		{ (char *)"1-0040/VDD 5V", (char *)"mine", WATT_DOMAIN_TOTAL },
		{ (char *)"2-0041", (char *)"alone", -1 },
		{ (char *)"2-0042/ch1", (char *)"second", WATT_DOMAIN_GPU },
		{ (char *)"", (char *)"never", -1 },
	};
	struct watt_rail_map *map;
	struct machine m;

	machine_init_fixture(&m, "jetson-agx-orin");
	m.config = (struct watt_config){ .rails = rails, .n_rails = WATT_ARRAY_SIZE(rails) };
	assert_int_equal(watt_rail_map_new(&m.world.env, &map), 0);
	/* a rule goes before the table; what it does not say comes from there */
	check_place(map, &(struct watt_rail){ "1-0040", "VDD_CPU_CV", "ch1", false }, "mine/cpu",
		    WATT_DOMAIN_CPU_RAIL, 0);
	check_place(map, &(struct watt_rail){ "1-0040", "vdd_5v", "ch2", false }, "mine",
		    WATT_DOMAIN_TOTAL, 0);
	check_place(map, &(struct watt_rail){ "2-0041", NULL, "ch0", true }, "alone",
		    WATT_DOMAIN_RAIL, 0);
	check_place(map, &(struct watt_rail){ "2-0041", NULL, "ch0", false }, "2-0041:ch0",
		    WATT_DOMAIN_RAIL, OVERLAP);
	check_place(map, &(struct watt_rail){ "2-0042", NULL, "ch1", false }, "second",
		    WATT_DOMAIN_GPU, 0);
	check_place(map, &(struct watt_rail){ "1-0041", "VDDQ_VDD2_1V8AO", "ch1", true },
		    "vin_sys_5v0/vddq_vdd2_1v8ao", WATT_DOMAIN_DRAM, 0);
	assert_int_equal(m.world.n_warnings, 0);
	watt_rail_map_free(map);
	machine_done(&m);
}

/* What the user writes of a board goes before what is built in of it. */
static void test_board_of_the_user(void **state)
{
	struct watt_config_rail rails[] = {
		{ (char *)"VDD CPU CV", (char *)"input/cpu", -1, (char *)"0040" },
		{ (char *)"VIN_SYS_5V0", (char *)"input", WATT_DOMAIN_TOTAL },
		{ (char *)"VDDQ_VDD2_1V8AO", (char *)"ram", WATT_DOMAIN_DRAM, (char *)"0041",
		  .is_alone = true },
	};
	char *never[] = { (char *)"p9999" }, *compatible[] = { (char *)"no", (char *)"p3701-" };
	struct watt_config_board boards[] = {
		{ (char *)"other", never, 1, rails, 1 },
		{ (char *)"mine", compatible, 2, rails, WATT_ARRAY_SIZE(rails) },
	};
	struct watt_rail_map *map;
	struct machine m;

	machine_init_fixture(&m, "jetson-agx-orin");
	m.config = (struct watt_config){ .boards = boards, .n_boards = 2 };
	assert_int_equal(watt_rail_map_new(&m.world.env, &map), 0);
	assert_string_equal(watt_rail_map_board(map)->name, "mine");
	assert_true(watt_rail_map_is_configured(map));
	check_place(map, &(struct watt_rail){ "1-0040", "VDD_CPU_CV", "ch1", false }, "input/cpu",
		    WATT_DOMAIN_CPU_RAIL, 0);
	check_place(map, &(struct watt_rail){ "1-0040", "VIN_SYS_5V0", "ch2", false }, "input",
		    WATT_DOMAIN_TOTAL, 0);
	check_place(map, &(struct watt_rail){ "1-0041", "VDDQ_VDD2_1V8AO", "ch1", true }, "ram",
		    WATT_DOMAIN_DRAM, OVERLAP);
	/* the built-in board has it, the user's has not */
	check_place(map, &(struct watt_rail){ "1-0040", "VDD_GPU_SOC", "ch0", false },
		    "1-0040:vdd_gpu_soc", WATT_DOMAIN_GPU, OVERLAP);
	watt_rail_map_free(map);
	m.config.n_boards = 1;
	assert_int_equal(watt_rail_map_new(&m.world.env, &map), 0);
	assert_string_equal(watt_rail_map_board(map)->name, "Jetson AGX Orin");
	assert_false(watt_rail_map_is_configured(map));
	watt_rail_map_free(map);
	machine_done(&m);
}

#define CHIP(n, file) "sys/class/hwmon/hwmon" #n "/" file

/* A Thor: what feeds the board is an INA238, which has no label; the board knows what it is. */
static void test_chip_without_label(void **state)
{
	char *dir = scratch_new();
	struct machine m;

	scratch_write(dir, "sys/firmware/devicetree/base/compatible", "nvidia,p3834-0008");
	scratch_write(dir, CHIP(0, "name"), "ina238\n");
	scratch_write(dir, CHIP(0, "power1_input"), "40000000\n");
	scratch_write(dir, CHIP(1, "name"), "ina3221\n");
	scratch_write(dir, CHIP(1, "in1_label"), "VDD_GPU\n");
	scratch_write(dir, CHIP(1, "in1_input"), "12000\n");
	scratch_write(dir, CHIP(1, "curr1_input"), "1000\n");
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
	assert_int_equal(m.power->n_channels, 2);
	assert_string_equal(m.power->channels[0].domain, "vin");
	assert_int_equal(m.power->channels[0].kind, WATT_DOMAIN_TOTAL);
	assert_string_equal(m.power->channels[1].domain, "vin/vdd_gpu");
	assert_int_equal(sum_of_roots(&m), 40000000);
	machine_done(&m);
	/* with another one of the kind nobody knows which it is */
	scratch_write(dir, CHIP(2, "name"), "ina238\n");
	scratch_write(dir, CHIP(2, "power1_input"), "5000000\n");
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
	assert_string_not_equal(m.power->channels[0].domain, "vin");
	assert_string_not_equal(m.power->channels[2].domain, "vin");
	machine_done(&m);
	scratch_remove(dir);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_unknown_board),
		cmocka_unit_test(test_known_board),
		cmocka_unit_test(test_board_of_the_user),
		cmocka_unit_test(test_chip_without_label),
		cmocka_unit_test(test_rules),
	};

	return cmocka_run_group_tests_name("rail_place", tests, NULL, NULL);
}
