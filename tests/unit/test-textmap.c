/* SPDX-License-Identifier: Apache-2.0 */
/* lib/base/textmap.c */
#include "unit.h"

#include "base/textmap.h"

#define N 20000

/* Each costs about the logarithm of how many there are, in whatever order they come. */
static void test_many(void **state)
{
	static char texts[N][16];
	struct watt_textmap map = { 0 };
	size_t i;

	assert_true(watt_textmap_find(&map, "none") == WATT_TEXTMAP_NONE);
	for (i = 0; i < N; i++) {
		size_t *position;

		snprintf(texts[i], sizeof(texts[i]), "text %06zu", i);
		position = watt_textmap_get(&map, texts[i]);
		assert_true(*position == WATT_TEXTMAP_NONE);
		*position = i;
	}
	assert_int_equal(map.n, N);
	for (i = 0; i < N; i++)
		assert_int_equal(*watt_textmap_get(&map, texts[i]), i);
	assert_int_equal(watt_textmap_find(&map, "text 000007"), 7);
	assert_true(watt_textmap_find(&map, "text") == WATT_TEXTMAP_NONE);
	assert_int_equal(map.n, N);
	assert_true(map.n_compares < (uint64_t)N * 100);
	watt_textmap_done(&map);
	assert_int_equal(map.n, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests_name("textmap", tests, NULL, NULL);
}
