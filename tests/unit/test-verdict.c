/* SPDX-License-Identifier: Apache-2.0 */
/* lib/view/verdict.c */
#include "unit.h"

#include <errno.h>

#include <wattribute/diag.h>

#include "base/util.h"

#define POWER .role = WATT_ROLE_POWER, .summary = ""
#define USAGE \
	{ \
		.source = "bpf", .role = WATT_ROLE_USAGE, .summary = "", .is_selected = 1 \
	}

/* A verdict, of diagnoses that do not say their size. */
static struct watt_verdict draw_as(const struct watt_diag *given, size_t n, bool is_utf8)
{
	struct watt_verdict verdict = { .sz = sizeof(verdict) };
	struct watt_diag diags[8];
	size_t i;

	assert_true(n <= WATT_ARRAY_SIZE(diags));
	for (i = 0; i < n; i++) {
		diags[i] = given[i];
		diags[i].sz = sizeof(diags[i]);
	}
	assert_int_equal(watt_verdict_draw(diags, n, is_utf8, &verdict), 0);
	/* Always a sentence, that ends once. */
	assert_true(verdict.text[0] && strchr(".?", verdict.text[strlen(verdict.text) - 1]));
	assert_null(strstr(verdict.text, "?."));
	return verdict;
}

static struct watt_verdict draw(const struct watt_diag *diags, size_t n)
{
	return draw_as(diags, n, false);
}

static void test_measured(void **state)
{
	const struct watt_diag diags[] = { { .source = "powercap", POWER, .is_selected = 1 },
					   USAGE };
	struct watt_verdict verdict = draw(diags, 2);

	assert_true(verdict.is_possible && verdict.is_measured);
	assert_non_null(strstr(verdict.text, "measured by powercap"));
}

static void test_estimated_with_advice(void **state)
{
	const struct watt_diag diags[] = {
		{ .source = "hwmon", POWER, .state = WATT_BROKEN, .why = "it is broken" },
		{ .source = "powercap", POWER, .state = WATT_FORBIDDEN, .hint = "run as root" },
		{ .source = "estimate",
		  POWER,
		  .origin = WATT_ORIGIN_ESTIMATED,
		  .is_selected = 1,
		  .uncertainty_ppm = 400000 },
		USAGE,
	};
	struct watt_verdict verdict = draw(diags, 4);

	assert_true(verdict.is_possible && !verdict.is_measured);
	assert_non_null(strstr(verdict.text, "estimated power only (+-40 %)"));
	assert_non_null(strstr(draw_as(diags, 4, true).text, "only (\u00b140 %)"));
	/* What is forbidden is easier to help than what is broken. */
	assert_non_null(strstr(verdict.text, "powercap is forbidden: run as root"));
}

static void test_not_possible(void **state)
{
	const struct watt_diag no_power[] = {
		{ .source = "powercap", POWER, .state = WATT_ABSENT },
		{ .source = "synth", POWER, .is_test = 1, .origin = WATT_ORIGIN_SIMULATED },
		USAGE,
	};
	const struct watt_diag unreachable[] = {
		{ .source = "redfish", POWER, .state = WATT_BROKEN, .hint = "is it there?" },
		USAGE,
	};
	const struct watt_diag no_usage[] = { { .source = "powercap", POWER, .is_selected = 1 } };

	assert_false(draw(no_power, 3).is_possible);
	assert_false(draw(unreachable, 2).is_possible);
	assert_false(draw(no_usage, 1).is_possible);
	assert_false(draw(NULL, 0).is_possible);
}

/* An endless hint is cut, not written beyond the end. */
static void test_long_hint(void **state)
{
	struct watt_diag diags[] = {
		{ .source = "powercap", POWER, .state = WATT_FORBIDDEN },
		{ .source = "estimate", POWER, .origin = WATT_ORIGIN_ESTIMATED, .is_selected = 1 },
		USAGE,
	};

	memset(diags[0].hint, 'x', sizeof(diags[0].hint) - 1);
	assert_true(draw(diags, 3).is_possible);
}

static void test_sizes(void **state)
{
	const struct watt_diag diag = { .source = "powercap", POWER };
	struct watt_verdict verdict = { 0 };

	assert_int_equal(watt_verdict_draw(NULL, 0, true, &verdict), -EINVAL);
	assert_int_equal(watt_verdict_draw(NULL, 0, true, NULL), -EINVAL);
	verdict.sz = sizeof(verdict);
	assert_int_equal(watt_verdict_draw(&diag, 1, true, &verdict), -EINVAL);
	assert_int_equal(watt_verdict_draw(NULL, 1, true, &verdict), -EINVAL);
	/* An older caller has no room for the words. */
	verdict.sz = offsetof(struct watt_verdict, text);
	assert_int_equal(watt_verdict_draw(NULL, 0, true, &verdict), 0);
	assert_int_equal(verdict.sz, offsetof(struct watt_verdict, text));
	assert_string_equal(verdict.text, "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_measured),     cmocka_unit_test(test_estimated_with_advice),
		cmocka_unit_test(test_not_possible), cmocka_unit_test(test_long_hint),
		cmocka_unit_test(test_sizes),
	};

	return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
