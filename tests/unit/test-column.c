/* SPDX-License-Identifier: Apache-2.0 */
/* Columns: numbers and texts, and bytes that are none. */
#include "unit.h"

#include "record/column.h"

static const uint64_t numbers[] = { 0,          1,          127,        128,        16383,
				    16384,      UINT32_MAX, 1ULL << 62, 1ULL << 63, UINT64_MAX - 1,
				    UINT64_MAX, INT64_MAX };
#define N_NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static struct watt_column_cursor open_column(const struct watt_column *column)
{
	return (struct watt_column_cursor){ column->data, column->data + column->len, column->n };
}

static void test_numbers(void **state)
{
	struct watt_column column = { 0 };
	struct watt_column_cursor cursor;
	uint64_t value = 0;
	size_t i, j;

	for (i = 0; i < N_NUMBERS; i++)
		for (j = 0; j < N_NUMBERS; j++) {
			assert_int_equal(watt_column_reserve(&column, 20), 0);
			watt_column_put(&column, numbers[i]);
			watt_column_put_difference(&column, numbers[i], numbers[j]);
		}
	cursor = open_column(&column);
	for (i = 0; i < N_NUMBERS; i++)
		for (j = 0; j < N_NUMBERS; j++) {
			assert_int_equal(watt_column_get(&cursor, &value), 0);
			assert_true(value == numbers[i]);
			assert_int_equal(watt_column_get_difference(&cursor, numbers[j], &value),
					 0);
			assert_true(value == numbers[i]);
		}
	assert_int_equal(watt_column_get(&cursor, &value), -EBADMSG);
	watt_column_done(&column);
}

static void test_small_differences_are_one_byte(void **state)
{
	struct watt_column column = { 0 };

	assert_int_equal(watt_column_reserve(&column, 20), 0);
	watt_column_put_difference(&column, 1000, 1063);
	watt_column_put_difference(&column, 0, UINT64_MAX);
	assert_int_equal(column.len, 2);
	watt_column_done(&column);
}

static void test_what_is_no_number(void **state)
{
	static const uint8_t endless[] = { 0x80, 0x80, 0x80 };
	static const uint8_t large[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2 };
	static const uint8_t longer[] = { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
					  0x80, 0x80, 0x80, 0x80, 1 };
	struct watt_column_cursor cursor;
	uint64_t value = 77;

	cursor = (struct watt_column_cursor){ endless, endless + sizeof(endless), 1 };
	assert_int_equal(watt_column_get(&cursor, &value), -EBADMSG);
	cursor = (struct watt_column_cursor){ large, large + sizeof(large), 1 };
	assert_int_equal(watt_column_get(&cursor, &value), -EBADMSG);
	cursor = (struct watt_column_cursor){ longer, longer + sizeof(longer), 1 };
	assert_int_equal(watt_column_get(&cursor, &value), -EBADMSG);
	cursor = (struct watt_column_cursor){ NULL, NULL, 1 };
	assert_int_equal(watt_column_get(&cursor, &value), -EBADMSG);
	assert_int_equal(value, 77);
}

static void test_texts(void **state)
{
	struct watt_column column = { 0 };
	struct watt_column_cursor cursor;
	const char *text;
	size_t len;

	assert_int_equal(watt_column_reserve(&column, 100), 0);
	watt_column_put_text(&column, NULL, 0);
	watt_column_put_text(&column, "", 0);
	watt_column_put_text(&column, "a\0b", 3);
	watt_column_put_text(&column, "too long", 8);
	cursor = open_column(&column);
	assert_int_equal(watt_column_get_text(&cursor, 3, &text, &len), 0);
	assert_null(text);
	assert_int_equal(watt_column_get_text(&cursor, 3, &text, &len), 0);
	assert_string_equal(text, "");
	assert_int_equal(watt_column_get_text(&cursor, 3, &text, &len), 0);
	assert_int_equal(len, 3);
	assert_memory_equal(text, "a\0b", 4);
	assert_int_equal(watt_column_get_text(&cursor, 3, &text, &len), -EBADMSG);
	watt_column_done(&column);
}

static void test_what_is_no_text(void **state)
{
	static const uint8_t cut[] = { 9, 'a', 'b' };
	static const uint8_t open[] = { 3, 'a', 'b' };
	struct watt_column_cursor cursor;
	const char *text;
	size_t len;

	cursor = (struct watt_column_cursor){ cut, cut + sizeof(cut), 1 };
	assert_int_equal(watt_column_get_text(&cursor, 100, &text, &len), -EBADMSG);
	cursor = (struct watt_column_cursor){ open, open + sizeof(open), 1 };
	assert_int_equal(watt_column_get_text(&cursor, 100, &text, &len), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_small_differences_are_one_byte),
		cmocka_unit_test(test_what_is_no_number),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_what_is_no_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
