/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kmod/score.c and kmod/share.c: weights keep their proportions on the largest machine, with the
 * largest weights; and shares are those of the library, to the last nJ.
 */
#include "../unit/unit.h"

#include "amount.h"
#include "pause.h"
#include "process.h"
#include "score.h"
#include "share.h"
#include "unit.h"

/* The library's own has the same name. */
#define watt_share_split watt_library_share_split
#include "attrib/share.h"
#undef watt_share_split

#define N_UNITS 4
#define S 1000000000ULL
#define WEIGHT_MAX_MILLI (1000000000ULL * 1000)

unsigned int watt_units_count(void)
{
	return N_UNITS;
}

/* Nobody else is to be let run here. */
void watt_pause_after_one(void)
{
}

static struct watt_process *processes_new(unsigned int n)
{
	const size_t bytes = sizeof(struct watt_process) + N_UNITS * sizeof(struct watt_part);
	struct watt_process *first = NULL;

	for (; n; n--) {
		struct watt_process *process = aligned_alloc(16, (bytes + 15) & ~15UL);

		assert_non_null(process);
		memset(process, 0, bytes);
		process->next_active = first;
		first = process;
	}
	return first;
}

static void processes_free(struct watt_process *process)
{
	while (process) {
		struct watt_process *next = process->next_active;

		free(process);
		process = next;
	}
}

/* n CPUs for a second, all of them on one unit, at the most that a CPU executes. */
static void use(struct watt_process *process, unsigned int unit, u64 n_cpus,
		const struct watt_weights *weights)
{
	const struct watt_counts none = { 0 };

	process->parts[unit].delta_ns = n_cpus * S;
	process->parts[unit].n_instructions = n_cpus * 8 * S;
	assert_true(watt_score_weigh(process, &none, weights, S));
}

static void check_proportion(const struct watt_weights *weights)
{
	const u64 energy_nj = 512 * S;
	struct watt_process *active = processes_new(3);
	struct watt_process *few = active->next_active, *one = few->next_active;

	use(active, 1, 500, weights);
	use(few, 1, 11, weights);
	use(one, 1, 1, weights);
	assert_true(watt_share_split(active, 1, energy_nj));
	assert_in_range(active->parts[1].share_nj, 500 * S - 1, 500 * S + 1);
	assert_in_range(few->parts[1].share_nj, 11 * S - 1, 11 * S + 1);
	assert_in_range(one->parts[1].share_nj, S - 1, S + 1);
	assert_int_equal(active->parts[1].share_nj + few->parts[1].share_nj +
				 one->parts[1].share_nj,
			 energy_nj);
	processes_free(active);
}

/* 512 CPUs in one package against one: the busiest were clamped to a fifth of their weight. */
static void test_large_machine(void **state)
{
	const struct watt_weights weights = { .cpu_ns = 5000, .instructions = 5000 };
	const struct watt_weights most = { .cpu_ns = WEIGHT_MAX_MILLI,
					   .instructions = WEIGHT_MAX_MILLI };

	check_proportion(&weights);
	check_proportion(&most);
}

/* What is not known by unit goes with CPU time, whatever the weight is. */
static void test_rest(void **state)
{
	const struct watt_weights weights = { .mem_bytes = WEIGHT_MAX_MILLI,
					      .net_rx_packets = WEIGHT_MAX_MILLI };
	const struct watt_counts none = { 0 };
	struct watt_process *process = processes_new(1);
	__uint128_t sum = 0, expected;
	unsigned int i;

	process->now.mem_bytes = 1ULL << 45;
	process->now.rx_packets = 1000000000;
	process->parts[0].delta_ns = 3 * S;
	process->parts[2].delta_ns = S;
	expected = (((__uint128_t)1 << 45) + 1000000000) * WEIGHT_MAX_MILLI;
	assert_true(watt_score_weigh(process, &none, &weights, S));
	for (i = 0; i < N_UNITS; i++)
		sum += process->parts[i].weight;
	assert_true(sum == expected);
	assert_true(process->parts[1].weight == 0 && process->parts[3].weight == 0);
	assert_int_equal((u64)(process->parts[0].weight >> 40),
			 (u64)(process->parts[2].weight * 3 >> 40));
	processes_free(process);
}

static void test_nothing(void **state)
{
	const struct watt_weights weights = { .cpu_ns = 5000 };
	const struct watt_counts none = { 0 };
	struct watt_process *process = processes_new(1);

	assert_false(watt_score_weigh(process, &none, &weights, S));
	assert_false(watt_share_split(process, 0, S));
	processes_free(process);
}

/* Points without RAPL: 2^100 thousandths and more are added as whole points modulo 2^64. */
static void test_amount(void **state)
{
	struct watt_amount amount = { .whole = 5, .milli = 999 };
	__uint128_t milli = ((__uint128_t)123456789 << 64) + 1234567;
	__uint128_t expected = milli / 1000 + 5 + (milli % 1000 + 999) / 1000;

	watt_amount_add_wide(&amount, milli);
	assert_int_equal(amount.whole, (u64)expected);
	assert_int_equal(amount.milli, (u64)((milli % 1000 + 999) % 1000));
}

/* ---- the module's division and the library's are one */

#define N_MANY 300

static u64 seed = 11;

static u64 rnd(void)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return seed >> 20;
}

static u64 weight_of(unsigned int slice)
{
	u64 kind = rnd() % 8;

	if (!kind)
		return 0;
	/* alike, far apart, and so large that all of them lose their lowest bits */
	return slice % 3 == 0 ? 1000 : slice % 3 == 1 ? rnd() >> (kind * 5) : rnd() << 19;
}

static void test_same_as_library(void **state)
{
	struct watt_process *active = processes_new(N_MANY), *process;
	static struct watt_share shares[N_MANY];
	static int64_t carries[N_MANY];
	unsigned int slice, i, n;

	for (slice = 0; slice < 300; slice++) {
		u64 energy_nj = rnd() % (slice % 7 ? 1000000 * S : 500), sum = 0;

		for (process = active, i = n = 0; process; process = process->next_active, i++) {
			process->parts[3].weight = weight_of(slice);
			process->parts[3].share_nj = 0;
			if (process->parts[3].weight)
				shares[n++] = (struct watt_share){ (u64)process->parts[3].weight,
								   &carries[i] };
		}
		watt_share_split(active, 3, energy_nj);
		watt_library_share_split(shares, n, (int64_t)energy_nj);
		for (process = active, i = n = 0; process; process = process->next_active, i++) {
			assert_int_equal(process->parts[3].carry, carries[i]);
			if (process->parts[3].weight)
				assert_int_equal(process->parts[3].share_nj, shares[n++].amount);
			sum += process->parts[3].share_nj;
		}
		assert_int_equal(sum, energy_nj);
	}
	processes_free(active);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_large_machine),   cmocka_unit_test(test_rest),
		cmocka_unit_test(test_nothing),         cmocka_unit_test(test_amount),
		cmocka_unit_test(test_same_as_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
