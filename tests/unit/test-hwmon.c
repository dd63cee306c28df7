/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/power/hwmon/hwmon.c, on whole machines */
#include "jetson_rails.h"
#include "sensors.h"

#include "base/clock.h"

#define K 1000LL

struct board_case {
	const char *machine;
	const struct expected *expected;
	size_t n;
	int64_t total_uw;
};

#define MW 1000000LL

static const struct expected grace[] = {
	{ "hwmon/acpi000d:00/module_power_socket_0", "module-0", WATT_DOMAIN_RAIL, 412 * MW, 0,
	  -1 },
	{ "hwmon/acpi000d:01/grace_power_socket_0", "module-0/package-0", WATT_DOMAIN_PACKAGE,
	  151 * MW, 0, 0 },
	{ "hwmon/acpi000d:02/cpu_power_socket_0", "module-0/package-0/core", WATT_DOMAIN_CORES,
	  82 * MW, 0, 0 },
	{ "hwmon/acpi000d:03/sysio_power_socket_0", "module-0/package-0/sysio", WATT_DOMAIN_RAIL,
	  31 * MW, 0, 0 },
	{ "hwmon/acpi000d:04/module_power_socket_1", "module-1", WATT_DOMAIN_RAIL, 413 * MW, 0,
	  -1 },
	{ "hwmon/acpi000d:05/grace_power_socket_1", "module-1/package-1", WATT_DOMAIN_PACKAGE,
	  152 * MW, 0, 1 },
	{ "hwmon/acpi000d:06/cpu_power_socket_1", "module-1/package-1/core", WATT_DOMAIN_CORES,
	  83 * MW, 0, 1 },
	{ "hwmon/acpi000d:07/sysio_power_socket_1", "module-1/package-1/sysio", WATT_DOMAIN_RAIL,
	  32 * MW, 0, 1 },
};

/* Firmware that gives its meters no names: nothing but their own words tells what they are. */
static const struct expected grace_unnamed[] = {
	{ "hwmon/hwmon0/module_power_socket_0", "module-0", WATT_DOMAIN_RAIL, 405 * MW, 0, -1 },
	{ "hwmon/hwmon1/grace_power_socket_0", "module-0/package-0", WATT_DOMAIN_PACKAGE, 150 * MW,
	  0, 0 },
	{ "hwmon/hwmon2/cpu_power_socket_0", "module-0/package-0/core", WATT_DOMAIN_CORES, 80 * MW,
	  0, 0 },
	{ "hwmon/hwmon3/sysio_power_socket_0", "module-0/package-0/sysio", WATT_DOMAIN_RAIL,
	  30 * MW, 0, 0 },
	{ "hwmon/hwmon4/module_power_socket_1", "module-1", WATT_DOMAIN_RAIL, 405 * MW + 1, 0, -1 },
	{ "hwmon/hwmon5/grace_power_socket_1", "module-1/package-1", WATT_DOMAIN_PACKAGE,
	  150 * MW + 1, 0, 1 },
	{ "hwmon/hwmon6/cpu_power_socket_1", "module-1/package-1/core", WATT_DOMAIN_CORES,
	  80 * MW + 1, 0, 1 },
	{ "hwmon/hwmon7/sysio_power_socket_1", "module-1/package-1/sysio", WATT_DOMAIN_RAIL,
	  30 * MW + 1, 0, 1 },
};

/* HSMP by the platform driver: the sockets are chips of one device. */
static const struct expected epyc_hsmp[] = {
	{ "hwmon/amd_hsmp/power1", "package-0", WATT_DOMAIN_PACKAGE, 201500 * K, 0, 0 },
	{ "hwmon/amd_hsmp/power1-2", "package-1", WATT_DOMAIN_PACKAGE, 187250 * K, 0, 1 },
};

static const struct expected acpi_meter[] = {
	{ "hwmon/acpi000d:00/test", "power_meter", WATT_DOMAIN_TOTAL, 151 * MW, 0, -1 },
};

static const struct expected mac_smc[] = {
	{ "hwmon/macsmc-hwmon/total_system_power", "total_system_power", WATT_DOMAIN_TOTAL,
	  7421 * K, 0, -1 },
	{ "hwmon/macsmc-hwmon/ac_input_power", "macsmc-hwmon:ac_input_power", WATT_DOMAIN_RAIL,
	  9110 * K, OVERLAP, -1 },
	{ "hwmon/macsmc-hwmon/3_8_v_rail_power", "macsmc-hwmon:3_8_v_rail_power", WATT_DOMAIN_RAIL,
	  4020 * K, OVERLAP, -1 },
};

#define BOARD(name, table, total_uw) \
	{ \
		name, table, WATT_ARRAY_SIZE(table), total_uw \
	}

static void test_boards(void **state)
{
	static const struct board_case cases[] = {
		BOARD("jetson-agx-orin", agx_orin, 19848 * (152 + 96) + 4968 * 912),
		BOARD("jetson-orin-nx", orin_nx, 4944 * 976),
		BOARD("jetson-orin-nano", orin_nano, 5032 * 1144),
		BOARD("jetson-thor", thor, 24620 * K),
		BOARD("xavier-nx", xavier_nx, 5032 * 752),
		BOARD("jetson-agx-xavier", agx_xavier, 19176 * (32 + 72 + 112 + 0 + 40 + 168)),
		BOARD("grace", grace, 825 * MW),
		BOARD("grace-unnamed", grace_unnamed, 810 * MW + 1),
		BOARD("epyc-hsmp", epyc_hsmp, 388750 * K),
		BOARD("acpi-meter-server", acpi_meter, 151 * MW),
		BOARD("mac-smc", mac_smc, 7421 * K),
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		struct machine m;

		machine_init_fixture(&m, cases[i].machine);
		assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
		assert_string_equal(m.world.text, "");
		check_channels(&m, cases[i].expected, cases[i].n);
		assert_int_equal(sum_of_roots(&m), cases[i].total_uw);
		machine_done(&m);
	}
}

static void test_desktop(void **state)
{
	static const struct expected expected[] = {
		{ "hwmon/0000:03:00_0/card", "gpu-0000:03:00_0", WATT_DOMAIN_GPU, 48211930211, 0,
		  -1 },
		{ "hwmon/0000:03:00_0/pkg", "gpu-0000:03:00_0/pkg", WATT_DOMAIN_GPU, 31007128110, 0,
		  -1 },
		{ "hwmon/0000:0d:00_0/ppt", "gpu-0000:0d:00_0", WATT_DOMAIN_GPU, 28 * MW, 0, -1 },
		{ "hwmon/0000:0f:00_0/ppt", "gpu-0000:0f:00_0", WATT_DOMAIN_GPU, 12011 * K, OVERLAP,
		  -1 },
		{ "hwmon/1-5:1_0/power_total", "psu", WATT_DOMAIN_TOTAL, 142 * MW, 0, -1 },
		{ "hwmon/1-5:1_0/power__12v", "1-5:1_0:power__12v", WATT_DOMAIN_RAIL, 118 * MW,
		  OVERLAP, -1 },
		{ "hwmon/1-5:1_0/power__5v", "1-5:1_0:power__5v", WATT_DOMAIN_RAIL, 14500 * K,
		  OVERLAP, -1 },
		{ "hwmon/1-5:1_0/power__3_3v", "1-5:1_0:power__3_3v", WATT_DOMAIN_RAIL, 6200 * K,
		  OVERLAP, -1 },
	};
	const struct watt_channel *c;
	struct machine m;

	machine_init_fixture(&m, "desktop-amdgpu");
	assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
	check_channels(&m, expected, WATT_ARRAY_SIZE(expected));
	assert_int_equal(m.world.n_warnings, 0);
	c = channel_named(m.power, "hwmon/0000:03:00_0/card");
	assert_int_equal(c->quantity, WATT_QUANTITY_ENERGY);
	assert_int_equal(c->semantics, WATT_SEMANTICS_COUNTER);
	assert_int_equal(c->scale_num, 1000);
	assert_int_equal(c->scale_den, 1);
	assert_int_equal(c->wrap_nj, 0);
	assert_string_equal(c->label, "card");
	c = channel_named(m.power, "hwmon/0000:0d:00_0/ppt");
	assert_int_equal(c->semantics, WATT_SEMANTICS_AVERAGE);
	assert_int_equal(c->scale_num, 1);
	c = channel_named(m.power, "hwmon/0000:0f:00_0/ppt");
	assert_int_equal(c->semantics, WATT_SEMANTICS_INSTANT);
	machine_done(&m);
}

/* A card by xe that tells of its chip alone, as those of DG2 do: processes on the GPU are on that. */
static void test_chip_without_card(void **state)
{
	char *dir = fixture_copy("desktop-amdgpu");
	const struct watt_channel *channel;
	struct machine m;

	scratch_unlink(dir, "sys/class/hwmon/hwmon3/energy1_input");
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
	channel = channel_named(m.power, "hwmon/0000:03:00_0/pkg");
	assert_string_equal(channel->domain, "gpu-0000:03:00_0");
	assert_int_equal(channel->kind, WATT_DOMAIN_GPU);
	machine_done(&m);
	scratch_remove(dir);
}

static void test_sockets_and_cores(void **state)
{
	static const struct expected expected[] = {
		{ "hwmon/amd_energy_0/ecore000", "package-0/core-0", WATT_DOMAIN_CORE, 9000 * MW, 0,
		  0 },
		{ "hwmon/amd_energy_0/ecore001", "package-0/core-1", WATT_DOMAIN_CORE, 9001 * MW, 0,
		  0 },
		{ "hwmon/amd_energy_0/ecore002", "package-1/core-0", WATT_DOMAIN_CORE, 9002 * MW, 0,
		  1 },
		{ "hwmon/amd_energy_0/ecore003", "package-1/core-1", WATT_DOMAIN_CORE, 9003 * MW, 0,
		  1 },
		{ "hwmon/amd_energy_0/esocket0", "package-0", WATT_DOMAIN_PACKAGE, 80000 * MW, 0,
		  0 },
		{ "hwmon/amd_energy_0/esocket1", "package-1", WATT_DOMAIN_PACKAGE, 80001 * MW, 0,
		  1 },
	};
	struct machine m;

	machine_init_fixture(&m, "epyc-amd-energy");
	assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
	check_channels(&m, expected, WATT_ARRAY_SIZE(expected));
	assert_int_equal(channel_named(m.power, "hwmon/amd_energy_0/ecore003")->core_id, 1);
	assert_int_equal(m.power->n_groups, 1);
	machine_done(&m);
}

static void test_arm_server(void **state)
{
	static const struct expected expected[] = {
		{ "hwmon/3-0070/pin", "3-0070:pin", WATT_DOMAIN_RAIL, 49 * MW, OVERLAP, -1 },
		{ "hwmon/3-0070/pout1", "3-0070:pin/pout1", WATT_DOMAIN_RAIL, 45900 * K, OVERLAP,
		  -1 },
		{ "hwmon/3-0071/vout1", "3-0071", WATT_DOMAIN_RAIL, 901 * 51000, OVERLAP | SIGNED,
		  -1 },
		{ "hwmon/apmc0d29:00/cpu_power", "package-0/cpu_power", WATT_DOMAIN_CPU_RAIL,
		  38 * MW, 0, 0 },
		{ "hwmon/apmc0d29:00/io_power", "package-0/io_power", WATT_DOMAIN_RAIL, 11 * MW, 0,
		  0 },
		{ "hwmon/scmi_dev_5/sys_enm_a72", "scmi_dev_5:sys_enm_a72", WATT_DOMAIN_RAIL,
		  7120034, OVERLAP, -1 },
		{ "hwmon/scmi_dev_5/sys_pow_sys", "scmi_dev_5:sys_pow_sys", WATT_DOMAIN_RAIL,
		  2100 * K, OVERLAP, -1 },
	};
	struct machine m;

	machine_init_fixture(&m, "arm-server");
	assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
	check_channels(&m, expected, WATT_ARRAY_SIZE(expected));
	/* light, and a bias current: no power, and nobody needs to hear of it */
	assert_int_equal(m.world.n_warnings, 0);
	machine_done(&m);
}

static void test_mixed(void **state)
{
	static const struct expected expected[] = {
		{ "hwmon/0-0040/vdd_main", "0-0040", WATT_DOMAIN_RAIL, 12000 * 1500,
		  OVERLAP | SIGNED, -1 },
		{ "hwmon/0-0041/curr_3v3", "0-0041:curr_3v3", WATT_DOMAIN_RAIL, 3300 * 410,
		  OVERLAP | SIGNED, -1 },
		{ "hwmon/0-0041/power2", "0-0041:ch1", WATT_DOMAIN_RAIL, 1800 * 90,
		  OVERLAP | SIGNED, -1 },
		{ "hwmon/0-0041/power3", "0-0041:ch2", WATT_DOMAIN_RAIL, 5100 * -250,
		  OVERLAP | SIGNED, -1 },
		{ "hwmon/0-0042/a", "0-0042:a", WATT_DOMAIN_RAIL, 3000, OVERLAP | SIGNED, -1 },
		{ "hwmon/0-0042/b", "0-0042:b", WATT_DOMAIN_RAIL, 8000, OVERLAP | SIGNED, -1 },
		{ "hwmon/0-0044/power1", "0-0044", WATT_DOMAIN_RAIL, 11880 * -120, OVERLAP | SIGNED,
		  -1 },
		{ "hwmon/0-0045/power1", "0-0045", WATT_DOMAIN_RAIL, 4800 * K, OVERLAP, -1 },
		{ "hwmon/0-0046/power1", "0-0046:ch0", WATT_DOMAIN_RAIL, 4990 * 210,
		  OVERLAP | SIGNED, -1 },
		{ "hwmon/0-0046/power2", "0-0046:ch1", WATT_DOMAIN_RAIL, 3300 * 100,
		  OVERLAP | SIGNED, -1 },
		{ "hwmon/0-0047/vdd_main", "0-0047", WATT_DOMAIN_RAIL, 12000 * 90, OVERLAP | SIGNED,
		  -1 },
		{ "hwmon/0-0048/energy1", "0-0048", WATT_DOMAIN_RAIL, 123456789, OVERLAP, -1 },
	};
	const struct watt_channel *c;
	struct machine m;

	machine_init_fixture(&m, "ina-mixed");
	assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
	check_channels(&m, expected, WATT_ARRAY_SIZE(expected));
	assert_int_equal(m.world.n_warnings, 1);
	assert_non_null(strstr(m.world.text, "0-0043"));
	c = channel_named(m.power, "hwmon/0-0044/power1");
	assert_int_equal(c->period_ns, 35 * WATT_NSEC_PER_MSEC);
	assert_int_equal(m.power->groups[c->group].period_ns, 35 * WATT_NSEC_PER_MSEC);
	assert_null(c->label);
	assert_non_null(strstr(c->path, "in1_input x curr1_input"));
	c = channel_named(m.power, "hwmon/0-0046/power1");
	assert_int_equal(c->semantics, WATT_SEMANTICS_AVERAGE);
	assert_int_equal(c[1].semantics, WATT_SEMANTICS_INSTANT);
	machine_done(&m);
}

#define METER "sys/devices/LNXSYSTM:00/LNXSYBUS:00/ACPI000D:00/"

static void test_meter_details(void **state)
{
	char *dir = fixture_copy("acpi-meter-server");
	const struct watt_channel *c;
	struct machine m;

	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
	c = &m.power->channels[0];
	assert_int_equal(c->window_ns, WATT_NSEC_PER_SEC);
	assert_int_equal(c->period_ns, WATT_NSEC_PER_SEC);
	assert_int_equal(c->semantics, WATT_SEMANTICS_AVERAGE);
	/* 5 % at most: 5 / sqrt(3) as a standard uncertainty */
	assert_int_equal(c->uncertainty_ppm, 28867);
	/* the firmware does not know: 0xffffffff mW */
	scratch_write(dir, METER "power1_average", "4294967295000\n");
	assert_int_equal(sample_named(&m, c->name).status, WATT_STATUS_NODATA);
	assert_int_equal(sample_named(&m, c->name).raw, 0);
	scratch_write(dir, METER "power1_average", "-1\n");
	assert_int_equal(sample_named(&m, c->name).status, WATT_STATUS_BROKEN);
	scratch_unlink(dir, METER "power1_average");
	assert_int_equal(sample_named(&m, c->name).status, WATT_STATUS_ABSENT);
	scratch_write(dir, METER "power1_average", "152000000\n");
	assert_int_equal(sample_named(&m, c->name).status, WATT_STATUS_OK);
	assert_int_equal(sample_named(&m, c->name).raw, 152000000);
	machine_close_source(&m);
	scratch_write(dir, METER "power1_is_battery", "1\n");
	assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
	assert_int_equal(m.power->channels[0].kind, WATT_DOMAIN_SUPPLY);
	machine_done(&m);
	scratch_remove(dir);
}

static void test_garbage(void **state)
{
	static const struct expected expected[] = {
		{ "hwmon/0-0040/power6", "0-0040:ch5", WATT_DOMAIN_RAIL, 7 * MW, OVERLAP, -1 },
		{ "hwmon/0-0040/power7", "0-0040:ch6", WATT_DOMAIN_RAIL, -3, OVERLAP | SIGNED, -1 },
		{ "hwmon/0-0041/µ-rail____two", "0-0041", WATT_DOMAIN_RAIL, MW, OVERLAP, -1 },
		{ "hwmon/0-0044/power1", "0-0044", WATT_DOMAIN_RAIL, 2 * MW, OVERLAP, -1 },
		{ "hwmon/0-0045/power1", "power_meter", WATT_DOMAIN_TOTAL, 3 * MW, 0, -1 },
	};
	const struct watt_channel *c;
	struct machine m;

	machine_init_fixture(&m, "hwmon-garbage");
	assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
	check_channels(&m, expected, WATT_ARRAY_SIZE(expected));
	/* one for each of power1..5, for the product that does not fit, and for what has no pair */
	assert_int_equal(m.world.n_warnings, 7);
	assert_non_null(strstr(m.world.text, "0-0047 (two_lines) has voltages"));
	assert_non_null(strstr(m.world.text, "power2_input left out: its number is out of range"));
	assert_non_null(strstr(m.world.text, "power1_input left out: it does not hold a number"));
	c = channel_named(m.power, "hwmon/0-0045/power1");
	assert_int_equal(c->uncertainty_ppm, 0);
	assert_int_equal(c->window_ns, 0);
	assert_int_equal(channel_named(m.power, "hwmon/0-0044/power1")->period_ns, 0);
	machine_done(&m);
}

#define CHIP(n, file) "sys/class/hwmon/hwmon" #n "/" file

/* A counter that never moved says nothing; a power beside it does. */
static void test_stuck_counters(void **state)
{
	char *dir = scratch_new();
	struct machine m;

	scratch_write(dir, CHIP(0, "name"), "meter_a\n");
	scratch_write(dir, CHIP(0, "energy1_input"), "0\n");
	scratch_write(dir, CHIP(1, "name"), "meter_b\n");
	scratch_write(dir, CHIP(1, "energy1_input"), "0\n");
	scratch_write(dir, CHIP(1, "power1_input"), "5000000\n");
	scratch_write(dir, CHIP(2, "name"), "meter_c\n");
	scratch_write(dir, CHIP(2, "energy1_input"), "12\n");
	scratch_write(dir, CHIP(2, "power1_input"), "5000000\n");
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
	assert_int_equal(m.power->n_channels, 3);
	assert_true(channel_named(m.power, "hwmon/meter_a/energy1")->flags & WATT_CHANNEL_UNREAD);
	assert_int_equal(sample_named(&m, "hwmon/meter_a/energy1").status, WATT_STATUS_STUCK);
	assert_int_equal(sample_named(&m, "hwmon/meter_b/power1").raw, 5000000);
	assert_int_equal(sample_named(&m, "hwmon/meter_c/energy1").raw, 12);
	scratch_write(dir, CHIP(0, "energy1_input"), "7\n");
	assert_int_equal(sample_named(&m, "hwmon/meter_a/energy1").status, WATT_STATUS_OK);
	scratch_write(dir, CHIP(0, "energy1_input"), "0\n");
	assert_int_equal(sample_named(&m, "hwmon/meter_a/energy1").status, WATT_STATUS_OK);
	machine_done(&m);
	scratch_remove(dir);
}

/* What claims a place and never moved leaves it to the first that tells something. */
static void test_place_of_a_stuck_counter(void **state)
{
	char *dir = scratch_new();
	size_t i;
	struct machine m;

	for (i = 0; i < 3; i++) {
		char path[64];

		snprintf(path, sizeof(path), "sys/class/hwmon/hwmon%zu/name", i);
		scratch_write(dir, path, "amd_energy\n");
		snprintf(path, sizeof(path), "sys/class/hwmon/hwmon%zu/energy1_label", i);
		scratch_write(dir, path, "Esocket0\n");
		snprintf(path, sizeof(path), "sys/class/hwmon/hwmon%zu/energy1_input", i);
		scratch_write(dir, path, i ? "12\n" : "0\n");
	}
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
	assert_int_equal(m.power->n_channels, 3);
	assert_string_equal(m.power->channels[0].domain, "package-0");
	assert_string_equal(m.power->channels[1].domain, "package-0");
	assert_string_equal(m.power->channels[2].domain, "package-0-2");
	assert_true(m.power->channels[0].flags & WATT_CHANNEL_UNREAD);
	assert_false(m.power->channels[1].flags & WATT_CHANNEL_OVERLAP_UNKNOWN);
	assert_true(m.power->channels[2].flags & WATT_CHANNEL_OVERLAP_UNKNOWN);
	machine_done(&m);
	/* nobody knows what these measure: they are two things, whoever moves */
	scratch_write(dir, CHIP(0, "name"), "ina238\n");
	scratch_write(dir, CHIP(1, "name"), "ina238\n");
	scratch_write(dir, CHIP(2, "name"), "ina238\n");
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
	assert_string_not_equal(m.power->channels[0].domain, m.power->channels[1].domain);
	machine_done(&m);
	scratch_remove(dir);
}

/* What no sensor can measure is a broken reading, and what the device rules out. */
static void test_implausible(void **state)
{
	static const struct {
		const char *value, *cap_max;
		enum watt_status status;
	} cases[] = {
		{ "9223372036854775807\n", NULL, WATT_STATUS_BROKEN },
		{ "4290000000000000\n", NULL, WATT_STATUS_BROKEN },
		{ "20000000001\n", NULL, WATT_STATUS_BROKEN },
		{ "20000000000\n", NULL, WATT_STATUS_OK },
		{ "1200000000\n", "300000000\n", WATT_STATUS_OK },
		{ "1200000001\n", "300000000\n", WATT_STATUS_BROKEN },
		/* a limit that makes no sense is none */
		{ "1200000001\n", "18446744073709551615\n", WATT_STATUS_OK },
		{ "1200000001\n", "0\n", WATT_STATUS_OK },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		char *dir = scratch_new();
		struct machine m;

		scratch_write(dir, CHIP(0, "name"), "meter\n");
		scratch_write(dir, CHIP(0, "power1_input"), cases[i].value);
		if (cases[i].cap_max)
			scratch_write(dir, CHIP(0, "power1_cap_max"), cases[i].cap_max);
		machine_init(&m, dir);
		assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
		assert_int_equal(sample_named(&m, "hwmon/meter/power1").status, cases[i].status);
		machine_done(&m);
		scratch_remove(dir);
	}
}

/* The file that has no number is the one that is named. */
static void test_blame(void **state)
{
	char *dir = scratch_new();
	struct machine m;

	scratch_write(dir, CHIP(0, "name"), "ina219\n");
	scratch_write(dir, CHIP(0, "in1_input"), "12000\n");
	scratch_write(dir, CHIP(0, "curr1_input"), "\n");
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_hwmon), -EIO);
	assert_non_null(strstr(m.world.text, "hwmon0/curr1_input left out"));
	assert_null(strstr(m.world.text, "in1_input"));
	machine_done(&m);
	scratch_remove(dir);
}

/* Labels stay what they are; many of one name get a number each. */
static void test_labels_and_names(void **state)
{
	char *dir = scratch_new(), path[64], name[64];
	struct machine m;
	int i;

	for (i = 0; i < 60; i++) {
		snprintf(path, sizeof(path), "sys/class/hwmon/hwmon%d/name", i);
		scratch_write(dir, path, "meter\n");
		snprintf(path, sizeof(path), "sys/class/hwmon/hwmon%d/power1_input", i);
		scratch_write(dir, path, "1000000\n");
		snprintf(path, sizeof(path), "sys/class/hwmon/hwmon%d/power1_label", i);
		scratch_write(dir, path, i ? "meter-2\n" : "Netzteil \xc3\x9c\xe2\x9a\xa1\n");
	}
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
	check_sensors(m.power);
	assert_int_equal(m.power->n_channels, 60);
	assert_string_equal(m.power->channels[0].label, "Netzteil \xc3\x9c\xe2\x9a\xa1");
	for (i = 1; i < 60; i++) {
		snprintf(name, sizeof(name),
			 i > 1 ? "hwmon/meter/meter-2-%d" : "hwmon/meter/meter-2", i);
		assert_string_equal(m.power->channels[i].name, name);
	}
	machine_done(&m);
	scratch_remove(dir);
}

static void test_user_rules(void **state)
{
	struct watt_config_pair pair = { .voltage = 0, .current = 1 };
	uint32_t skipped[] = { 1, 3, 4 };
	struct watt_config_chip chips[] = {
		{ .name = (char *)"mystery", .pairs = &pair, .n_pairs = 1 },
		{ .name = (char *)"ina3221",
		  .is_same_index = true,
		  .skip_voltages = skipped,
		  .n_skip_voltages = 3 },
	};
	struct watt_config_rail rails[] = {
		{ (char *)"Vdd_Main", (char *)"board/main", WATT_DOMAIN_CPU_RAIL },
		{ (char *)"0-0044", (char *)"board", WATT_DOMAIN_TOTAL },
		{ (char *)"0-0047/vdd_main", (char *)"other", -1 },
	};
	struct machine m;

	machine_init_fixture(&m, "ina-mixed");
	m.config =
		(struct watt_config){ .chips = chips, .n_chips = 1, .rails = rails, .n_rails = 3 };
	assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
	check_sensors(m.power);
	assert_string_equal(channel_named(m.power, "hwmon/0-0040/vdd_main")->domain, "board/main");
	assert_int_equal(channel_named(m.power, "hwmon/0-0040/vdd_main")->kind,
			 WATT_DOMAIN_CPU_RAIL);
	assert_int_equal(channel_named(m.power, "hwmon/0-0040/vdd_main")->flags, SIGNED);
	assert_string_equal(channel_named(m.power, "hwmon/0-0044/power1")->domain, "board");
	assert_int_equal(channel_named(m.power, "hwmon/0-0044/power1")->kind, WATT_DOMAIN_TOTAL);
	/* a label of two devices means the first one; the other has to be named in full */
	assert_string_equal(channel_named(m.power, "hwmon/0-0047/vdd_main")->domain, "other");
	assert_int_equal(m.world.n_warnings, 1);
	assert_non_null(strstr(m.world.text, "write 0-0047/Vdd_Main"));
	/* in0 belongs to curr1 by the user's word */
	assert_int_equal(sample_named(&m, "hwmon/0-0043/vcc").raw, 3300 * 30);
	machine_close_source(&m);

	m.config = (struct watt_config){ .chips = chips + 1, .n_chips = 1 };
	assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
	assert_string_equal(m.power->channels[0].name, "hwmon/0-0041/power2");
	machine_done(&m);
}

static void test_second_device_of_a_label(void **state)
{
	char *dir = fixture_copy("jetson-orin-nx");
	const char *other = "sys/class/hwmon/hwmon9";
	static const char *const files[][2] = {
		{ "name", "ina3221\n" },  { "in1_label", "VDD_IN\n" }, { "in1_input", "9000\n" },
		{ "curr1_input", "5\n" }, { "in2_label", "VDD_IN\n" }, { "in2_input", "9000\n" },
		{ "curr2_input", "7\n" },
	};
	char path[256];
	struct machine m;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", other, files[i][0]);
		scratch_write(dir, path, files[i][1]);
	}
	snprintf(path, sizeof(path), "%s/%s/device", dir, other);
	assert_int_equal(symlink("../../../2-0040", path), 0);
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
	check_sensors(m.power);
	assert_int_equal(m.power->n_channels, 5);
	assert_string_equal(channel_named(m.power, "hwmon/1-0040/vdd_in")->domain, "vdd_in");
	assert_string_equal(channel_named(m.power, "hwmon/2-0040/vdd_in")->domain, "2-0040:vdd_in");
	assert_string_equal(channel_named(m.power, "hwmon/2-0040/vdd_in-2")->domain,
			    "2-0040:vdd_in-2");
	assert_int_equal(sum_of_roots(&m), 4944 * 976);
	machine_done(&m);
	scratch_remove(dir);
}

static void test_names_survive_renumbering(void **state)
{
	char *dir = fixture_copy("jetson-agx-orin");
	char from[PATH_MAX], to[PATH_MAX];
	struct machine m;

	snprintf(from, sizeof(from), "%s/sys/class/hwmon/hwmon3", dir);
	snprintf(to, sizeof(to), "%s/sys/class/hwmon/hwmon17", dir);
	assert_int_equal(rename(from, to), 0);
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
	check_channels(&m, agx_orin, WATT_ARRAY_SIZE(agx_orin));
	machine_done(&m);
	scratch_remove(dir);
}

/* No value at the start is no reason to leave a sensor out. */
static void test_no_value_yet(void **state)
{
	char *dir = fixture_copy("acpi-meter-server");
	struct machine m;

	scratch_write(dir, METER "power1_average", "4294967295000\n");
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
	assert_int_equal(m.world.n_warnings, 0);
	assert_int_equal(m.power->n_channels, 1);
	scratch_write(dir, METER "power1_average", "5\n");
	assert_int_equal(sample_named(&m, m.power->channels[0].name).raw, 5);
	machine_done(&m);
	scratch_remove(dir);
}

static void test_forbidden(void **state)
{
	char *dir = fixture_copy("acpi-meter-server");
	uid_t uid = geteuid();
	struct watt_diag diag = { 0 };
	char path[PATH_MAX];
	struct machine m;

	snprintf(path, sizeof(path), "%s/%s", dir, METER "power1_average");
	assert_int_equal(chmod(path, 0), 0);
	assert_int_equal(chmod(dir, 0755), 0);
	machine_init(&m, dir);
	if (uid == 0)
		assert_int_equal(seteuid(65534), 0);
	assert_int_equal(machine_open(&m, &watt_power_hwmon), -EACCES);
	assert_int_equal(watt_power_hwmon.probe(&m.world.env, &diag), -EACCES);
	if (uid == 0)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(diag.state, WATT_FORBIDDEN);
	assert_true(diag.hint[0]);
	assert_int_equal(m.world.n_warnings, 1);
	assert_non_null(strstr(m.world.text, "power1_average left out: Permission denied"));
	machine_done(&m);
	scratch_remove(dir);
}

/* Batteries show themselves as hwmon, too: the source power_supply has them. */
static void test_battery(void **state)
{
	struct watt_diag diag = { 0 };
	struct machine m;

	machine_init_fixture(&m, "laptop-battery");
	assert_int_equal(machine_open(&m, &watt_power_hwmon), -ENODEV);
	assert_string_equal(m.world.text, "");
	assert_int_equal(watt_power_hwmon.probe(&m.world.env, &diag), -ENODEV);
	assert_int_equal(diag.state, WATT_ABSENT);
	machine_done(&m);
}

static void test_two_rules_for_one_place(void **state)
{
	struct watt_config_rail rails[] = {
		{ (char *)"0-0044", (char *)"board", WATT_DOMAIN_TOTAL },
		{ (char *)"0-0045", (char *)"board", WATT_DOMAIN_TOTAL },
	};
	const struct watt_channel *second;
	struct machine m;

	machine_init_fixture(&m, "ina-mixed");
	m.config = (struct watt_config){ .rails = rails, .n_rails = 2 };
	assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
	check_sensors(m.power);
	assert_string_equal(channel_named(m.power, "hwmon/0-0044/power1")->domain, "board");
	second = channel_named(m.power, "hwmon/0-0045/power1");
	assert_string_equal(second->domain, "board-2");
	assert_true(second->flags & OVERLAP);
	assert_non_null(strstr(m.world.text, "two sensors claim domain board"));
	machine_done(&m);
}

static void test_probe(void **state)
{
	char *dir = scratch_new();
	struct watt_diag diag = { 0 };
	struct machine m;

	machine_init_fixture(&m, "jetson-agx-orin");
	assert_int_equal(watt_power_hwmon.probe(&m.world.env, &diag), 0);
	assert_int_equal(diag.state, WATT_AVAILABLE);
	assert_int_equal(diag.n_channels, 4);
	assert_int_equal(diag.period_ns, 2 * WATT_NSEC_PER_MSEC);
	assert_string_equal(diag.why, "4 channels on 3 hwmon chips");
	machine_done(&m);

	scratch_write(dir, "sys/class/none", "");
	machine_init(&m, dir);
	assert_int_equal(watt_power_hwmon.probe(&m.world.env, &diag), -ENODEV);
	assert_int_equal(diag.state, WATT_ABSENT);
	assert_int_equal(machine_open(&m, &watt_power_hwmon), -ENODEV);
	scratch_write(dir, "sys/class/hwmon/hwmon0/temp1_input", "1\n");
	assert_int_equal(watt_power_hwmon.probe(&m.world.env, &diag), -ENODEV);
	assert_string_equal(diag.why, "1 hwmon chip, none tells of power");
	scratch_write(dir, "sys/class/hwmon/hwmon0/power1_input", "x\n");
	assert_int_equal(watt_power_hwmon.probe(&m.world.env, &diag), -EIO);
	assert_int_equal(diag.state, WATT_BROKEN);
	assert_string_equal(m.world.text, "");
	machine_done(&m);
	scratch_remove(dir);
}

/* Of a chip that has come, and of nothing else; one that is gone and back is one that comes. */
static void test_rescan(void **state)
{
	char *dir = scratch_new();
	const char *names[] = { NULL };
	struct watt_known known = { names, 1 };
	struct watt_power *more;
	struct machine m;

	scratch_write(dir, "sys/class/hwmon/hwmon0/name", "meter\n");
	scratch_write(dir, "sys/class/hwmon/hwmon0/power1_input", "5000000\n");
	scratch_write(dir, "sys/class/hwmon/hwmon0/power2_input", "6000000\n");
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
	assert_int_equal(m.power->n_channels, 2);
	names[0] = m.power->channels[0].name;
	assert_int_equal(watt_power_hwmon.rescan(&m.world.env, &known, &more), 0);
	check_power(more);
	assert_int_equal(more->n_channels, 1);
	assert_string_equal(more->channels[0].name, m.power->channels[1].name);
	assert_string_equal(more->channels[0].domain, m.power->channels[1].domain);
	watt_power_hwmon.close(more);
	known.n = 0;
	assert_int_equal(watt_power_hwmon.rescan(&m.world.env, &known, &more), 0);
	assert_int_equal(more->n_channels, 2);
	watt_power_hwmon.close(more);
	scratch_unlink(dir, "sys/class/hwmon/hwmon0/power2_input");
	known.n = 1;
	assert_int_equal(watt_power_hwmon.rescan(&m.world.env, &known, &more), -ENODEV);
	machine_done(&m);
	scratch_remove(dir);
}

/* Some can't be read: told, and there under the name that nobody else got when they can. */
static void test_refused_is_told(void **state)
{
	char *dir = scratch_new();
	const char *names[2];
	struct watt_known known = { names, 2 };
	struct watt_diag diag = { 0 };
	struct watt_power *more;
	struct machine m;

	scratch_write(dir, CHIP(0, "name"), "meter\n");
	scratch_write(dir, CHIP(0, "power1_input"), "asleep\n");
	scratch_write(dir, CHIP(0, "power1_label"), "rail\n");
	scratch_write(dir, CHIP(0, "power2_input"), "6000000\n");
	scratch_write(dir, CHIP(0, "power2_label"), "rail\n");
	scratch_write(dir, CHIP(0, "power3_input"), "7000000\n");
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
	assert_int_equal(m.power->n_channels, 2);
	assert_int_equal(m.power->n_refused, 1);
	assert_int_equal(watt_power_hwmon.probe(&m.world.env, &diag), 0);
	assert_string_equal(
		diag.why,
		"2 channels on 1 hwmon chip; 1 more can't be read (broken), and is tried again");
	names[0] = m.power->channels[0].name;
	names[1] = m.power->channels[1].name;
	assert_int_equal(watt_power_hwmon.rescan(&m.world.env, &known, &more), -ENODEV);
	scratch_write(dir, CHIP(0, "power1_input"), "5000000\n");
	assert_int_equal(watt_power_hwmon.rescan(&m.world.env, &known, &more), 0);
	check_power(more);
	assert_int_equal(more->n_channels, 1);
	assert_int_equal(more->n_refused, 0);
	assert_non_null(strstr(more->channels[0].path, "power1_input"));
	watt_power_hwmon.close(more);
	machine_done(&m);
	scratch_remove(dir);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_boards),
		cmocka_unit_test(test_rescan),
		cmocka_unit_test(test_refused_is_told),
		cmocka_unit_test(test_desktop),
		cmocka_unit_test(test_chip_without_card),
		cmocka_unit_test(test_sockets_and_cores),
		cmocka_unit_test(test_arm_server),
		cmocka_unit_test(test_mixed),
		cmocka_unit_test(test_meter_details),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_stuck_counters),
		cmocka_unit_test(test_place_of_a_stuck_counter),
		cmocka_unit_test(test_implausible),
		cmocka_unit_test(test_blame),
		cmocka_unit_test(test_labels_and_names),
		cmocka_unit_test(test_user_rules),
		cmocka_unit_test(test_second_device_of_a_label),
		cmocka_unit_test(test_names_survive_renumbering),
		cmocka_unit_test(test_no_value_yet),
		cmocka_unit_test(test_forbidden),
		cmocka_unit_test(test_battery),
		cmocka_unit_test(test_two_rules_for_one_place),
		cmocka_unit_test(test_probe),
	};

	return cmocka_run_group_tests_name("hwmon", tests, NULL, NULL);
}
