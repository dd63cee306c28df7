/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lib/source/power/perf_rapl/perf_rapl.c, perf_bundle.c, perf_event.c. The fixture perf-software has a power
 * PMU with the number of the kernel's software events: event 0 is the CPU clock, which counts ns on
 * its CPU, so that everything from opening to reading is real.
 */
#include "power.h"

#include <linux/perf_event.h>

#include "base/clock.h"
#include "source/power/perf_rapl/perf_event.h"
#include "source/registry.h"

#define POWER "sys/bus/event_source/devices/power/"

static const struct watt_power_ops *const ops = &watt_power_perf_rapl;

/* Skips the test where this user or this sandbox may not count events of a CPU. */
static void need_perf(void)
{
	int fd = watt_perf_event_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0, -1);

	if (fd < 0) {
		print_message("perf_event_open: %s: not tested\n", strerror(-fd));
		skip();
	}
	close(fd);
}

static void wait_ns(uint64_t span_ns)
{
	struct timespec pause = watt_timespec_from_ns(span_ns);

	nanosleep(&pause, NULL);
}

static void test_counts(void **state)
{
	struct watt_sample first[4], last[4];
	const struct watt_channel *ch;
	struct power_world world;
	struct watt_power *power;
	uint32_t i;

	need_perf();
	world_open_fixture(&world, "perf-software");
	assert_int_equal(ops->open(&world.env, &power), 0);
	check_power(power);
	assert_int_equal(power->n_channels, 4);
	assert_int_equal(power->n_groups, 1);
	ch = channel_named(power, "perf_rapl/dram-0");
	assert_string_equal(ch->domain, "dram-0");
	assert_string_equal(ch->label, "power/energy-ram/");
	assert_int_equal(ch->kind, WATT_DOMAIN_DRAM);
	assert_int_equal(ch->package_id, 0);
	assert_int_equal(ch->wrap_nj, 0);
	assert_int_equal(ch->scale_num, 1953125);
	assert_int_equal(ch->scale_den, 8388608);
	assert_int_equal(channel_named(power, "perf_rapl/psys")->package_id, -1);
	read_all_groups(power, first);
	wait_ns(5 * WATT_NSEC_PER_MSEC);
	read_all_groups(power, last);
	for (i = 0; i < 4; i++) {
		uint64_t shortest_ns = last[i].t_before_ns - first[i].t_after_ns;
		uint64_t longest_ns = last[i].t_after_ns - first[i].t_before_ns;
		uint64_t counted_ns = (uint64_t)(last[i].raw - first[i].raw);

		assert_int_equal(first[i].status, WATT_STATUS_OK);
		assert_int_equal(last[i].status, WATT_STATUS_OK);
		/* the clock of the CPU and CLOCK_MONOTONIC, which is slewed, differ a little */
		assert_true(counted_ns >= shortest_ns - shortest_ns / 10);
		assert_true(counted_ns <= longest_ns + longest_ns / 10);
		/* the group was read in one call */
		assert_int_equal(last[i].t_before_ns, last[0].t_before_ns);
	}
	ops->close(power);
	world_close(&world);
}

/* A driver that shows an event only later. */
static void test_comes_later(void **state)
{
	struct watt_sample samples[4];
	struct power_world world;
	struct watt_power *power, *more;
	char *dir = fixture_copy("perf-software");
	char text[32] = "";

	need_perf();
	world_open(&world, dir);
	assert_true(watt_root_read(&world.env.sysfs,
				   "bus/event_source/devices/power/events/energy-ram", text,
				   sizeof(text)) >= 0);
	scratch_unlink(dir, POWER "events/energy-ram");
	assert_int_equal(ops->open(&world.env, &power), 0);
	assert_int_equal(power->n_channels, 3);
	read_all_groups(power, samples);
	assert_int_equal(world_rescan(&world, power, samples, &more), -ENODEV);
	scratch_write(dir, POWER "events/energy-ram", text);
	assert_int_equal(world_rescan(&world, power, samples, &more), 0);
	check_power(more);
	assert_int_equal(more->n_channels, 1);
	assert_string_equal(more->channels[0].name, "perf_rapl/dram-0");
	read_all_groups(more, samples);
	assert_int_equal(samples[0].status, WATT_STATUS_OK);
	ops->close(more);
	ops->close(power);
	world_close(&world);
	scratch_remove(dir);
}

static void test_probe(void **state)
{
	struct watt_diag diag = { 0 };
	struct power_world world;

	need_perf();
	world_open_fixture(&world, "perf-software");
	assert_int_equal(ops->probe(&world.env, &diag), 0);
	assert_int_equal(diag.state, WATT_AVAILABLE);
	assert_int_equal(diag.n_channels, 4);
	assert_string_equal(diag.why, "4 of 4 events count, read by 1 calls");
	world_close(&world);
}

/* An event that the PMU does not know costs its own channel only. */
static void test_one_bad_event(void **state)
{
	char *dir = fixture_copy("perf-software");
	struct power_world world;
	struct watt_power *power;
	struct watt_diag diag = { 0 };

	need_perf();
	scratch_write(dir, POWER "events/energy-ram", "event=0xff\n");
	world_open(&world, dir);
	assert_int_equal(ops->open(&world.env, &power), 0);
	check_power(power);
	assert_int_equal(power->n_channels, 3);
	assert_non_null(strstr(world.text, "power/energy-ram/ of CPU 0 left out"));
	ops->close(power);
	assert_int_equal(ops->probe(&world.env, &diag), 0);
	assert_non_null(strstr(diag.hint, "1 events could not be opened"));
	world_close(&world);
	scratch_remove(dir);
}

/* Events that exist and never count, as in a guest. */
static void test_stuck(void **state)
{
	char *dir = fixture_copy("perf-software");
	struct power_world world;
	struct watt_power *power = NULL;
	struct watt_diag diag = { 0 };
	static const char *const events[] = { "pkg", "cores", "ram", "psys" };
	const struct watt_channel *ch;
	struct watt_sample samples[4];
	char path[128];
	size_t i;

	need_perf();
	/* 9 is the dummy event */
	for (i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), POWER "events/energy-%s", events[i]);
		scratch_write(dir, path, "event=9\n");
	}
	world_open(&world, dir);
	assert_int_equal(ops->open(&world.env, &power), -ENODEV);
	assert_int_equal(ops->probe(&world.env, &diag), -ENODEV);
	assert_int_equal(diag.state, WATT_ABSENT);
	assert_non_null(strstr(diag.why, "stay at 0"));
	/* beside one that counts, they have no value */
	scratch_write(dir, POWER "events/energy-pkg", "event=0\n");
	assert_int_equal(ops->open(&world.env, &power), 0);
	ch = channel_named(power, "perf_rapl/dram-0");
	read_all_groups(power, samples);
	assert_int_equal(samples[ch - power->channels].status, WATT_STATUS_PENDING);
	assert_int_equal(samples[ch - power->channels].raw, 0);
	ops->close(power);
	world_close(&world);
	scratch_remove(dir);
}

static void test_forbidden(void **state)
{
	struct power_world world;
	struct watt_power *power = NULL;
	struct watt_diag diag = { 0 };
	bool is_root = geteuid() == 0;
	int fd, r_open, r_probe;

	world_open_fixture(&world, "perf-software");
	if (is_root)
		assert_int_equal(seteuid(65534), 0);
	fd = watt_perf_event_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0, -1);
	r_open = fd < 0 ? ops->open(&world.env, &power) : 0;
	r_probe = fd < 0 ? ops->probe(&world.env, &diag) : 0;
	if (is_root)
		assert_int_equal(seteuid(0), 0);
	world_close(&world);
	if (fd >= 0) {
		close(fd);
		print_message("everyone may count events here: not tested\n");
		skip();
	}
	if (fd != -EACCES && fd != -EPERM)
		skip();
	assert_int_equal(r_open, -EACCES);
	assert_int_equal(r_probe, -EACCES);
	assert_int_equal(diag.state, WATT_FORBIDDEN);
	assert_non_null(strstr(diag.why, "perf_event_paranoid is 2")); /* of the fixture */
	assert_non_null(strstr(diag.hint, "CAP_PERFMON"));
}

static void check_absent(const char *machine, const char *why)
{
	struct watt_power *power = NULL;
	struct watt_diag diag = { 0 };
	struct power_world world;

	world_open_fixture(&world, machine);
	assert_int_equal(ops->open(&world.env, &power), -ENODEV);
	assert_null(power);
	assert_int_equal(ops->probe(&world.env, &diag), -ENODEV);
	assert_int_equal(diag.state, WATT_ABSENT);
	assert_non_null(strstr(diag.why, why));
	world_close(&world);
}

static void test_absent(void **state)
{
	check_absent("vm-empty", "no energy event");
	check_absent("arm-scmi", "no power PMU");
	/* the number of another kernel's PMU must not be opened in this one */
	check_absent("xeon-2s", "another kernel");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts), cmocka_unit_test(test_comes_later),
		cmocka_unit_test(test_probe),  cmocka_unit_test(test_one_bad_event),
		cmocka_unit_test(test_stuck),  cmocka_unit_test(test_forbidden),
		cmocka_unit_test(test_absent),
	};

	return cmocka_run_group_tests_name("perf_rapl", tests, NULL, NULL);
}
