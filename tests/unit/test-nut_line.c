/* SPDX-License-Identifier: Apache-2.0 */
/* What upsd says: lib/source/power/nut/nut_line.c. */
#include "unit.h"

#include "base/util.h"
#include "source/power/nut/nut_line.h"

static struct watt_nut_line line;

static void test_words(void **state)
{
	static const struct {
		const char *text;
		int error;
		unsigned int n;
		const char *last;
	} cases[] = {
		{ "", 0, 0, NULL },
		{ "  ", 0, 0, NULL },
		{ "END LIST UPS", 0, 3, "UPS" },
		{ "UPS rack \"The one below\"", 0, 3, "The one below" },
		{ "VAR rack ups.model \"A \\\"B\\\" \\\\ C\"", 0, 4, "A \"B\" \\ C" },
		{ "UPS rack \"\"", 0, 3, "" },
		{ "a b c d e f g h", 0, 8, "h" },
		{ "a b c d e f g h i", -EBADMSG, 0, NULL },
		{ "UPS rack \"open", -EBADMSG, 0, NULL },
		{ "UPS rack \"open\\", -EBADMSG, 0, NULL },
		{ "UPS rack \"a\\n\"", -EBADMSG, 0, NULL },
		{ "UPS rack \"a\"b", -EBADMSG, 0, NULL },
		{ "UPS ra\"ck", -EBADMSG, 0, NULL },
		{ "UPS rack\r", -EBADMSG, 0, NULL },
		{ "UPS\track", -EBADMSG, 0, NULL },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		assert_int_equal(watt_nut_line_parse(cases[i].text, &line), cases[i].error);
		if (cases[i].error)
			continue;
		assert_int_equal(line.n_words, cases[i].n);
		if (cases[i].last)
			assert_string_equal(line.words[line.n_words - 1], cases[i].last);
	}
}

static void test_longest(void **state)
{
	char text[WATT_NUT_LINE_MAX + 1];

	memset(text, 'x', sizeof(text));
	text[WATT_NUT_LINE_MAX - 1] = '\0';
	assert_int_equal(watt_nut_line_parse(text, &line), 0);
	assert_int_equal(strlen(line.words[0]), WATT_NUT_LINE_MAX - 1);
	text[WATT_NUT_LINE_MAX - 1] = 'x';
	text[WATT_NUT_LINE_MAX] = '\0';
	assert_int_equal(watt_nut_line_parse(text, &line), -EMSGSIZE);
}

static void test_errors(void **state)
{
	static const struct {
		const char *text;
		int error;
	} cases[] = {
		{ "", 0 },
		{ "VAR rack ups.load \"5\"", 0 },
		{ "ERR DATA-STALE", -EAGAIN },
		{ "ERR DRIVER-NOT-CONNECTED", -EAGAIN },
		{ "ERR VAR-NOT-SUPPORTED", -ENODATA },
		{ "ERR UNKNOWN-UPS", -ENXIO },
		{ "ERR ACCESS-DENIED", -EACCES },
		{ "ERR UNKNOWN-COMMAND", -EBADMSG },
		{ "ERR", -EBADMSG },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		assert_int_equal(watt_nut_line_parse(cases[i].text, &line), 0);
		assert_int_equal(watt_nut_line_error(&line), cases[i].error);
	}
}

static void test_values(void **state)
{
	static const struct {
		const char *text;
		int error;
		int64_t value;
	} cases[] = {
		{ "VAR rack ups.load \"231.5\"", 0, 231500000 },
		{ "VAR rack ups.load \"00023\"", 0, 23000000 },
		{ "VAR rack ups.load 0", 0, 0 },
		{ "VAR rack ups.load \".1234567\"", 0, 123456 },
		{ "VAR rack ups.load \"1000000\"", 0, 1000000000000 },
		{ "VAR rack ups.load \"1000000.1\"", 0, 1000000100000 },
		{ "VAR rack ups.load \"1000001\"", -ERANGE, 0 },
		{ "VAR rack ups.load \"99999999999999999999999999\"", -ERANGE, 0 },
		{ "VAR rack ups.load \"-5\"", -ERANGE, 0 },
		{ "VAR rack ups.load \"\"", -EBADMSG, 0 },
		{ "VAR rack ups.load \".\"", -EBADMSG, 0 },
		{ "VAR rack ups.load \"5 W\"", -EBADMSG, 0 },
		{ "VAR rack ups.load \"1e3\"", -EBADMSG, 0 },
		{ "VAR rack ups.load \"5,5\"", -EBADMSG, 0 },
		{ "VAR rack ups.load", -EBADMSG, 0 },
		{ "VAR rack ups.status \"5\"", -EBADMSG, 0 },
		{ "VAR desk ups.load \"5\"", -EBADMSG, 0 },
		{ "TYPE rack ups.load \"5\"", -EBADMSG, 0 },
		{ "", -EBADMSG, 0 },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		int64_t value = -1;

		assert_int_equal(watt_nut_line_parse(cases[i].text, &line), 0);
		assert_int_equal(watt_nut_line_value(&line, "rack", "ups.load", &value),
				 cases[i].error);
		assert_true(value == (cases[i].error ? -1 : cases[i].value));
	}
}

static void test_names(void **state)
{
	static const char *const bad[] = { "", "a b", "a\nLIST", "a\"", "a\\", "a@b", "\x7f" };
	char text[66];
	size_t i;

	assert_int_equal(watt_nut_check_name("rack-1.of_2"), 0);
	for (i = 0; i < WATT_ARRAY_SIZE(bad); i++)
		assert_int_equal(watt_nut_check_name(bad[i]), -EINVAL);
	memset(text, 'x', sizeof(text));
	text[65] = '\0';
	assert_int_equal(watt_nut_check_name(text), -EINVAL);
	text[64] = '\0';
	assert_int_equal(watt_nut_check_name(text), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),  cmocka_unit_test(test_longest),
		cmocka_unit_test(test_errors), cmocka_unit_test(test_values),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests_name("nut_line", tests, NULL, NULL);
}
