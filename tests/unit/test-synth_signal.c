/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "source/synth/signal.h"

#define S 1000000000ULL

static void test_ramp_and_square_are_exact(void **state)
{
	const struct watt_synth_signal ramp = { WATT_SYNTH_RAMP, 1000000, 3000000, 4 * S, 0, 7 };
	const struct watt_synth_signal square = { WATT_SYNTH_SQUARE, 0, 8000000, 2 * S, 250000, 0 };

	assert_int_equal(watt_synth_signal_energy_nj(&ramp, 0), 0);
	assert_int_equal(watt_synth_signal_energy_nj(&ramp, 7), 0);
	/* 1 W for 2 s, and a triangle of 2 s and 1 W. */
	assert_int_equal(watt_synth_signal_energy_nj(&ramp, 7 + 2 * S), 3 * S);
	assert_int_equal(watt_synth_signal_energy_nj(&ramp, 7 + 4 * S), 8 * S);
	assert_int_equal(watt_synth_signal_energy_nj(&ramp, 7 + 4000000 * S), 8000000 * S);
	assert_int_equal(watt_synth_signal_energy_nj(&square, S / 4), 2 * S);
	assert_int_equal(watt_synth_signal_energy_nj(&square, S), 4 * S);
	assert_int_equal(watt_synth_signal_energy_nj(&square, 2 * S), 4 * S);
	assert_int_equal(watt_synth_signal_energy_nj(&square, 2 * S + 1), 4 * S + 8);
	assert_int_equal(watt_synth_signal_true_nj(&square, 2001 * S), 4004 * S);
}

static void test_sine(void **state)
{
	const struct watt_synth_signal sine = { WATT_SYNTH_SINE, 1000000, 5000000, 4 * S, 0, 0 };

	/* The first half swings up: 3 W for 2 s, and 2 W * 4 s / pi more. */
	assert_in_range(watt_synth_signal_energy_nj(&sine, 2 * S), 8546479089, 8546479090);
	assert_int_equal(watt_synth_signal_energy_nj(&sine, 4 * S), 12 * S);
	assert_int_equal(watt_synth_signal_energy_nj(&sine, 4000 * S), 12000 * S);
}

/* Energy never falls, and its slope is the power. */
static void test_every_shape_is_monotone(void **state)
{
	static const enum watt_synth_shape shapes[] = { WATT_SYNTH_SINE, WATT_SYNTH_SQUARE,
							WATT_SYNTH_RAMP };
	size_t i;

	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		const struct watt_synth_signal signal = { shapes[i], 200000, 900000,
							  1000003,   300000, 0 };
		int64_t before_nj = 0, now_nj;
		uint64_t t_ns;

		for (t_ns = 1000; t_ns < 10000000; t_ns += 1000) {
			now_nj = watt_synth_signal_energy_nj(&signal, t_ns);
			assert_in_range(now_nj - before_nj, 199, 901);
			before_nj = now_nj;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ramp_and_square_are_exact),
		cmocka_unit_test(test_sine),
		cmocka_unit_test(test_every_shape_is_monotone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
