/* SPDX-License-Identifier: Apache-2.0 */
/* lib/base/htab.c */
#include "unit.h"

#include "base/htab.h"
#include "base/util.h"

#define N 5000

struct item {
	struct watt_hnode node;
	uint32_t number;
	bool was_seen;
};

static struct item items[N];

/* Every second one has a twin of the same hash. */
static uint64_t hash_of(uint32_t number)
{
	return watt_hash_u64(number / 2);
}

static struct item *find(const struct watt_htab *table, uint32_t number)
{
	struct watt_hnode *node = watt_htab_first(table, hash_of(number));

	for (; node; node = watt_htab_next(node))
		if (watt_container_of(node, struct item, node)->number == number)
			return watt_container_of(node, struct item, node);
	return NULL;
}

static void fill(struct watt_htab *table)
{
	uint32_t i;

	assert_int_equal(watt_htab_init(table), 0);
	for (i = 0; i < N; i++) {
		items[i] = (struct item){ .number = i };
		watt_htab_insert(table, &items[i].node, hash_of(i));
	}
	assert_int_equal(table->n, N);
}

static void test_finds_all_and_only_those(void **state)
{
	struct watt_htab table;
	uint32_t i;

	fill(&table);
	for (i = 0; i < N; i++)
		assert_ptr_equal(find(&table, i), &items[i]);
	assert_null(find(&table, N + 2));
	for (i = 0; i < N; i += 2)
		watt_htab_remove(&table, &items[i].node);
	assert_int_equal(table.n, N / 2);
	for (i = 0; i < N; i++)
		assert_ptr_equal(find(&table, i), i % 2 ? &items[i] : NULL);
	watt_htab_remove(&table, &items[0].node); /* it is not there any more */
	assert_int_equal(table.n, N / 2);
	watt_htab_done(&table);
}

/* The walk sees each node once, also when what it returned is removed. */
static void test_iterates_while_removing(void **state)
{
	struct watt_htab_iter it = { 0 };
	struct watt_hnode *node;
	struct watt_htab table;
	size_t n = 0;

	fill(&table);
	while ((node = watt_htab_iterate(&table, &it))) {
		struct item *item = watt_container_of(node, struct item, node);

		assert_false(item->was_seen);
		item->was_seen = true;
		n++;
		if (item->number % 3)
			continue;
		watt_htab_remove(&table, node);
		memset(node, 0xff, sizeof(*node));
	}
	assert_int_equal(n, N);
	assert_int_equal(table.n, N - (N + 2) / 3);
	assert_null(find(&table, 3));
	assert_ptr_equal(find(&table, 4), &items[4]);
	watt_htab_done(&table);
}

static void test_empty(void **state)
{
	struct watt_htab_iter it = { 0 };
	struct watt_htab table = { 0 };

	watt_htab_done(&table);
	assert_int_equal(watt_htab_init(&table), 0);
	assert_null(watt_htab_first(&table, 0));
	assert_null(watt_htab_iterate(&table, &it));
	watt_htab_done(&table);
	watt_htab_done(&table);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds_all_and_only_those),
		cmocka_unit_test(test_iterates_while_removing),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests_name("htab", tests, NULL, NULL);
}
