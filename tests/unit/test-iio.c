/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/power/iio/iio.c, on whole machines */
#include "sensors.h"

static const struct expected nano[] = {
	{ "iio/6-0040/pom_5v_in", "pom_5v_in", WATT_DOMAIN_TOTAL, 2363, 0, -1 },
	{ "iio/6-0040/pom_5v_gpu", "pom_5v_in/pom_5v_gpu", WATT_DOMAIN_GPU, 0, 0, -1 },
	{ "iio/6-0040/pom_5v_cpu", "pom_5v_in/pom_5v_cpu", WATT_DOMAIN_CPU_RAIL, 761, 0, -1 },
};

static const struct expected tx2[] = {
	{ "iio/0-0042/vdd_mux", "vdd_mux", WATT_DOMAIN_RAIL, 3776, 0, -1 },
	{ "iio/0-0042/vdd_5v0_io_sys", "vdd_mux/vdd_5v0_io_sys", WATT_DOMAIN_RAIL, 1203, OVERLAP,
	  -1 },
	{ "iio/0-0042/vdd_3v3_sys", "vdd_mux/vdd_3v3_sys", WATT_DOMAIN_RAIL, 560, OVERLAP, -1 },
	{ "iio/0-0043/vdd_3v3_io_slp", "vdd_mux/vdd_3v3_io_slp", WATT_DOMAIN_RAIL, 19, OVERLAP,
	  -1 },
	{ "iio/0-0043/vdd_1v8_io", "vdd_mux/vdd_1v8_io", WATT_DOMAIN_RAIL, 177, OVERLAP, -1 },
	{ "iio/0-0043/vdd_3v3_sys_m2", "vdd_mux/vdd_3v3_sys_m2", WATT_DOMAIN_RAIL, 6, OVERLAP, -1 },
	{ "iio/1-0040/vdd_sys_gpu", "vdd_in/vdd_sys_gpu", WATT_DOMAIN_GPU, 114, 0, -1 },
	{ "iio/1-0040/vdd_sys_soc", "vdd_in/vdd_sys_soc", WATT_DOMAIN_RAIL, 458, 0, -1 },
	{ "iio/1-0040/vdd_4v0_wifi", "vdd_in/vdd_4v0_wifi", WATT_DOMAIN_RAIL, 19, 0, -1 },
	{ "iio/1-0041/vdd_in", "vdd_in", WATT_DOMAIN_RAIL, 2558, 0, -1 },
	{ "iio/1-0041/vdd_sys_cpu", "vdd_in/vdd_sys_cpu", WATT_DOMAIN_CPU_RAIL, 305, 0, -1 },
	{ "iio/1-0041/vdd_sys_ddr", "vdd_in/vdd_sys_ddr", WATT_DOMAIN_DRAM, 572, 0, -1 },
};

static const struct expected tx1[] = {
	{ "iio/1-0040/vdd_in", "vdd_in", WATT_DOMAIN_RAIL, 4058, 0, -1 },
	{ "iio/1-0040/vdd_gpu", "vdd_in/vdd_gpu", WATT_DOMAIN_GPU, 153, 0, -1 },
	{ "iio/1-0040/vdd_cpu", "vdd_in/vdd_cpu", WATT_DOMAIN_CPU_RAIL, 995, 0, -1 },
	{ "iio/1-0042/vdd_mux", "vdd_mux", WATT_DOMAIN_RAIL, 5743, 0, -1 },
	{ "iio/1-0042/vdd_5v_io_sys", "vdd_mux/vdd_5v_io_sys", WATT_DOMAIN_RAIL, 1238, OVERLAP,
	  -1 },
	{ "iio/1-0042/vdd_3v3_sys", "vdd_mux/vdd_3v3_sys", WATT_DOMAIN_RAIL, 492, OVERLAP, -1 },
	{ "iio/1-0043/vdd_3v3_io", "vdd_mux/vdd_3v3_io", WATT_DOMAIN_RAIL, 39, OVERLAP, -1 },
	{ "iio/1-0043/vdd_1v8_io", "vdd_mux/vdd_1v8_io", WATT_DOMAIN_RAIL, 157, OVERLAP, -1 },
	{ "iio/1-0043/vdd_m2_in", "vdd_mux/vdd_m2_in", WATT_DOMAIN_RAIL, 13, OVERLAP, -1 },
};

static const struct expected tx2_nx[] = {
	{ "iio/0-0040/vdd_in", "vdd_in", WATT_DOMAIN_TOTAL, 3525, 0, -1 },
	{ "iio/0-0040/vdd_cpu_gpu", "vdd_in/vdd_cpu_gpu", WATT_DOMAIN_CPU_RAIL, 475, 0, -1 },
	{ "iio/0-0040/vdd_soc", "vdd_in/vdd_soc", WATT_DOMAIN_RAIL, 831, 0, -1 },
};

static void check_board(const char *name, const struct expected *expected, size_t n,
			int64_t total_uw)
{
	struct machine m;
	size_t i;

	machine_init_fixture(&m, name);
	assert_int_equal(machine_open(&m, &watt_power_iio), 0);
	assert_string_equal(m.world.text, "");
	check_channels(&m, expected, n);
	assert_int_equal(sum_of_roots(&m), total_uw);
	for (i = 0; i < n; i++) {
		assert_int_equal(m.power->channels[i].scale_num, 1000);
		assert_int_equal(m.power->channels[i].scale_den, 1);
		assert_int_equal(m.power->channels[i].semantics, WATT_SEMANTICS_INSTANT);
	}
	machine_done(&m);
}

static void test_boards(void **state)
{
	check_board("jetson-nano-iio", nano, WATT_ARRAY_SIZE(nano), 2363000);
	/* module and carrier */
	check_board("tx2", tx2, WATT_ARRAY_SIZE(tx2), 2558000 + 3776000);
	check_board("jetson-tx1", tx1, WATT_ARRAY_SIZE(tx1), 4058000 + 5743000);
	check_board("jetson-tx2-nx", tx2_nx, WATT_ARRAY_SIZE(tx2_nx), 3525000);
}

static int64_t canonical_uw(struct machine *m, const char *name)
{
	const struct watt_channel *c = channel_named(m->power, name);
	struct watt_sample sample = sample_named(m, name);

	assert_int_equal(sample.status, WATT_STATUS_OK);
	return sample.raw * (int64_t)c->scale_num / (int64_t)c->scale_den;
}

static void test_scales(void **state)
{
	struct machine m;

	machine_init_fixture(&m, "iio-mixed");
	assert_int_equal(machine_open(&m, &watt_power_iio), 0);
	check_sensors(m.power);
	assert_int_equal(m.world.n_warnings, 0);
	/* no index: the only power of its device */
	assert_int_equal(canonical_uw(&m, "iio/2-0040/power0"), 250000);
	assert_string_equal(channel_named(m.power, "iio/2-0040/power0")->domain, "2-0040");
	/* 12,000 mV x -400 mA */
	assert_int_equal(canonical_uw(&m, "iio/2-0041/power0"), -4800000);
	assert_int_equal(sample_named(&m, "iio/2-0041/power0").raw, 9600 * -800);
	assert_true(channel_named(m.power, "iio/2-0041/power0")->flags & SIGNED);
	/* 3,300 mV x (100 - 20) * 2 mA: one scale for all currents, an offset of its own */
	assert_int_equal(canonical_uw(&m, "iio/2-0041/power1"), 3300 * 160);
	/* (500 - 12.5) * 0.1 mW */
	assert_int_equal(canonical_uw(&m, "iio/2-0042/vbus_a"), 48750);
	assert_string_equal(channel_named(m.power, "iio/2-0042/vbus_a")->label, "VBUS_A");
	/* a processed value with a fraction */
	assert_int_equal(canonical_uw(&m, "iio/2-0042/power1"), 1250500);
	assert_string_equal(channel_named(m.power, "iio/2-0042/power1")->domain, "2-0042:ch1");
	assert_int_equal(canonical_uw(&m, "iio/2-0043/power0"), 400000);
	assert_int_equal(canonical_uw(&m, "iio/2-0043/power1"), 500000);
	assert_int_equal(m.power->n_channels, 7);
	machine_done(&m);
}

/* What both subsystems show has one place; what two devices show has two. */
static void test_each_rail_once(void **state)
{
	static const char *const pairs[][2] = {
		{ "hwmon/0-0040/vdd_a", "iio/0-0040/vdd_a" },
		{ "hwmon/0-0040/vdd_b", "iio/0-0040/vdd_b" },
		{ "hwmon/0-0040/vdd_c", "iio/0-0040/vdd_c" },
		{ "hwmon/0-0044/power1", "iio/0-0044/power2" },
	};
	struct machine hwmon, iio;
	uint32_t i, k;

	machine_init_fixture(&hwmon, "duplicate-rail");
	machine_init_fixture(&iio, "duplicate-rail");
	assert_int_equal(machine_open(&hwmon, &watt_power_hwmon), 0);
	assert_int_equal(machine_open(&iio, &watt_power_iio), 0);
	check_sensors(hwmon.power);
	check_sensors(iio.power);
	for (i = 0; i < WATT_ARRAY_SIZE(pairs); i++)
		assert_string_equal(channel_named(hwmon.power, pairs[i][0])->domain,
				    channel_named(iio.power, pairs[i][1])->domain);
	assert_int_equal(canonical_uw(&iio, "iio/0-0044/power2"), 4800000);
	assert_int_equal(canonical_uw(&hwmon, "hwmon/0-0044/power1"), 4800000);
	for (i = 0; i < iio.power->n_channels; i++)
		for (k = 0; k < hwmon.power->n_channels; k++)
			if (strstr(iio.power->channels[i].name, "7-0040"))
				assert_string_not_equal(iio.power->channels[i].domain,
							hwmon.power->channels[k].domain);
	assert_int_equal(iio.power->n_channels, 7);
	machine_done(&hwmon);
	machine_done(&iio);
}

/* The same with a rule: it means the first device that has the label, in both subsystems. */
static void test_rule_across_subsystems(void **state)
{
	struct watt_config_rail rail = { (char *)"vdd_a", (char *)"main", WATT_DOMAIN_TOTAL };
	struct machine hwmon, iio;

	machine_init_fixture(&hwmon, "duplicate-rail");
	machine_init_fixture(&iio, "duplicate-rail");
	hwmon.config = iio.config = (struct watt_config){ .rails = &rail, .n_rails = 1 };
	assert_int_equal(machine_open(&hwmon, &watt_power_hwmon), 0);
	assert_int_equal(machine_open(&iio, &watt_power_iio), 0);
	assert_string_equal(channel_named(hwmon.power, "hwmon/0-0040/vdd_a")->domain, "main");
	assert_string_equal(channel_named(iio.power, "iio/0-0040/vdd_a")->domain, "main");
	assert_string_equal(channel_named(iio.power, "iio/7-0040/vdd_a")->domain, "7-0040:vdd_a");
	assert_int_equal(hwmon.world.n_warnings, 0);
	assert_int_equal(iio.world.n_warnings, 1);
	machine_done(&hwmon);
	machine_done(&iio);
}

static void test_garbage(void **state)
{
	struct machine m;

	machine_init_fixture(&m, "hwmon-garbage");
	assert_int_equal(machine_open(&m, &watt_power_iio), 0);
	check_sensors(m.power);
	/* the raw value without a scale, and the device without a name */
	assert_int_equal(m.power->n_channels, 2);
	assert_int_equal(sample_named(&m, "iio/0-0046/power4").raw, 7);
	assert_int_equal(sample_named(&m, "iio/iio:device1/power0").raw, 5);
	assert_int_equal(m.world.n_warnings, 4);
	assert_non_null(strstr(m.world.text, "in_power1_raw left out: its scale or offset"));
	machine_done(&m);
}

static void test_values_that_change(void **state)
{
	char *dir = fixture_copy("iio-mixed");
	struct machine m;
#define FILE_OF_2_0042 "sys/devices/platform/fe804000.i2c/i2c-2/2-0042/iio:device2/"

	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_iio), 0);
	scratch_write(dir, FILE_OF_2_0042 "in_power1_input", "1250\n");
	assert_int_equal(canonical_uw(&m, "iio/2-0042/power1"), 1250000);
	scratch_write(dir, FILE_OF_2_0042 "in_power1_input", "0.0009\n");
	assert_int_equal(canonical_uw(&m, "iio/2-0042/power1"), 0);
	scratch_write(dir, FILE_OF_2_0042 "in_power1_input", "1.5x\n");
	assert_int_equal(sample_named(&m, "iio/2-0042/power1").status, WATT_STATUS_BROKEN);
	scratch_write(dir, FILE_OF_2_0042 "in_power1_input", "9223372036854775807\n");
	assert_int_equal(sample_named(&m, "iio/2-0042/power1").status, WATT_STATUS_BROKEN);
	scratch_write(dir, FILE_OF_2_0042 "in_power1_input", "");
	assert_int_equal(sample_named(&m, "iio/2-0042/power1").status, WATT_STATUS_BROKEN);
	scratch_unlink(dir, FILE_OF_2_0042 "in_power1_input");
	assert_int_equal(sample_named(&m, "iio/2-0042/power1").status, WATT_STATUS_ABSENT);
	machine_done(&m);
	scratch_remove(dir);
}

static void test_nothing(void **state)
{
	struct watt_diag diag = { 0 };
	struct machine m;

	machine_init_fixture(&m, "acpi-meter-server");
	assert_int_equal(watt_power_iio.probe(&m.world.env, &diag), -ENODEV);
	assert_int_equal(diag.state, WATT_ABSENT);
	assert_string_equal(diag.why, "this machine shows no IIO device");
	assert_int_equal(machine_open(&m, &watt_power_iio), -ENODEV);
	assert_string_equal(m.world.text, "");
	machine_done(&m);

	machine_init_fixture(&m, "tx2");
	assert_int_equal(watt_power_iio.probe(&m.world.env, &diag), 0);
	assert_int_equal(diag.n_channels, 12);
	assert_string_equal(diag.why, "12 channels on 4 IIO devices");
	machine_done(&m);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_boards),
		cmocka_unit_test(test_scales),
		cmocka_unit_test(test_each_rail_once),
		cmocka_unit_test(test_rule_across_subsystems),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_values_that_change),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests_name("iio", tests, NULL, NULL);
}
