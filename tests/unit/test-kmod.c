/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/power/kmod/kmod.c, energy_proc.c */
#include "power.h"

#include "source/power/kmod/energy_proc.h"
#include "source/registry.h"

static void test_rapl_lines(void **state)
{
	static const struct {
		const char *line;
		int r;
		const char *domain;
		uint64_t energy_uj;
	} cases[] = {
		{ "rapl_package-0_uj=219137329", 0, "package-0", 219137329 },
		{ "rapl_package-0_core_uj=0", 0, "package-0/core", 0 },
		{ "rapl_package-3_uncore_uj=1", 0, "package-3/uncore", 1 },
		{ "rapl_package-1_dram_uj=2", 0, "dram-1", 2 },
		{ "rapl_package-1-die-2_uj=3", 0, "package-1-die-2", 3 },
		{ "rapl_package-0_psys_uj=4", 0, "psys", 4 },
		{ "rapl_package-1_psys_uj=4", 0, "psys-1", 4 },
		{ "rapl_package_sum_uj=328705505", -ENOENT, NULL, 0 },
		{ "energy_unit=uj", -ENOENT, NULL, 0 },
		{ "", -ENOENT, NULL, 0 },
		{ "rapl_package-0_uj=", -EBADMSG, NULL, 0 },
		{ "rapl_package-0_uj=5x", -EBADMSG, NULL, 0 },
		{ "rapl_package-0_uj=-5", -EBADMSG, NULL, 0 },
		{ "rapl_package-0_uj", -EBADMSG, NULL, 0 },
		{ "rapl_package-0=5", -EBADMSG, NULL, 0 },
		{ "rapl_package-_uj=5", -EBADMSG, NULL, 0 },
		{ "rapl_package-0_gpu_uj=5", -EBADMSG, NULL, 0 },
		{ "rapl_package-0_uj=9223372036854775808", -ERANGE, NULL, 0 },
		{ "rapl_package-0_uj=99999999999999999999", -ERANGE, NULL, 0 },
	};
	struct watt_rapl_zone zone;
	uint64_t energy_uj;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int r = watt_energy_rapl_parse(cases[i].line, &zone, &energy_uj);

		if (r != cases[i].r)
			fail_msg("%s: %d instead of %d", cases[i].line, r, cases[i].r);
		if (r < 0)
			continue;
		assert_string_equal(zone.domain, cases[i].domain);
		assert_int_equal(energy_uj, cases[i].energy_uj);
	}
}

static void test_record_lines(void **state)
{
	static const struct {
		const char *line;
		int r;
		uint64_t energy_nj, end_ns;
	} cases[] = {
		{ "pid=1 energy=12.457 alive=1 window_time=5 comm=sh", 0, 12457, 5 },
		{ "pid=1 energy=1.002 mem=0 instructions=18446744073709551615 wakeups=1 window_time=5 "
		  "comm=sh",
		  0, 1002, 5 },
		{ "pid=1 energy=0.007 alive=1 window_time=5 comm= window_time=9", 0, 7, 5 },
		{ "pid=1 energy=12.457 alive=1 comm=sh", -EBADMSG, 0, 0 },
		{ "pid=1 energy=12 alive=1 window_time=5 comm=sh", -EBADMSG, 0, 0 },
		{ "pid=1 energy=12.45 alive=1 window_time=5 comm=sh", -EBADMSG, 0, 0 },
		{ "pid=1 energy=12.4567 alive=1 window_time=5 comm=sh", -EBADMSG, 0, 0 },
		{ "pid=1 energy=12. 57 alive=1 window_time=5 comm=sh", -EBADMSG, 0, 0 },
		{ "pid=1 energy=-1.000 alive=1 window_time=5 comm=sh", -EBADMSG, 0, 0 },
		{ "energy=12.457 window_time=5", -EBADMSG, 0, 0 },
		{ "timestamp=5", -EBADMSG, 0, 0 },
		{ "", -EBADMSG, 0, 0 },
		{ "pid=1 energy=9223372036854775.000 window_time=5 comm=sh", -ERANGE, 0, 0 },
		{ "pid=1 energy=1.000 window_time=99999999999999999999 comm=sh", -ERANGE, 0, 0 },
	};
	struct watt_energy_record record;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int r = watt_energy_record_parse(cases[i].line, &record);

		if (r != cases[i].r)
			fail_msg("%s: %d instead of %d", cases[i].line, r, cases[i].r);
		if (r < 0)
			continue;
		assert_int_equal(record.energy_nj, cases[i].energy_nj);
		assert_int_equal(record.window_end_ns, cases[i].end_ns);
	}
}

static void test_counters(void **state)
{
	struct watt_sample samples[8] = { 0 };
	struct power_world world;
	struct watt_power *power;
	const struct watt_channel *channel;
	struct watt_diag diag = { 0 };

	world_open_fixture(&world, "kmod-server");
	assert_int_equal(watt_power_kmod.probe(&world.env, &diag), 0);
	assert_int_equal(diag.state, WATT_AVAILABLE);
	assert_int_equal(diag.n_channels, 7);
	assert_int_equal(watt_power_kmod.open(&world.env, &power), 0);
	check_power(power);
	assert_int_equal(power->n_channels, 7);
	channel = channel_named(power, "kmod/dram-1");
	assert_string_equal(channel->domain, "dram-1");
	assert_int_equal(channel->kind, WATT_DOMAIN_DRAM);
	assert_int_equal(channel->package_id, 1);
	assert_int_equal(channel->period_ns, 1000000000);
	assert_int_equal(channel_named(power, "kmod/psys")->kind, WATT_DOMAIN_TOTAL);
	read_all_groups(power, samples);
	channel = channel_named(power, "kmod/package-0/core");
	assert_int_equal(samples[channel - power->channels].status, WATT_STATUS_OK);
	assert_int_equal(samples[channel - power->channels].raw, 153395568);
	power->ops->close(power);
	world_close(&world);
}

/* A package that comes; and all of it, with the module. */
static void test_comes_later(void **state)
{
	struct watt_sample samples[8] = { 0 };
	struct power_world world;
	struct watt_power *power, *more;
	const struct watt_known nothing = { 0 };
	char *dir = fixture_copy("kmod-server");

	world_open(&world, dir);
	scratch_write(dir, "proc/energy/all",
		      "timestamp=1\nrapl_package-0_uj=219137329\npid=1 comm=init\n");
	assert_int_equal(watt_power_kmod.open(&world.env, &power), 0);
	assert_int_equal(power->n_channels, 1);
	read_all_groups(power, samples);
	assert_int_equal(world_rescan(&world, power, samples, &more), -ENODEV);
	scratch_write(dir, "proc/energy/all",
		      "timestamp=2\nrapl_package-0_uj=219137330\nrapl_package-1_uj=17\n"
		      "rapl_package-1_dram_uj=4\npid=1 comm=init\n");
	assert_int_equal(world_rescan(&world, power, samples, &more), 0);
	check_power(more);
	assert_int_equal(more->n_channels, 2);
	assert_int_equal(channel_named(more, "kmod/dram-1")->package_id, 1);
	read_all_groups(more, samples);
	assert_int_equal(samples[channel_named(more, "kmod/package-1") - more->channels].raw, 17);
	more->ops->close(more);
	power->ops->close(power);
	scratch_unlink(dir, "sys/module/wattribute/parameters/energy_unit");
	assert_int_equal(watt_power_kmod.rescan(&world.env, &nothing, &more), -ENODEV);
	scratch_write(dir, "sys/module/wattribute/parameters/energy_unit", "uj\n");
	assert_int_equal(watt_power_kmod.rescan(&world.env, &nothing, &more), 0);
	assert_int_equal(more->n_channels, 3);
	more->ops->close(more);
	world_close(&world);
	scratch_remove(dir);
}

static void test_cgroup(void **state)
{
	struct watt_sample sample = { 0 };
	struct power_world world;
	struct watt_power *power;
	char *dir = fixture_copy("kmod-tenant");

	world_open(&world, dir);
	assert_int_equal(watt_power_kmod.open(&world.env, &power), 0);
	check_power(power);
	assert_int_equal(power->n_channels, 1);
	assert_string_equal(power->channels[0].name, "kmod/cgroup");
	assert_int_equal(power->channels[0].origin, WATT_ORIGIN_ESTIMATED);
	read_all_groups(power, &sample);
	/* 12.457 + 2500000.043 + 0.500 uJ in a second */
	assert_int_equal(sample.status, WATT_STATUS_OK);
	assert_int_equal(sample.raw, 2500013);
	/* The next window came late, and is as long as it was. */
	scratch_write(dir, "proc/energy/cgroup",
		      "pid=1 energy=1100000.000 alive=1 kernel=0 cpu_ns=1200 mem=0 "
		      "instructions=3600 wakeups=1 window_time=33787747042 comm=sh\n");
	read_all_groups(power, &sample);
	assert_int_equal(sample.raw, 1000000);
	/* Two windows in one look, and twice: nothing to say. */
	scratch_write(dir, "proc/energy/cgroup",
		      "pid=1 energy=1.000 window_time=34787747042 comm=sh\n"
		      "pid=2 energy=1.000 window_time=35787747042 comm=sh\n");
	read_all_groups(power, &sample);
	assert_int_not_equal(sample.status, WATT_STATUS_OK);
	assert_int_equal(sample.raw, 0);
	scratch_write(dir, "proc/energy/cgroup", "");
	read_all_groups(power, &sample);
	assert_int_not_equal(sample.status, WATT_STATUS_OK);
	scratch_write(dir, "proc/energy/cgroup", "pid=1 energy=1.000\n");
	read_all_groups(power, &sample);
	assert_int_equal(sample.status, WATT_STATUS_BROKEN);
	power->ops->close(power);
	world_close(&world);
	scratch_remove(dir);
}

static void test_absent(void **state)
{
	struct watt_power *power = NULL;
	struct watt_diag diag = { 0 };
	struct power_world world;
	char *dir = fixture_copy("kmod-server");

	/* no RAPL: points of a score are no joules */
	scratch_write(dir, "sys/module/wattribute/parameters/energy_unit", "score\n");
	world_open(&world, dir);
	assert_int_equal(watt_power_kmod.open(&world.env, &power), -EOPNOTSUPP);
	assert_int_equal(watt_power_kmod.probe(&world.env, &diag), -EOPNOTSUPP);
	assert_int_equal(diag.state, WATT_ABSENT);
	world_close(&world);
	scratch_remove(dir);

	world_open_fixture(&world, "laptop-client");
	assert_int_equal(watt_power_kmod.open(&world.env, &power), -ENODEV);
	assert_int_equal(watt_power_kmod.probe(&world.env, &diag), -ENODEV);
	assert_int_equal(diag.state, WATT_ABSENT);
	assert_non_null(strstr(diag.why, "not loaded"));
	assert_null(power);
	world_close(&world);
}

static void test_malformed(void **state)
{
	struct watt_sample samples[8] = { 0 };
	struct power_world world;
	struct watt_power *power;
	char *dir = fixture_copy("kmod-server");

	world_open(&world, dir);
	assert_int_equal(watt_power_kmod.open(&world.env, &power), 0);
	scratch_write(dir, "proc/energy/all", "rapl_package-0_uj=12x\n");
	read_all_groups(power, samples);
	assert_int_equal(samples[0].status, WATT_STATUS_BROKEN);
	/* a package that went away has no value; the others have theirs */
	scratch_write(dir, "proc/energy/all", "rapl_package-0_uj=12\npid=0 \n");
	read_all_groups(power, samples);
	assert_int_equal(samples[0].status, WATT_STATUS_OK);
	assert_int_equal(samples[0].raw, 12);
	assert_int_not_equal(samples[6].status, WATT_STATUS_OK);
	assert_int_equal(samples[6].raw, 0);
	power->ops->close(power);
	scratch_write(dir, "proc/energy/all", "timestamp=5\n");
	assert_int_equal(watt_power_kmod.open(&world.env, &power), -ENODEV);
	scratch_write(dir, "sys/module/wattribute/parameters/window_ns", "0\n");
	assert_int_equal(watt_power_kmod.open(&world.env, &power), -ERANGE);
	world_close(&world);
	scratch_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rapl_lines), cmocka_unit_test(test_record_lines),
		cmocka_unit_test(test_counters),   cmocka_unit_test(test_comes_later),
		cmocka_unit_test(test_cgroup),     cmocka_unit_test(test_absent),
		cmocka_unit_test(test_malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
