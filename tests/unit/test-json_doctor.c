/* SPDX-License-Identifier: Apache-2.0 */
/* lib/sink/json_doctor.c and json_value.c */
#include "unit.h"

#include <jansson.h>

#include <wattribute/json.h>

static json_t *document(const struct watt_diag *diags, size_t n, uint32_t flags)
{
	char *text = NULL;
	json_t *doc;

	assert_int_equal(watt_doctor_to_json(diags, n, flags, &text), 0);
	assert_true((flags & WATT_JSON_PRETTY) || !strchr(text, '\n'));
	doc = json_loads(text, 0, NULL);
	assert_non_null(doc);
	free(text);
	return doc;
}

static const char *text_of(json_t *obj, const char *key)
{
	return json_string_value(json_object_get(obj, key));
}

static void test_values(void **state)
{
	struct watt_diag diags[] = {
		{ .sz = sizeof(diags[0]),
		  .source = "powercap",
		  .summary = "RAPL",
		  .state = WATT_AVAILABLE,
		  .n_channels = 3,
		  .is_selected = 1,
		  .uncertainty_ppm = 20000,
		  .period_ns = 1000000,
		  .read_cost_ns = 2500,
		  .path = "/sys/x",
		  .why = "it works" },
		{ .source = "bpf", .summary = "tasks", .role = WATT_ROLE_USAGE, .is_selected = 1 },
	};
	json_t *doc = document(diags, 2, 0), *first, *second;

	assert_string_equal(text_of(doc, "schema"), "wattribute-doctor-1");
	assert_string_equal(text_of(doc, "version"), watt_version());
	assert_true(json_is_true(json_object_get(doc, "is_possible")));
	first = json_array_get(json_object_get(doc, "sources"), 0);
	second = json_array_get(json_object_get(doc, "sources"), 1);
	assert_string_equal(text_of(first, "state"), "available");
	assert_true(json_real_value(json_object_get(first, "period_s")) == 0.001);
	assert_true(json_real_value(json_object_get(first, "uncertainty_ratio")) == 0.02);
	assert_string_equal(text_of(first, "why"), "it works");
	/* Missing is null, never 0 and never "". */
	assert_true(json_is_null(json_object_get(first, "hint")));
	assert_true(json_is_null(json_object_get(second, "period_s")));
	assert_true(json_is_null(json_object_get(second, "read_cost_s")));
	assert_true(json_is_null(json_object_get(second, "origin")));
	json_decref(doc);
}

static void test_not_possible(void **state)
{
	struct watt_diag diags[] = {
		{ .sz = sizeof(diags[0]),
		  .source = "powercap",
		  .summary = "RAPL",
		  .state = WATT_FORBIDDEN,
		  .is_selected = 1 },
		{ .source = "bpf", .summary = "tasks", .role = WATT_ROLE_USAGE, .is_selected = 1 },
	};
	json_t *doc = document(diags, 2, WATT_JSON_PRETTY);

	assert_true(json_is_false(json_object_get(doc, "is_possible")));
	json_decref(doc);
	doc = document(NULL, 0, 0);
	assert_int_equal(json_array_size(json_object_get(doc, "sources")), 0);
	json_decref(doc);
}

static void test_broken_text(void **state)
{
	static const char *const broken[][2] = {
		{ "a\xff"
		  "b",
		  "a\xef\xbf\xbd"
		  "b" },
		{ "\xc3", "\xef\xbf\xbd" },
		{ "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "quote\" \033[0m \n", "quote\" \033[0m \n" },
		{ "caf\xc3\xa9", "caf\xc3\xa9" },
	};
	struct watt_diag diag = { .sz = sizeof(diag), .source = "x", .summary = "y" };
	size_t i;

	for (i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		json_t *doc;

		snprintf(diag.why, sizeof(diag.why), "%s", broken[i][0]);
		doc = document(&diag, 1, 0);
		assert_string_equal(text_of(json_array_get(json_object_get(doc, "sources"), 0),
					    "why"),
				    broken[i][1]);
		json_decref(doc);
	}
}

static void test_bad_arguments(void **state)
{
	char *text = NULL;

	assert_int_equal(watt_doctor_to_json(NULL, 1, 0, &text), -EINVAL);
	assert_int_equal(watt_doctor_to_json(NULL, 0, 0, NULL), -EINVAL);
	assert_null(text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_not_possible),
		cmocka_unit_test(test_broken_text),
		cmocka_unit_test(test_bad_arguments),
	};

	return cmocka_run_group_tests_name("json_doctor", tests, NULL, NULL);
}
