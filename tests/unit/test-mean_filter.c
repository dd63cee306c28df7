/* SPDX-License-Identifier: Apache-2.0 */
/* What a mean over 1 s tells of its newest tenth: to whom what it says more is given. */
#include "timeline/mean_filter.h"

#include "base/clock.h"
#include "unit.h"

#define TENTH_NS (100 * WATT_NSEC_PER_MSEC)
#define EXPECTED_NJ ((watt_i128)50 * 1000000000)
#define LEAST_NJ (EXPECTED_NJ / 4)
#define J ((watt_i128)1000000000)

/* A GPU of 500 W, by a sensor that shows 500 W all of the time. */
struct world {
	struct watt_mean_filter *filter;
	uint64_t n; /* stretches so far */
	watt_i128 true_nj[64], put_nj[64];
	int64_t doubt_uj, noise_uj;
};

static void world_init(struct world *world)
{
	*world = (struct world){ .filter = watt_mean_filter_new(),
				 .doubt_uj = 10000,
				 .noise_uj = 1000 };
	assert_non_null(world->filter);
}

static void step(struct world *world, watt_i128 true_nj)
{
	uint64_t from = world->n < 9 ? 0 : world->n - 9, i;
	struct watt_mean_news news = { .from_ns = (world->n + 20) * TENTH_NS,
				       .to_ns = (world->n + 21) * TENTH_NS,
				       .mean_from_ns = (from + 20) * TENTH_NS,
				       .expected_nj = EXPECTED_NJ,
				       .least_nj = LEAST_NJ,
				       .doubt_uj = world->doubt_uj,
				       .noise_uj = world->noise_uj,
				       .told_nj = true_nj };

	world->true_nj[world->n] = true_nj;
	for (i = from; i < world->n; i++)
		news.told_nj += world->true_nj[i] - world->put_nj[i];
	world->put_nj[world->n++] = watt_mean_filter_take(world->filter, &news);
}

static double off_j(const struct world *world, uint64_t i)
{
	return (double)(world->put_nj[i] - world->true_nj[i]) / (double)J;
}

static void assert_near(double value, double wanted, double most)
{
	if (value > wanted + most || value < wanted - most)
		fail_msg("%f is not %f", value, wanted);
}

static double sum_off_j(const struct world *world)
{
	double sum = 0;
	uint64_t i;

	for (i = 0; i < world->n; i++)
		sum += off_j(world, i);
	return sum;
}

static void test_all_as_expected(void **state)
{
	struct world world;
	int i;

	world_init(&world);
	for (i = 0; i < 40; i++)
		step(&world, EXPECTED_NJ);
	for (i = 0; i < 40; i++)
		assert_true(world.put_nj[i] == EXPECTED_NJ);
	watt_mean_filter_free(world.filter);
}

/* What nobody saw is of the stretch of which the mean tells first. */
static void test_surprise(void **state)
{
	struct world world;
	int i;

	world_init(&world);
	for (i = 0; i < 40; i++)
		step(&world, i < 20 || i > 24 ? EXPECTED_NJ : EXPECTED_NJ + 20 * J);
	for (i = 0; i < 40; i++)
		assert_near(off_j(&world, (uint64_t)i), 0, 0.3);
	assert_near(sum_off_j(&world), 0, 0.05);
	watt_mean_filter_free(world.filter);
}

/* One that was doubted, and got too little: the mean finds out when it is over, and no later one pays. */
static void test_echo(void **state)
{
	struct world world;
	int i;

	world_init(&world);
	for (i = 0; i < 12; i++)
		step(&world, EXPECTED_NJ);
	world.doubt_uj = 5000000;
	world.noise_uj = 5000000;
	step(&world, EXPECTED_NJ + 4 * J);
	world.doubt_uj = 10000;
	world.noise_uj = 1000;
	assert_near(off_j(&world, 12), -2, 0.1); /* half of it was believed */
	for (i = 13; i < 40; i++)
		step(&world, EXPECTED_NJ);
	for (i = 16; i < 40; i++)
		assert_near(off_j(&world, (uint64_t)i), 0, 0.3);
	assert_near(sum_off_j(&world), 0, 0.05); /* it was made up for */
	watt_mean_filter_free(world.filter);
}

/* What was seen is certain: a mean that says less can't take it away, nor is it forgotten. */
static void test_least(void **state)
{
	struct world world;
	int i;

	world_init(&world);
	for (i = 0; i < 12; i++)
		step(&world, EXPECTED_NJ);
	step(&world, 0);
	assert_true(world.put_nj[12] == LEAST_NJ);
	for (i = 13; i < 60; i++)
		step(&world, EXPECTED_NJ);
	assert_near(sum_off_j(&world), 0, 0.05);
	watt_mean_filter_free(world.filter);
}

/* Stretches without a mean, and a gap, are neither a debt nor an error. */
static void test_without_a_mean(void **state)
{
	struct world world;
	struct watt_mean_news news = { .expected_nj = EXPECTED_NJ, .doubt_uj = 10000 };
	int i;

	world_init(&world);
	for (i = 0; i < 100; i++) {
		news.from_ns = (uint64_t)i * TENTH_NS / 8;
		news.to_ns = (uint64_t)(i + 1) * TENTH_NS / 8;
		watt_mean_filter_note(world.filter, &news);
	}
	for (i = 0; i < 20; i++)
		step(&world, EXPECTED_NJ);
	for (i = 0; i < 20; i++)
		assert_true(world.put_nj[i] == EXPECTED_NJ);
	watt_mean_filter_free(world.filter);
	assert_null(watt_mean_filter_free(NULL));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_as_expected),
		cmocka_unit_test(test_surprise),
		cmocka_unit_test(test_echo),
		cmocka_unit_test(test_least),
		cmocka_unit_test(test_without_a_mean),
	};

	return cmocka_run_group_tests_name("mean_filter", tests, NULL, NULL);
}
