/* SPDX-License-Identifier: Apache-2.0 */
/* lib/base/rules.c: what somebody chose for things by their names. */
#include "unit.h"

#include "rules_of.h"

/* 0: no rule is about it. */
static uint64_t last_on(const struct watt_rules *rules, const char *name)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < rules->n; i++)
		if (rules->list[i].name && !strcmp(rules->list[i].name, name))
			value = rules->list[i].value;
	return value;
}

static void test_rates(void **state)
{
	static const struct {
		const char *text;
		uint64_t hwmon_ns, powercap_ns;
	} cases[] = {
		{ NULL, 0, 0 },
		{ "hwmon=1kHz", 1000000, 0 },
		{ "hwmon=1000,powercap=20", 1000000, 50000000 },
		{ "powercap=0.5Hz", 0, 2000000000 },
		{ "hwmon=12.5hz", 80000000, 0 },
		{ "hwmon=0.5KHZ", 2000000, 0 },
		{ "hwmon=10,hwmon=20", 50000000, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct watt_rules rates = rules_of(cases[i].text, &watt_rate_syntax);

		assert_int_equal(last_on(&rates, "hwmon"), cases[i].hwmon_ns);
		assert_int_equal(last_on(&rates, "powercap"), cases[i].powercap_ns);
		watt_rules_clear(&rates);
	}
}

/* Nothing is added of a text that has a mistake, which is told. */
static void test_mistakes(void **state)
{
	struct watt_rules rates = rules_of("hwmon=10", &watt_rate_syntax);
	char *word = NULL;

	assert_int_equal(watt_rules_parse(&rates, &watt_rate_syntax, "iio=5,hwmon=often", &word),
			 -EINVAL);
	assert_string_equal(word, "hwmon=often");
	free(word);
	assert_int_equal(rates.n, 1);
	watt_rules_clear(&rates);
	assert_int_equal(rates.n, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_mistakes),
	};

	return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
