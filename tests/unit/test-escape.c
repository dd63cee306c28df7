/* SPDX-License-Identifier: Apache-2.0 */
/* cli/escape.c and json_writer.c */
#include "unit.h"

#include <math.h>

#include "escape.h"
#include "json_writer.h"

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

struct escape_case {
	const char *text, *csv, *json, *xml, *utf8;
};

static const struct escape_case cases[] = {
	{ "", "", "\"\"", "", "" },
	{ "bash", "bash", "\"bash\"", "bash", "bash" },
	{ "a,b", "\"a,b\"", "\"a,b\"", "a,b", "a,b" },
	{ "say \"hi\"", "\"say \"\"hi\"\"\"", "\"say \\\"hi\\\"\"", "say &quot;hi&quot;",
	  "say \"hi\"" },
	{ "\"", "\"\"\"\"", "\"\\\"\"", "&quot;", "\"" },
	{ "line\nline", "\"line\nline\"", "\"line\\nline\"", "line" FFFD "line",
	  "line" FFFD "line" },
	{ "cr\r", "\"cr\r\"", "\"cr\\u000d\"", "cr" FFFD, "cr" FFFD },
	{ "</script>&'", "</script>&'", "\"</script>&'\"", "&lt;/script&gt;&amp;&#39;",
	  "</script>&'" },
	{ "\x1b[31m\x07", FFFD "[31m" FFFD, "\"\\u001b[31m\\u0007\"", FFFD "[31m" FFFD,
	  FFFD "[31m" FFFD },
	{ "back\\slash", "back\\slash", "\"back\\\\slash\"", "back\\slash", "back\\slash" },
	{ " blank ", "\" blank \"", "\" blank \"", " blank ", " blank " },
	{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\"",
	  "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
	/* broken, overlong, surrogate, cut short, a C1 control character */
	{ "\xff|", FFFD "|", "\"" FFFD "|\"", FFFD "|", FFFD "|" },
	{ "\xc0\xaf", FFFD FFFD, "\"" FFFD FFFD "\"", FFFD FFFD, FFFD FFFD },
	{ "\xed\xa0\x80", FFFD FFFD FFFD, "\"" FFFD FFFD FFFD "\"", FFFD FFFD FFFD,
	  FFFD FFFD FFFD },
	{ "\xe2\x82", FFFD FFFD, "\"" FFFD FFFD "\"", FFFD FFFD, FFFD FFFD },
	{ "\xc2\x85", FFFD, "\"\\u0085\"", FFFD, FFFD },
	/* characters that XML can't have */
	{ "\xef\xbf\xbe", "\xef\xbf\xbe", "\"\xef\xbf\xbe\"", FFFD, "\xef\xbf\xbe" },
};

static void test_formats(void **state)
{
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *csv = written(escape_csv, cases[i].text);
		char *json = written(escape_json, cases[i].text);
		char *xml = written(escape_xml, cases[i].text);
		char *utf8 = escape_utf8(cases[i].text);

		assert_string_equal(csv, cases[i].csv);
		assert_string_equal(json, cases[i].json);
		assert_string_equal(xml, cases[i].xml);
		assert_string_equal(utf8, cases[i].utf8);
		free(csv);
		free(json);
		free(xml);
		free(utf8);
	}
}

static void write_document(struct json_writer *json)
{
	json_begin(json, NULL, '{');
	json_text(json, "a\"", "x\ny");
	json_text(json, "none", NULL);
	json_begin(json, "list", '[');
	json_int(json, NULL, -5);
	json_begin(json, NULL, '[');
	json_end(json, ']');
	json_begin(json, NULL, '{');
	json_decimal(json, "e", 1500000000, 9);
	json_put_real(json, "nan", NAN);
	json_end(json, '}');
	json_end(json, ']');
	json_bool(json, "yes", true);
	json_end(json, '}');
	fclose(json->out);
}

static void test_documents(void **state)
{
	struct json_writer json = { 0 };
	char *out = NULL;
	size_t len = 0;

	json.out = open_memstream(&out, &len);
	write_document(&json);
	assert_string_equal(out, "{\"a\\\"\":\"x\\ny\",\"none\":null,\"list\":[-5,[],{\"e\":1.5,"
				 "\"nan\":null}],\"yes\":true}");
	free(out);
	json = (struct json_writer){ .indent = 4, .line_levels = 8 };
	json.out = open_memstream(&out, &len);
	write_document(&json);
	assert_string_equal(out, "{\n    \"a\\\"\": \"x\\ny\",\n    \"none\": null,\n"
				 "    \"list\": [\n        -5,\n        [],\n        {\n"
				 "            \"e\": 1.5,\n            \"nan\": null\n        }\n"
				 "    ],\n    \"yes\": true\n}");
	free(out);
	/* Lines down to a level, and the rest flat. */
	json = (struct json_writer){ .indent = 1, .line_levels = 1 };
	json.out = open_memstream(&out, &len);
	write_document(&json);
	assert_string_equal(out, "{\n \"a\\\"\": \"x\\ny\",\n \"none\": null,\n \"list\": "
				 "[-5, [], {\"e\": 1.5, \"nan\": null}],\n \"yes\": true\n}");
	free(out);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_documents),
	};

	return cmocka_run_group_tests_name("escape", tests, NULL, NULL);
}
