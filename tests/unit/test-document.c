/* SPDX-License-Identifier: Apache-2.0 */
/* What BMCs write: lib/source/power/redfish/document.c. */
#include "unit.h"

#include "base/util.h"
#include "source/power/redfish/document.h"

static json_t *parse(const char *text)
{
	json_t *doc;

	assert_int_equal(watt_redfish_parse(text, strlen(text), &doc), 0);
	return doc;
}

static void test_what_is_no_object(void **state)
{
	static const char *const texts[] = { "", "{", "[1]", "7", "<html>", "{\"a\": 1} x" };
	json_t *doc = NULL;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(texts); i++)
		assert_int_equal(watt_redfish_parse(texts[i], strlen(texts[i]), &doc), -EBADMSG);
	assert_int_equal(watt_redfish_parse(NULL, 0, &doc), -EBADMSG);
	assert_null(doc);
}

static void test_numbers(void **state)
{
	static const struct {
		const char *json;
		int error;
		double value;
	} cases[] = {
		{ "12.5", 0, 12.5 },         { "\"300\"", 0, 300 },
		{ "\" 300\"", -EBADMSG, 0 }, { "\"-4\"", 0, -4 },
		{ "null", -ENODATA, 0 },     { "\"\"", -ENODATA, 0 },
		{ "\"nan\"", -EBADMSG, 0 },  { "\"0x10\"", -EBADMSG, 0 },
		{ "true", -EBADMSG, 0 },     { "\"1e3\"", 0, 1000 },
		{ "1e300", -EBADMSG, 0 },    { "\"5 W\"", -EBADMSG, 0 },
		{ "\".\"", -EBADMSG, 0 },    { "{}", -EBADMSG, 0 },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		char text[64];
		double value = 77;
		json_t *doc;

		snprintf(text, sizeof(text), "{\"x\": %s}", cases[i].json);
		doc = parse(text);
		assert_int_equal(watt_redfish_number(json_object_get(doc, "x"), &value),
				 cases[i].error);
		assert_true(value == (cases[i].error ? 77 : cases[i].value));
		assert_int_equal(watt_redfish_number(json_object_get(doc, "y"), &value), -ENODATA);
		json_decref(doc);
	}
}

static void test_times(void **state)
{
	static const struct {
		const char *text;
		int error;
		int64_t ns;
	} cases[] = {
		{ "2024-05-01T12:00:00Z", 0, 1714564800000000000 },
		{ "2024-05-01T12:00:00.25Z", 0, 1714564800250000000 },
		{ "2024-05-01T14:00:00+02:00", 0, 1714564800000000000 },
		{ "2024-05-01T11:30:00-0030", 0, 1714564800000000000 },
		{ "2024-05-01T12:00:00.1234567891Z", 0, 1714564800123456789 },
		{ "1970-01-01T00:00:10Z", -ENODATA, 0 },
		{ "", -ENODATA, 0 },
		{ "2024-05-01T12:00:00", -EBADMSG, 0 },
		{ "2024-13-01T12:00:00Z", -EBADMSG, 0 },
		{ "2024-05-01T12:00:00.Z", -EBADMSG, 0 },
		{ "2024-05-01T12:00:00Zx", -EBADMSG, 0 },
		{ "9999-05-01T12:00:00Z", -EBADMSG, 0 },
		{ "yesterday", -EBADMSG, 0 },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		json_t *value = json_string(cases[i].text);
		int64_t ns = 1;

		assert_int_equal(watt_redfish_time(value, &ns), cases[i].error);
		assert_true(ns == (cases[i].error ? 1 : cases[i].ns));
		json_decref(value);
	}
	assert_int_equal(watt_redfish_time(NULL, &(int64_t){ 0 }), -ENODATA);
}

static void test_errors(void **state)
{
	static const struct {
		const char *json;
		int error;
		const char *text;
	} cases[] = {
		{ "{\"PowerControl\": []}", 0, "" },
		{ "{\"error\": {\"code\": \"iLO.0.10.ExtendedInfo\", \"@Message.ExtendedInfo\": "
		  "[{\"MessageId\": \"iLO.2.32.LicenseKeyRequired\"}]}}",
		  -EACCES, "iLO.2.32.LicenseKeyRequired" },
		{ "{\"error\": {\"code\": \"Base.1.4.ResourceMissingAtURI\", \"message\": \"gone\"}}",
		  -ENOENT, "Base.1.4.ResourceMissingAtURI: gone" },
		{ "{\"error\": {}}", -EREMOTEIO, "an error without a name" },
		{ "{\"error\": null}", 0, "" },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		json_t *doc = parse(cases[i].json);
		char text[64] = "";

		assert_int_equal(watt_redfish_find_error(doc, text, sizeof(text)), cases[i].error);
		assert_string_equal(text, cases[i].text);
		json_decref(doc);
	}
}

static void test_links_stay_on_the_server(void **state)
{
	json_t *doc = parse("{\"a\": {\"@odata.id\": \"/redfish/v1/x\"},"
			    "\"b\": {\"@odata.id\": \"http://elsewhere/\"}, \"c\": 7}");

	assert_string_equal(watt_redfish_link(doc, "a"), "/redfish/v1/x");
	assert_null(watt_redfish_link(doc, "b"));
	assert_null(watt_redfish_link(doc, "c"));
	assert_null(watt_redfish_link(doc, "d"));
	json_decref(doc);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_no_object),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_links_stay_on_the_server),
	};

	return cmocka_run_group_tests_name("document", tests, NULL, NULL);
}
