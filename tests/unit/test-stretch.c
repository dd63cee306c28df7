/* SPDX-License-Identifier: Apache-2.0 */
/* lib/timeline/stretch.c */
#include "unit.h"

#include "base/clock.h"
#include "timeline/stretch.h"

#define MS WATT_NSEC_PER_MSEC
#define W 1000000 /* uW */

/* 100 ms, of which the last 25 are seen; in nJ: so many mJ. */
static struct watt_stretch stretch(int64_t before_w, int64_t seen_w, int64_t energy_mj)
{
	return (struct watt_stretch){ .length_ns = 100 * MS,
				      .seen_ns = 25 * MS,
				      .seen_uw = seen_w * W,
				      .before_uw = before_w * W,
				      .has_before = true,
				      .has_energy = energy_mj >= 0,
				      .energy_nj = energy_mj * 1000000 };
}

static void check(const struct watt_bend *bend, uint64_t at_ms, int64_t energy_mj)
{
	assert_int_equal(bend->at_ns, at_ms * MS);
	assert_int_equal(bend->energy_nj, energy_mj * 1000000);
}

static void test_step(void **state)
{
	struct watt_bend bends[WATT_STRETCH_MAX_BENDS];
	struct watt_stretch s = stretch(100, 500, 100 * 30 + 500 * 70);

	assert_int_equal(watt_stretch_find_bends(&s, bends), 3);
	check(&bends[0], 30, 3000);
	check(&bends[1], 75, 3000 + 45 * 500);
	check(&bends[2], 100, 3000 + 70 * 500);
}

static void test_others(void **state)
{
	struct watt_bend bends[WATT_STRETCH_MAX_BENDS];
	struct watt_stretch s;

	/* more than a step explains: something was there that nobody saw */
	s = stretch(100, 100, 30000);
	assert_int_equal(watt_stretch_find_bends(&s, bends), 2);
	check(&bends[0], 75, 27500);
	check(&bends[1], 100, 30000);
	/* less than what is said to have been seen: that is of another time */
	s = stretch(100, 500, 9000);
	assert_int_equal(watt_stretch_find_bends(&s, bends), 1);
	check(&bends[0], 100, 9000);
	/* nobody counts: in the middle */
	s = stretch(100, 500, -1);
	assert_int_equal(watt_stretch_find_bends(&s, bends), 3);
	assert_in_range(bends[0].at_ns, 37 * MS, 38 * MS);
	check(&bends[1], 75, 22500);
	check(&bends[2], 100, 35000);
	/* all of it was seen */
	s.seen_ns = 200 * MS;
	assert_int_equal(watt_stretch_find_bends(&s, bends), 1);
	check(&bends[0], 100, 50000);
	/* nothing is known of what was before */
	s = stretch(100, 500, 30000);
	s.has_before = false;
	assert_int_equal(watt_stretch_find_bends(&s, bends), 2);
	check(&bends[0], 75, 17500);
}

/* Whatever is said: time goes on, energy does not go back, and none is made or lost. */
static void test_any(void **state)
{
	struct watt_bend bends[WATT_STRETCH_MAX_BENDS];
	unsigned int seed = 5;
	int k;

	for (k = 0; k < 200000; k++) {
		struct watt_stretch s = {
			.length_ns = 1 + (uint64_t)rand_r(&seed) % (k % 3 ? 3 : 200 * MS),
			.seen_ns = (uint64_t)rand_r(&seed) % (k % 3 ? 4 : 100 * MS),
			.seen_uw = rand_r(&seed),
			.before_uw = rand_r(&seed),
			.has_before = k % 5,
			.has_energy = k % 7,
			.energy_nj = rand_r(&seed) % (k % 3 ? 9 : 200000000),
		};
		size_t n = watt_stretch_find_bends(&s, bends), i;
		struct watt_bend last = { 0 };

		assert_in_range(n, 1, WATT_STRETCH_MAX_BENDS);
		for (i = 0; i < n; i++) {
			assert_true(bends[i].at_ns > last.at_ns);
			assert_true(bends[i].energy_nj >= last.energy_nj);
			last = bends[i];
		}
		assert_int_equal(last.at_ns, s.length_ns);
		if (s.has_energy)
			assert_true(last.energy_nj == s.energy_nj);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_step),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_any),
	};

	return cmocka_run_group_tests_name("stretch", tests, NULL, NULL);
}
