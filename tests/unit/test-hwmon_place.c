/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/power/hwmon/hwmon_place.c and the ids of lib/source/power/hwmon/cpu_ids.c */
#include "sensors.h"

#include "source/power/hwmon/hwmon_place.h"

static void test_grace(void **state)
{
	static const struct {
		const char *text;
		int r;
		enum watt_grace_level level;
		uint32_t socket;
	} cases[] = {
		{ "Module Power Socket 0", 0, WATT_GRACE_MODULE, 0 },
		{ "Grace Power Socket 1", 0, WATT_GRACE_SOCKET, 1 },
		{ "CPU Power Socket 3", 0, WATT_GRACE_CPU, 3 },
		{ "SysIO Power Socket 12", 0, WATT_GRACE_SYSIO, 12 },
		{ "SysIO Power Socket", -EBADMSG, 0, 0 },
		{ "SysIO Power Socket ", -EBADMSG, 0, 0 },
		{ "GPU Power Socket 0", -EBADMSG, 0, 0 },
		{ "CPU Power Socket x", -EBADMSG, 0, 0 },
		{ "CPU Power Socket 1024", -EBADMSG, 0, 0 },
		{ "CPU Power Socket 99999999999999999999", -EBADMSG, 0, 0 },
		{ "CPU", -EBADMSG, 0, 0 },
		{ "", -EBADMSG, 0, 0 },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		enum watt_grace_level level = 0;
		uint32_t socket = 0;

		assert_int_equal(watt_grace_parse(cases[i].text, &level, &socket), cases[i].r);
		assert_int_equal(level, cases[i].level);
		assert_int_equal(socket, cases[i].socket);
	}
}

/* A superchip of two CPUs: no module above the sockets, and package ids that are not 0 and 1. */
static void test_grace_without_module(void **state)
{
	char *dir = fixture_copy("grace");
	struct machine m;
	char path[256];
	size_t i;

	for (i = 0; i < 8; i += 4) {
		snprintf(path, sizeof(path), "sys/class/hwmon/hwmon%zu", i);
		scratch_unlink(dir, path);
	}
	for (i = 0; i < 8; i++) {
		snprintf(path, sizeof(path),
			 "sys/devices/system/cpu/cpu%zu/topology/physical_package_id", i);
		scratch_write(dir, path, i < 4 ? "36\n" : "3180\n");
	}
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
	check_sensors(m.power);
	assert_int_equal(m.power->n_channels, 6);
	assert_string_equal(m.power->channels[0].domain, "package-36");
	assert_string_equal(m.power->channels[1].domain, "package-36/core");
	assert_string_equal(m.power->channels[5].domain, "package-3180/sysio");
	assert_int_equal(m.power->channels[5].package_id, 3180);
	assert_int_equal(sum_of_roots(&m), 151000000 + 152000000);
	machine_done(&m);
	scratch_remove(dir);
}

/* By what the firmware says: the device need not be called after ACPI, nor its driver known. */
static void test_grace_by_text(void **state)
{
	char *dir = scratch_new();
	struct machine m;

	scratch_write(dir, "sys/class/hwmon/hwmon0/name", "socket_power\n");
	scratch_write(dir, "sys/class/hwmon/hwmon0/power1_average", "151000000\n");
	scratch_write(dir, "sys/class/hwmon/hwmon0/power1_oem_info", "Grace Power Socket 0\n");
	scratch_write(dir, "sys/class/hwmon/hwmon1/name", "socket_power\n");
	scratch_write(dir, "sys/class/hwmon/hwmon1/power1_average", "82000000\n");
	scratch_write(dir, "sys/class/hwmon/hwmon1/power1_oem_info", "CPU Power Socket 0\n");
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
	assert_int_equal(m.power->n_channels, 2);
	assert_string_equal(m.power->channels[0].domain, "package-0");
	assert_string_equal(m.power->channels[0].label, "Grace Power Socket 0");
	assert_string_equal(m.power->channels[1].domain, "package-0/core");
	assert_int_equal(sum_of_roots(&m), 151000000);
	machine_done(&m);
	scratch_remove(dir);
}

static void test_cpu_ids(void **state)
{
	struct watt_cpu_ids ids;
	struct machine m;

	machine_init_fixture(&m, "epyc-amd-energy");
	assert_int_equal(watt_cpu_ids_read(&m.world.env, &ids), 0);
	assert_int_equal(ids.n_packages, 2);
	assert_int_equal(ids.n_cores, 4);
	assert_int_equal(ids.cores[2].package_id, 1);
	assert_int_equal(ids.cores[2].core_id, 0);
	assert_int_equal(watt_cpu_ids_package(&ids, 1), 1);
	assert_int_equal(watt_cpu_ids_package(&ids, 5), 5);
	watt_cpu_ids_done(&ids);
	machine_done(&m);
}

struct chip_case {
	const char *chip;
	const char *label;
	uint32_t index;
	uint32_t ordinal;
	const char *path;
	enum watt_domain_kind kind;
	uint32_t flags;
};

static const struct chip_case driver_cases[] = {
	{ "nouveau", NULL, 1, 0, "gpu-0000:01:00_0", WATT_DOMAIN_GPU, 0 },
	{ "amdgpu", "PPT", 1, 0, "gpu-0000:01:00_0", WATT_DOMAIN_GPU, 0 },
	{ "amdgpu", "PPT1", 2, 0, "gpu-0000:01:00_0:power2", WATT_DOMAIN_GPU, OVERLAP },
	{ "xe", "card", 1, 0, "gpu-0000:01:00_0", WATT_DOMAIN_GPU, 0 },
	{ "xe", "pkg", 2, 0, "gpu-0000:01:00_0/pkg", WATT_DOMAIN_GPU, 0 },
	{ "xe", NULL, 3, 0, "gpu-0000:01:00_0/part", WATT_DOMAIN_GPU, 0 },
	{ "i915", NULL, 1, 0, "gpu-0000:01:00_0", WATT_DOMAIN_GPU, 0 },
	{ "i915_gt1", NULL, 1, 0, "gpu-0000:01:00_0/gt1", WATT_DOMAIN_GPU, 0 },
	{ "fam15h_power", NULL, 1, 1, "package-1", WATT_DOMAIN_PACKAGE, 0 },
	{ "amd_hsmp_hwmon", NULL, 1, 1, "package-1", WATT_DOMAIN_PACKAGE, 0 },
	{ "zenpower", "SVI2_P_Core", 1, 1, "package-1/svi2_p_core", WATT_DOMAIN_CPU_RAIL, 0 },
	{ "zenpower", "SVI2_P_SoC", 2, 0, "package-0/svi2_p_soc", WATT_DOMAIN_RAIL, 0 },
	{ "k10temp", "Package", 1, 1, "package-1", WATT_DOMAIN_PACKAGE, 0 },
	{ "k10temp", "Core", 2, 1, "package-1/core", WATT_DOMAIN_CPU_RAIL, 0 },
	{ "zenpower", NULL, 2, 0, "package-0/part", WATT_DOMAIN_RAIL, 0 },
	{ "smpro_hwmon", "CPU power", 1, 0, "package-0/cpu_power", WATT_DOMAIN_CPU_RAIL, 0 },
	{ "amd_energy", "Esocket1", 1, 0, "package-1", WATT_DOMAIN_PACKAGE, 0 },
	{ "amd_energy", "Ecore003", 1, 0, "package-1/core-1", WATT_DOMAIN_CORE, 0 },
	/* a core that the machine does not have */
	{ "amd_energy", "Ecore004", 5, 0, "0000:01:00_0:ecore004", WATT_DOMAIN_RAIL, OVERLAP },
	{ "amd_energy", "Ecorex", 5, 0, "0000:01:00_0:ecorex", WATT_DOMAIN_RAIL, OVERLAP },
	{ "corsairpsu", "power total", 1, 0, "psu", WATT_DOMAIN_TOTAL, 0 },
	{ "corsairpsu", "power total", 1, 1, "psu", WATT_DOMAIN_TOTAL, OVERLAP },
	{ "corsairpsu", "power +12v", 2, 0, "0000:01:00_0:power__12v", WATT_DOMAIN_RAIL, OVERLAP },
	{ "macsmc_hwmon", "Total System Power", 1, 0, "total_system_power", WATT_DOMAIN_TOTAL, 0 },
	{ "power_meter", NULL, 1, 0, "power_meter-0000:01:00_0", WATT_DOMAIN_TOTAL, OVERLAP },
	{ "pmbus", "pout1", 2, 0, "0000:01:00_0:pout1", WATT_DOMAIN_RAIL, OVERLAP },
	{ "", "VDD", 1, 0, "0000:01:00_0:vdd", WATT_DOMAIN_RAIL, OVERLAP },
};

/* What single drivers mean, on a machine of two sockets. */
static void test_drivers(void **state)
{
	struct watt_hwmon_chip chip = { .dir = "class/none", .device = "0000:01:00.0" };
	struct watt_hwmon_world world = { 0 };
	struct watt_rail_map *rails;
	struct machine m;
	size_t i;

	machine_init_fixture(&m, "epyc-amd-energy");
	assert_int_equal(watt_rail_map_new(&m.world.env, &rails), 0);
	assert_int_equal(watt_cpu_ids_read(&m.world.env, &world.cpus), 0);
	world.env = &m.world.env;
	world.rails = rails;
	for (i = 0; i < WATT_ARRAY_SIZE(driver_cases); i++) {
		const struct chip_case *c = &driver_cases[i];
		struct watt_sysfs_sensor sensor = { .type = WATT_SYSFS_POWER, .index = c->index };
		struct watt_hwmon_power power = {
			.chip = &chip,
			.sensor = &sensor,
			.label = c->label,
			.part = "part",
			.ordinal = c->ordinal,
			.n_powers = 2,
			.n_chips = 2,
		};
		struct watt_place place;

		snprintf(chip.name, sizeof(chip.name), "%s", c->chip);
		watt_hwmon_place(&world, &power, &place);
		assert_string_equal(place.path, c->path);
		assert_int_equal(place.kind, c->kind);
		assert_int_equal(place.flags, c->flags);
	}
	watt_cpu_ids_done(&world.cpus);
	watt_rail_map_free(rails);
	machine_done(&m);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grace),         cmocka_unit_test(test_grace_without_module),
		cmocka_unit_test(test_grace_by_text), cmocka_unit_test(test_cpu_ids),
		cmocka_unit_test(test_drivers),
	};

	return cmocka_run_group_tests_name("hwmon_place", tests, NULL, NULL);
}
