/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "source/synth/sensor.h"

#define US 1000ULL
#define MS 1000000ULL
#define S 1000000000ULL

/* 5 W: 5 nJ in each ns. */
static int64_t five_watts(const void *data, uint64_t t_ns)
{
	return 5 * (int64_t)t_ns;
}

/* 0 W until 1 s, then 8 W. */
static int64_t step(const void *data, uint64_t t_ns)
{
	return t_ns > S ? 8 * (int64_t)(t_ns - S) : 0;
}

static int64_t read_at(const struct watt_synth_sensor *sensor, watt_synth_energy_fn fn,
		       uint64_t t_ns)
{
	struct watt_sample sample;

	watt_synth_sensor_read(sensor, fn, NULL, t_ns, &sample);
	assert_int_equal(sample.t_before_ns, t_ns);
	assert_int_equal(sample.t_after_ns, t_ns);
	assert_int_equal(sample.status, WATT_STATUS_OK);
	return sample.raw;
}

static void test_counter(void **state)
{
	const struct watt_synth_sensor sensor = { .quantum = 1000, .start_nj = 7000 };

	assert_int_equal(read_at(&sensor, five_watts, 0), 7);
	assert_int_equal(read_at(&sensor, five_watts, 199), 7);
	assert_int_equal(read_at(&sensor, five_watts, 200), 8);
	assert_int_equal(read_at(&sensor, five_watts, S), 5000007);
}

static void test_refresh_and_delay(void **state)
{
	const struct watt_synth_sensor sensor = { .period_ns = 10 * MS,
						  .phase_ns = 3 * MS,
						  .delay_ns = 2 * MS };

	assert_int_equal(watt_synth_sensor_value_ns(&sensor, 2 * MS), 0);
	assert_int_equal(watt_synth_sensor_value_ns(&sensor, 3 * MS), 1 * MS);
	assert_int_equal(watt_synth_sensor_value_ns(&sensor, 13 * MS - 1), 1 * MS);
	assert_int_equal(watt_synth_sensor_value_ns(&sensor, 13 * MS), 11 * MS);
	assert_int_equal(read_at(&sensor, five_watts, 22 * MS), 55 * MS);
}

/* Late by a bounded time that is the same whenever it is asked, and differs between refreshes. */
static void test_jitter(void **state)
{
	const struct watt_synth_sensor sensor = { .period_ns = 10 * MS,
						  .jitter_ns = 4 * MS,
						  .seed = 9 };
	uint64_t t_ns, value_ns, late_ns, before_ns = 0, first_ns = UINT64_MAX;
	bool differs = false;

	for (t_ns = 0; t_ns < S; t_ns += 100 * US) {
		value_ns = watt_synth_sensor_value_ns(&sensor, t_ns);
		late_ns = value_ns % (10 * MS);
		assert_true(value_ns <= t_ns && late_ns <= 4 * MS);
		assert_true(value_ns >= before_ns);
		before_ns = value_ns;
		if (value_ns > 0 && first_ns == UINT64_MAX)
			first_ns = late_ns;
		differs |= value_ns > 0 && late_ns != first_ns;
	}
	assert_true(differs);
	assert_true(before_ns >= S - 20 * MS);
}

static void test_wrap_is_exact(void **state)
{
	const struct watt_synth_sensor sensor = { .quantum = 61000, .wrap_nj = 61000 * 1000 };
	int64_t last = 0, total = 0, raw;
	uint64_t t_ns;

	for (t_ns = 0; t_ns <= S; t_ns += MS) {
		raw = read_at(&sensor, five_watts, t_ns);
		assert_in_range(raw, 0, 999);
		total += raw - last + (raw < last ? 1000 : 0);
		last = raw;
	}
	assert_int_equal(total, 5 * S / 61000);
}

static void test_reset(void **state)
{
	static const uint64_t resets_ns[] = { S, 3 * S };
	const struct watt_synth_sensor sensor = { .start_nj = 9,
						  .resets_ns = resets_ns,
						  .n_resets = 2 };

	assert_int_equal(read_at(&sensor, five_watts, S - 1), 9 + 5 * (S - 1));
	assert_int_equal(read_at(&sensor, five_watts, S), 0);
	assert_int_equal(read_at(&sensor, five_watts, 3 * S - 1), 5 * (2 * S - 1));
	assert_int_equal(read_at(&sensor, five_watts, 3 * S), 0);
	assert_int_equal(read_at(&sensor, five_watts, 4 * S), 5 * S);
}

static void test_gap(void **state)
{
	static const struct watt_synth_gap gaps[] = {
		{ 2 * S, 3 * S, WATT_STATUS_ABSENT },
		{ 5 * S, 6 * S, WATT_STATUS_NODATA },
	};
	const struct watt_synth_sensor sensor = { .gaps = gaps, .n_gaps = 2 };
	struct watt_sample sample;

	assert_int_equal(read_at(&sensor, five_watts, 2 * S - 1), 5 * (2 * S - 1));
	watt_synth_sensor_read(&sensor, five_watts, NULL, 2 * S, &sample);
	assert_int_equal(sample.status, WATT_STATUS_ABSENT);
	assert_int_equal(sample.raw, 0);
	assert_int_equal(read_at(&sensor, five_watts, 3 * S), 5 * 3 * S);
	watt_synth_sensor_read(&sensor, five_watts, NULL, 5 * S, &sample);
	assert_int_equal(sample.status, WATT_STATUS_NODATA);
}

static void test_power(void **state)
{
	const struct watt_synth_sensor instant = { .quantity = WATT_QUANTITY_POWER,
						   .semantics = WATT_SEMANTICS_INSTANT,
						   .quantum = 1000000 };
	const struct watt_synth_sensor average = { .quantity = WATT_QUANTITY_POWER,
						   .semantics = WATT_SEMANTICS_AVERAGE,
						   .window_ns = 100 * MS };

	assert_int_equal(read_at(&instant, step, S), 0);
	assert_int_equal(read_at(&instant, step, S + US), 8);
	assert_int_equal(read_at(&average, step, S), 0);
	assert_int_equal(read_at(&average, step, S + 25 * MS), 2000000);
	assert_int_equal(read_at(&average, step, S + 100 * MS), 8000000);
	/* Before a whole window has passed it is the mean of what there is. */
	assert_int_equal(read_at(&average, five_watts, 0), 0);
	assert_int_equal(read_at(&average, five_watts, 10 * MS), 5000000);
}

static void test_channel_says_what_the_sensor_does(void **state)
{
	const struct watt_synth_sensor sensor = { .quantity = WATT_QUANTITY_POWER,
						  .semantics = WATT_SEMANTICS_AVERAGE,
						  .period_ns = 3,
						  .delay_ns = 4,
						  .window_ns = 5,
						  .quantum = 6 };
	struct watt_channel channel = { 0 };

	watt_synth_sensor_describe(&sensor, &channel);
	assert_int_equal(channel.quantity, WATT_QUANTITY_POWER);
	assert_int_equal(channel.semantics, WATT_SEMANTICS_AVERAGE);
	assert_int_equal(channel.origin, WATT_ORIGIN_SIMULATED);
	assert_int_equal(channel.period_ns, 3);
	assert_int_equal(channel.delay_ns, 4);
	assert_int_equal(channel.window_ns, 5);
	assert_int_equal(channel.scale_num, 6);
	assert_int_equal(channel.scale_den, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counter),
		cmocka_unit_test(test_refresh_and_delay),
		cmocka_unit_test(test_jitter),
		cmocka_unit_test(test_wrap_is_exact),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_power),
		cmocka_unit_test(test_channel_says_what_the_sensor_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
