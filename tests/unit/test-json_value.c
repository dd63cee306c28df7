/* SPDX-License-Identifier: Apache-2.0 */
/* lib/sink/json_value.c */
#include "unit.h"

#include <math.h>

#include <wattribute/json.h>

#include "base/util.h"
#include "sink/json_value.h"

/* What stands behind the schema and the version. */
static void assert_rest(struct watt_json *doc, const char *expected)
{
	char *text, *rest;

	assert_int_equal(watt_json_done(doc, &text), 0);
	assert_non_null(strstr(text, "{\"schema\":\"test-1\",\"version\":\""));
	rest = strchr(strstr(text, "\"version\":\"") + strlen("\"version\":\""), '"');
	assert_string_equal(rest + 1, expected);
	free(text);
}

static void test_numbers(void **state)
{
	struct watt_json doc;

	watt_json_init(&doc, 0, "test-1");
	watt_json_int(&doc, doc.root, "a", 0);
	watt_json_int(&doc, doc.root, "b", INT64_MIN);
	watt_json_int(&doc, doc.root, "c", INT64_MAX);
	watt_json_nano(&doc, doc.root, "d", 0);
	watt_json_nano(&doc, doc.root, "e", -1);
	watt_json_nano(&doc, doc.root, "f", 1500000000);
	watt_json_nano(&doc, doc.root, "g", INT64_MIN);
	watt_json_nano(&doc, doc.root, "h", 1795268700123456789);
	watt_json_real(&doc, doc.root, "i", 0.1);
	watt_json_real(&doc, doc.root, "j", -3);
	watt_json_real(&doc, doc.root, "k", NAN);
	watt_json_real(&doc, doc.root, "l", INFINITY);
	watt_json_real(&doc, doc.root, "m", 1e300);
	watt_json_ratio(&doc, doc.root, "n", 20000);
	watt_json_ratio(&doc, doc.root, "o", 0);
	watt_json_known_time(&doc, doc.root, "p", 0);
	watt_json_id(&doc, doc.root, "q", -1, -1);
	watt_json_id(&doc, doc.root, "r", 0, -1);
	assert_rest(&doc, ",\"a\":0,\"b\":-9223372036854775808,\"c\":9223372036854775807,"
			  "\"d\":0.0,\"e\":-0.000000001,\"f\":1.5,\"g\":-9223372036.854775808,"
			  "\"h\":1795268700.123456789,\"i\":0.1,\"j\":-3.0,\"k\":null,\"l\":null,"
			  "\"m\":1e+300,\"n\":0.02,\"o\":null,\"p\":null,\"q\":null,\"r\":0}");
}

static void test_text(void **state)
{
	static const struct {
		const char *text, *written;
	} cases[] = {
		{ "", "" },
		{ "plain text", "plain text" },
		{ "\"\\/", "\\\"\\\\/" },
		{ "\b\t\n\f\r\001\037\177", "\\b\\t\\n\\f\\r\\u0001\\u001F\177" },
		{ "\xc3\xa9\xe2\x82\xac\xf0\x9f\x94\x8b", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x94\x8b" },
		{ "a\xff\xc3", "a\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" }, /* half a character */
	};
	struct watt_json doc;
	char expected[128];
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		watt_json_init(&doc, 0, "test-1");
		watt_json_text(&doc, doc.root, "t", cases[i].text);
		snprintf(expected, sizeof(expected), ",\"t\":\"%s\"}", cases[i].written);
		assert_rest(&doc, expected);
	}
	watt_json_init(&doc, 0, "test-1");
	watt_json_text(&doc, doc.root, "t", NULL);
	assert_rest(&doc, ",\"t\":null}");
}

/* What was opened ends when something is added further out. */
static void test_structure(void **state)
{
	struct watt_json_node array, obj, list;
	struct watt_json doc;
	int i;

	watt_json_init(&doc, 0, "test-1");
	array = watt_json_array(&doc, doc.root, "rows");
	for (i = 0; i < 2; i++) {
		obj = watt_json_append(&doc, array);
		list = watt_json_array(&doc, obj, "list");
		watt_json_append_int(&doc, list, i);
		watt_json_append_text(&doc, list, "x");
		watt_json_object(&doc, obj, "empty");
		watt_json_null(&doc, obj, "nothing");
	}
	watt_json_array(&doc, doc.root, "none");
	watt_json_bool(&doc, doc.root, "end", true);
	assert_rest(&doc, ",\"rows\":[{\"list\":[0,\"x\"],\"empty\":{},\"nothing\":null},"
			  "{\"list\":[1,\"x\"],\"empty\":{},\"nothing\":null}],\"none\":[],"
			  "\"end\":true}");
}

static void test_pretty(void **state)
{
	struct watt_json_node array;
	struct watt_json doc;
	char *text;

	watt_json_init(&doc, WATT_JSON_PRETTY, "test-1");
	array = watt_json_array(&doc, doc.root, "list");
	watt_json_append_int(&doc, array, 1);
	watt_json_append_int(&doc, array, 2);
	watt_json_object(&doc, doc.root, "none");
	assert_int_equal(watt_json_done(&doc, &text), 0);
	assert_non_null(strstr(text, "{\n  \"schema\": \"test-1\",\n  \"version\": \""));
	assert_string_equal(strstr(text, "\n  \"list\""),
			    "\n  \"list\": [\n    1,\n    2\n  ],\n  \"none\": {}\n}");
	free(text);
}

/* More than any first guess of its size. */
static void test_large(void **state)
{
	struct watt_json_node array;
	struct watt_json doc;
	char *text, *p;
	int i, n = 0;

	watt_json_init(&doc, 0, "test-1");
	array = watt_json_array(&doc, doc.root, "list");
	for (i = 0; i < 20000; i++)
		watt_json_append_int(&doc, array, i);
	assert_int_equal(watt_json_done(&doc, &text), 0);
	for (p = strchr(text, '['); p; p = strchr(p + 1, ','))
		assert_int_equal(strtol(p + 1, NULL, 10), n++);
	assert_int_equal(n, 20000);
	free(text);
}

static void write_document(struct watt_json *doc)
{
	struct watt_json_node list, item;

	watt_json_text(doc, doc->root, "a\"", "x\ny");
	list = watt_json_array(doc, doc->root, "list");
	watt_json_int(doc, list, NULL, -5);
	watt_json_array(doc, list, NULL);
	item = watt_json_append(doc, list);
	watt_json_uint(doc, item, "u", UINT64_MAX);
	watt_json_digits(doc, item, "d", "0.25");
	item = watt_json_append(doc, list);
	watt_json_members(doc, item, "\"m\":1", 5);
	watt_json_bool(doc, doc->root, "yes", true);
}

/* One line, lines everywhere, and lines down to a level with the rest flat. */
static void test_layouts(void **state)
{
	static const struct {
		struct watt_json_layout layout;
		const char *expected;
	} cases[] = {
		{ { 0 },
		  "{\"a\\\"\":\"x\\ny\",\"list\":[-5,[],{\"u\":18446744073709551615,\"d\":0.25},"
		  "{\"m\":1}],\"yes\":true}" },
		{ { .indent = 4, .line_levels = 8 },
		  "{\n    \"a\\\"\": \"x\\ny\",\n    \"list\": [\n        -5,\n        [],\n"
		  "        {\n            \"u\": 18446744073709551615,\n            \"d\": 0.25\n"
		  "        },\n        {\n            \"m\":1\n        }\n    ],\n"
		  "    \"yes\": true\n}" },
		{ { .indent = 1, .line_levels = 1 },
		  "{\n \"a\\\"\": \"x\\ny\",\n \"list\": [-5, [], {\"u\": 18446744073709551615, "
		  "\"d\": 0.25}, {\"m\":1}],\n \"yes\": true\n}" },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		char *text = NULL;
		size_t len = 0;
		FILE *out = open_memstream(&text, &len);
		struct watt_json doc;

		watt_json_begin(&doc, cases[i].layout, out);
		write_document(&doc);
		assert_int_equal(watt_json_end(&doc), 0);
		fclose(out);
		assert_string_equal(text, cases[i].expected);
		free(text);
	}
}

/* A document on a stream is as it is in memory, and little of it is kept. */
static void test_streams(void **state)
{
	char *on_stream = NULL, *in_memory;
	size_t len = 0, most = 0, i, k;
	FILE *out = open_memstream(&on_stream, &len);
	struct watt_json docs[2];

	watt_json_begin(&docs[0], (struct watt_json_layout){ 0 }, out);
	watt_json_begin(&docs[1], (struct watt_json_layout){ 0 }, NULL);
	for (k = 0; k < 2; k++) {
		struct watt_json_node list = watt_json_array(&docs[k], docs[k].root, "list");

		for (i = 0; i < 100000; i++) {
			watt_json_int(&docs[k], watt_json_append(&docs[k], list), "i", (int64_t)i);
			if (k == 0 && docs[k].cap > most)
				most = docs[k].cap;
		}
	}
	assert_int_equal(watt_json_end(&docs[0]), 0);
	assert_int_equal(watt_json_done(&docs[1], &in_memory), 0);
	fclose(out);
	assert_string_equal(on_stream, in_memory);
	assert_true(most <= 4 * 65536);
	free(on_stream);
	free(in_memory);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layouts),   cmocka_unit_test(test_streams),
		cmocka_unit_test(test_numbers),   cmocka_unit_test(test_text),
		cmocka_unit_test(test_structure), cmocka_unit_test(test_pretty),
		cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests_name("json_value", tests, NULL, NULL);
}
