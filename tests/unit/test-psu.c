/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/power/hwmon/psu.c and its units on a machine, by lib/source/power/hwmon/hwmon.c */
#include "sensors.h"

#include "source/power/hwmon/psu.h"

#define MW 1000000LL

/* Two sockets, two units that tell both sides, one that tells what comes out as two factors. */
static const struct expected psu_server[] = {
	/* a converter on the board: nobody knows what it is a part of */
	{ "hwmon/5-0040/pin", "5-0040:pin", WATT_DOMAIN_RAIL, 108 * MW, OVERLAP, -1 },
	{ "hwmon/5-0040/pout1", "5-0040:pin/pout1", WATT_DOMAIN_RAIL, 100200000, OVERLAP, -1 },
	{ "hwmon/5-0058/pin", "supply-5-0058", WATT_DOMAIN_SUPPLY, 226 * MW, 0, -1 },
	{ "hwmon/5-0058/pout1", "supply-5-0058/out1", WATT_DOMAIN_RAIL, 210 * MW, OVERLAP, -1 },
	{ "hwmon/5-0059/pin", "supply-5-0059", WATT_DOMAIN_SUPPLY, 230 * MW, 0, -1 },
	{ "hwmon/5-0059/pout1", "supply-5-0059/out1", WATT_DOMAIN_RAIL, 213 * MW, OVERLAP, -1 },
	{ "hwmon/5-0068/pin", "supply-5-0068", WATT_DOMAIN_SUPPLY, 100 * MW, 0, -1 },
	{ "hwmon/5-0068/vout1", "supply-5-0068/out1", WATT_DOMAIN_RAIL, 12150 * 7500,
	  OVERLAP | SIGNED, -1 },
	{ "hwmon/amdi0097:00/power1", "package-0", WATT_DOMAIN_PACKAGE, 180 * MW, 0, 0 },
	{ "hwmon/amdi0097:01/power1", "package-1", WATT_DOMAIN_PACKAGE, 160 * MW, 0, 1 },
};

static void test_machine(void **state)
{
	struct watt_diag diag = { .sz = sizeof(diag) };
	struct machine m;

	machine_init_fixture(&m, "psu-server");
	assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
	check_channels(&m, psu_server, WATT_ARRAY_SIZE(psu_server));
	assert_int_equal(m.world.n_warnings, 0);
	/* of all three: 514.125 W of 556 W */
	assert_int_equal(watt_power_hwmon.probe(&m.world.env, &diag), 0);
	assert_int_equal(diag.efficiency_ppm, 924685);
	machine_done(&m);
}

/* An output whose input can't be read is a supply's still: nobody adds it to the sockets. */
static void test_no_input(void **state)
{
	char *dir = fixture_copy("psu-server");
	struct watt_diag diag = { .sz = sizeof(diag) };
	const struct watt_channel *output;
	struct machine m;

	scratch_write(dir, "sys/class/hwmon/hwmon2/power1_input", "nonsense\n");
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
	output = channel_named(m.power, "hwmon/5-0058/pout1");
	assert_string_equal(output->domain, "supply-5-0058/out1");
	assert_int_equal(output->kind, WATT_DOMAIN_RAIL);
	assert_true(output->flags & WATT_CHANNEL_OVERLAP_UNKNOWN);
	/* of the two that tell both sides */
	assert_int_equal(watt_power_hwmon.probe(&m.world.env, &diag), 0);
	assert_int_equal(diag.efficiency_ppm, 921591);
	machine_done(&m);
	scratch_remove(dir);
}

/* A machine without one has no efficiency. */
static void test_none(void **state)
{
	struct watt_diag diag = { .sz = sizeof(diag) };
	struct machine m;

	machine_init_fixture(&m, "arm-server");
	assert_int_equal(watt_power_hwmon.probe(&m.world.env, &diag), 0);
	assert_int_equal(diag.efficiency_ppm, 0);
	machine_done(&m);
}

/* What a unit is: by its driver, by the voltage that goes in, or by what it is made for. */
static void test_which(void **state)
{
	static const struct {
		const char *name;
		const char *vin_mv;
		const char *rated_mv;
		bool is_psu;
	} cases[] = {
		{ "pfe1100", "0\n", NULL, true },     { "bpa-rs600", "0\n", NULL, true },
		{ "bpa_rs600", "0\n", NULL, true },   { "pmbus", "12010\n", NULL, false },
		{ "pmbus", "54000\n", NULL, false },  { "pmbus", "100400\n", NULL, true },
		{ "pmbus", "380000\n", NULL, true },  { "pmbus", "0\n", "264000\n", true },
		{ "pmbus", "0\n", "60000\n", false }, { "pmbus", "-5\n", NULL, false },
		{ "pmbus", "x\n", NULL, false },      { "pfe11000", "0\n", NULL, false },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		struct watt_hwmon_chip chip;
		char *dir = scratch_new();
		struct machine m;

		scratch_write(dir, "sys/class/hwmon/hwmon0/name", cases[i].name);
		scratch_write(dir, "sys/class/hwmon/hwmon0/in1_label", "vin\n");
		scratch_write(dir, "sys/class/hwmon/hwmon0/in1_input", cases[i].vin_mv);
		if (cases[i].rated_mv)
			scratch_write(dir, "sys/class/hwmon/hwmon0/in1_rated_max",
				      cases[i].rated_mv);
		machine_init(&m, dir);
		assert_int_equal(watt_hwmon_chip_read(&m.world.env, "hwmon0", &chip), 0);
		assert_int_equal(watt_psu_is(&m.world.env, &chip), cases[i].is_psu);
		watt_hwmon_chip_done(&chip);
		machine_done(&m);
		scratch_remove(dir);
	}
}

static void test_place(void **state)
{
	static const struct {
		const char *label;
		const char *path; /* NULL: neither side */
		enum watt_domain_kind kind;
	} cases[] = {
		{ "pin", "supply-5-0058", WATT_DOMAIN_SUPPLY },
		{ "pout1", "supply-5-0058/out1", WATT_DOMAIN_RAIL },
		{ "vout12", "supply-5-0058/out12", WATT_DOMAIN_RAIL },
		{ "pout", NULL, 0 },
		{ "pout0", NULL, 0 },
		{ "pout100", NULL, 0 },
		{ "poutx", NULL, 0 },
		{ "pin2", NULL, 0 },
		{ "", NULL, 0 },
	};
	struct watt_hwmon_chip chip = { .device = "5-0058" };
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		struct watt_place place = WATT_PLACE_INIT;

		assert_int_equal(watt_psu_place(&chip, cases[i].label, &place),
				 cases[i].path != NULL);
		if (!cases[i].path)
			continue;
		assert_string_equal(place.path, cases[i].path);
		assert_int_equal(place.kind, cases[i].kind);
	}
}

/* What alternates: voltage times current is no power, and is not shown as one. */
static void test_apparent(void **state)
{
	char *dir = scratch_new();
	struct machine m;

	scratch_write(dir, "sys/class/hwmon/hwmon0/name", "pmbus\n");
	scratch_write(dir, "sys/class/hwmon/hwmon0/in1_label", "vin\n");
	scratch_write(dir, "sys/class/hwmon/hwmon0/in1_input", "230000\n");
	scratch_write(dir, "sys/class/hwmon/hwmon0/curr1_label", "iin\n");
	scratch_write(dir, "sys/class/hwmon/hwmon0/curr1_input", "1000\n");
	scratch_write(dir, "sys/class/hwmon/hwmon0/in2_label", "vout1\n");
	scratch_write(dir, "sys/class/hwmon/hwmon0/in2_input", "12000\n");
	scratch_write(dir, "sys/class/hwmon/hwmon0/curr2_label", "iout1\n");
	scratch_write(dir, "sys/class/hwmon/hwmon0/curr2_input", "16000\n");
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
	assert_int_equal(m.power->n_channels, 1);
	assert_string_equal(m.power->channels[0].domain, "supply-pmbus/out1");
	machine_done(&m);
	scratch_remove(dir);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_machine), cmocka_unit_test(test_no_input),
		cmocka_unit_test(test_none),    cmocka_unit_test(test_which),
		cmocka_unit_test(test_place),   cmocka_unit_test(test_apparent),
	};

	return cmocka_run_group_tests_name("psu", tests, NULL, NULL);
}
