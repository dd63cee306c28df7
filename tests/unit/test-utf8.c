/* SPDX-License-Identifier: Apache-2.0 */
/* lib/base/utf8.c */
#include "unit.h"

#include "base/utf8.h"

static void test_valid(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		uint32_t code;
	} valid[] = {
		{ "", 1, 0 }, /* NUL is a character */
		{ "a", 1, 'a' },
		{ "\xc2\x80", 2, 0x80 },
		{ "\xdf\xbf", 2, 0x7ff },
		{ "\xe0\xa0\x80", 3, 0x800 },
		{ "\xed\x9f\xbf", 3, 0xd7ff },
		{ "\xee\x80\x80", 3, 0xe000 },
		{ "\xef\xbf\xbf", 3, 0xffff },
		{ "\xf0\x90\x80\x80", 4, 0x10000 },
		{ "\xf4\x8f\xbf\xbf", 4, 0x10ffff },
	};
	uint32_t code;
	size_t i;

	for (i = 0; i < sizeof(valid) / sizeof(valid[0]); i++) {
		code = 1;
		assert_int_equal(watt_utf8_decode(valid[i].text, 8, NULL), valid[i].len);
		assert_int_equal(watt_utf8_decode(valid[i].text, valid[i].len, &code),
				 valid[i].len);
		assert_int_equal(code, valid[i].code);
		/* a character that is cut is none */
		assert_int_equal(watt_utf8_decode(valid[i].text, valid[i].len - 1, &code), 0);
	}
}

static void test_invalid(void **state)
{
	static const char *const invalid[] = {
		"\x80",
		"\xbf",
		"\xc0\x80",
		"\xc1\xbf",
		"\xc2",
		"\xc2\x41",
		"\xe0\x9f\xbf",
		"\xed\xa0\x80",
		"\xed\xbf\xbf",
		"\xe2\x82",
		"\xe2\x82\xc0",
		"\xf0\x8f\xbf\xbf",
		"\xf4\x90\x80\x80",
		"\xf5\x80\x80\x80",
		"\xf8\x88\x80\x80\x80",
		"\xff",
	};
	size_t i;

	for (i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
		assert_int_equal(watt_utf8_decode(invalid[i], strlen(invalid[i]), NULL), 0);
}

static void test_printable(void **state)
{
	static const char *const printable[] = { "", "plain text", "Größe", "\xc2\xa0", "日本" };
	static const char *const not_printable[] = {
		"a\nb", "\x1b[31m", "\x7f", "\xc2\x85", "\xc2\x9f", "cut\xc3", "\xff",
	};
	size_t i;

	for (i = 0; i < sizeof(printable) / sizeof(printable[0]); i++)
		assert_true(watt_utf8_is_printable(printable[i], strlen(printable[i])));
	for (i = 0; i < sizeof(not_printable) / sizeof(not_printable[0]); i++)
		assert_false(watt_utf8_is_printable(not_printable[i], strlen(not_printable[i])));
	assert_false(watt_utf8_is_printable("a\0b", 3));
}

static void test_fit(void **state)
{
	assert_int_equal(watt_utf8_fit("abc", 3, 8), 3);
	assert_int_equal(watt_utf8_fit("abc", 3, 3), 3);
	assert_int_equal(watt_utf8_fit("abc", 3, 2), 2);
	assert_int_equal(watt_utf8_fit("abc", 3, 0), 0);
	assert_int_equal(watt_utf8_fit("a日", 4, 4), 4);
	assert_int_equal(watt_utf8_fit("a日", 4, 3), 1);
	assert_int_equal(watt_utf8_fit("a日", 4, 2), 1);
	assert_int_equal(watt_utf8_fit("日", 3, 2), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_valid),
		cmocka_unit_test(test_invalid),
		cmocka_unit_test(test_printable),
		cmocka_unit_test(test_fit),
	};

	return cmocka_run_group_tests_name("utf8", tests, NULL, NULL);
}
