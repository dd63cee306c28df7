/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lib/source/power/nvml: what it takes for a GPU's energy, against a driver that is not there and
 * whose truth is known. Time is the script's where it matters, and stands still.
 */
#include "unit.h"

#include <wattribute/wattribute.h>

#include "base/util.h"
#include "fake_nvml.h"
#include "source/host/nvml.h"
#include "source/power/nvml/counter_check.h"
#include "source/power/nvml/gpu_gauge.h"
#include "source/power/nvml/gpu_news.h"
#include "source/power/nvml/gpu_timing.h"
#include "source/registry.h"

#define MS WATT_NSEC_PER_MSEC
#define S WATT_NSEC_PER_SEC

/* Quick, so that the check of its counter is. */
#define H100 "gpu GPU-8c2b 00000000:0D:00.0 NVIDIA H100 80GB HBM3\nperiod_ms 5\npower 0 120000\n"

static struct watt_power *open_power(struct fake *fake)
{
	struct watt_power *power;

	assert_int_equal(watt_power_nvml.open(&fake->env, &power), 0);
	return power;
}

/* The first of the group. */
static void read_one(struct watt_power *power, uint32_t group, struct watt_sample *ret)
{
	struct watt_sample samples[WATT_N_GPU_GAUGES];

	assert_in_range(power->groups[group].n, 1, WATT_N_GPU_GAUGES);
	power->ops->read(power, group, samples);
	assert_true(samples[0].t_after_ns >= samples[0].t_before_ns);
	*ret = samples[0];
}

static void test_counter(void **state)
{
	const struct watt_channel *channel;
	struct watt_sample samples[WATT_GPU_MAX_METERS];
	struct watt_power *power;
	struct fake fake;
	uint64_t calls;

	fake_init(&fake, "WATT_FAKE_NVML", H100 "module 300000\nmemory 30000\n");
	power = open_power(&fake);
	assert_int_equal(power->groups[0].n, 4); /* behind it what the GPU is like */
	channel = &power->channels[0];
	assert_string_equal(channel->name, "nvml/gpu-0000:0d:00_0");
	assert_string_equal(channel->domain, "gpu-0000:0d:00_0");
	assert_string_equal(channel->label, "NVIDIA H100 80GB HBM3 GPU-8c2b");
	assert_int_equal(channel->kind, WATT_DOMAIN_GPU);
	assert_int_equal(channel->quantity, WATT_QUANTITY_ENERGY);
	assert_int_equal(channel->max_power_uw, 4000000000);
	assert_int_equal(channel->flags, WATT_CHANNEL_STEPS);
	assert_string_equal(power->channels[1].name, "nvml/gpu-0000:0d:00_0/instant");
	assert_string_equal(power->channels[1].domain, "gpu-0000:0d:00_0");
	assert_int_equal(power->channels[1].flags, WATT_CHANNEL_STEPS | WATT_CHANNEL_HELPS);
	assert_string_equal(power->channels[2].domain, "gpu-0000:0d:00_0:module");
	assert_int_equal(power->channels[2].flags,
			 WATT_CHANNEL_STEPS | WATT_CHANNEL_OVERLAP_UNKNOWN);
	assert_string_equal(power->channels[3].domain, "gpu-0000:0d:00_0/memory");
	assert_int_equal(power->channels[3].quantity, WATT_QUANTITY_POWER);
	assert_int_equal(power->channels[3].coverage_ppm, 250000);
	fake.set_clock(10 * S);
	calls = fake.calls();
	power->ops->read(power, 0, samples);
	assert_int_equal(fake.calls(), calls + 1); /* all of one time */
	assert_int_equal(samples[0].status, WATT_STATUS_OK);
	assert_int_equal(samples[0].raw, 5000000 + 1200000); /* mJ */
	assert_int_equal(samples[1].raw, 120000);
	assert_int_equal(samples[2].raw, 420000);
	assert_int_equal(samples[3].raw, 30000);
	power->ops->close(power);
	fake_done(&fake);
}

struct choice {
	const char *script;
	enum watt_quantity quantity;
	uint64_t window_ns, coverage_ppm;
};

/* A counter that stands still or counts something else is not believed. */
static void test_choices(void **state)
{
	static const struct choice choices[] = {
		{ H100 "stuck\n", WATT_QUANTITY_POWER, 25 * MS, 250000 },
		{ H100 "energy_factor 40\n", WATT_QUANTITY_POWER, 25 * MS, 250000 },
		{ H100 "lacks energy\n", WATT_QUANTITY_POWER, 25 * MS, 250000 },
		{ H100 "lacks energy\nlacks instant\n", WATT_QUANTITY_POWER, 1000 * MS, 1000000 },
		{ H100 "lacks energy\nlacks instant\nlacks average\narchitecture 5\n",
		  WATT_QUANTITY_POWER, 10 * MS, 500000 },
		{ H100 "lacks energy\narchitecture 7\n", WATT_QUANTITY_POWER, 100 * MS, 1000000 },
		{ H100 "lacks energy\narchitecture 7\nlacks average\n", WATT_QUANTITY_POWER,
		  25 * MS, 250000 },
	};
	struct watt_sample sample;
	struct watt_power *power;
	struct fake fake;
	size_t i;

	for (i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		fake_init(&fake, "WATT_FAKE_NVML", choices[i].script);
		power = open_power(&fake);
		assert_int_equal(power->channels[0].quantity, choices[i].quantity);
		assert_int_equal(power->channels[0].window_ns, choices[i].window_ns);
		assert_int_equal(power->channels[0].coverage_ppm, choices[i].coverage_ppm);
		read_one(power, 0, &sample);
		assert_int_equal(sample.status, WATT_STATUS_OK);
		assert_int_equal(sample.raw, 120000);
		power->ops->close(power);
		fake_done(&fake);
	}
}

/* A100, H100 and what nobody has looked at see a quarter; how sure that is follows from it. */
static void test_table(void **state)
{
	static const struct {
		unsigned int architecture;
		bool has_average;
		uint64_t period_ns, window_ns;
	} rows[] = {
		{ WATT_GPU_MAXWELL, false, 20 * MS, 200 * MS },
		{ WATT_GPU_VOLTA, false, 20 * MS, 10 * MS },
		{ WATT_GPU_TURING, false, 100 * MS, 100 * MS },
		{ WATT_GPU_AMPERE, false, 100 * MS, 25 * MS }, /* A100 */
		{ WATT_GPU_AMPERE, true, 100 * MS, 100 * MS }, /* RTX 30 */
		{ WATT_GPU_ADA, true, 100 * MS, 100 * MS },
		{ WATT_GPU_HOPPER, true, 100 * MS, 25 * MS },
		{ 10, true, 100 * MS, 25 * MS }, /* Blackwell: nobody has looked */
		{ 0xffffffff, false, 100 * MS, 25 * MS },
		{ 0, false, 100 * MS, 25 * MS },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct watt_gpu_timing timing =
			watt_gpu_timing_instant(rows[i].architecture, rows[i].has_average);
		uint64_t seen_ns = WATT_MIN(timing.window_ns, timing.period_ns);

		assert_int_equal(timing.period_ns, rows[i].period_ns);
		assert_int_equal(timing.window_ns, rows[i].window_ns);
		assert_int_equal(timing.coverage_ppm, seen_ns * 1000000 / timing.period_ns);
		assert_int_equal(timing.uncertainty_ppm,
				 timing.coverage_ppm < 1000000 ? 50000 : 28868);
	}
}

/* A driver of years ago: no field values, no lists of the third layout. */
static void test_old_driver(void **state)
{
	struct watt_sample sample;
	struct watt_power *power;
	struct fake fake;

	fake_init(&fake, "WATT_FAKE_NVML_OLD", H100);
	power = open_power(&fake);
	assert_int_equal(power->channels[0].quantity, WATT_QUANTITY_ENERGY);
	read_one(power, 0, &sample);
	assert_int_equal(sample.status, WATT_STATUS_OK);
	power->ops->close(power);
	assert_int_equal(fake.load(H100 "lacks energy\n"), 0);
	power = open_power(&fake);
	assert_int_equal(power->channels[0].quantity, WATT_QUANTITY_POWER);
	read_one(power, 0, &sample);
	assert_int_equal(sample.raw, 120000);
	power->ops->close(power);
	fake_done(&fake);
}

/* ---- samples that the driver keeps ---- */

/* From the best way to the last one: what fails, or is not there, makes room for the next. */
static void test_ladder(void **state)
{
	static const struct {
		const char *driver, *script, *witness;
		enum watt_quantity quantity;
		uint64_t period_ns, window_ns;
	} steps[] = {
		{ "WATT_FAKE_NVML", H100, "/instant", WATT_QUANTITY_ENERGY, 100 * MS, 0 },
		{ "WATT_FAKE_NVML", H100 "error nvmlDeviceGetTotalEnergyConsumption 0 3\nstuck\n",
		  "/average", WATT_QUANTITY_POWER, 100 * MS, 25 * MS },
		{ "WATT_FAKE_NVML", H100 "lacks energy\nlacks instant\n", NULL, WATT_QUANTITY_POWER,
		  100 * MS, 1000 * MS },
		{ "WATT_FAKE_NVML", H100 "lacks energy\nlacks instant\nlacks average\n", NULL,
		  WATT_QUANTITY_POWER, 100 * MS, 1000 * MS },
		{ "WATT_FAKE_NVML", H100 "error nvmlDeviceGetFieldValues 0 999\nlacks energy\n",
		  NULL, WATT_QUANTITY_POWER, 100 * MS, 1000 * MS },
		{ "WATT_FAKE_NVML_OLD", H100 "lacks energy\narchitecture 5\n", NULL,
		  WATT_QUANTITY_POWER, 20 * MS, 10 * MS },
		{ "WATT_FAKE_NVML",
		  H100 "lacks energy\nlacks instant\nlacks average\nlacks usage\nage 20000\n", NULL,
		  WATT_QUANTITY_POWER, 20 * MS, 5 * MS },
		{ "WATT_FAKE_NVML_OLD",
		  H100 "lacks energy\nerror nvmlDeviceGetPowerUsage 0 999\nage 20000\n", NULL,
		  WATT_QUANTITY_POWER, 20 * MS, 5 * MS },
		{ "WATT_FAKE_NVML_BARE", H100 "age 20000\nbuffer_ms 50\n", NULL,
		  WATT_QUANTITY_POWER, 50 * MS, 12500 * 1000 },
	};
	struct watt_power *power;
	struct watt_sample sample;
	struct fake fake;
	size_t i;

	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		const struct watt_channel *channel;

		fake_init(&fake, steps[i].driver, steps[i].script);
		power = open_power(&fake);
		channel = &power->channels[0];
		if (channel->quantity != steps[i].quantity ||
		    channel->period_ns != steps[i].period_ns ||
		    channel->window_ns != steps[i].window_ns)
			fail_msg("step %zu: %s every %lu us, of %lu us", i,
				 channel->quantity == WATT_QUANTITY_ENERGY ? "energy" : "power",
				 (unsigned long)(channel->period_ns / 1000),
				 (unsigned long)(channel->window_ns / 1000));
		assert_int_equal(power->groups[0].n, steps[i].witness ? 2 : 1);
		if (steps[i].witness)
			assert_non_null(strstr(power->channels[1].name, steps[i].witness));
		read_one(power, 0, &sample);
		assert_int_equal(sample.status, WATT_STATUS_OK);
		if (channel->quantity == WATT_QUANTITY_POWER)
			assert_int_equal(sample.raw, 120000);
		power->ops->close(power);
		fake_done(&fake);
	}
}

/* No way at all: nothing is measured, and nothing is made up. */
static void test_no_way(void **state)
{
	struct watt_power *power;
	struct fake fake;

	fake_init(&fake, "WATT_FAKE_NVML_BARE", H100 "lacks buffer\n");
	assert_int_equal(watt_power_nvml.open(&fake.env, &power), -ENODEV);
	assert_int_equal(fake.load(H100 "error nvmlDeviceGetSamples 0 999\nage 20000\n"), 0);
	assert_int_equal(watt_power_nvml.open(&fake.env, &power), -ENODEV);
	fake_done(&fake);
}

/* Each sample that the driver keeps, once, in order, with its own time. */
static void test_buffer(void **state)
{
	struct watt_sample sample;
	struct watt_power *power;
	uint64_t last_ns = 0, calls, t_ms;
	struct fake fake;
	int n = 0, i;

	fake_init(&fake, "WATT_FAKE_NVML_BARE",
		  H100 "age 20000\npower 10 250000\nerror nvmlDeviceGetSamples 12.5 10\n"
		       "error nvmlDeviceGetSamples 13 0\n");
	fake.set_clock(9500 * MS);
	power = open_power(&fake);
	assert_int_equal(power->groups[0].period_ns, 200 * MS);
	for (t_ms = 9700; t_ms <= 12300; t_ms += 200) {
		fake.set_clock(t_ms * MS);
		calls = fake.calls();
		for (i = 0; i < 100; i++) {
			power->ops->read(power, 0, &sample);
			if (sample.status == WATT_STATUS_NOTHING_NEW)
				break;
			assert_int_equal(sample.status, WATT_STATUS_OK);
			assert_true(sample.t_before_ns == sample.t_after_ns);
			assert_true(sample.t_after_ns > last_ns);
			if (n > 1)
				assert_in_range(sample.t_after_ns - last_ns, 19 * MS, 21 * MS);
			last_ns = sample.t_after_ns;
			n++;
			if (!power->ops->next_ns(power, 0, 200 * MS))
				break;
		}
		assert_int_equal(fake.calls(), calls + (t_ms > 9700));
	}
	assert_int_equal(n, 1 + (12300 - 9500) / 20);
	assert_int_equal(sample.raw, 250000);
	fake.set_clock(12700 * MS);
	for (i = 0; i < 20; i++)
		power->ops->read(power, 0, &sample);
	assert_int_equal(sample.status, WATT_STATUS_NODATA);
	/* what was kept meanwhile is not lost */
	fake.set_clock(13100 * MS);
	for (i = 0; i < 40; i++) {
		power->ops->read(power, 0, &sample);
		assert_int_equal(sample.status, WATT_STATUS_OK);
		if (i)
			assert_in_range(sample.t_after_ns - last_ns, 19 * MS, 21 * MS);
		last_ns = sample.t_after_ns;
	}
	power->ops->close(power);
	fake_done(&fake);
}

static void test_sixteen(void **state)
{
	char script[4096] = "", line[160];
	struct watt_sample sample;
	struct watt_power *power;
	struct fake fake;
	uint32_t i;

	for (i = 0; i < 16; i++) {
		snprintf(line, sizeof(line),
			 "gpu GPU-%u 00000000:%02X:00.0 GPU number %u\nperiod_ms 5\npower 0 %u\n",
			 i, i + 1, i, 100000 + i);
		strcat(script, line);
	}
	fake_init(&fake, "WATT_FAKE_NVML", script);
	power = open_power(&fake);
	assert_int_equal(power->n_groups, 2 * 16);
	fake.set_clock(100 * S);
	for (i = 0; i < 16; i++) {
		read_one(power, i, &sample);
		assert_int_equal(sample.raw, 5000000 + 100 * (100000 + i));
	}
	power->ops->close(power);
	fake_done(&fake);
}

/* ---- what a GPU is like ---- */

#define LIKE \
	H100 "temperature 61 74\nclock 1755 2619\nlimit 700000\ncard_mb 81559\nheld 0 0\n" \
	     "held 20 4\nheld 30 64\nprocess 77 0 40\n"

static void check_gauge(const struct watt_power *power, const struct watt_sample *samples,
			const char *part, enum watt_quantity quantity, int64_t value)
{
	char name[96];
	uint32_t i;

	snprintf(name, sizeof(name), "nvml/gpu-0000:0d:00_0/%s", part);
	for (i = power->groups[1].first; i < power->n_channels; i++) {
		const struct watt_channel *channel = &power->channels[i];
		const struct watt_sample *sample = &samples[i - power->groups[1].first];

		if (strcmp(channel->name, name))
			continue;
		assert_int_equal(channel->quantity, quantity);
		assert_int_equal(sample->status, WATT_STATUS_OK);
		assert_int_equal((int64_t)channel->scale_num * sample->raw, value);
		return;
	}
	fail_msg("there is no %s", name);
}

static void test_gauges(void **state)
{
	static const char *const drivers[] = { "WATT_FAKE_NVML", "WATT_FAKE_NVML_OLD" };
	struct watt_sample samples[WATT_N_GPU_GAUGES];
	struct watt_power *power;
	struct fake fake;
	size_t i;

	for (i = 0; i < 2; i++) {
		fake_init(&fake, drivers[i], LIKE);
		power = open_power(&fake);
		assert_int_equal(power->n_groups, 2);
		/* the old driver has no fields */
		assert_int_equal(power->groups[1].n, WATT_N_GPU_GAUGES - i);
		assert_int_equal(power->groups[1].period_ns, S);
		fake.set_clock(25 * S);
		power->ops->read(power, 1, samples);
		check_gauge(power, samples, "temperature", WATT_QUANTITY_TEMPERATURE, 61000);
		if (!i)
			check_gauge(power, samples, "memory_temperature", WATT_QUANTITY_TEMPERATURE,
				    74000);
		check_gauge(power, samples, "clock", WATT_QUANTITY_FREQUENCY, 1755000000);
		check_gauge(power, samples, "memory_clock", WATT_QUANTITY_FREQUENCY, 2619000000);
		check_gauge(power, samples, "power_limit", WATT_QUANTITY_LIMIT, 700000000);
		check_gauge(power, samples, "memory_used", WATT_QUANTITY_MEMORY, 1 << 20);
		check_gauge(power, samples, "load", WATT_QUANTITY_RATIO, 400000);
		check_gauge(power, samples, "held_by_power", WATT_QUANTITY_RATIO, 1000000);
		check_gauge(power, samples, "held_by_heat", WATT_QUANTITY_RATIO, 0);
		fake.set_clock(35 * S);
		power->ops->read(power, 1, samples);
		check_gauge(power, samples, "held_by_power", WATT_QUANTITY_RATIO, 0);
		check_gauge(power, samples, "held_by_heat", WATT_QUANTITY_RATIO, 1000000);
		power->ops->close(power);
		fake_done(&fake);
	}
}

/* ---- what goes wrong ---- */

struct failure {
	const char *line;
	enum watt_status status, next;
};

static void test_failures(void **state)
{
	static const struct failure failures[] = {
		{ "error nvmlDeviceGetFieldValues 50 15\n", WATT_STATUS_ABSENT,
		  WATT_STATUS_ABSENT },
		{ "error nvmlDeviceGetFieldValues 50 18\n", WATT_STATUS_BROKEN,
		  WATT_STATUS_ABSENT },
		{ "error nvmlDeviceGetFieldValues 50 4\n", WATT_STATUS_FORBIDDEN,
		  WATT_STATUS_FORBIDDEN },
		{ "error nvmlDeviceGetFieldValues 50 10\n", WATT_STATUS_NODATA,
		  WATT_STATUS_NODATA },
		{ "error nvmlDeviceGetFieldValues 50 999\n", WATT_STATUS_BROKEN,
		  WATT_STATUS_BROKEN },
	};
	char script[512];
	struct watt_sample sample;
	struct watt_power *power;
	struct fake fake;
	size_t i;

	for (i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
		snprintf(script, sizeof(script), "%s%s", H100, failures[i].line);
		fake_init(&fake, "WATT_FAKE_NVML", script);
		power = open_power(&fake);
		fake.set_clock(10 * S);
		read_one(power, 0, &sample);
		assert_int_equal(sample.status, WATT_STATUS_OK);
		fake.set_clock(60 * S);
		read_one(power, 0, &sample);
		assert_int_equal(sample.status, failures[i].status);
		/* not asked at once again */
		assert_int_equal(power->ops->next_ns(power, 0, power->groups[0].period_ns), 0);
		read_one(power, 0, &sample);
		assert_int_equal(sample.status, failures[i].next);
		power->ops->close(power);
		fake_done(&fake);
	}
}

static void count_losses(void *data, enum watt_log_level level, const char *text)
{
	*(unsigned int *)data += level == WATT_LOG_WARNING &&
				 strstr(text, "fallen off the bus; it is looked for again");
}

/*
 * One that was lost is not asked any more, which is said once; it is found again by who looks for
 * what has come.
 */
static void test_comes_back(void **state)
{
	static const char *const name = "nvml/gpu-0000:0d:00_0";
	const struct watt_known known = { &name, 1 }, nobody = { NULL, 0 };
	struct watt_sample sample;
	struct watt_power *power, *again;
	unsigned int told = 0;
	struct fake fake;
	uint64_t calls;

	fake_init(&fake, "WATT_FAKE_NVML",
		  H100 "error nvmlDeviceGetFieldValues 50 15\n"
		       "error nvmlDeviceGetHandleByIndex_v2 50 15\n");
	fake.env.log = (struct watt_log){ count_losses, &told };
	power = open_power(&fake);
	calls = fake.calls();
	assert_int_equal(watt_power_nvml.rescan(&fake.env, &known, &again), -ENODEV);
	/* looking at a counter until it has moved twice takes more, however busy the machine is */
	assert_in_range(fake.calls() - calls, 1, 20);
	fake.set_clock(60 * S);
	read_one(power, 0, &sample);
	assert_int_equal(sample.status, WATT_STATUS_ABSENT);
	calls = fake.calls();
	read_one(power, 0, &sample);
	assert_int_equal(fake.calls(), calls);
	assert_int_equal(watt_power_nvml.rescan(&fake.env, &nobody, &again), -ENODEV);
	assert_int_equal(told, 1);
	assert_int_equal(fake.load(H100), 0);
	assert_int_equal(watt_power_nvml.rescan(&fake.env, &nobody, &again), 0);
	assert_string_equal(again->channels[0].name, name);
	read_one(again, 0, &sample);
	assert_int_equal(sample.status, WATT_STATUS_OK);
	again->ops->close(again);
	power->ops->close(power);
	fake_done(&fake);
}

static void count_damages(void *data, enum watt_log_level level, const char *text)
{
	*(unsigned int *)data += level == WATT_LOG_WARNING && strstr(text, "it is damaged");
}

/* Told when the card is found, and not by everyone who looks whether others have come. */
static void test_damaged_calibration(void **state)
{
	static const char *const name = "nvml/gpu-0000:0d:00_0";
	const struct watt_known known = { &name, 1 };
	struct watt_power *power, *again;
	unsigned int told = 0;
	struct fake fake;

	fake_init(&fake, "WATT_FAKE_NVML", H100);
	scratch_write(fake.sysfs, "gpu/GPU-8c2b", "instant 1\n");
	fake.env.state_dir = fake.sysfs;
	fake.env.log = (struct watt_log){ count_damages, &told };
	power = open_power(&fake);
	assert_int_equal(told, 1);
	assert_int_equal(watt_power_nvml.rescan(&fake.env, &known, &again), -ENODEV);
	assert_int_equal(watt_power_nvml.rescan(&fake.env, &known, &again), -ENODEV);
	assert_int_equal(told, 1);
	power->ops->close(power);
	fake_done(&fake);
}

#define DEVICE "bus/pci/devices/0000:0d:00.0/power/runtime_status"

static void set_sleep(struct fake *fake, const char *status)
{
	scratch_write_bytes(fake->sysfs, DEVICE, status, strlen(status));
	scratch_write_bytes(fake->sysfs, "bus/pci/drivers/nvidia/0000:0d:00.0/vendor", "", 0);
	scratch_write_bytes(fake->sysfs, "bus/pci/drivers/nvidia/new_id", "", 0);
}

/* A laptop's GPU that sleeps: nobody calls the driver, until it is awake. */
static void test_asleep(void **state)
{
	struct watt_diag diag = { 0 };
	struct watt_sample sample;
	struct watt_power *power;
	struct fake fake;
	uint64_t calls;

	fake_init(&fake, "WATT_FAKE_NVML", H100);
	calls = fake.calls();
	set_sleep(&fake, "suspended\n");
	power = open_power(&fake);
	assert_int_equal(watt_power_nvml.probe(&fake.env, &diag), 0);
	assert_non_null(strstr(diag.why, "1 GPU, asleep"));
	assert_int_equal(power->n_channels, 1);
	assert_string_equal(power->channels[0].domain, "gpu-0000:0d:00_0");
	read_one(power, 0, &sample);
	assert_int_equal(sample.status, WATT_STATUS_NODATA);
	assert_int_equal(fake.calls(), calls);
	set_sleep(&fake, "active\n");
	read_one(power, 0, &sample);
	assert_int_equal(sample.status, WATT_STATUS_OK);
	assert_int_equal(sample.raw, 120000);
	set_sleep(&fake, "suspended\n");
	read_one(power, 0, &sample);
	assert_int_equal(sample.status, WATT_STATUS_NODATA);
	power->ops->close(power);
	fake_done(&fake);
}

/* ---- what a probe says ---- */

static void probe(struct fake *fake, const char *script, int error, enum watt_availability state,
		  const char *why, const char *hint)
{
	struct watt_diag diag = { 0 };

	assert_int_equal(fake->load(script), 0);
	assert_int_equal(watt_power_nvml.probe(&fake->env, &diag), error);
	assert_int_equal(diag.state, state);
	if (!strstr(diag.why, why) || !strstr(diag.hint, hint))
		fail_msg("it says %s; %s", diag.why, diag.hint);
}

static void test_probe(void **state)
{
	struct fake fake;

	fake_init(&fake, "WATT_FAKE_NVML", H100);
	probe(&fake, H100, 0, WATT_AVAILABLE, "driver 575.57.08, 1 GPU: NVIDIA H100", "");
	probe(&fake, "error nvmlInitWithFlags 0 18\n", -ELIBBAD, WATT_BROKEN, "upgraded", "reboot");
	probe(&fake, "error nvmlInitWithFlags 0 4\n", -EACCES, WATT_FORBIDDEN, "/dev/nvidiactl",
	      "container");
	probe(&fake, "error nvmlInitWithFlags 0 9\n", -ENODEV, WATT_ABSENT, "not loaded", "");
	probe(&fake, "", -ENODEV, WATT_ABSENT, "no GPU behind it", "");
	fake.env.nvml_lib = "/nowhere/libnvidia-ml.so.1";
	probe(&fake, H100, -ENODEV, WATT_ABSENT, "no file of that name", "");
	fake.env.nvml_lib = fixture("vm-xeon", "proc/cpuinfo");
	probe(&fake, H100, -ELIBBAD, WATT_BROKEN, "can't be used", "--nvml-lib");
	fake.env.nvml_lib = NULL; /* another machine's tree: this one's driver says nothing of it */
	probe(&fake, H100, -ENODEV, WATT_ABSENT, "no NVIDIA GPU", "");
	fake_done(&fake);
}

/* ---- the parts ---- */

static void test_check(void **state)
{
	struct watt_counter_check check = { 0 }, down = { 0 }, still = { 0 };
	int i;

	/* 100 W in steps of 100 ms, read every 10 ms */
	for (i = 0; i < 30 && !check.verdict; i++)
		watt_counter_check_push(&check, (uint64_t)i * 10 * MS, i / 10 * 10000, 100000);
	assert_int_equal(check.verdict, WATT_COUNTER_TRUSTED);
	watt_counter_check_push(&down, 0, 5, 1000);
	assert_int_equal(watt_counter_check_push(&down, MS, 4, 1000), WATT_COUNTER_IMPOSSIBLE);
	for (i = 0; i < 100; i++)
		watt_counter_check_push(&still, (uint64_t)i * 10 * MS, 7, 1000);
	assert_int_equal(still.verdict, WATT_COUNTER_STUCK);
	/* a machine that is too busy to look often: not the counter's fault */
	check = (struct watt_counter_check){ 0 };
	for (i = 0; i < 5 && !check.verdict; i++)
		watt_counter_check_push(&check, (uint64_t)i * 900 * MS, i * 90000 - i % 2 * 9000,
					100000);
	assert_int_equal(check.verdict, WATT_COUNTER_TRUSTED);
	check = (struct watt_counter_check){ 0 };
	for (i = 0; i < 30 && !check.verdict; i++)
		watt_counter_check_push(&check, (uint64_t)i * 10 * MS, i / 10, 100000);
	assert_int_equal(check.verdict, WATT_COUNTER_IMPOSSIBLE); /* 10 mW */
}

static void test_field_values(void **state)
{
	struct watt_nvml_field field = { .type = 1, .value.u64 = 0xfffffffff0000007 };
	int64_t value = -7;

	assert_int_equal(watt_nvml_field_value(&field, &value), 0);
	assert_int_equal(value, 0xf0000007);
	field.type = 5;
	assert_int_equal(watt_nvml_field_value(&field, &value), -ERANGE);
	field.type = 3;
	assert_int_equal(watt_nvml_field_value(&field, &value), -ERANGE);
	field.type = 6;
	assert_int_equal(watt_nvml_field_value(&field, &value), 0);
	assert_int_equal(value, 7);
	field.type = 0;
	assert_int_equal(watt_nvml_field_value(&field, &value), -EBADMSG);
	field.result = 3;
	assert_int_equal(watt_nvml_field_value(&field, &value), -EOPNOTSUPP);
	assert_int_equal(value, 7);
}

static void test_places(void **state)
{
	static const char *const bad[] = { "",        "0000:0d:00",   "0000:0d:00.0x",
					   "0d:00.0", "0000:g0:00.0", "000000000:0d:00.0",
					   "new_id",  ":::.",         "0000:0d:00." };
	char pci[WATT_PCI_SIZE] = "untouched", path[WATT_GPU_PATH_SIZE];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(watt_pci_parse(bad[i], pci), -EBADMSG);
	assert_string_equal(pci, "untouched");
	assert_int_equal(watt_pci_parse("00000000:0D:1F.1", pci), 0);
	assert_string_equal(pci, "0000:0d:1f.1");
	watt_gpu_path(pci, path);
	assert_string_equal(path, "gpu-0000:0d:1f_1");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counter),    cmocka_unit_test(test_choices),
		cmocka_unit_test(test_table),      cmocka_unit_test(test_old_driver),
		cmocka_unit_test(test_ladder),     cmocka_unit_test(test_no_way),
		cmocka_unit_test(test_buffer),     cmocka_unit_test(test_sixteen),
		cmocka_unit_test(test_gauges),     cmocka_unit_test(test_failures),
		cmocka_unit_test(test_comes_back), cmocka_unit_test(test_damaged_calibration),
		cmocka_unit_test(test_asleep),     cmocka_unit_test(test_probe),
		cmocka_unit_test(test_check),      cmocka_unit_test(test_field_values),
		cmocka_unit_test(test_places),
	};

	return cmocka_run_group_tests_name("nvml", tests, NULL, NULL);
}
