/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/power/cray/cray.c, cray_counter.c */
#include "sensors.h"

#include "source/power/cray/cray_counter.h"

#define COUNTERS "sys/cray/pm_counters/"
#define MAX_CHANNELS 32

static void test_texts(void **state)
{
	static const struct {
		const char *text;
		char unit;
		int r;
		int64_t value;
	} cases[] = {
		{ "612 W", 'W', 0, 612000000 },
		{ "0 W 1700000000123456 us", 'W', 0, 0 },
		{ "81234567 J 1700000000123456 us", 'J', 0, 81234567000000 },
		{ "1000000 W", 'W', 0, 1000000000000 },
		{ "1000001 W", 'W', -ERANGE, 0 },
		{ "1000000000001 J", 'J', -ERANGE, 0 },
		{ "99999999999999999999 J", 'J', -ERANGE, 0 },
		{ "612 W", 'J', -EBADMSG, 0 },
		{ "612", 'W', -EBADMSG, 0 },
		{ "612W", 'W', -EBADMSG, 0 },
		{ "-1 W", 'W', -EBADMSG, 0 },
		{ "1.5 W", 'W', -EBADMSG, 0 },
		{ "612 W 5", 'W', -EBADMSG, 0 },
		{ "612 W 5 s", 'W', -EBADMSG, 0 },
		{ "612 Watt", 'W', -EBADMSG, 0 },
		{ "", 'W', -EBADMSG, 0 },
	};
	int64_t value;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		int r = watt_cray_counter_parse(cases[i].text, cases[i].unit, &value);

		if (r != cases[i].r || (r == 0 && value != cases[i].value))
			fail_msg("'%s': %d", cases[i].text, r);
	}
}

static const struct watt_sample *sample_of(const struct machine *m, const char *name,
					   const struct watt_sample *samples)
{
	return &samples[channel_named(m->power, name) - m->power->channels];
}

static void read_now(struct machine *m, struct watt_sample *samples)
{
	assert_true(m->power->n_channels <= MAX_CHANNELS);
	read_all_groups(m->power, samples);
}

static void test_node(void **state)
{
	struct watt_sample samples[MAX_CHANNELS];
	const struct watt_channel *channel;
	struct machine m;

	machine_init_fixture(&m, "cray-ex");
	assert_int_equal(machine_open(&m, &watt_power_cray), 0);
	check_power(m.power);
	assert_int_equal(m.world.n_warnings, 0);
	assert_int_equal(m.power->n_channels, 10);
	channel = channel_named(m.power, "cray/node/energy");
	assert_string_equal(channel->domain, "node");
	assert_int_equal(channel->kind, WATT_DOMAIN_TOTAL);
	assert_int_equal(channel->period_ns, 100000000);
	assert_int_equal(channel->flags, WATT_CHANNEL_STEPS);
	channel = channel_named(m.power, "cray/package-0/energy");
	assert_int_equal(channel->package_id, 0);
	assert_int_equal(channel->kind, WATT_DOMAIN_PACKAGE);
	channel = channel_named(m.power, "cray/accel-1/power");
	assert_int_equal(channel->kind, WATT_DOMAIN_GPU);
	assert_int_equal(channel->flags, OVERLAP);
	read_now(&m, samples);
	assert_int_equal(sample_of(&m, "cray/node/energy", samples)->raw, 81234567000000);
	assert_int_equal(sample_of(&m, "cray/node/power", samples)->raw, 612000000);
	assert_int_equal(sample_of(&m, "cray/dram-0/energy", samples)->raw, 7654321000000);
	assert_int_equal(sample_of(&m, "cray/accel-1/power", samples)->status, WATT_STATUS_OK);
	machine_done(&m);
}

/* A counter that is there only later, as those of an accelerator whose driver comes late. */
static void test_comes_later(void **state)
{
	struct watt_sample samples[MAX_CHANNELS];
	char *dir = fixture_copy("cray-ex");
	struct watt_power *more;
	struct machine m;

	scratch_unlink(dir, COUNTERS "accel1_energy");
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_cray), 0);
	assert_int_equal(m.power->n_channels, 9);
	read_now(&m, samples);
	assert_int_equal(world_rescan(&m.world, m.power, samples, &more), -ENODEV);
	scratch_write(dir, COUNTERS "accel1_energy", "4711 J 1700000000123456 us\n");
	assert_int_equal(world_rescan(&m.world, m.power, samples, &more), 0);
	check_power(more);
	assert_int_equal(more->n_channels, 1);
	assert_string_equal(more->channels[0].name, "cray/accel-1/energy");
	read_all_groups(more, samples);
	assert_int_equal(samples[0].status, WATT_STATUS_OK);
	assert_int_equal(samples[0].raw, 4711000000);
	more->ops->close(more);
	machine_done(&m);
	scratch_remove(dir);
}

/* How those of several packages share it is not known. */
static void test_packages(void **state)
{
	char *dir = fixture_copy("cray-ex");
	const struct watt_channel *channel;
	struct machine m;

	scratch_write(dir, "sys/devices/system/cpu/cpu3/topology/physical_package_id", "1\n");
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_cray), 0);
	channel = channel_named(m.power, "cray/cpu/energy");
	assert_int_equal(channel->package_id, -1);
	assert_int_equal(channel->kind, WATT_DOMAIN_CPU_RAIL);
	assert_true(channel->flags & OVERLAP);
	assert_true(channel_named(m.power, "cray/memory/energy")->flags & OVERLAP);
	machine_done(&m);
	scratch_remove(dir);
}

/* As long as freshness stands there is nothing new, whatever the files say. */
static void test_freshness(void **state)
{
	struct watt_sample samples[MAX_CHANNELS];
	char *dir = fixture_copy("cray-ex");
	struct machine m;
	size_t i;

	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_cray), 0);
	read_now(&m, samples);
	scratch_write(dir, COUNTERS "energy", "81234600 J 1700000000223456 us\n");
	read_now(&m, samples);
	for (i = 0; i < m.power->n_channels; i++)
		assert_int_equal((uint32_t)samples[i].status, WATT_STATUS_NOTHING_NEW);
	scratch_write(dir, COUNTERS "freshness", "1234568\n");
	read_now(&m, samples);
	assert_int_equal(sample_of(&m, "cray/node/energy", samples)->status, WATT_STATUS_OK);
	assert_int_equal(sample_of(&m, "cray/node/energy", samples)->raw, 81234600000000);
	assert_int_equal(sample_of(&m, "cray/node/power", samples)->status, WATT_STATUS_OK);
	machine_done(&m);
	scratch_remove(dir);
}

/* One bad file is its own channel's; without freshness nothing is known of any. */
static void test_broken(void **state)
{
	struct watt_sample samples[MAX_CHANNELS];
	char *dir = fixture_copy("cray-ex");
	struct machine m;
	size_t i;

	scratch_write(dir, COUNTERS "cpu_energy", "nonsense\n");
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_cray), 0);
	assert_int_equal(m.world.n_warnings, 1);
	assert_non_null(strstr(m.world.text, "cpu_energy"));
	read_now(&m, samples);
	assert_int_equal(sample_of(&m, "cray/package-0/energy", samples)->status,
			 WATT_STATUS_BROKEN);
	assert_int_equal(sample_of(&m, "cray/package-0/power", samples)->status, WATT_STATUS_OK);
	scratch_unlink(dir, COUNTERS "freshness");
	read_now(&m, samples);
	for (i = 0; i < m.power->n_channels; i++)
		assert_int_equal(samples[i].status, WATT_STATUS_ABSENT);
	machine_done(&m);
	scratch_remove(dir);
}

static void test_absent(void **state)
{
	struct watt_diag diag = { 0 };
	struct machine m;

	machine_init_fixture(&m, "xeon-2s");
	assert_int_equal(machine_open(&m, &watt_power_cray), -ENODEV);
	assert_int_equal(watt_power_cray.probe(&m.world.env, &diag), -ENODEV);
	assert_int_equal(diag.state, WATT_ABSENT);
	machine_done(&m);
	machine_init_fixture(&m, "cray-ex");
	assert_int_equal(watt_power_cray.probe(&m.world.env, &diag), 0);
	assert_int_equal(diag.n_channels, 10);
	assert_int_equal(diag.period_ns, 100000000);
	machine_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),       cmocka_unit_test(test_node),
		cmocka_unit_test(test_comes_later), cmocka_unit_test(test_packages),
		cmocka_unit_test(test_freshness),   cmocka_unit_test(test_broken),
		cmocka_unit_test(test_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
