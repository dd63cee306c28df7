/* SPDX-License-Identifier: Apache-2.0 */
/* lib/base/efficiency.c */
#include "unit.h"

#include <errno.h>

#include "base/util.h"
#include "base/efficiency.h"

struct side {
	struct watt_channel channel;
	struct watt_sample sample;
};

#define SIDE(path, of_kind, of_status, value) \
	{ \
		{ .domain = (path), \
		  .kind = WATT_DOMAIN_##of_kind, \
		  .quantity = WATT_QUANTITY_POWER, \
		  .scale_num = 1000, \
		  .scale_den = 1 }, \
			{ .status = WATT_STATUS_##of_status, .raw = (value) }, \
	}

static const struct watt_channel *get_channel(const void *of, size_t i)
{
	return &((const struct side *)of)[i].channel;
}

static int get_sample(const void *of, size_t i, struct watt_sample *ret)
{
	*ret = ((const struct side *)of)[i].sample;
	return ret->status == WATT_STATUS_PENDING ? -ENODATA : 0;
}

static struct watt_efficiency_view view_of(const struct side *sides, size_t n)
{
	return (struct watt_efficiency_view){
		.of = sides, .n = n, .channel = get_channel, .sample = get_sample
	};
}

/* Which of them is a supply, and what it makes of what goes in. */
static void test_read(void **state)
{
	static const struct side sides[] = {
		SIDE("supply-a", SUPPLY, OK, 200), /* two outputs */
		SIDE("supply-a/out1", RAIL, OK, 100),     SIDE("supply-a/out2", RAIL, OK, 80),
		SIDE("supply-a/out2/part", RAIL, OK, 70), SIDE("supply-ab/out1", RAIL, OK, 70),
		SIDE("supply-b", SUPPLY, OK, 50), /* a battery: none */
		SIDE("supply-c", SUPPLY, OK, 50), /* one does not answer */
		SIDE("supply-c/out1", RAIL, BROKEN, 0),   SIDE("supply-d", SUPPLY, PENDING, 0),
		SIDE("supply-d/out1", RAIL, OK, 10),      SIDE("package-0", PACKAGE, OK, 100),
		SIDE("package-0/core", CORES, OK, 80),
	};
	static const int results[] = { 0,        -ENOENT, -ENOENT,  -ENOENT, -ENOENT, -ENOENT,
				       -ENODATA, -ENOENT, -ENODATA, -ENOENT, -ENOENT, -ENOENT };
	struct watt_efficiency_view view = view_of(sides, WATT_ARRAY_SIZE(sides));
	struct watt_efficiency read = { 0 };
	uint32_t ppm = 0;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(sides); i++)
		assert_int_equal(watt_efficiency_read(&view, i, &read), results[i]);
	assert_true(read.in_uw == 200000 && read.out_uw == 180000);
	assert_int_equal(watt_efficiency_sum(&view, &read), 0);
	assert_true(read.in_uw == 200000 && read.out_uw == 180000);
	assert_int_equal(watt_efficiency_ppm(&read, &ppm), 0);
	assert_int_equal(ppm, 900000);
}

static void test_sum(void **state)
{
	struct side sides[] = {
		SIDE("supply-a", SUPPLY, OK, 100),
		SIDE("supply-a/out1", RAIL, OK, 90),
		SIDE("supply-b", SUPPLY, OK, 300),
		SIDE("supply-b/out1", RAIL, OK, 240),
	};
	struct watt_efficiency_view view = view_of(sides, WATT_ARRAY_SIZE(sides));
	struct watt_efficiency sum = { 0 };
	uint32_t ppm = 0;

	assert_int_equal(watt_efficiency_sum(&view, &sum), 0);
	assert_int_equal(watt_efficiency_ppm(&sum, &ppm), 0);
	assert_int_equal(ppm, 825000);
	sides[0].sample.status = sides[3].sample.status = WATT_STATUS_NODATA;
	assert_int_equal(watt_efficiency_sum(&view, &sum), -ENODATA);
	view.n = 1;
	assert_int_equal(watt_efficiency_sum(&view, &sum), -ENOENT);
}

static void test_ppm(void **state)
{
	static const struct {
		struct watt_efficiency sides;
		int r;
		uint32_t ppm;
	} cases[] = {
		{ { 100, 94 }, 0, 940000 },   { { 100, 100 }, 0, 1000000 },
		{ { 100, 0 }, 0, 0 },         { { 100, 101 }, -ENODATA, 7 },
		{ { 0, 0 }, -ENODATA, 7 },    { { -5, -10 }, -ENODATA, 7 },
		{ { 100, -1 }, -ENODATA, 7 },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		uint32_t ppm = 7;

		assert_int_equal(watt_efficiency_ppm(&cases[i].sides, &ppm), cases[i].r);
		assert_int_equal(ppm, cases[i].ppm);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_sum),
		cmocka_unit_test(test_ppm),
	};

	return cmocka_run_group_tests_name("efficiency", tests, NULL, NULL);
}
