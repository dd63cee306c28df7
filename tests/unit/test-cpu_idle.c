/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/host/cpu_idle.c: a CPU whose periods are known, seen by what the kernel tells of it. */
#include "unit.h"

#include <math.h>

#include "base/clock.h"
#include "base/util.h"
#include "source/host/cpu_idle.h"

#define MS WATT_NSEC_PER_MSEC
#define TICK (10 * MS)

/* A CPU in turns of idle and busy; the kernel's counters and the truth, at any instant. */
struct machine {
	uint64_t now_ns;
	uint64_t change_ns; /* when the present turn ends */
	bool is_idle;
	uint64_t ended_ns;     /* cpuidle: periods that have ended */
	uint64_t idle_ns;      /* the truth */
	uint64_t period_began; /* the truth when the present period began */
	uint64_t steal_ns;
	uint32_t seed;
	uint64_t idle_max_ns, busy_max_ns;
};

static uint64_t draw(struct machine *m, uint64_t max_ns)
{
	m->seed = m->seed * 1664525 + 1013904223;
	return max_ns * (m->seed >> 8) / (1u << 24) + 1;
}

static void turn(struct machine *m)
{
	if (m->is_idle)
		m->ended_ns += m->idle_ns - m->period_began;
	m->is_idle = !m->is_idle;
	m->period_began = m->idle_ns;
	m->change_ns = m->now_ns + draw(m, m->is_idle ? m->idle_max_ns : m->busy_max_ns);
}

static void run_to(struct machine *m, uint64_t t_ns)
{
	while (m->now_ns < t_ns) {
		uint64_t step_ns = WATT_MIN(t_ns, m->change_ns) - m->now_ns;

		m->now_ns += step_ns;
		m->idle_ns += m->is_idle ? step_ns : 0;
		if (m->now_ns == m->change_ns)
			turn(m);
	}
}

static bool look(const struct machine *m, struct watt_idle_gauge *gauge, int64_t *ret_ppm)
{
	const struct watt_cpu_time time = {
		.user_ns = (m->now_ns - m->idle_ns) / TICK * TICK,
		.idle_ns = m->idle_ns / TICK * TICK,
		.steal_ns = m->steal_ns,
		.online = 1,
	};
	const struct watt_idle_look at = {
		.t_ns = m->now_ns,
		.ended_ns = m->ended_ns / WATT_NSEC_PER_USEC * WATT_NSEC_PER_USEC,
		.time = &time,
	};

	return watt_idle_gauge_look(gauge, &at, ret_ppm);
}

struct result {
	double mean_off; /* of a reading, of the time */
	double all_off;  /* of all readings together, in s */
	uint64_t longest_ns;
};

/* 20 s, a look every 10 ms. */
static struct result measure(uint64_t idle_max_ns, uint64_t busy_max_ns, uint32_t seed)
{
	struct machine m = { .now_ns = 1000 * MS,
			     .change_ns = 1000 * MS,
			     .seed = seed,
			     .idle_max_ns = idle_max_ns,
			     .busy_max_ns = busy_max_ns };
	struct watt_idle_gauge gauge = { 0 };
	struct result result = { 0 };
	double said_s = 0, true_s = 0, off_s = 0;
	uint64_t since_ns, since_idle_ns, i;
	int64_t ppm;

	run_to(&m, 1200 * MS);
	assert_false(look(&m, &gauge, &ppm));
	since_ns = m.now_ns;
	since_idle_ns = m.idle_ns;
	for (i = 1; i <= 2000; i++) {
		double length_s, busy_s;

		run_to(&m, 1200 * MS + i * 10 * MS + draw(&m, MS));
		if (!look(&m, &gauge, &ppm))
			continue;
		assert_in_range(ppm, 0, 1000000);
		length_s = (double)(m.now_ns - since_ns) / 1e9;
		busy_s = length_s - (double)(m.idle_ns - since_idle_ns) / 1e9;
		said_s += (double)ppm / 1e6 * length_s;
		true_s += busy_s;
		off_s += fabs((double)ppm / 1e6 * length_s - busy_s);
		result.longest_ns = WATT_MAX(result.longest_ns, m.now_ns - since_ns);
		since_ns = m.now_ns;
		since_idle_ns = m.idle_ns;
	}
	result.mean_off = off_s / (said_s + true_s > 0 ? 20 : 1);
	result.all_off = said_s - true_s;
	return result;
}

/* All together are right to what a period that goes on may hide, whatever the CPU does. */
static void test_loads(void **state)
{
	static const struct {
		uint64_t idle_max_ns, busy_max_ns;
		double mean_off;
	} loads[] = {
		{ MS, MS, 0.03 },           { 2 * MS, MS / 10, 0.05 },
		{ 7 * MS, 3 * MS, 0.2 },    { 20 * MS, 20 * MS, 0.22 },
		{ 300 * MS, 2 * MS, 0.02 }, { 300 * MS, 200 * MS, 0.04 },
		{ 1000 * MS, MS, 0.01 },    { MS / 10, 500 * MS, 0.01 },
	};
	size_t i;
	uint32_t seed;

	for (i = 0; i < WATT_ARRAY_SIZE(loads); i++)
		for (seed = 1; seed <= 20; seed++) {
			struct result result =
				measure(loads[i].idle_max_ns, loads[i].busy_max_ns, seed);

			if (getenv("WATT_TEST_VERBOSE"))
				printf("%zu/%u: %.4f %.6f s %.0f ms\n", i, seed, result.mean_off,
				       result.all_off, (double)result.longest_ns / 1e6);
			assert_true(result.mean_off < loads[i].mean_off);
			assert_true(fabs(result.all_off) < 0.021);
			assert_true(result.longest_ns <= 31 * MS);
		}
}

/* What a gauge says of a CPU that these were read of. */
static int64_t say(struct watt_idle_gauge *gauge, uint64_t t_ms, uint64_t ended_ms,
		   uint64_t idle_ms, uint64_t user_ms, uint64_t steal_ms)
{
	const struct watt_cpu_time time = { .user_ns = user_ms * MS,
					    .idle_ns = idle_ms * MS,
					    .steal_ns = steal_ms * MS,
					    .online = 1 };
	const struct watt_idle_look at = { .t_ns = t_ms * MS,
					   .ended_ns = ended_ms * MS,
					   .time = &time };
	int64_t ppm;

	return watt_idle_gauge_look(gauge, &at, &ppm) ? ppm : -1;
}

/* A period that goes on is seen by ticks, and its end corrects what they said. */
static void test_goes_on(void **state)
{
	struct watt_idle_gauge gauge = { 0 };

	assert_int_equal(say(&gauge, 1000, 500, 700, 0, 0), -1);
	/* it began long ago: no more than what has passed is idle */
	assert_int_equal(say(&gauge, 1010, 900, 710, 0, 0), 0);
	assert_int_equal(say(&gauge, 1015, 900, 710, 0, 0), -1);
	assert_int_equal(say(&gauge, 1020, 900, 720, 0, 0), 0);
	assert_int_equal(say(&gauge, 1030, 900, 730, 0, 0), 0);
	/* of these 30 ms it was 24: 20 were told */
	assert_int_equal(say(&gauge, 1040, 924, 730, 0, 0), 600000);
	/* nothing idle is seen, so that it works */
	assert_int_equal(say(&gauge, 1050, 924, 730, 10, 0), 1000000);
	assert_int_equal(say(&gauge, 1060, 924, 730, 10, 0), -1);
	assert_int_equal(say(&gauge, 1080, 924, 730, 10, 0), 1000000);
	/* taken by a hypervisor */
	assert_int_equal(say(&gauge, 1100, 924, 730, 20, 10), 500000);
}

static void test_begins_anew(void **state)
{
	struct watt_idle_gauge gauge = { 0 };

	assert_int_equal(say(&gauge, 1000, 500, 700, 0, 0), -1);
	assert_int_equal(say(&gauge, 1010, 505, 700, 0, 0), 500000);
	assert_int_equal(say(&gauge, 1020, 3, 700, 0, 0), -1);
	assert_int_equal(say(&gauge, 1030, 8, 700, 0, 0), 500000);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loads),
		cmocka_unit_test(test_goes_on),
		cmocka_unit_test(test_begins_anew),
	};

	return cmocka_run_group_tests_name("cpu_idle", tests, NULL, NULL);
}
