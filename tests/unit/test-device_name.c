/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/power/sensor/device_name.c */
#include "unit.h"

#include "base/util.h"
#include "source/power/sensor/device_name.h"

static void test_links(void **state)
{
	static const struct {
		const char *self, *device;
		int r;
		const char *name;
	} cases[] = {
		{ "../../devices/platform/c240000.i2c/i2c-1/1-0040/hwmon/hwmon3", "../../../1-0040",
		  0, "1-0040" },
		{ NULL, "../../../0000:03:00.0", 0, "0000:03:00.0" },
		/* without the link: the owner in the path */
		{ "../../devices/platform/c240000.i2c/i2c-1/1-0040/hwmon/hwmon3", NULL, 0,
		  "1-0040" },
		{ "../../../devices/host1x/546c0000.i2c/i2c-6/6-0040/iio:device0", NULL, 0,
		  "6-0040" },
		/* a link that names nothing */
		{ "../../devices/a/1-0040/hwmon/hwmon3", "../..", 0, "1-0040" },
		/* a HID device: its number counts how often something was plugged in */
		{ "../../devices/pci0000:00/usb1/1-5/1-5:1.0/0003:1B1C:1C04.0003/hwmon/hwmon6",
		  "../../../0003:1B1C:1C04.0003", 0, "1-5:1.0" },
		{ NULL, "../../../0003:1B1C:1C04.0003", 0, "0003:1B1C:1C04.0003" },
		{ "../../devices/LNXSYSTM:00/ACPI000D:00/hwmon/hwmon0", "../../../ACPI000D:00", 0,
		  "ACPI000D:00" },
		{ "../../devices/virtual/thermal/thermal_zone0/hwmon/hwmon0", NULL, -ENOENT, "" },
		{ NULL, NULL, -ENOENT, "" },
		{ "", NULL, -ENOENT, "" },
		{ "hwmon0", "", -ENOENT, "" },
		{ "/", "/", -ENOENT, "" },
		{ "..", "..", -ENOENT, "" },
		{ NULL, "../an-endless-name-that-does-not-fit", -ENAMETOOLONG, "" },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		char name[24] = "";

		assert_int_equal(watt_device_name_from_links(cases[i].self, cases[i].device, name,
							     sizeof(name)),
				 cases[i].r);
		assert_string_equal(name, cases[i].name);
	}
}

static void test_i2c_address(void **state)
{
	assert_string_equal(watt_device_i2c_address("1-0040"), "0040");
	assert_string_equal(watt_device_i2c_address("12-007f"), "007f");
	assert_null(watt_device_i2c_address("0000:03:00.0"));
	assert_null(watt_device_i2c_address("1-00401"));
	assert_null(watt_device_i2c_address("1-004"));
	assert_null(watt_device_i2c_address("-0040"));
	assert_null(watt_device_i2c_address("1-5:1.0"));
	assert_null(watt_device_i2c_address(""));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_i2c_address),
	};

	return cmocka_run_group_tests_name("device_name", tests, NULL, NULL);
}
