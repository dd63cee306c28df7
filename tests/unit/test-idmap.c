/* SPDX-License-Identifier: Apache-2.0 */
/* lib/base/idmap.c */
#include "unit.h"

#include "base/idmap.h"

static void test_finds_what_was_put(void **state)
{
	struct watt_idmap map = { 0 };
	uint64_t i;

	assert_true(watt_idmap_find(&map, 7) == WATT_IDMAP_NONE);
	for (i = 1; i <= 10000; i++) {
		/* Both halves of an id matter. */
		size_t *low = watt_idmap_get(&map, i);

		assert_true(*low == WATT_IDMAP_NONE);
		*low = (size_t)i;
		*watt_idmap_get(&map, i << 32) = (size_t)i + 1000000;
	}
	assert_int_equal(map.n, 20000);
	for (i = 1; i <= 10000; i++) {
		assert_int_equal(watt_idmap_find(&map, i), i);
		assert_int_equal(*watt_idmap_get(&map, i << 32), i + 1000000);
	}
	assert_true(watt_idmap_find(&map, 10001) == WATT_IDMAP_NONE);
	assert_int_equal(map.n, 20000);
	watt_idmap_done(&map);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds_what_was_put),
	};

	return cmocka_run_group_tests_name("idmap", tests, NULL, NULL);
}
