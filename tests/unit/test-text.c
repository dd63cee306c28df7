/* SPDX-License-Identifier: Apache-2.0 */
/* cli/text.c */
#include "unit.h"

#include <locale.h>

#include "text.h"

/* How wide a character is, is the locale's knowledge. */
static void need_wide(void)
{
	if (!setlocale(LC_CTYPE, "C.UTF-8")) {
		print_message("no locale C.UTF-8\n");
		skip();
	}
}

static void assert_clean(const char *src, const char *expected)
{
	char buf[64];

	assert_string_equal(text_clean(buf, sizeof(buf), src), expected);
}

static void test_clean_ascii(void **state)
{
	text_set_utf8(false);
	assert_clean("plain name", "plain name");
	assert_clean("a\nb\tc\rd", "a?b?c?d");
	assert_clean("\033[31mred\033[0m", "?[31mred?[0m");
	assert_clean("bell\a\x7f", "bell??");
	assert_clean("caf\xc3\xa9", "caf?");
	assert_clean("", "");
}

static void test_clean_utf8(void **state)
{
	need_wide();
	text_set_utf8(true);
	assert_clean("caf\xc3\xa9", "caf\xc3\xa9");
	assert_clean("\xe6\xbc\xa2", "\xe6\xbc\xa2");
	/* C1 controls in UTF-8 are escape sequences for some terminals. */
	assert_clean("\xc2\x9b"
		     "31m",
		     "?31m");
	/* Broken: lone byte, overlong, surrogate, beyond the end, cut off. */
	assert_clean("a\xff"
		     "b",
		     "a?b");
	assert_clean("\xc0\xaf", "??");
	assert_clean("\xed\xa0\x80", "???");
	assert_clean("\xf4\x90\x80\x80", "????");
	assert_clean("x\xe6\xbc", "x??");
	/* A mark that turns the direction of writing. */
	assert_clean("a\xe2\x80\xae"
		     "b",
		     "a?b");
}

static void test_clean_never_cuts_a_character(void **state)
{
	char buf[5];

	text_set_utf8(true);
	assert_string_equal(text_clean(buf, sizeof(buf), "abc\xc3\xa9"), "abc");
	assert_string_equal(text_clean(buf, sizeof(buf), "abcdef"), "abcd");
	assert_string_equal(text_clean(buf, 1, "abc"), "");
}

static void test_width(void **state)
{
	need_wide();
	text_set_utf8(true);
	assert_int_equal(text_width(""), 0);
	assert_int_equal(text_width("abc"), 3);
	assert_int_equal(text_width("caf\xc3\xa9"), 4);
	assert_int_equal(text_width("\xe6\xbc\xa2\xe5\xad\x97"), 4);
}

static void test_fit(void **state)
{
	char buf[32];

	need_wide();
	text_set_utf8(true);
	assert_string_equal(text_fit(buf, sizeof(buf), "abcdef", 6), "abcdef");
	assert_string_equal(text_fit(buf, sizeof(buf), "abcdef", 4), "abc~");
	assert_string_equal(text_fit(buf, sizeof(buf), "abcdef", 1), "~");
	assert_string_equal(text_fit(buf, sizeof(buf), "abcdef", 0), "");
	/* A wide character that would be cut in half stays out. */
	assert_string_equal(text_fit(buf, sizeof(buf), "\xe6\xbc\xa2\xe5\xad\x97z", 4),
			    "\xe6\xbc\xa2~");
}

static char *wrapped(const char *text, size_t used, size_t indent, size_t width)
{
	char *out = NULL;
	size_t len = 0;
	FILE *file = open_memstream(&out, &len);

	text_wrap(file, text, used, indent, width);
	fclose(file);
	return out;
}

static void test_wrap(void **state)
{
	char *out;

	text_set_utf8(false);
	out = wrapped("one two three", 2, 2, 9);
	assert_string_equal(out, "one two\n  three\n");
	free(out);
	out = wrapped("a /very/long/path b", 0, 1, 8);
	assert_string_equal(out, "a\n /very/long/path\n b\n");
	free(out);
	out = wrapped("", 0, 4, 10);
	assert_string_equal(out, "\n");
	free(out);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean_ascii),
		cmocka_unit_test(test_clean_utf8),
		cmocka_unit_test(test_clean_never_cuts_a_character),
		cmocka_unit_test(test_width),
		cmocka_unit_test(test_fit),
		cmocka_unit_test(test_wrap),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
