/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "source/synth/curve.h"

static void test_energy_is_exact_at_every_instant(void **state)
{
	struct watt_synth_curve curve = { 0 };

	assert_int_equal(watt_synth_curve_energy_nj(&curve, 5), 0);
	assert_int_equal(watt_synth_curve_step(&curve, 100, 7), 0);
	assert_int_equal(watt_synth_curve_step(&curve, 110, 3), 0);
	assert_int_equal(watt_synth_curve_step(&curve, 110, 5), 0);
	assert_int_equal(watt_synth_curve_step(&curve, 120, 5), 0);
	assert_int_equal(watt_synth_curve_step(&curve, 130, 0), 0);
	assert_int_equal(watt_synth_curve_energy_nj(&curve, 99), 0);
	assert_int_equal(watt_synth_curve_energy_nj(&curve, 100), 0);
	assert_int_equal(watt_synth_curve_energy_nj(&curve, 101), 7);
	assert_int_equal(watt_synth_curve_energy_nj(&curve, 110), 70);
	assert_int_equal(watt_synth_curve_energy_nj(&curve, 125), 145);
	assert_int_equal(watt_synth_curve_energy_nj(&curve, 1000), 170);
	watt_synth_curve_done(&curve);
}

static void test_forgetting_changes_no_later_answer(void **state)
{
	struct watt_synth_curve curve = { 0 };
	int64_t whole[200];
	uint64_t t;

	for (t = 0; t < 100; t++)
		assert_int_equal(watt_synth_curve_step(&curve, 2 * t, t * t % 17), 0);
	for (t = 0; t < 200; t++)
		whole[t] = watt_synth_curve_energy_nj(&curve, t);
	watt_synth_curve_forget(&curve, 101);
	assert_true(curve.n < 60);
	for (t = 101; t < 200; t++)
		assert_int_equal(watt_synth_curve_energy_nj(&curve, t), whole[t]);
	watt_synth_curve_forget(&curve, 100000);
	assert_int_equal(curve.n, 1);
	assert_int_equal(watt_synth_curve_energy_nj(&curve, 199), whole[199]);
	watt_synth_curve_done(&curve);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_energy_is_exact_at_every_instant),
		cmocka_unit_test(test_forgetting_changes_no_later_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
