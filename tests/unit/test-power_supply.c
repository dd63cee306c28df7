/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/power/power_supply.c */
#include "sensors.h"

#include "base/clock.h"

#define BATTERIES "sys/devices/LNXSYSTM:00/LNXSYBUS:00/PNP0A08:00/device:1f/PNP0C09:00/"
#define BAT0 BATTERIES "PNP0C0A:00/power_supply/BAT0/"
#define BAT1 BATTERIES "PNP0C0A:01/power_supply/BAT1/"
#define BAT3 BATTERIES "PNP0C0A:03/power_supply/BAT3/"
#define CHARGER "sys/devices/platform/i2c-bq25700/power_supply/charger/"

static void test_laptop(void **state)
{
	static const struct expected expected[] = {
		{ "power_supply/bat0/power", "supply-bat0", WATT_DOMAIN_SUPPLY, 14321000, SIGNED,
		  -1 },
		/* negative by its driver while discharging */
		{ "power_supply/bat1/power", "supply-bat1", WATT_DOMAIN_SUPPLY,
		  1210000LL * 12004000, SIGNED, -1 },
		/* positive by its driver while charging */
		{ "power_supply/bat2/power", "supply-bat2", WATT_DOMAIN_SUPPLY,
		  -800000LL * 12300000, SIGNED, -1 },
		{ "power_supply/bat3/energy", "supply-bat3", WATT_DOMAIN_SUPPLY, -30000000, SIGNED,
		  -1 },
		{ "power_supply/bat4/energy", "supply-bat4", WATT_DOMAIN_SUPPLY, -2000000, SIGNED,
		  -1 },
		{ "power_supply/charger/power", "supply-charger", WATT_DOMAIN_SUPPLY,
		  1500000LL * 20000000, SIGNED, -1 },
		/* nothing is plugged in: nothing flows, whatever it says */
		{ "power_supply/charger2/power", "supply-charger2", WATT_DOMAIN_SUPPLY, 0, SIGNED,
		  -1 },
	};
	const struct watt_channel *c;
	struct machine m;

	machine_init_fixture(&m, "laptop-battery");
	assert_int_equal(machine_open(&m, &watt_power_power_supply), 0);
	assert_string_equal(m.world.text, "");
	check_channels(&m, expected, WATT_ARRAY_SIZE(expected));
	c = channel_named(m.power, "power_supply/bat0/power");
	assert_int_equal(c->scale_num, 1);
	assert_int_equal(c->scale_den, 1);
	assert_int_equal(c->period_ns, WATT_NSEC_PER_SEC);
	c = channel_named(m.power, "power_supply/bat1/power");
	assert_int_equal(c->scale_num, 1);
	assert_int_equal(c->scale_den, 1000000);
	c = channel_named(m.power, "power_supply/bat3/energy");
	assert_int_equal(c->quantity, WATT_QUANTITY_ENERGY);
	assert_int_equal(c->scale_num, 3600000);
	/* 1 uAh at 11.4 V is 0.04104 J */
	c = channel_named(m.power, "power_supply/bat4/energy");
	assert_int_equal(c->scale_num / c->scale_den, 41040000);
	machine_done(&m);
}

/* Nobody says whether it gives or takes: that is no power of 5 W. */
static void test_no_status(void **state)
{
	char *dir = scratch_new();
	struct machine m;

	scratch_write(dir, "sys/class/power_supply/BAT0/type", "Battery\n");
	scratch_write(dir, "sys/class/power_supply/BAT0/power_now", "5000000\n");
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_power_supply), 0);
	assert_non_null(strstr(m.world.text, "BAT0 has no status"));
	assert_int_equal(sample_named(&m, "power_supply/bat0/power").status, WATT_STATUS_NODATA);
	scratch_write(dir, "sys/class/power_supply/BAT0/power_now", "0\n");
	assert_int_equal(sample_named(&m, "power_supply/bat0/power").status, WATT_STATUS_OK);
	machine_done(&m);
	scratch_remove(dir);
}

/* Ports of USB-PD tell what may be taken, whoever drives them. */
static void test_negotiated(void **state)
{
	static const char *const ports[] = { "ucsi-source-psy-USBC000:001",
					     "tcpm-source-psy-4-0022" };
	char *dir = scratch_new(), path[128];
	struct machine m;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(ports); i++) {
		snprintf(path, sizeof(path), "sys/class/power_supply/%s/type", ports[i]);
		scratch_write(dir, path, "USB\n");
		snprintf(path, sizeof(path), "sys/class/power_supply/%s/online", ports[i]);
		scratch_write(dir, path, "1\n");
		snprintf(path, sizeof(path), "sys/class/power_supply/%s/voltage_now", ports[i]);
		scratch_write(dir, path, "20000000\n");
		snprintf(path, sizeof(path), "sys/class/power_supply/%s/current_now", ports[i]);
		scratch_write(dir, path, "3000000\n");
	}
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_power_supply), -ENODEV);
	machine_done(&m);
	scratch_remove(dir);
}

/* What the Steam Deck tells: its battery, its APU, and a contract that is no power. */
static void test_steam_deck(void **state)
{
	struct machine m;
	size_t i;

	machine_init_fixture(&m, "steam-deck");
	assert_int_equal(machine_open(&m, &watt_power_power_supply), 0);
	assert_int_equal(m.power->n_channels, 1);
	/* 7.7 V and 1.25 A, discharging */
	assert_int_equal(sample_named(&m, "power_supply/bat1/power").raw, 7700000LL * 1250000);
	machine_close_source(&m);
	assert_int_equal(machine_open(&m, &watt_power_hwmon), 0);
	for (i = 0; i < m.power->n_channels; i++)
		assert_null(strstr(m.power->channels[i].name, "steamdeck"));
	assert_int_equal(m.world.n_warnings, 0);
	/* the whole chip, CPU cores included */
	assert_true(m.power->n_channels == 2);
	assert_true(m.power->channels[0].flags & OVERLAP);
	machine_done(&m);
}

static void test_signs(void **state)
{
	static const struct {
		const char *status;
		const char *power;
		enum watt_status expected;
		int64_t raw;
	} cases[] = {
		{ "Discharging\n", "5000000\n", WATT_STATUS_OK, 5000000 },
		{ "Discharging\n", "-5000000\n", WATT_STATUS_OK, 5000000 },
		{ "Charging\n", "5000000\n", WATT_STATUS_OK, -5000000 },
		{ "Charging\n", "-5000000\n", WATT_STATUS_OK, -5000000 },
		{ "Full\n", "5000000\n", WATT_STATUS_OK, 0 },
		{ "Not charging\n", "1\n", WATT_STATUS_OK, 0 },
		{ "Unknown\n", "5000000\n", WATT_STATUS_NODATA, 0 },
		{ "", "5000000\n", WATT_STATUS_NODATA, 0 },
		{ "Discharging\n", "much\n", WATT_STATUS_BROKEN, 0 },
		{ "Discharging\n", "-9223372036854775808\n", WATT_STATUS_BROKEN, 0 },
	};
	char *dir = fixture_copy("laptop-battery");
	struct machine m;
	size_t i;

	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_power_supply), 0);
	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		struct watt_sample sample;

		scratch_write(dir, BAT0 "status", cases[i].status);
		scratch_write(dir, BAT0 "power_now", cases[i].power);
		sample = sample_named(&m, "power_supply/bat0/power");
		assert_int_equal(sample.status, cases[i].expected);
		assert_int_equal(sample.raw, cases[i].raw);
	}
	machine_done(&m);
	scratch_remove(dir);
}

/* What is left in a battery counts while it is being used, and is silent while it is charged. */
static void test_falling_energy(void **state)
{
	char *dir = fixture_copy("laptop-battery");
	struct machine m;

	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_power_supply), 0);
	scratch_write(dir, BAT3 "energy_now", "29000000\n");
	assert_int_equal(sample_named(&m, "power_supply/bat3/energy").raw, -29000000);
	scratch_write(dir, BAT3 "status", "Charging\n");
	assert_int_equal(sample_named(&m, "power_supply/bat3/energy").status, WATT_STATUS_NODATA);
	machine_done(&m);
	scratch_remove(dir);
}

static void test_unplugged(void **state)
{
	char *dir = fixture_copy("laptop-battery");
	struct machine m;

	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_power_supply), 0);
	scratch_write(dir, CHARGER "online", "0\n");
	assert_int_equal(sample_named(&m, "power_supply/charger/power").raw, 0);
	scratch_write(dir, CHARGER "online", "1\n");
	scratch_write(dir, CHARGER "current_now", "2000000\n");
	assert_int_equal(sample_named(&m, "power_supply/charger/power").raw, 2000000LL * 20000000);
	scratch_unlink(dir, BAT1 "voltage_now");
	assert_int_equal(sample_named(&m, "power_supply/bat1/power").status, WATT_STATUS_ABSENT);
	machine_done(&m);
	scratch_remove(dir);
}

static void test_garbage_and_nothing(void **state)
{
	struct watt_diag diag = { 0 };
	struct machine m;

	machine_init_fixture(&m, "hwmon-garbage");
	assert_int_equal(machine_open(&m, &watt_power_power_supply), -EIO);
	assert_int_equal(m.world.n_warnings, 1);
	assert_non_null(strstr(m.world.text, "power_now left out: its number is out of range"));
	assert_int_equal(watt_power_power_supply.probe(&m.world.env, &diag), -EIO);
	assert_int_equal(diag.state, WATT_BROKEN);
	machine_done(&m);

	machine_init_fixture(&m, "tx2");
	assert_int_equal(watt_power_power_supply.probe(&m.world.env, &diag), -ENODEV);
	assert_int_equal(diag.state, WATT_ABSENT);
	assert_int_equal(diag.n_channels, 0);
	machine_done(&m);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_laptop),     cmocka_unit_test(test_no_status),
		cmocka_unit_test(test_negotiated), cmocka_unit_test(test_steam_deck),
		cmocka_unit_test(test_signs),      cmocka_unit_test(test_falling_energy),
		cmocka_unit_test(test_unplugged),  cmocka_unit_test(test_garbage_and_nothing),
	};

	return cmocka_run_group_tests_name("power_supply", tests, NULL, NULL);
}
