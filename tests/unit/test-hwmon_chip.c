/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/power/hwmon/hwmon_chip.c, and the names of lib/source/power/iio/iio_device.c */
#include "sensors.h"

#include "source/power/hwmon/hwmon_chip.h"
#include "source/power/iio/iio_device.h"

static void test_hwmon_names(void **state)
{
	static const struct {
		const char *name;
		bool is_ok;
		enum watt_sysfs_type type;
		uint32_t index;
		const char *suffix;
	} cases[] = {
		{ "in0_input", true, WATT_SYSFS_VOLTAGE, 0, "_input" },
		{ "curr12_label", true, WATT_SYSFS_CURRENT, 12, "_label" },
		{ "power1_average_interval", true, WATT_SYSFS_POWER, 1, "_average_interval" },
		{ "energy9999_input", true, WATT_SYSFS_ENERGY, 9999, "_input" },
		{ "energy10000_input", false, 0, 0, "" },
		{ "in01_input", false, 0, 0, "" },
		{ "in_input", false, 0, 0, "" },
		{ "in1", false, 0, 0, "" },
		{ "in-1_input", false, 0, 0, "" },
		{ "intrusion0_alarm", false, 0, 0, "" },
		{ "temp1_input", false, 0, 0, "" },
		{ "power", false, 0, 0, "" },
		{ "", false, 0, 0, "" },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		enum watt_sysfs_type type = WATT_SYSFS_VOLTAGE;
		const char *suffix = "";
		uint32_t index = 0;

		assert_int_equal(watt_sysfs_sensor_parse(&watt_hwmon_naming, cases[i].name, &type,
							 &index, &suffix),
				 cases[i].is_ok);
		assert_int_equal(type, cases[i].type);
		assert_int_equal(index, cases[i].index);
		assert_string_equal(suffix, cases[i].suffix);
	}
}

static void test_iio_names(void **state)
{
	enum watt_sysfs_type type;
	const char *suffix;
	uint32_t index;

	assert_true(
		watt_sysfs_sensor_parse(&watt_iio_naming, "in_power2_raw", &type, &index, &suffix));
	assert_int_equal(type, WATT_SYSFS_POWER);
	assert_int_equal(index, 2);
	assert_string_equal(suffix, "_raw");
	assert_true(watt_sysfs_sensor_parse(&watt_iio_naming, "in_voltage_scale", &type, &index,
					    &suffix));
	assert_int_equal(type, WATT_SYSFS_VOLTAGE);
	assert_int_equal(index, WATT_SYSFS_NO_INDEX);
	assert_true(watt_sysfs_sensor_parse(&watt_iio_naming, "in_current0_offset", &type, &index,
					    &suffix));
	assert_int_equal(type, WATT_SYSFS_CURRENT);
	/* a difference of two voltages is no rail */
	assert_false(watt_sysfs_sensor_parse(&watt_iio_naming, "in_voltage0-voltage1_raw", &type,
					     &index, &suffix));
	assert_false(watt_sysfs_sensor_parse(&watt_iio_naming, "in_powerfactor_raw", &type, &index,
					     &suffix));
	assert_false(watt_sysfs_sensor_parse(&watt_iio_naming, "out_voltage0_raw", &type, &index,
					     &suffix));
	assert_false(watt_sysfs_sensor_parse(&watt_iio_naming, "in_power00_raw", &type, &index,
					     &suffix));
	assert_false(watt_sysfs_sensor_parse(&watt_iio_naming, "in_power", &type, &index, &suffix));
	assert_false(watt_sysfs_sensor_parse(&watt_iio_naming, "", &type, &index, &suffix));
}

/* Old drivers: no name, and the attributes are the device's. */
static void test_old_style(void **state)
{
	const struct watt_sysfs_sensor *power;
	struct watt_hwmon_chip chip;
	struct machine m;
	size_t n;

	machine_init_fixture(&m, "acpi-meter-server");
	assert_int_equal(watt_hwmon_chip_read(&m.world.env, "hwmon0", &chip), 0);
	assert_string_equal(chip.dir, "class/hwmon/hwmon0/device");
	assert_string_equal(chip.name, "power_meter");
	assert_string_equal(chip.device, "ACPI000D:00");
	power = watt_sysfs_sensors_get(&chip.sensors, WATT_SYSFS_POWER, &n);
	assert_int_equal(n, 1);
	assert_true(power->has_average);
	assert_false(power->has_input);
	assert_null(watt_sysfs_sensors_get(&chip.sensors, WATT_SYSFS_ENERGY, &n));
	assert_int_equal(n, 0);
	watt_hwmon_chip_done(&chip);
	/* what has no sensors of power is no error, and neither is what is not there */
	assert_int_equal(watt_hwmon_chip_read(&m.world.env, "hwmon1", &chip), 0);
	assert_int_equal(chip.sensors.n, 0);
	assert_int_equal(watt_hwmon_chip_read(&m.world.env, "hwmon77", &chip), 0);
	assert_int_equal(chip.sensors.n, 0);
	machine_done(&m);
}

static void test_driver_name(void **state)
{
	char *dir = scratch_new();
	struct watt_hwmon_chip chip;
	char path[PATH_MAX];
	struct machine m;

	scratch_write(dir, "sys/class/hwmon/hwmon0/device/power1_input", "1\n");
	snprintf(path, sizeof(path), "%s/sys/class/hwmon/hwmon0/device/driver", dir);
	assert_int_equal(symlink("../../bus/x/drivers/some_meter", path), 0);
	machine_init(&m, dir);
	assert_int_equal(watt_hwmon_chip_read(&m.world.env, "hwmon0", &chip), 0);
	assert_string_equal(chip.name, "some_meter");
	assert_string_equal(chip.device, "some_meter");
	watt_hwmon_chip_done(&chip);
	scratch_write(dir, "sys/class/hwmon/hwmon0/device/name", "other\n");
	assert_int_equal(watt_hwmon_chip_read(&m.world.env, "hwmon0", &chip), 0);
	assert_string_equal(chip.name, "other");
	watt_hwmon_chip_done(&chip);
	machine_done(&m);
	scratch_remove(dir);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hwmon_names),
		cmocka_unit_test(test_iio_names),
		cmocka_unit_test(test_old_style),
		cmocka_unit_test(test_driver_name),
	};

	return cmocka_run_group_tests_name("hwmon_chip", tests, NULL, NULL);
}
