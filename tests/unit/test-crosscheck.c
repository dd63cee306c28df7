/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/power/crosscheck.c */
#include "unit.h"

#include "source/power/crosscheck.h"

#define MS 1000000ULL
#define SEC (1000 * MS)

/* As powercap and perf show one package. */
static const struct watt_channel powercap = {
	.kind = WATT_DOMAIN_PACKAGE,
	.scale_num = 1000,
	.scale_den = 1,
	.wrap_nj = 4294967296ULL * 61035,
	.period_ns = MS,
};
static const struct watt_channel perf = {
	.kind = WATT_DOMAIN_PACKAGE,
	.scale_num = 1953125,
	.scale_den = 8388608,
	.period_ns = MS,
};

/* Counts from `raw` on, for a time, at a power. */
static struct watt_crosscheck_reading reading(const struct watt_channel *channel, uint64_t t_ns,
					      uint64_t time_ns, int64_t raw, int64_t energy_nj)
{
	int64_t count = (int64_t)((double)energy_nj * (double)channel->scale_den /
				  (double)channel->scale_num);

	return (struct watt_crosscheck_reading){
		.channel = channel,
		.first = { .t_before_ns = t_ns, .t_after_ns = t_ns + 1000, .raw = raw },
		.last = { .t_before_ns = t_ns + time_ns,
			  .t_after_ns = t_ns + time_ns + 1000,
			  .raw = raw + count },
	};
}

static void test_agree(void **state)
{
	/* 50 W for 1 s, and the same power for a time that is a little different */
	struct watt_crosscheck_reading a = reading(&powercap, SEC, SEC, 1000, 50000000000);
	struct watt_crosscheck_reading b = reading(&perf, SEC + 500, SEC + 2 * MS, 77, 50100000000);
	struct watt_crosscheck check;

	assert_int_equal(watt_crosscheck(&a, &b, &check), 0);
	assert_int_equal(check.power_a_uw, 50000000);
	assert_in_range(check.power_b_uw, 49999990, 50000010);
	assert_in_range(check.difference_ppm + 10, 0, 20);
	/* two periods at each of two channels in one second, and 2 ms that only one saw */
	assert_in_range(check.tolerance_ppm, 8000, 8200);
	assert_true(check.is_agreeing);
}

static void test_disagree(void **state)
{
	struct watt_crosscheck_reading a = reading(&powercap, SEC, 10 * SEC, 0, 500000000000);
	struct watt_crosscheck_reading b = reading(&perf, SEC, 10 * SEC, 0, 501350000000);
	struct watt_channel dram_a = powercap, dram_b = perf;
	struct watt_crosscheck check;

	/* 0.27 % is too much for a package within 10 s, and not for memory */
	assert_int_equal(watt_crosscheck(&a, &b, &check), 0);
	assert_in_range(-check.difference_ppm, 2690, 2700);
	assert_false(check.is_agreeing);
	dram_a.kind = dram_b.kind = WATT_DOMAIN_DRAM;
	a.channel = &dram_a;
	b.channel = &dram_b;
	assert_int_equal(watt_crosscheck(&a, &b, &check), 0);
	assert_true(check.is_agreeing);
	/* a counter of one core that claims to be the package */
	b = reading(&perf, SEC, 10 * SEC, 0, 10000000000);
	assert_int_equal(watt_crosscheck(&a, &b, &check), 0);
	assert_false(check.is_agreeing);
}

static void test_wrap(void **state)
{
	int64_t end = (int64_t)(powercap.wrap_nj / 1000);
	struct watt_crosscheck_reading a = reading(&powercap, SEC, SEC, end - 5000000, 50000000000);
	struct watt_crosscheck_reading b = reading(&perf, SEC, SEC, 0, 50000000000);
	struct watt_crosscheck check;

	a.last.raw -= end;
	assert_int_equal(watt_crosscheck(&a, &b, &check), 0);
	assert_in_range(check.power_a_uw, 49999990, 50000010);
	assert_true(check.is_agreeing);
}

static void test_no_answer(void **state)
{
	struct watt_crosscheck_reading a = reading(&powercap, SEC, SEC, 0, 50000000000);
	struct watt_crosscheck_reading b = reading(&perf, SEC, SEC, 0, 50000000000);
	struct watt_channel power = powercap;
	struct watt_crosscheck check = { .power_a_uw = 7 };

	power.quantity = WATT_QUANTITY_POWER;
	a.channel = &power;
	assert_int_equal(watt_crosscheck(&a, &b, &check), -EINVAL);
	a = reading(&powercap, SEC, SEC, 0, 0);
	assert_int_equal(watt_crosscheck(&a, &b, &check), -ENODATA);
	a = reading(&powercap, SEC, 0, 0, 1000);
	assert_int_equal(watt_crosscheck(&a, &b, &check), -EINVAL);
	a = reading(&powercap, SEC, SEC, 0, 50000000000);
	b.last.status = WATT_STATUS_BROKEN;
	assert_int_equal(watt_crosscheck(&a, &b, &check), -ENODATA);
	/* a counter that goes back and has no modulus was reset */
	b = reading(&perf, SEC, SEC, 1000000, 50000000000);
	b.last.raw = 0;
	assert_int_equal(watt_crosscheck(&a, &b, &check), -ENODATA);
	/* 2 ms say nothing when readings may be 1 ms old */
	a = reading(&powercap, SEC, 2 * MS, 0, 100000000);
	b = reading(&perf, SEC, 2 * MS, 0, 100000000);
	assert_int_equal(watt_crosscheck(&a, &b, &check), -EAGAIN);
	assert_int_equal(check.power_a_uw, 7);
}

/* Few steps of a coarse counter tell little. */
static void test_resolution(void **state)
{
	struct watt_channel coarse = perf;
	struct watt_crosscheck_reading a = reading(&powercap, SEC, 10 * SEC, 0, 500000000000);
	struct watt_crosscheck_reading b;
	struct watt_crosscheck check;

	coarse.scale_num = 100000000000; /* 100 J */
	coarse.scale_den = 1;
	b = reading(&coarse, SEC, 10 * SEC, 0, 400000000000);
	assert_int_equal(watt_crosscheck(&a, &b, &check), 0);
	assert_true(check.is_agreeing);
	/* psys of some servers moves in whole joules, and its scale does not tell */
	coarse = perf;
	coarse.kind = WATT_DOMAIN_TOTAL;
	a = reading(&coarse, SEC, SEC, 0, 100000000000);
	b = reading(&coarse, SEC, SEC, 0, 101000000000);
	assert_int_equal(watt_crosscheck(&a, &b, &check), 0);
	assert_true(check.is_agreeing);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agree),      cmocka_unit_test(test_disagree),
		cmocka_unit_test(test_wrap),       cmocka_unit_test(test_no_answer),
		cmocka_unit_test(test_resolution),
	};

	return cmocka_run_group_tests_name("crosscheck", tests, NULL, NULL);
}
