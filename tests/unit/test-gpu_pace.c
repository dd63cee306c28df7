/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/power/nvml/gpu_pace.c, against sensors whose times are known. */
#include "unit.h"

#include "base/clock.h"
#include "base/util.h"
#include "source/power/nvml/gpu_pace.h"

#define MS WATT_NSEC_PER_MSEC
#define US WATT_NSEC_PER_USEC
#define BEGIN_NS (100 * WATT_NSEC_PER_SEC)
/* From here on, those that are constant are. */
#define CONSTANT_NS (BEGIN_NS + WATT_NSEC_PER_SEC)

/* Has a new value at phase + k * period, a bit earlier or later. */
struct sensor {
	uint64_t period_ns, phase_ns, jitter_ns;
	bool is_constant;
	uint32_t random;
};

static uint64_t come_ns(const struct sensor *sensor, uint64_t k)
{
	uint64_t random = (k * 2654435761u ^ sensor->random) % 1000003;

	return sensor->phase_ns + k * sensor->period_ns + sensor->jitter_ns * random / 1000003;
}

/* The newest value at an instant, by its number. */
static uint64_t number_at(const struct sensor *sensor, uint64_t t_ns)
{
	uint64_t k = (t_ns - sensor->phase_ns) / sensor->period_ns;

	while (k && come_ns(sensor, k) > t_ns)
		k--;
	return sensor->is_constant ? WATT_MIN(k, CONSTANT_NS / sensor->period_ns) : k;
}

struct result {
	double reads_ratio;  /* in a period */
	double values_ratio; /* of all that came */
	double off_ms;       /* the worst of 95 %, behind the beginning */
	uint64_t period_ns;
};

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* A minute; each reading takes some time, and begins a bit late. */
static struct result watch(const struct sensor *sensor, struct watt_gpu_pace *pace,
			   uint64_t late_ns)
{
	uint64_t begin_ns = BEGIN_NS, end_ns = begin_ns + 60 * WATT_NSEC_PER_SEC;
	uint64_t t_ns = begin_ns, n_reads = 0, n_values = 0, k, seen = UINT64_MAX;
	double off_ms[8192], n_periods;
	size_t n = 0;
	struct result result;
	unsigned int seed = sensor->random;

	while (t_ns < end_ns) {
		uint64_t before_ns = t_ns + (late_ns ? (uint64_t)rand_r(&seed) % late_ns : 0);
		uint64_t at_ns = before_ns + 30 * US, after_ns = before_ns + 60 * US;
		bool has_come;

		k = number_at(sensor, at_ns);
		has_come = watt_gpu_pace_see(pace, before_ns, after_ns, k != seen);
		if (has_come) {
			uint64_t middle_ns = pace->from_ns + (pace->to_ns - pace->from_ns) / 2;
			uint64_t real = (middle_ns - sensor->phase_ns + sensor->period_ns / 2) /
					sensor->period_ns;
			int64_t off_ns = (int64_t)(middle_ns - come_ns(sensor, real));

			assert_true(pace->from_ns <= pace->to_ns && pace->from_ns <= after_ns);
			n_values++;
			if (t_ns > begin_ns + 3 * WATT_NSEC_PER_SEC && n < 8192)
				off_ms[n++] = (double)(off_ns < 0 ? -off_ns : off_ns) / 1e6;
		}
		seen = k;
		n_reads++;
		t_ns = watt_gpu_pace_next_ns(pace);
		assert_true(t_ns > after_ns);
	}
	qsort(off_ms, n, sizeof(off_ms[0]), compare);
	n_periods = (double)(end_ns - begin_ns) / (double)sensor->period_ns;
	result = (struct result){ .reads_ratio = (double)n_reads / n_periods,
				  .values_ratio = (double)n_values / n_periods,
				  .off_ms = off_ms[n * 95 / 100],
				  .period_ns = pace->period_ns };
	return result;
}

static void check(struct sensor sensor, uint64_t told_ns, uint64_t late_ns, double off_ms)
{
	struct watt_gpu_pace pace;
	struct result result;

	for (sensor.random = 1; sensor.random < 40; sensor.random += 3) {
		sensor.phase_ns = sensor.random * 7919 * US % sensor.period_ns;
		watt_gpu_pace_init(&pace, told_ns, !sensor.is_constant);
		result = watch(&sensor, &pace, late_ns);
		if (getenv("SHOW"))
			print_message("phase %lu ms: %.2f reads, %.3f values, off %.3f ms, period "
				      "%.3f\n",
				      (unsigned long)(sensor.phase_ns / MS), result.reads_ratio,
				      result.values_ratio, result.off_ms,
				      (double)result.period_ns / 1e6);
		if (result.off_ms > off_ms || result.reads_ratio > 2.05 ||
		    result.values_ratio < 0.95 || result.values_ratio > 1.05)
			fail_msg("phase %lu ms: %.2f reads, %.3f values, off %.3f ms, period %.3f",
				 (unsigned long)(sensor.phase_ns / MS), result.reads_ratio,
				 result.values_ratio, result.off_ms,
				 (double)result.period_ns / 1e6);
	}
}

/* At fixed times, twice in a period, it would be up to 25 ms. */
static void test_regular(void **state)
{
	check((struct sensor){ .period_ns = 100 * MS }, 100 * MS, 0, 1.5);
	check((struct sensor){ .period_ns = 100370 * US }, 100 * MS, 200 * US, 1.5);
	check((struct sensor){ .period_ns = 91 * MS }, 100 * MS, 200 * US, 3);
	check((struct sensor){ .period_ns = 20 * MS }, 20 * MS, 100 * US, 0.5);
}

static void test_irregular(void **state)
{
	check((struct sensor){ .period_ns = 100 * MS, .jitter_ns = 2 * MS }, 100 * MS, 200 * US, 3);
	check((struct sensor){ .period_ns = 100 * MS, .jitter_ns = 10 * MS }, 100 * MS, 200 * US,
	      10);
	/* a machine that is too busy to read in time */
	check((struct sensor){ .period_ns = 100 * MS }, 100 * MS, 20 * MS, 16);
}

/* One whose value is always the same still has one in each period. */
static void test_constant(void **state)
{
	check((struct sensor){ .period_ns = 100 * MS, .is_constant = true }, 100 * MS, 200 * US,
	      50);
}

/* Of one that is not there any more nothing is expected, least of all now. */
static void test_lost(void **state)
{
	const struct sensor sensor = { .period_ns = 100 * MS };
	struct watt_gpu_pace pace;

	watt_gpu_pace_init(&pace, 100 * MS, true);
	assert_int_equal(watt_gpu_pace_next_ns(&pace), 0);
	watch(&sensor, &pace, 0);
	assert_true(watt_gpu_pace_next_ns(&pace) > BEGIN_NS);
	watt_gpu_pace_lose(&pace);
	assert_int_equal(watt_gpu_pace_next_ns(&pace), 0);
}

/* A driver that answers late: the value is of some time while it was asked. */
static void test_slow_answer(void **state)
{
	const struct sensor sensor = { .period_ns = 100 * MS };
	struct watt_gpu_pace pace;
	uint64_t t_ns;

	watt_gpu_pace_init(&pace, 100 * MS, true);
	watch(&sensor, &pace, 0);
	t_ns = watt_gpu_pace_next_ns(&pace);
	assert_true(watt_gpu_pace_see(&pace, t_ns, t_ns + 3 * WATT_NSEC_PER_SEC, true));
	assert_int_equal(pace.to_ns, t_ns + 3 * WATT_NSEC_PER_SEC);
	assert_true(pace.to_ns - pace.from_ns >= 3 * WATT_NSEC_PER_SEC);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_regular),     cmocka_unit_test(test_irregular),
		cmocka_unit_test(test_constant),    cmocka_unit_test(test_lost),
		cmocka_unit_test(test_slow_answer),
	};

	return cmocka_run_group_tests_name("gpu_pace", tests, NULL, NULL);
}
