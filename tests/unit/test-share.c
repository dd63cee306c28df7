/* SPDX-License-Identifier: Apache-2.0 */
/* lib/attrib/share.c */
#include "unit.h"

#include "attrib/share.h"
#include "base/util.h"

#define N 257

static uint64_t seed = 1;

static uint64_t rnd(void)
{
	seed = watt_hash_u64(seed + 0x9e3779b97f4a7c15ULL);
	return seed;
}

static int64_t sum(const struct watt_share *shares, size_t n)
{
	int64_t total = 0;
	size_t i;

	for (i = 0; i < n; i++)
		total += shares[i].amount;
	return total;
}

/* Exact, and nobody is further than one unit from the true share. */
static void test_exact(void **state)
{
	struct watt_share shares[N];
	int64_t carry[N] = { 0 };
	int round;

	for (round = 0; round < 2000; round++) {
		size_t n = 1 + rnd() % N, i;
		int64_t amount = (int64_t)(rnd() % 100000000000ULL);
		uint64_t total = 0;

		for (i = 0; i < n; i++) {
			shares[i] = (struct watt_share){ .weight = 1 + rnd() % 1000000000ULL,
							 .carry = &carry[i] };
			total += shares[i].weight;
		}
		watt_share_split(shares, n, amount);
		assert_int_equal(sum(shares, n), amount);
		for (i = 0; i < n; i++) {
			int64_t floor = (int64_t)((watt_u128)amount * shares[i].weight / total);

			assert_in_range(shares[i].amount, floor, floor + 1);
		}
	}
}

/* Equal weights end with equal sums, wherever they stand in the list. */
static void test_fair(void **state)
{
	struct watt_share shares[7];
	int64_t carry[7] = { 0 }, got[7] = { 0 };
	int round;
	size_t i;

	for (round = 0; round < 10000; round++) {
		for (i = 0; i < 7; i++)
			shares[i] = (struct watt_share){ .weight = 5, .carry = &carry[i] };
		watt_share_split(shares, 7, (int64_t)(rnd() % 1000));
		for (i = 0; i < 7; i++)
			got[i] += shares[i].amount;
	}
	for (i = 1; i < 7; i++)
		assert_true(llabs(got[i] - got[0]) <= 1);
}

/* What is owed is paid: after many divisions each is within a unit or two of its true sum. */
static void test_no_drift(void **state)
{
	static const uint64_t weight[3] = { 1, 1000, 333333 };
	struct watt_share shares[3];
	int64_t carry[3] = { 0 }, got[3] = { 0 };
	int round;
	size_t i;

	for (round = 0; round < 334334; round++) {
		for (i = 0; i < 3; i++)
			shares[i] = (struct watt_share){ .weight = weight[i], .carry = &carry[i] };
		watt_share_split(shares, 3, 1);
		for (i = 0; i < 3; i++)
			got[i] += shares[i].amount;
	}
	for (i = 0; i < 3; i++)
		assert_true(llabs(got[i] - (int64_t)weight[i]) <= 2);
}

static void test_edges(void **state)
{
	int64_t carry[2] = { 0 };
	struct watt_share shares[2] = {
		{ .weight = 0, .carry = &carry[0] },
		{ .weight = UINT64_MAX >> 2, .carry = &carry[1] },
	};

	watt_share_split(shares, 2, 0);
	assert_int_equal(shares[0].amount + shares[1].amount, 0);
	watt_share_split(shares, 2, INT64_MAX);
	assert_int_equal(shares[0].amount, 0);
	assert_true(shares[1].amount == INT64_MAX);
}

/* Weights that nobody can have are no reason to lose energy. */
static void test_weights_that_do_not_fit(void **state)
{
	int64_t carry[3] = { 0 };
	struct watt_share shares[3];
	size_t i;

	for (i = 0; i < 3; i++)
		shares[i] = (struct watt_share){ .weight = UINT64_MAX, .carry = &carry[i] };
	watt_share_split(shares, 3, 3000000);
	for (i = 0; i < 3; i++)
		assert_int_equal(shares[i].amount, 1000000);
	shares[0].weight = UINT64_MAX;
	shares[1].weight = 1ULL << 63;
	shares[2].weight = 1;
	watt_share_split(shares, 3, 3000000);
	assert_int_equal(shares[0].amount + shares[1].amount + shares[2].amount, 3000000);
	assert_in_range(shares[0].amount, 1999999, 2000001);
	assert_in_range(shares[2].amount, 0, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_fair),
		cmocka_unit_test(test_no_drift),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_weights_that_do_not_fit),
	};

	return cmocka_run_group_tests_name("share", tests, NULL, NULL);
}
