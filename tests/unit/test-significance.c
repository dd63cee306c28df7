/* SPDX-License-Identifier: Apache-2.0 */
/* lib/attrib/significance.c, block.c, and the key that they are for. */
#include "unit.h"

#include "attrib/block.h"
#include "attrib/key.h"
#include "attrib/significance.h"
#include "base/util.h"
#include "base/words.h"

#define N_SEEDS 200
#define N_CHANGES 1000

static uint64_t seed;

/* About normal, of variance 1. */
static double noise(void)
{
	double sum = -6;
	int i;

	for (i = 0; i < 12; i++) {
		seed = watt_hash_u64(seed + 0x9e3779b97f4a7c15ULL);
		sum += (double)(seed >> 11) / (double)(1ULL << 53);
	}
	return sum;
}

/* Mostly nothing, and now and then a lot: as loads begin and end. */
static double burst(void)
{
	double size = noise();

	return noise() > 1.5 ? 20 * size : 0.1 * size;
}

/* What has nothing to do with each other never seems to: 1,000 changes of 200 worlds of each kind. */
static void test_chance(void **state)
{
	struct watt_significance s;
	int kind, i, n;

	for (kind = 0; kind < 4; kind++)
		for (i = 0; i < N_SEEDS; i++) {
			s = (struct watt_significance){ 0 };
			seed = (uint64_t)(kind * N_SEEDS + i);
			for (n = 0; n < N_CHANGES; n++) {
				watt_significance_add(&s, kind & 1 ? burst() : noise(),
						      kind & 2 ? burst() : noise());
				assert_false(s.is_significant);
			}
		}
}

/* A relation that is there is found, the sooner the clearer it is, and forgotten when it is gone. */
static void test_relation(void **state)
{
	struct watt_significance s = { 0 };
	double x;
	int n;

	seed = 1;
	for (n = 0; n < 10; n++) {
		x = noise();
		watt_significance_add(&s, x, x + 0.2 * noise());
		assert_true(watt_significance_t(&s) == 0); /* a few say nothing */
	}
	for (n = 0; n < 100; n++) {
		x = noise();
		watt_significance_add(&s, x, x + 0.2 * noise());
	}
	assert_true(s.is_significant);
	assert_true(watt_significance_t(&s) > 10);
	for (n = 0; n < 50000 && s.is_significant; n++)
		watt_significance_add(&s, noise(), noise());
	assert_false(s.is_significant);
	assert_in_range(n, 100, 30000);
}

/* That they take less when there is more to do is no reason to give them anything. */
static void test_against(void **state)
{
	struct watt_significance s = { 0 };
	int n;

	seed = 2;
	for (n = 0; n < 500; n++) {
		double x = noise();

		watt_significance_add(&s, x, -x + noise());
		assert_false(s.is_significant);
	}
	assert_true(watt_significance_t(&s) < -5);
}

/* One change that outweighs all others explains itself. */
static void test_one_change(void **state)
{
	struct watt_significance s = { 0 };
	int n;

	seed = 3;
	watt_significance_add(&s, 1000, 1000);
	for (n = 0; n < 500; n++) {
		watt_significance_add(&s, noise(), noise());
		assert_true(watt_significance_t(&s) == 0);
	}
}

static void test_saved(void **state)
{
	struct watt_significance s = { 0 }, loaded = { 0 };
	struct watt_words words = { 0 };
	int n;

	seed = 4;
	for (n = 0; n < 100; n++)
		watt_significance_add(&s, 1 + noise(), 1 + noise());
	assert_int_equal(watt_significance_visit(&s, &words), 0);
	words.is_loading = true;
	assert_int_equal(watt_significance_visit(&loaded, &words), 0);
	assert_int_equal(watt_words_end(&words), 0);
	assert_true(watt_significance_t(&s) == watt_significance_t(&loaded));
	assert_int_equal(s.is_significant, loaded.is_significant);
	/* cut short, nothing is known */
	words.at = 0;
	words.n -= 2;
	assert_int_equal(watt_significance_visit(&loaded, &words), -EBADMSG);
	assert_true(loaded.x2 == 0);
	watt_words_done(&words);
}

/* ---- blocks ---- */

static void add(struct watt_block *block, uint64_t process, const char *name, double cpu_s)
{
	struct watt_learned_use use = {
		.program = process / 2, .process = process, .name = name, .cpu_s = cpu_s
	};
	struct watt_learned_slice slice = {
		.dt_s = 0.5, .energy_j = 2, .n_cpus = 4, .uses = &use, .n_uses = 1
	};

	assert_int_equal(watt_block_add(block, &slice), 0);
}

static void test_block(void **state)
{
	struct watt_block block = { 0 }, loaded = { 0 };
	struct watt_words words = { 0 };
	struct watt_learned_slice all;
	char name[] = "a";

	add(&block, 10, name, 0.25);
	name[0] = 'x'; /* names are its own */
	add(&block, 11, "b", 0.5);
	add(&block, 10, "c", 0.125);
	watt_block_get(&block, &all);
	assert_int_equal(all.n_uses, 2);
	assert_int_equal(all.n_cpus, 4);
	assert_true(all.dt_s == 1.5 && all.energy_j == 6);
	assert_string_equal(all.uses[0].name, "a");
	assert_true(all.uses[0].cpu_s == 0.375 && all.uses[1].cpu_s == 0.5);
	assert_int_equal(watt_block_visit(&block, &words), 0);
	words.is_loading = true;
	assert_int_equal(watt_block_visit(&loaded, &words), 0);
	assert_int_equal(watt_words_end(&words), 0);
	add(&loaded, 11, "b", 1);
	watt_block_get(&loaded, &all);
	assert_int_equal(all.n_uses, 2);
	assert_true(all.uses[1].cpu_s == 1.5);
	assert_string_equal(all.uses[1].name, "b");
	watt_words_done(&words);
	watt_block_clear(&block);
	watt_block_get(&block, &all);
	assert_true(all.n_uses == 0 && all.dt_s == 0 && all.energy_j == 0);
	watt_block_done(&block);
	watt_block_done(&loaded);
}

/* Time is never lost: who finds no place is nobody that is known. */
static void test_full_block(void **state)
{
	struct watt_block block = { 0 };
	struct watt_learned_slice all;
	double sum_s = 0;
	uint64_t i;

	for (i = 0; i < 5 * WATT_BLOCK_USES; i++)
		add(&block, 10 + i, NULL, 0.25);
	watt_block_get(&block, &all);
	assert_int_equal(all.n_uses, WATT_BLOCK_USES);
	for (i = 0; i < all.n_uses; i++)
		sum_s += all.uses[i].cpu_s;
	assert_true(sum_s == 0.25 * 5 * WATT_BLOCK_USES);
	watt_block_done(&block);
}

/* ---- the key ---- */

#define SLICE_MS 50
#define MS 1000000ULL

struct rest {
	const struct watt_key_ops *ops;
	void *state;
};

static struct rest open_rest(void)
{
	static const struct watt_domain domain = { .kind = WATT_DOMAIN_RESIDUAL,
						   .key = WATT_KEY_LEARNED };
	struct rest rest = { watt_key_find(watt_key_registry, WATT_KEY_LEARNED, &domain), NULL };

	assert_ptr_equal(rest.ops, &watt_key_learned_rest);
	rest.state = calloc(1, rest.ops->state_size);
	assert_non_null(rest.state);
	assert_int_equal(rest.ops->init(rest.state, &domain), 0);
	return rest;
}

static void close_rest(struct rest *rest)
{
	rest->ops->done(rest->state);
	free(rest->state);
}

static struct watt_words save(const struct rest *rest)
{
	struct watt_words words = { 0 };

	assert_int_equal(rest->ops->visit(rest->state, &words), 0);
	return words;
}

static bool is_significant(const struct rest *rest)
{
	bool ret;

	rest->ops->significance(rest->state, &ret);
	return ret;
}

/* A slice in which somebody was busy for as long, and what the residual took. */
static void show(const struct rest *rest, size_t slice, double watts, bool is_usable)
{
	struct watt_use use = { .amount = 1000000 + slice / 60 % 2 * (40 * MS + slice % 7 * MS) };
	struct watt_part part = { .use = &use, .kind = WATT_ACTIVITY_CPU_TIME };
	struct watt_key_slice view = { .t0_ns = slice * SLICE_MS * MS,
				       .t1_ns = (slice + 1) * SLICE_MS * MS,
				       .is_complete = true,
				       .is_idle_known = true,
				       .is_usable = is_usable,
				       .idle_uw = 60000000,
				       .block_ns = 1000 * MS,
				       .busy = use.amount,
				       .n_units = 4,
				       .parts = &part,
				       .n_parts = 1,
				       .n_needed = 1 };

	watts += 60 + 10 * (double)use.amount / (SLICE_MS * (double)MS);
	view.energy_nj = (int64_t)(watts * SLICE_MS * (double)MS);
	assert_int_equal(rest->ops->learn(rest->state, &view), 0);
}

/* What was learned, the test, and the block that is not whole yet go on in another file, bit for bit. */
static void test_key_goes_on(void **state)
{
	struct rest rest = open_rest(), other = open_rest();
	struct watt_words a, b;
	size_t i;

	seed = 5;
	assert_int_equal(rest.ops->readiness_ppm(rest.state), 0);
	for (i = 0; i < 4007; i++)
		show(&rest, i, noise(), true);
	assert_true(is_significant(&rest));
	assert_in_range(rest.ops->readiness_ppm(rest.state), 1, 1000000);
	a = save(&rest);
	a.is_loading = true;
	assert_int_equal(rest.ops->visit(other.state, &a), 0);
	assert_int_equal(watt_words_end(&a), 0);
	watt_words_done(&a);
	assert_true(is_significant(&other));
	for (; i < 4500; i++) {
		double watts = noise();

		show(&rest, i, watts, true);
		show(&other, i, watts, true);
	}
	a = save(&rest);
	b = save(&other);
	assert_int_equal(a.n, b.n);
	assert_memory_equal(a.list, b.list, a.n * sizeof(*a.list));
	watt_words_done(&a);
	watt_words_done(&b);
	close_rest(&rest);
	close_rest(&other);
}

/* Recordings of before say nothing of how sure rows are by what slices say: all else is known. */
static void test_key_of_before(void **state)
{
	struct rest rest = open_rest(), other = open_rest();
	struct watt_key_space space;
	struct watt_words words;
	size_t i, n;

	(void)state;
	seed = 5;
	for (i = 0; i < 4007; i++)
		show(&rest, i, noise(), true);
	words = save(&rest);
	n = words.n;
	/* the nobody of this key has the same number, further ahead */
	for (i = n - 1; i > 0 && words.list[i] != UINT64_MAX; i--)
		;
	assert_true(i > 0);
	words.n = i;
	words.is_loading = true;
	assert_int_equal(rest.ops->visit(other.state, &words), 0);
	assert_int_equal(watt_words_end(&words), 0);
	assert_true(is_significant(&other));
	other.ops->get_space(other.state, &space);
	assert_true(space.n > 1 && space.scale > 0.5 && space.level == 0);
	words.n = n;
	words.is_loading = false;
	watt_words_done(&words);
	close_rest(&rest);
	close_rest(&other);
}

/* A residual that was cut at 0 teaches nothing. */
static void test_key_takes_no_clamped(void **state)
{
	struct rest rest = open_rest();
	size_t i;

	for (i = 0; i < 4000; i++)
		show(&rest, i, 0, i % 19 != 0); /* no block of a second is usable as a whole */
	assert_false(is_significant(&rest));
	for (i = 0; i < 4000; i++)
		show(&rest, i, 0, true);
	assert_true(is_significant(&rest));
	close_rest(&rest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chance),        cmocka_unit_test(test_relation),
		cmocka_unit_test(test_against),       cmocka_unit_test(test_one_change),
		cmocka_unit_test(test_saved),         cmocka_unit_test(test_block),
		cmocka_unit_test(test_full_block),    cmocka_unit_test(test_key_goes_on),
		cmocka_unit_test(test_key_of_before), cmocka_unit_test(test_key_takes_no_clamped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
