/* SPDX-License-Identifier: Apache-2.0 */
/* lib/timeline/delays.c */
#include "unit.h"

#include "base/util.h"
#include "rules_of.h"
#include "timeline/timeline.h"

#define MS 1000000ULL
#define N 3

static char said[1024];

static void hear(void *data, enum watt_log_level level, const char *text)
{
	assert_int_equal(level, WATT_LOG_ERROR);
	snprintf(said, sizeof(said), "%s", text);
}

static const struct watt_log listener = { hear, NULL };

static const struct watt_channel channels[N] = {
	{ .name = "hwmon/board/cpu", .scale_num = 1, .scale_den = 1, .delay_ns = 5 * MS },
	{ .name = "hwmon/board/gpu", .scale_num = 1, .scale_den = 1, .delay_ns = 7 * MS },
	{ .name = "powercap/package-0", .scale_num = 1, .scale_den = 1 },
};

static struct watt_timeline *open_timeline(void)
{
	static const struct watt_channel *const list[N] = { &channels[0], &channels[1],
							    &channels[2] };
	struct watt_timeline *tl;

	assert_int_equal(watt_timeline_new(list, N, &tl), 0);
	return tl;
}

/* The age that a reading is taken to have, of each channel. */
static void assert_delays(const char *text, uint64_t a_ns, uint64_t b_ns, uint64_t c_ns)
{
	const uint64_t expected_ns[N] = { a_ns, b_ns, c_ns };
	struct watt_rules delays = rules_of(text, &watt_delay_syntax);
	struct watt_timeline *tl = open_timeline();
	uint32_t i;

	assert_int_equal(watt_timeline_set_delays(tl, &delays, &listener), 0);
	watt_rules_clear(&delays);
	for (i = 0; i < N; i++) {
		struct watt_sample sample = { 90000 * MS, 90000 * MS, 1, i, WATT_STATUS_OK };
		struct watt_curve_stats stats = { 0 };

		assert_int_equal(watt_timeline_push(tl, &sample), 0);
		watt_timeline_get_stats(tl, i, &stats);
		assert_int_equal(90000 * MS - stats.first_ns, expected_ns[i]);
	}
	watt_timeline_free(tl);
}

static void assert_refused(const char *text, const char *expected)
{
	struct watt_rules delays = rules_of(text, &watt_delay_syntax);
	struct watt_timeline *tl = open_timeline();

	said[0] = '\0';
	assert_int_equal(watt_timeline_set_delays(tl, &delays, &listener), -ENOENT);
	watt_rules_clear(&delays);
	assert_string_equal(said, expected);
	watt_timeline_free(tl);
}

static void test_delays_are_assumed(void **state)
{
	assert_delays(NULL, 5 * MS, 7 * MS, 0);
	assert_delays("hwmon/board/cpu=12.5", 12 * MS + 500000, 7 * MS, 0);
	assert_delays("hwmon/*=0", 0, 0, 0);
	assert_delays("*=1,*/gpu=2.000001", MS, 2 * MS + 1, MS);
	assert_delays("*pa*k*0=60000", 5 * MS, 7 * MS, 60000 * MS);
}

static void test_mistakes_are_told(void **state)
{
	assert_refused("hwmon/board=1",
		       "no channel here is called 'hwmon/board'; there are: hwmon/board/cpu, "
		       "hwmon/board/gpu, powercap/package-0");
	assert_refused("*=1,dcmi*=1",
		       "no channel here is called 'dcmi*'; there are: hwmon/board/cpu, "
		       "hwmon/board/gpu, powercap/package-0");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_delays_are_assumed),
		cmocka_unit_test(test_mistakes_are_told),
	};

	return cmocka_run_group_tests_name("delays", tests, NULL, NULL);
}
