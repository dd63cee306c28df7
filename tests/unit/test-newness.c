/* SPDX-License-Identifier: Apache-2.0 */
/* What a BMC tells is new, or the same again: lib/source/power/redfish/newness.c, in no time. */
#include "unit.h"

#include "base/clock.h"
#include "source/power/newness.h"

#define MAX_HEARTBEAT_NS (30 * WATT_NSEC_PER_SEC)
/* Any instant of ours, and any of theirs. */
#define BEGIN_S 1000
#define THEIR_NS (1700000000 * (int64_t)WATT_NSEC_PER_SEC)

static bool take(struct watt_newness *newness, unsigned int at_s, double value, const char *etag)
{
	struct watt_bmc_reading reading = { .value = value };

	return watt_newness_take(newness, &reading, etag, (BEGIN_S + at_s) * WATT_NSEC_PER_SEC,
				 MAX_HEARTBEAT_NS);
}

/* Asked each second, it says something else each 10 s, first after 3 s: each counts once. */
static void test_values_that_change(void **state)
{
	struct watt_newness newness = { 0 };
	unsigned int at_s, n_taken = 0;

	for (at_s = 0; at_s < 103; at_s++)
		if (take(&newness, at_s, 200 + (at_s + 7) / 10, "") && at_s >= 13)
			n_taken++;
	assert_int_equal(n_taken, 9);
	assert_int_equal(newness.cadence_ns, 10 * WATT_NSEC_PER_SEC);
}

/*
 * One that stands still counts again and again: the second time at once, then by what is usual, and
 * where it changed before, by that.
 */
static void test_heartbeat(void **state)
{
	struct watt_newness newness = { .usual_ns = 10 * WATT_NSEC_PER_SEC }, slow = { 0 };
	struct watt_newness unknown = { 0 };
	unsigned int at_s, n_taken = 0;

	for (at_s = 0; at_s < 20; at_s++)
		assert_int_equal(take(&newness, at_s, 200, ""),
				 at_s == 0 || at_s == 1 || at_s == 11);
	/* where nobody knows how often it is measured, what stands still is what is known of now */
	for (at_s = 0; at_s < 20; at_s++)
		assert_true(take(&unknown, at_s, 200, ""));
	for (; at_s <= 40; at_s++)
		take(&newness, at_s, 200 + at_s / 10, "");
	assert_int_equal(newness.cadence_ns, 10 * WATT_NSEC_PER_SEC);
	for (; at_s <= 100; at_s++)
		if (take(&newness, at_s, 204, "")) {
			assert_int_equal(at_s % 10, 5);
			/* between two measurements it is that of the first of them */
			assert_int_equal(newness.taken_ns,
					 (BEGIN_S + at_s - 5) * WATT_NSEC_PER_SEC);
			n_taken++;
		}
	assert_int_equal(n_taken, 5);

	/* never so seldom that the curve sees a gap */
	take(&slow, 0, 1, "");
	take(&slow, 50, 2, "");
	take(&slow, 100, 3, "");
	assert_int_equal(slow.cadence_ns, 50 * WATT_NSEC_PER_SEC);
	assert_false(take(&slow, 129, 3, ""));
	assert_true(take(&slow, 130, 3, ""));
	/* and no reading is as old as the one before */
	assert_int_equal(slow.taken_ns, (BEGIN_S + 130) * WATT_NSEC_PER_SEC);
}

/* Another ETag is another reading, though the value is the same; the same ETag says nothing. */
static void test_etags(void **state)
{
	struct watt_newness newness = { 0 };

	assert_true(take(&newness, 0, 200, "a"));
	assert_true(take(&newness, 10, 200, "b"));
	assert_true(take(&newness, 20, 200, "c"));
	assert_int_equal(newness.cadence_ns, 10 * WATT_NSEC_PER_SEC);
	assert_false(take(&newness, 21, 200, "c"));
	assert_true(take(&newness, 22, 201, "c"));
}

/* What has a time or a number is new when that is; and no heartbeat makes it so. */
static void test_times_and_numbers(void **state)
{
	struct watt_newness timed = { 0 }, numbered = { 0 };
	struct watt_bmc_reading reading = { .value = 200, .time_ns = THEIR_NS };
	uint64_t now_ns = BEGIN_S * WATT_NSEC_PER_SEC;

	assert_true(watt_newness_take(&timed, &reading, "a", now_ns, MAX_HEARTBEAT_NS));
	now_ns += 100 * WATT_NSEC_PER_SEC;
	assert_false(watt_newness_take(&timed, &reading, "b", now_ns, MAX_HEARTBEAT_NS));
	reading.time_ns += 2 * (int64_t)WATT_NSEC_PER_SEC;
	assert_true(watt_newness_take(&timed, &reading, "b", now_ns, MAX_HEARTBEAT_NS));
	assert_int_equal(timed.cadence_ns, 2 * WATT_NSEC_PER_SEC);

	reading = (struct watt_bmc_reading){ .value = 200, .sequence = 7 };
	assert_true(watt_newness_take(&numbered, &reading, "a", now_ns, MAX_HEARTBEAT_NS));
	now_ns += 100 * WATT_NSEC_PER_SEC;
	assert_false(watt_newness_take(&numbered, &reading, "b", now_ns, MAX_HEARTBEAT_NS));
	reading.sequence = 8;
	assert_true(watt_newness_take(&numbered, &reading, "b", now_ns, MAX_HEARTBEAT_NS));
}

/* When a value changed while nobody could read it, nobody knows: that teaches no cadence; and counts. */
static void test_interruption(void **state)
{
	struct watt_newness newness = { 0 };

	take(&newness, 0, 1, "");
	take(&newness, 7, 2, "");
	watt_newness_interrupt(&newness);
	take(&newness, 9, 3, "");
	assert_int_equal(newness.cadence_ns, 0);
	take(&newness, 17, 4, "");
	assert_int_equal(newness.cadence_ns, 8 * WATT_NSEC_PER_SEC);
	assert_false(take(&newness, 18, 4, ""));
	watt_newness_interrupt(&newness);
	assert_true(take(&newness, 19, 4, ""));
	assert_false(take(&newness, 20, 4, ""));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_that_change),
		cmocka_unit_test(test_heartbeat),
		cmocka_unit_test(test_etags),
		cmocka_unit_test(test_times_and_numbers),
		cmocka_unit_test(test_interruption),
	};

	return cmocka_run_group_tests_name("newness", tests, NULL, NULL);
}
