/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/power/context.c */
#include <math.h>

#include "sensors.h"

static void assert_near(double value, double wanted, double tolerance)
{
	if (!(fabs(value - wanted) <= tolerance))
		fail_msg("%.9g is not %.9g", value, wanted);
}

static void check(const struct machine *m, const char *name, enum watt_quantity quantity,
		  double value)
{
	struct watt_sample sample = sample_named((struct machine *)m, name);
	const struct watt_channel *c = channel_named(m->power, name);

	assert_int_equal(c->quantity, quantity);
	assert_int_equal(sample.status, WATT_STATUS_OK);
	assert_near((double)sample.raw * (double)c->scale_num / (double)c->scale_den /
			    watt_quantity_per_unit(quantity),
		    value, value < 0 ? -value * 1e-5 : value * 1e-5);
}

/* How often a group is read at most. */
static void check_tier(const struct watt_power *power, const char *name, uint64_t period_ms)
{
	uint32_t channel = 0, g = 0;

	while (strcmp(power->channels[channel].name, name))
		channel++;
	while (channel < power->groups[g].first ||
	       channel >= power->groups[g].first + power->groups[g].n)
		g++;
	assert_int_equal(power->groups[g].period_ns, period_ms * 1000000);
}

static void test_jetson(void **state)
{
	struct machine m;

	machine_init_fixture(&m, "jetson-agx-orin");
	assert_int_equal(machine_open(&m, &watt_power_context), 0);
	check_sensors(m.power);
	assert_int_equal(m.power->n_channels, 7 + 12);
	check_tier(m.power, "context/gpu/load", 1);
	check_tier(m.power, "context/memory/used", 1);
	check_tier(m.power, "context/memory/emc", 1);
	check_tier(m.power, "context/policy0/clock", 10);
	check_tier(m.power, "context/tboard-thermal/temperature", 100);
	check(&m, "context/gpu/load", WATT_QUANTITY_RATIO, 0.523);
	check(&m, "context/policy0/clock", WATT_QUANTITY_FREQUENCY, 2201600000.0);
	check(&m, "context/memory/available", WATT_QUANTITY_MEMORY, 28764180.0 * 1024);
	check(&m, "context/memory/used", WATT_QUANTITY_MEMORY, (31413836.0 - 28764180.0) * 1024);
	/* 425,984 of the 2,133,000 cycles of 1 ms */
	check(&m, "context/memory/emc", WATT_QUANTITY_RATIO, 425984.0 / 2133000.0);
	check(&m, "context/cpu-thermal/temperature", WATT_QUANTITY_TEMPERATURE, 48.218);
	/* a board outside, in winter */
	check(&m, "context/tboard-thermal/temperature", WATT_QUANTITY_TEMPERATURE, -4.5);
	assert_string_equal(channel_named(m.power, "context/policy0/clock")->label, "0 1 2 3");
	/* of this machine's tree alone: no BPF */
	assert_string_equal(m.world.text,
			    "context: what CPUs do is known by ticks, every 100 ms\n");
	machine_done(&m);
}

/* A GPU that has devfreq: the load is that of its device, and not there twice. */
static void test_devfreq(void **state)
{
	char *dir = scratch_new();
	struct machine m;

	scratch_write(dir, "proc/stat", "");
	scratch_write(dir, "sys/class/devfreq/17000000.gpu/device/of_node/name", "gpu");
	scratch_write(dir, "sys/class/devfreq/17000000.gpu/device/load", "990\n");
	scratch_write(dir, "sys/class/devfreq/17000000.gpu/cur_freq", "1300500000\n");
	scratch_write(dir, "sys/class/devfreq/15340000.vic/cur_freq", "435200000\n");
	scratch_write(dir, "sys/devices/platform/17000000.gpu/load", "990\n");
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_context), 0);
	assert_int_equal(m.power->n_channels, 2);
	check(&m, "context/17000000_gpu/load", WATT_QUANTITY_RATIO, 0.99);
	check(&m, "context/17000000_gpu/clock", WATT_QUANTITY_FREQUENCY, 1300500000.0);
	machine_done(&m);
	scratch_remove(dir);
}

static void test_fans(void **state)
{
	char *dir = scratch_new();
	struct machine m;

	scratch_write(dir, "proc/stat", "");
	scratch_write(dir, "sys/class/hwmon/hwmon2/fan1_input", "2400\n");
	scratch_write(dir, "sys/class/hwmon/hwmon2/fan1_min", "100\n");
	scratch_write(dir, "sys/class/hwmon/hwmon2/pwm1", "51\n");
	scratch_write(dir, "sys/class/hwmon/hwmon2/pwm1_enable", "2\n");
	scratch_write(dir, "sys/class/hwmon/hwmon2/in1_input", "5000\n");
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_context), 0);
	assert_int_equal(m.power->n_channels, 2);
	check(&m, "context/hwmon2/fan1_input", WATT_QUANTITY_SPEED, 2400);
	check(&m, "context/hwmon2/pwm1", WATT_QUANTITY_RATIO, 0.2);
	machine_done(&m);
	scratch_remove(dir);
}

/* What stops to be there, or to be a number, has no value; the others have. */
static void test_missing(void **state)
{
	char *dir = scratch_new();
	struct machine m;

	scratch_write(dir, "proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 400 kB\n");
	scratch_write(dir, "sys/kernel/debug/cactmon/mc_all", "10\n");
	scratch_write(dir, "sys/kernel/debug/cactmon/sample_period_usec", "1000\n");
	scratch_write(dir, "sys/kernel/debug/clk/emc/clk_rate", "1000000\n");
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_context), 0);
	check(&m, "context/memory/emc", WATT_QUANTITY_RATIO, 0.01);
	scratch_write(dir, "sys/kernel/debug/clk/emc/clk_rate", "0\n");
	scratch_write(dir, "proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: much\n");
	assert_int_equal(sample_named(&m, "context/memory/emc").status, WATT_STATUS_NODATA);
	assert_int_equal(sample_named(&m, "context/memory/used").status, WATT_STATUS_BROKEN);
	scratch_write(dir, "proc/meminfo", "MemTotal: 1000 kB\nMemAvailableNot: 4 kB\n");
	assert_int_equal(sample_named(&m, "context/memory/used").status, WATT_STATUS_NODATA);
	/* opened anew each time: what another file is there now says */
	scratch_write(dir, "sys/kernel/debug/clk/emc/clk_rate", "2000000\n");
	check(&m, "context/memory/emc", WATT_QUANTITY_RATIO, 0.005);
	machine_done(&m);
	scratch_remove(dir);
}

static void check_busy(struct machine *m, const char *name, uint32_t status, int64_t ppm)
{
	struct watt_sample sample = sample_named(m, name);

	assert_int_equal(sample.status, status);
	assert_int_equal(sample.raw, ppm);
}

/* By ticks, as a captured machine has them: each look tells of the time since the one before. */
static void test_cpus(void **state)
{
	char *dir = scratch_new();
	struct machine m;

	scratch_write(dir, "sys/devices/system/cpu/present", "0-1,3\n");
	scratch_write(dir, "proc/stat", "cpu 1 1 1 1\ncpu0 100 0 0 900 0\ncpu3 0 0 0 500 0\n");
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_context), 0);
	assert_int_equal(m.power->n_channels, 3);
	check_sensors(m.power);
	check_tier(m.power, "context/cpu3/busy", 100);
	/* nothing has moved yet; one that is offline has no value */
	check_busy(&m, "context/cpu0/busy", WATT_STATUS_NODATA, 0);
	check_busy(&m, "context/cpu1/busy", WATT_STATUS_NODATA, 0);
	/* 3 of 4 ticks; waiting for I/O is not busy */
	scratch_write(dir, "proc/stat",
		      "cpu 1 1 1 1\ncpu0 102 0 1 900 1\ncpu1 5 0 0 5\ncpu3 0 0 0 510 0\n");
	check_busy(&m, "context/cpu0/busy", WATT_STATUS_OK, 750000);
	check_busy(&m, "context/cpu0/busy", WATT_STATUS_NOTHING_NEW, 0);
	scratch_write(dir, "proc/stat",
		      "cpu 1 1 1 1\ncpu0 102 0 1 904 1\ncpu1 6 0 0 6\ncpu3 10 0 0 510 0\n");
	check_busy(&m, "context/cpu3/busy", WATT_STATUS_OK, 1000000);
	/* it came online: the time before it did is no one's */
	scratch_write(dir, "proc/stat", "cpu 1 1 1 1\ncpu0 102 0 1 914 1\ncpu1 9 0 0 7\n");
	check_busy(&m, "context/cpu1/busy", WATT_STATUS_OK, 750000);
	check_busy(&m, "context/cpu3/busy", WATT_STATUS_NODATA, 0);
	scratch_write(dir, "proc/stat", "no CPU\n");
	check_busy(&m, "context/cpu0/busy", WATT_STATUS_BROKEN, 0);
	machine_done(&m);
	scratch_remove(dir);
}

static void write_idle(const char *dir, int cpu, const char *poll, const char *deep)
{
	char path[80];

	snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/cpuidle/state0/time", cpu);
	scratch_write(dir, path, poll);
	snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/cpuidle/state1/time", cpu);
	scratch_write(dir, path, deep);
}

/* By cpuidle, where all that are online have it. */
static void test_cpus_by_idle(void **state)
{
	char *dir = scratch_new();
	struct machine m;

	scratch_write(dir, "sys/devices/system/cpu/present", "0-1,3\n");
	scratch_write(dir, "proc/stat", "cpu 1 1 1 1\ncpu0 100 0 0 900 0\ncpu3 0 0 0 500 0\n");
	write_idle(dir, 0, "10\n", "8999000\n");
	write_idle(dir, 3, "0\n", "5000000\n");
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_context), 0);
	check_tier(m.power, "context/cpu3/busy", 10);
	check_busy(&m, "context/cpu1/busy", WATT_STATUS_NODATA, 0);
	/* a tick of work; and an idle period that has ended and began before all looks */
	scratch_write(dir, "proc/stat", "cpu 1 1 1 1\ncpu0 101 0 0 900 0\ncpu3 0 0 0 500 0\n");
	write_idle(dir, 3, "0\n", "5000000000\n");
	check_busy(&m, "context/cpu0/busy", WATT_STATUS_OK, 1000000);
	write_idle(dir, 3, "1\n", "6000000000\n");
	scratch_write(dir, "proc/stat", "cpu 1 1 1 1\ncpu0 102 0 0 900 0\ncpu3 0 0 0 500 0\n");
	check_busy(&m, "context/cpu3/busy", WATT_STATUS_OK, 0);
	/* it came online, without cpuidle; another one left */
	scratch_write(dir, "proc/stat", "cpu 1 1 1 1\ncpu0 103 0 0 900 0\ncpu1 0 0 0 5\n");
	check_busy(&m, "context/cpu1/busy", WATT_STATUS_NODATA, 0);
	check_busy(&m, "context/cpu3/busy", WATT_STATUS_NODATA, 0);
	write_idle(dir, 0, "0x\n", "8999000\n");
	check_busy(&m, "context/cpu0/busy", WATT_STATUS_BROKEN, 0);
	machine_done(&m);
	scratch_remove(dir);
}

/* One that is online has none: all are told by ticks. */
static void test_cpus_half_idle(void **state)
{
	char *dir = scratch_new();
	struct machine m;

	scratch_write(dir, "sys/devices/system/cpu/present", "0-1\n");
	scratch_write(dir, "proc/stat", "cpu 1 1 1 1\ncpu0 100 0 0 900 0\ncpu1 0 0 0 500 0\n");
	write_idle(dir, 0, "10\n", "8999000\n");
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_context), 0);
	check_tier(m.power, "context/cpu0/busy", 100);
	machine_done(&m);
	scratch_remove(dir);
}

/* Without a list of those that are present: those that are online. */
static void test_cpus_unlisted(void **state)
{
	char *dir = scratch_new();
	struct machine m;

	scratch_write(dir, "sys/x", "");
	scratch_write(dir, "proc/stat", "cpu 1 1 1 1\ncpu0 1 0 0 9\ncpu2 1 0 0 9\n");
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_context), 0);
	assert_int_equal(m.power->n_channels, 2);
	channel_named(m.power, "context/cpu2/busy");
	machine_done(&m);
	scratch_remove(dir);
}

static void write_zone(const char *dir, int number, const char *type, const char *temp)
{
	char path[64];

	snprintf(path, sizeof(path), "sys/class/thermal/thermal_zone%d/type", number);
	scratch_write(dir, path, type);
	snprintf(path, sizeof(path), "sys/class/thermal/thermal_zone%d/temp", number);
	scratch_write(dir, path, temp);
}

/* Only what the board names is read, and in its order; a GPU's load is where it says. */
static void test_board(void **state)
{
	char *dir = scratch_new();
	struct machine m;

	scratch_write(dir, "proc/stat", "");
	scratch_write(dir, "sys/firmware/devicetree/base/compatible", "nvidia,p2888");
	/* always 100 degrees, whatever happens */
	write_zone(dir, 0, "PMIC-Die\n", "100000\n");
	write_zone(dir, 1, "GPU-therm\n", "41000\n");
	write_zone(dir, 2, "CPU-therm\n", "42500\n");
	scratch_write(dir, "sys/devices/gpu.0/load", "120\n");
	scratch_write(dir, "sys/class/devfreq/17000000.gv11b/device/load", "120\n");
	scratch_write(dir, "sys/class/devfreq/17000000.gv11b/cur_freq", "1377000000\n");
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_context), 0);
	assert_int_equal(m.power->n_channels, 4);
	check(&m, "context/gpu/load", WATT_QUANTITY_RATIO, 0.12);
	check(&m, "context/17000000_gv11b/clock", WATT_QUANTITY_FREQUENCY, 1377000000.0);
	assert_string_equal(m.power->channels[2].name, "context/cpu-therm/temperature");
	assert_string_equal(m.power->channels[3].name, "context/gpu-therm/temperature");
	machine_close_source(&m);
	/* a kernel that calls all of them otherwise: better all than none */
	write_zone(dir, 1, "gpu\n", "41000\n");
	write_zone(dir, 2, "cpu\n", "42500\n");
	assert_int_equal(machine_open(&m, &watt_power_context), 0);
	assert_int_equal(m.power->n_channels, 5);
	machine_done(&m);
	scratch_remove(dir);
}

static void test_board_of_user(void **state)
{
	char *compatible[] = { (char *)"acme,carrier" };
	char *loads[] = { (char *)"a/none", (char *)"a/load", NULL };
	char *zones[] = { (char *)"lid", NULL };
	struct watt_config_rail rail = { (char *)"vin", (char *)"vin", .kind = -1 };
	struct watt_config_board board = {
		.name = (char *)"Carrier",
		.compatible = compatible,
		.n_compatible = 1,
		.rails = &rail,
		.n_rails = 1,
		.gpu_loads = loads,
		.n_gpu_loads = 2,
		.zones = zones,
		.n_zones = 1,
		.emc = { (char *)"a/activity", (char *)"a/period", (char *)"a/rate" },
	};
	char *dir = scratch_new();
	struct machine m;

	scratch_write(dir, "proc/stat", "");
	scratch_write(dir, "sys/firmware/devicetree/base/compatible", "acme,carrier-7");
	scratch_write(dir, "sys/a/load", "700\n");
	scratch_write(dir, "sys/a/activity", "100\n");
	scratch_write(dir, "sys/a/period", "1000\n");
	scratch_write(dir, "sys/a/rate", "1000000\n");
	write_zone(dir, 0, "cpu-thermal\n", "50000\n");
	write_zone(dir, 1, "lid\n", "30000\n");
	machine_init(&m, dir);
	m.config.boards = &board;
	m.config.n_boards = 1;
	assert_int_equal(machine_open(&m, &watt_power_context), 0);
	assert_int_equal(m.power->n_channels, 3);
	check(&m, "context/gpu/load", WATT_QUANTITY_RATIO, 0.7);
	check(&m, "context/memory/emc", WATT_QUANTITY_RATIO, 0.1);
	check(&m, "context/lid/temperature", WATT_QUANTITY_TEMPERATURE, 30.0);
	machine_done(&m);
	scratch_remove(dir);
}

static void test_nothing(void **state)
{
	char *dir = scratch_new();
	struct machine m;

	scratch_write(dir, "proc/stat", "");
	scratch_write(dir, "sys/x", "");
	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_context), -ENODEV);
	machine_done(&m);
	scratch_remove(dir);
}

/* Only where it is asked for. */
static void test_is_no_power(void **state)
{
	assert_true(watt_power_context.flags & WATT_POWER_CONTEXT);
	assert_true(watt_power_context.flags & WATT_POWER_BLOCKING);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jetson),         cmocka_unit_test(test_devfreq),
		cmocka_unit_test(test_fans),           cmocka_unit_test(test_missing),
		cmocka_unit_test(test_board),          cmocka_unit_test(test_board_of_user),
		cmocka_unit_test(test_nothing),        cmocka_unit_test(test_is_no_power),
		cmocka_unit_test(test_cpus),           cmocka_unit_test(test_cpus_by_idle),
		cmocka_unit_test(test_cpus_half_idle), cmocka_unit_test(test_cpus_unlisted),
	};

	return cmocka_run_group_tests_name("context", tests, NULL, NULL);
}
