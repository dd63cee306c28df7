/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/power/intel_gpu.c */
#include "sensors.h"

#include "base/clock.h"

#define XE_CARD "sys/devices/pci0000:00/0000:00:01.1/0000:03:00.0"
#define I915_CARD "sys/devices/pci0000:00/0000:00:02.0"
#define I915 "intel_gpu/package-0/uncore"
#define XE "intel_gpu/gpu-0000:03:00_0"

struct gauge {
	const char *name;
	enum watt_quantity quantity;
	int64_t raw; /* below 0: none at the first reading */
};

static void check_gauges(struct machine *m, const struct gauge *expected, size_t n)
{
	struct watt_sample samples[16];
	char domain[128];
	size_t i;

	assert_int_equal(machine_open(m, &watt_power_intel_gpu), 0);
	check_power(m->power);
	assert_int_equal(m->power->n_channels, n);
	read_all_groups(m->power, samples);
	for (i = 0; i < n; i++) {
		const struct watt_channel *channel = &m->power->channels[i];

		assert_string_equal(channel->name, expected[i].name);
		snprintf(domain, sizeof(domain), "context/%s",
			 channel->name + strlen("intel_gpu/"));
		assert_string_equal(channel->domain, domain);
		assert_int_equal(channel->quantity, expected[i].quantity);
		if (expected[i].raw < 0) {
			assert_int_not_equal(samples[i].status, WATT_STATUS_OK);
			continue;
		}
		assert_int_equal(samples[i].status, WATT_STATUS_OK);
		assert_int_equal(samples[i].raw, expected[i].raw);
	}
}

/* In a chip: clocked, held by its power. Its sleep is counted, and is nothing without a time. */
static void test_i915(void **state)
{
	static const struct gauge expected[] = {
		{ I915 "/clock", WATT_QUANTITY_FREQUENCY, 1300000000 },
		{ I915 "/awake", WATT_QUANTITY_RATIO, -1 },
		{ I915 "/held_by_power", WATT_QUANTITY_RATIO, 1000000 },
		{ I915 "/held_by_heat", WATT_QUANTITY_RATIO, 0 },
	};
	struct machine m;

	machine_init_fixture(&m, "laptop-client");
	check_gauges(&m, expected, WATT_ARRAY_SIZE(expected));
	machine_done(&m);
}

/* A card, held by heat, with sensors of its own. */
static void test_xe(void **state)
{
	static const struct gauge expected[] = {
		{ XE "/clock", WATT_QUANTITY_FREQUENCY, 2400000000 },
		{ XE "/awake", WATT_QUANTITY_RATIO, -1 },
		{ XE "/held_by_power", WATT_QUANTITY_RATIO, 0 },
		{ XE "/held_by_heat", WATT_QUANTITY_RATIO, 1000000 },
		{ XE "/temperature", WATT_QUANTITY_TEMPERATURE, 61000 },
		{ XE "/memory_temperature", WATT_QUANTITY_TEMPERATURE, 72000 },
		{ XE "/power_limit", WATT_QUANTITY_LIMIT, 190000000 },
	};
	struct machine m;

	machine_init_fixture(&m, "desktop-amdgpu");
	check_gauges(&m, expected, WATT_ARRAY_SIZE(expected));
	machine_done(&m);
}

/* The files of older kernels; what is not there is no channel, and no zero. */
static void test_old_i915(void **state)
{
	char *dir = fixture_copy("laptop-client");
	const struct gauge expected[] = {
		{ I915 "/clock", WATT_QUANTITY_FREQUENCY, 1250000000 },
		{ I915 "/awake", WATT_QUANTITY_RATIO, -1 },
	};
	static const char *const files[] = {
		"rps_act_freq_mhz",        "rc6_residency_ms",
		"throttle_reason_status",  "throttle_reason_pl1",
		"throttle_reason_pl2",     "throttle_reason_pl4",
		"throttle_reason_thermal", "throttle_reason_prochot",
		"throttle_reason_ratl",    "throttle_reason_vr_thermalert",
		"throttle_reason_vr_tdc"
	};
	char path[256];
	struct machine m;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), I915_CARD "/drm/card0/gt/gt0/%s", files[i]);
		scratch_unlink(dir, path);
	}
	scratch_write(dir, I915_CARD "/drm/card0/gt_act_freq_mhz", "1250\n");
	machine_init(&m, dir);
	check_gauges(&m, expected, WATT_ARRAY_SIZE(expected));
	machine_done(&m);
	scratch_remove(dir);
}

/* Of the time between two readings, what it was not asleep; one that counts down has begun anew. */
static void test_awake(void **state)
{
	char *dir = fixture_copy("laptop-client");
	const char *file = I915_CARD "/drm/card0/gt/gt0/rc6_residency_ms";
	struct watt_sample sample;
	uint64_t before_ns;
	struct machine m;

	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_intel_gpu), 0);
	assert_int_not_equal(sample_named(&m, I915 "/awake").status, WATT_STATUS_OK);
	before_ns = watt_now_ns();
	usleep(20000);
	sample = sample_named(&m, I915 "/awake");
	assert_int_equal(sample.status, WATT_STATUS_OK);
	assert_int_equal(sample.raw, 1000000);
	usleep(40000);
	scratch_write(dir, file, "4182250\n"); /* 20 of the 40 ms and more */
	sample = sample_named(&m, I915 "/awake");
	assert_int_equal(sample.status, WATT_STATUS_OK);
	assert_in_range(sample.raw, 450000, 1000000 - 20000000000000 / (watt_now_ns() - before_ns));
	usleep(2000);
	scratch_write(dir, file, "9999999\n"); /* longer than there was time for */
	assert_int_equal(sample_named(&m, I915 "/awake").raw, 0);
	scratch_write(dir, file, "5\n");
	assert_int_not_equal(sample_named(&m, I915 "/awake").status, WATT_STATUS_OK);
	machine_done(&m);
	scratch_remove(dir);
}

/* One that sleeps has no values, is not asked for any, and is looked for again. */
static void test_asleep(void **state)
{
	char *dir = fixture_copy("desktop-amdgpu");
	struct watt_diag diag = { 0 };
	struct machine m;

	machine_init(&m, dir);
	assert_int_equal(machine_open(&m, &watt_power_intel_gpu), 0);
	assert_int_equal(m.power->n_refused, 0);
	scratch_write(dir, XE_CARD "/power/runtime_status", "suspended\n");
	assert_int_not_equal(sample_named(&m, XE "/clock").status, WATT_STATUS_OK);
	machine_close_source(&m);
	assert_int_equal(machine_open(&m, &watt_power_intel_gpu), -EAGAIN);
	assert_int_equal(watt_power_intel_gpu.probe(&m.world.env, &diag), -EAGAIN);
	assert_string_equal(diag.why, "1 GPU, asleep: not woken to be asked");
	machine_done(&m);
	scratch_remove(dir);
}

static void test_probe(void **state)
{
	struct watt_diag diag = { 0 };
	struct machine m;

	machine_init_fixture(&m, "desktop-amdgpu");
	assert_int_equal(watt_power_intel_gpu.probe(&m.world.env, &diag), 0);
	assert_string_equal(diag.why, "1 GPU, by xe: 7 values");
	machine_done(&m);
	machine_init_fixture(&m, "epyc");
	assert_int_equal(watt_power_intel_gpu.probe(&m.world.env, &diag), -ENODEV);
	assert_int_equal(diag.state, WATT_ABSENT);
	assert_int_equal(machine_open(&m, &watt_power_intel_gpu), -ENODEV);
	machine_done(&m);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_i915),     cmocka_unit_test(test_xe),
		cmocka_unit_test(test_old_i915), cmocka_unit_test(test_awake),
		cmocka_unit_test(test_asleep),   cmocka_unit_test(test_probe),
	};

	return cmocka_run_group_tests_name("intel_gpu", tests, NULL, NULL);
}
