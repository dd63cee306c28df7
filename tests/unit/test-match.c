/* SPDX-License-Identifier: Apache-2.0 */
/* Ages of slow readings: lib/timeline/match.c, on a machine that never was, in no time. */
#include "unit.h"

#include <math.h>

#include "base/util.h"
#include "timeline/match.h"

#define STEP_NS 50000000ULL
#define SECOND 1000000000ULL
#define N_STEPS 4000 /* 200 s */

struct machine {
	double energy_j[2][N_STEPS]; /* package, memory */
	double total_j[N_STEPS];
	struct watt_match_parts parts;
	uint64_t seed;
};

static double draw(struct machine *m)
{
	m->seed = m->seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (double)(m->seed >> 11) / (double)(1ULL << 53);
}

/* Loads that come and go at random; a supply that loses some percent, and a rest of its own. */
static void run(struct machine *m, uint64_t seed)
{
	double package_w = 40, memory_w = 10;
	size_t i;

	m->seed = seed;
	for (i = 0; i + 1 < N_STEPS; i++) {
		if (draw(m) < 0.01)
			package_w = 30 + 150 * draw(m);
		if (draw(m) < 0.005)
			memory_w = 5 + 30 * draw(m);
		m->energy_j[0][i + 1] = m->energy_j[0][i] + package_w * 0.05;
		m->energy_j[1][i + 1] = m->energy_j[1][i] + memory_w * 0.05;
		m->total_j[i + 1] = m->total_j[i] + (80 + 1.1 * (package_w + memory_w)) * 0.05;
	}
	m->parts = (struct watt_match_parts){ .energy_j = { m->energy_j[0], m->energy_j[1] },
					      .end = N_STEPS,
					      .step_ns = STEP_NS };
}

static double total_at(const struct machine *m, uint64_t t_ns)
{
	size_t i = (size_t)(t_ns / STEP_NS);
	double share = (double)(t_ns % STEP_NS) / (double)STEP_NS;

	return m->total_j[i] + (m->total_j[i + 1] - m->total_j[i]) * share;
}

/* What a BMC shows: the mean over a window, so old, in steps of some watts, every period. */
static size_t look(const struct machine *m, uint64_t delay_ns, uint64_t window_ns,
		   uint64_t period_ns, double quantum_w, struct watt_observation *ret)
{
	uint64_t t_ns;
	size_t n = 0;

	for (t_ns = 15 * SECOND; t_ns < 195 * SECOND; t_ns += period_ns) {
		double power_w =
			(total_at(m, t_ns - delay_ns) - total_at(m, t_ns - delay_ns - window_ns)) /
			((double)window_ns / 1e9);

		ret[n].t_ns = t_ns;
		ret[n].window_ns = 0;
		ret[n++].power_w = round(power_w / quantum_w) * quantum_w;
	}
	return n;
}

/* In three minutes, each age from 0.2 to 8 s is found, to 250 ms and to what is said of it. */
static void test_known_delays_are_found(void **state)
{
	static const uint64_t delays_ms[] = { 200, 700, 1350, 2500, 4000, 8000 };
	static const double quanta_w[] = { 1, 8 };
	static const uint64_t windows_ms[] = { 100, 1000 };
	struct machine *m = calloc(1, sizeof(*m));
	struct watt_observation list[400];
	size_t d, q, w;

	run(m, 7);
	for (d = 0; d < WATT_ARRAY_SIZE(delays_ms); d++)
		for (q = 0; q < WATT_ARRAY_SIZE(quanta_w); q++)
			for (w = 0; w < WATT_ARRAY_SIZE(windows_ms); w++) {
				uint64_t window_ns = windows_ms[w] * 1000000;
				uint64_t age_ns = delays_ms[d] * 1000000 + window_ns / 2;
				struct watt_match found;
				size_t n = look(m, delays_ms[d] * 1000000, window_ns, SECOND,
						quanta_w[q], list);

				assert_int_equal(watt_match_find(&m->parts, list, n, &found), 0);
				assert_in_range(found.age_ns + 250000000, age_ns,
						age_ns + 500000000);
				assert_true(found.uncertainty_ns < 250000000);
				assert_true(found.explained_ratio > 0.8);
				assert_true(fabs(found.factor[0] - 1.1) < 0.1);
			}
	free(m);
}

/* A BMC that has something new every 5 s tells less, and says so. */
static void test_few_readings_are_less_sure(void **state)
{
	struct machine *m = calloc(1, sizeof(*m));
	struct watt_observation list[400];
	struct watt_match often, seldom;
	size_t n;

	run(m, 8);
	n = look(m, 2 * SECOND, SECOND, SECOND, 4, list);
	assert_int_equal(watt_match_find(&m->parts, list, n, &often), 0);
	n = look(m, 2 * SECOND, SECOND, 5 * SECOND, 4, list);
	assert_int_equal(watt_match_find(&m->parts, list, n, &seldom), 0);
	assert_true(seldom.uncertainty_ns >= often.uncertainty_ns);
	assert_in_range(seldom.age_ns, 2250000000, 2750000000);
	assert_int_equal(watt_match_find(&m->parts, list, 6, &seldom), -EAGAIN);
	free(m);
}

/* Six readings with what no part tells of in them: what they can't say of a factor is not made up. */
static void test_guessed_factors_are_of_machines(void **state)
{
	struct machine *m = calloc(1, sizeof(*m));
	struct watt_observation list[400];
	struct watt_match guess = { 0 };
	double squares = 0;
	uint64_t seed;
	size_t n, i;

	for (seed = 1; seed <= 20; seed++) {
		run(m, seed);
		n = look(m, 2 * SECOND, SECOND, 30 * SECOND, 1, list);
		for (i = 0; i < n; i++)
			list[i].power_w += 30 * draw(m) - 15;
		assert_int_equal(watt_match_find(&m->parts, list, n, &guess), -ENODATA);
		for (i = 0; i < 2; i++)
			squares += (guess.factor[i] - 1.1) * (guess.factor[i] - 1.1) / 40;
	}
	assert_true(sqrt(squares) < 0.2);
	free(m);
}

/* What has nothing to do with the parts, or stands still, has no age. */
static void test_nothing_is_found_in_noise(void **state)
{
	struct machine *m = calloc(1, sizeof(*m));
	struct watt_observation list[400];
	struct watt_match found = { 0 };
	size_t n, i;

	run(m, 9);
	n = look(m, 2 * SECOND, SECOND, SECOND, 1, list);
	for (i = 0; i < n; i++)
		list[i].power_w = 100 + 100 * draw(m);
	assert_int_equal(watt_match_find(&m->parts, list, n, &found), -ENODATA);
	/* what is guessed then says how vague it is */
	assert_int_equal(found.n, n);
	assert_true(found.uncertainty_ns > 400000000);
	found = (struct watt_match){ 0 };
	for (i = 0; i < n; i++)
		list[i].power_w = 200;
	assert_int_equal(watt_match_find(&m->parts, list, n, &found), -EAGAIN);
	assert_int_equal(found.n, 0);
	free(m);
}

/* Nor has what another machine takes, which goes up and down just like that. */
static void test_nothing_is_found_in_another_machine(void **state)
{
	static const uint64_t periods_s[] = { 1, 2, 5, 10 };
	struct machine *m = calloc(1, sizeof(*m)), *other = calloc(1, sizeof(*m));
	struct watt_observation list[400];
	struct watt_match found;
	size_t seed, p, n;

	for (seed = 1; seed <= 10; seed++) {
		run(m, 100 + seed);
		run(other, 200 + seed);
		for (p = 0; p < WATT_ARRAY_SIZE(periods_s); p++) {
			n = look(other, 2 * SECOND, SECOND, periods_s[p] * SECOND, 1, list);
			assert_int_not_equal(watt_match_find(&m->parts, list, n, &found), 0);
		}
	}
	free(other);
	free(m);
}

/* What was found holds as long as it explains anything, and where nothing speaks against it. */
static void test_holds(void **state)
{
	struct machine *m = calloc(1, sizeof(*m)), *other = calloc(1, sizeof(*m));
	struct watt_observation list[400];
	struct watt_match found;
	size_t n, i;

	run(m, 7);
	run(other, 17);
	n = look(m, 2 * SECOND, SECOND, SECOND, 1, list);
	assert_int_equal(watt_match_find(&m->parts, list, n, &found), 0);
	assert_true(watt_match_holds(&m->parts, list, n, &found));
	for (i = 0; i < n; i++)
		list[i].power_w = 200;
	assert_true(watt_match_holds(&m->parts, list, n, &found));
	n = look(other, 2 * SECOND, SECOND, SECOND, 1, list);
	assert_false(watt_match_holds(&m->parts, list, n, &found));
	assert_true(watt_match_holds(&m->parts, list, 10, &found));
	free(other);
	free(m);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_delays_are_found),
		cmocka_unit_test(test_few_readings_are_less_sure),
		cmocka_unit_test(test_guessed_factors_are_of_machines),
		cmocka_unit_test(test_nothing_is_found_in_noise),
		cmocka_unit_test(test_nothing_is_found_in_another_machine),
		cmocka_unit_test(test_holds),
	};

	return cmocka_run_group_tests_name("match", tests, NULL, NULL);
}
