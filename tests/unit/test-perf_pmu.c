/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/power/perf_rapl/perf_pmu.c */
#include "power.h"

#include "base/util.h"
#include "source/power/perf_rapl/perf_pmu.h"

#define POWER "sys/bus/event_source/devices/power/"
#define SCALE "2.3283064365386962890625e-10"

static void test_field(void **state)
{
	static const char *const bad[] = { "",          "config",       "config:",
					   "config:x",  "config:7-0",   "config:0-64",
					   "config:-1", "config:0-7,9", "config1:0-7" };
	struct watt_pmu_field field = { 0 };
	size_t i;

	assert_int_equal(watt_pmu_field_parse("config:0-7", &field), 0);
	assert_int_equal(field.first_bit, 0);
	assert_int_equal(field.last_bit, 7);
	assert_int_equal(watt_pmu_field_parse("config:63", &field), 0);
	assert_int_equal(field.first_bit, 63);
	for (i = 0; i < WATT_ARRAY_SIZE(bad); i++)
		assert_int_equal(watt_pmu_field_parse(bad[i], &field), -EBADMSG);
	assert_int_equal(field.last_bit, 63);
}

static void test_config(void **state)
{
	static const struct watt_pmu_field low = { 0, 7 }, high = { 8, 15 }, all = { 0, 63 };
	uint64_t config = 0;

	assert_int_equal(watt_pmu_config_parse("event=0x02", &low, &config), 0);
	assert_int_equal(config, 2);
	assert_int_equal(watt_pmu_config_parse("event=10", &low, &config), 0);
	assert_int_equal(config, 10);
	assert_int_equal(watt_pmu_config_parse("event=0xff", &high, &config), 0);
	assert_int_equal(config, 0xff00);
	assert_int_equal(watt_pmu_config_parse("event=0xffffffffffffffff", &all, &config), 0);
	assert_true(config == UINT64_MAX);
	assert_int_equal(watt_pmu_config_parse("event=0x100", &low, &config), -ERANGE);
	assert_int_equal(watt_pmu_config_parse("event=0x02,umask=0x1", &low, &config), -EBADMSG);
	assert_int_equal(watt_pmu_config_parse("config=0x02", &low, &config), -EBADMSG);
	assert_int_equal(watt_pmu_config_parse("event=", &low, &config), -EBADMSG);
	assert_true(config == UINT64_MAX);
}

static void test_scale(void **state)
{
	uint64_t num = 0, den = 0;

	/* 10^9 / 2^32 in lowest terms */
	assert_int_equal(watt_pmu_scale_parse(SCALE, "Joules", &num, &den), 0);
	assert_int_equal(num, 1953125);
	assert_int_equal(den, 8388608);
	assert_int_equal(watt_pmu_scale_parse("1", "Joules", &num, &den), 0);
	assert_int_equal(num, 1000000000);
	assert_int_equal(den, 1);
	assert_int_equal(watt_pmu_scale_parse("1e11", "Joules", &num, &den), -ERANGE);
	assert_int_equal(watt_pmu_scale_parse("0", "Joules", &num, &den), -ERANGE);
	assert_int_equal(watt_pmu_scale_parse("x", "Joules", &num, &den), -EBADMSG);
	assert_int_equal(watt_pmu_scale_parse(SCALE, "mJ", &num, &den), -EOPNOTSUPP);
	assert_int_equal(num, 1000000000);
}

static void test_read(void **state)
{
	struct power_world world;
	struct watt_pmu pmu;

	world_open_fixture(&world, "xeon-2s");
	assert_int_equal(watt_pmu_open(&world.env, "power", &pmu), 0);
	assert_int_equal(pmu.type, 21);
	assert_int_equal(pmu.n_cpus, 2);
	assert_int_equal(pmu.cpus[1], 1);
	assert_int_equal(pmu.n_events, 4);
	assert_string_equal(pmu.events[0].name, "energy-cores");
	assert_int_equal(pmu.events[0].config, 1);
	assert_int_equal(pmu.events[3].scale_den, 8388608);
	watt_pmu_done(&pmu);
	assert_int_equal(watt_pmu_open(&world.env, "power_core", &pmu), -ENOENT);
	world_close(&world);
}

/* A guest may have the PMU and nothing in it. */
static void test_empty(void **state)
{
	struct power_world world;
	struct watt_pmu pmu;

	world_open_fixture(&world, "vm-empty");
	assert_int_equal(watt_pmu_open(&world.env, "power", &pmu), 0);
	assert_int_equal(pmu.n_events, 0);
	assert_string_equal(world.text, "");
	watt_pmu_done(&pmu);
	world_close(&world);
}

static void test_garbage(void **state)
{
	char *dir = scratch_new();
	struct power_world world;
	struct watt_pmu pmu;

	scratch_write(dir, POWER "type", "99999999999999999999\n");
	world_open(&world, dir);
	assert_int_equal(watt_pmu_open(&world.env, "power", &pmu), -ERANGE);
	scratch_write(dir, POWER "type", "9\n");
	scratch_write(dir, POWER "events/energy-pkg", "event=0x02\n");
	scratch_write(dir, POWER "events/energy-pkg.scale", SCALE "\n");
	scratch_write(dir, POWER "events/energy-pkg.unit", "Joules\n");
	assert_int_equal(watt_pmu_open(&world.env, "power", &pmu), -EBADMSG); /* no format */
	scratch_write(dir, POWER "format/event", "config:0-7\n");
	assert_int_equal(watt_pmu_open(&world.env, "power", &pmu), -EBADMSG); /* no cpumask */
	scratch_write(dir, POWER "cpumask", "0-\n");
	assert_int_equal(watt_pmu_open(&world.env, "power", &pmu), -EBADMSG);
	scratch_write(dir, POWER "cpumask", "0\n");
	scratch_write(dir, POWER "events/energy-ram", "event=0x999\n");
	scratch_write(dir, POWER "events/energy-gpu", "event=0x04\n");
	scratch_write(dir, POWER "events/energy-gpu.scale", SCALE "\n");
	scratch_write(dir, POWER "events/energy-gpu.unit", "Watts\n");
	scratch_write_bytes(dir, POWER "events/energy-cores", "event\0=1", 8);
	assert_int_equal(watt_pmu_open(&world.env, "power", &pmu), 0);
	assert_int_equal(pmu.n_events, 1);
	assert_string_equal(pmu.events[0].name, "energy-pkg");
	assert_non_null(strstr(world.text, "power/energy-ram/ left out"));
	assert_non_null(strstr(world.text, "power/energy-gpu/ left out: its unit is not Joules"));
	assert_non_null(strstr(world.text, "power/energy-cores/ left out"));
	watt_pmu_done(&pmu);
	world_close(&world);
	scratch_remove(dir);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_field), cmocka_unit_test(test_config),
		cmocka_unit_test(test_scale), cmocka_unit_test(test_read),
		cmocka_unit_test(test_empty), cmocka_unit_test(test_garbage),
	};

	return cmocka_run_group_tests_name("perf_pmu", tests, NULL, NULL);
}
