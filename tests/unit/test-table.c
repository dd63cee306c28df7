/* SPDX-License-Identifier: Apache-2.0 */
/* cli/table.c */
#include "unit.h"

#include "table.h"
#include "text.h"

/* noinline: gcc 12 for aarch64 loses sight of what fclose() writes. */
__attribute__((noinline)) static char *printed(const struct table *table, size_t width)
{
	char *out = NULL;
	size_t len = 0;
	FILE *file = open_memstream(&out, &len);

	table_print(table, file, width);
	fclose(file);
	return out;
}

static struct table *people(void)
{
	struct table *table = table_new();

	table_add_column(table, "NAME", TABLE_CUT);
	table_add_column(table, "W", TABLE_RIGHT);
	table_add_column(table, "NOTE", 0);
	table_add(table, "%s", "a long name");
	table_add(table, "%d", 5);
	table_add(table, "%s", "");
	table_add(table, "%s", "b\n");
	table_add(table, "%d", 1234);
	table_add(table, "%s", "");
	return table;
}

static void test_aligned(void **state)
{
	struct table *table = people();
	char *out = printed(table, 0);

	/* NOTE is empty throughout and left out; the newline is harmless; no line ends in spaces. */
	assert_string_equal(out, "NAME            W\n"
				 "a long name     5\n"
				 "b?           1234\n");
	assert_int_equal(table_get_row_count(table), 2);
	free(out);
	table_free(table);
}

static void test_cut(void **state)
{
	struct table *table = people();
	char *out = printed(table, 12);

	assert_string_equal(out, "NAME       W\n"
				 "a lon~     5\n"
				 "b?      1234\n");
	free(out);
	/* Numbers are never cut, however narrow the page. */
	out = printed(table, 3);
	assert_non_null(strstr(out, "1234"));
	free(out);
	table_free(table);
}

static void test_missing_last_cell(void **state)
{
	struct table *table = table_new();
	char *out;

	table_add_column(table, "A", 0);
	table_add_column(table, "B", 0);
	table_add(table, "1");
	table_add(table, "2");
	table_add(table, "333");
	table_add(table, "%s", "");
	out = printed(table, 0);
	assert_string_equal(out, "A    B\n1    2\n333\n");
	free(out);
	table_free(table);
	assert_null(table_free(NULL));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_aligned),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_missing_last_cell),
	};

	return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
