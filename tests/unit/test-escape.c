/* SPDX-License-Identifier: Apache-2.0 */
/* lib/sink/escape.c */
#include "unit.h"

#include "sink/escape.h"

#define FFFD "\xef\xbf\xbd"

static char *written(void (*escape)(FILE *out, const char *text), const char *text)
{
	char *out = NULL;
	size_t len = 0;
	FILE *file = open_memstream(&out, &len);

	escape(file, text);
	fclose(file);
	return out;
}

/* All of a text. */
static void escape_xml(FILE *out, const char *text)
{
	watt_escape_xml(out, text, strlen(text));
}

struct escape_case {
	const char *text, *csv, *xml, *utf8;
};

static const struct escape_case cases[] = {
	{ "", "", "", "" },
	{ "bash", "bash", "bash", "bash" },
	{ "a,b", "\"a,b\"", "a,b", "a,b" },
	{ "say \"hi\"", "\"say \"\"hi\"\"\"", "say &quot;hi&quot;", "say \"hi\"" },
	{ "\"", "\"\"\"\"", "&quot;", "\"" },
	{ "line\nline", "\"line\nline\"", "line" FFFD "line", "line" FFFD "line" },
	{ "cr\r", "\"cr\r\"", "cr" FFFD, "cr" FFFD },
	{ "</script>&'", "</script>&'", "&lt;/script&gt;&amp;&#39;", "</script>&'" },
	{ "\x1b[31m\x07", FFFD "[31m" FFFD, FFFD "[31m" FFFD, FFFD "[31m" FFFD },
	{ "back\\slash", "back\\slash", "back\\slash", "back\\slash" },
	{ " blank ", "\" blank \"", " blank ", " blank " },
	/* a name that a spreadsheet would run */
	{ "=1+1", "'=1+1", "=1+1", "=1+1" },
	{ "+x", "'+x", "+x", "+x" },
	{ "-x", "'-x", "-x", "-x" },
	{ "@SUM(A1,B1)", "\"'@SUM(A1,B1)\"", "@SUM(A1,B1)", "@SUM(A1,B1)" },
	{ "\t=1", "'\t=1", FFFD "=1", FFFD "=1" },
	{ "a=1", "a=1", "a=1", "a=1" },
	{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
	/* broken, overlong, surrogate, cut short, a C1 control character */
	{ "\xff|", FFFD "|", FFFD "|", FFFD "|" },
	{ "\xc0\xaf", FFFD FFFD, FFFD FFFD, FFFD FFFD },
	{ "\xed\xa0\x80", FFFD FFFD FFFD, FFFD FFFD FFFD, FFFD FFFD FFFD },
	{ "\xe2\x82", FFFD FFFD, FFFD FFFD, FFFD FFFD },
	{ "\xc2\x85", FFFD, FFFD, FFFD },
	/* characters that XML can't have */
	{ "\xef\xbf\xbe", "\xef\xbf\xbe", FFFD, "\xef\xbf\xbe" },
};

static void test_formats(void **state)
{
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *csv = written(watt_escape_csv, cases[i].text);
		char *xml = written(escape_xml, cases[i].text);
		char *utf8 = watt_escape_utf8(cases[i].text);

		assert_string_equal(csv, cases[i].csv);
		assert_string_equal(xml, cases[i].xml);
		assert_string_equal(utf8, cases[i].utf8);
		free(csv);
		free(xml);
		free(utf8);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formats),
	};

	return cmocka_run_group_tests_name("escape", tests, NULL, NULL);
}
