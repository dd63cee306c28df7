/* SPDX-License-Identifier: Apache-2.0 */
/* cli/verdict.c */
#include "unit.h"

#include "text.h"
#include "verdict.h"

#define POWER .role = WATT_ROLE_POWER, .summary = ""
#define USAGE \
	{ \
		.source = "bpf", .role = WATT_ROLE_USAGE, .summary = "", .is_selected = 1 \
	}

static struct verdict draw(const struct watt_diag *diags, size_t n)
{
	struct verdict verdict;

	text_set_utf8(false);
	verdict_draw(diags, n, &verdict);
	/* Always a sentence. */
	assert_true(verdict.text[0] && verdict.text[strlen(verdict.text) - 1] == '.');
	return verdict;
}

static void test_measured(void **state)
{
	const struct watt_diag diags[] = { { .source = "powercap", POWER, .is_selected = 1 },
					   USAGE };
	struct verdict verdict = draw(diags, 2);

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
	struct verdict verdict = draw(diags, 4);

	assert_true(verdict.is_possible && !verdict.is_measured);
	assert_non_null(strstr(verdict.text, "estimated power only (+-40 %)"));
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
	const struct watt_diag no_usage[] = { { .source = "powercap", POWER, .is_selected = 1 } };

	assert_false(draw(no_power, 3).is_possible);
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_measured),
		cmocka_unit_test(test_estimated_with_advice),
		cmocka_unit_test(test_not_possible),
		cmocka_unit_test(test_long_hint),
	};

	return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
